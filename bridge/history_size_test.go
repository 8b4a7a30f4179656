package bridge

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestAHundredMegabytesReplayInLittleMemory replays a long conversation page by page, as an editor would that shows all of it.
func TestAHundredMegabytesReplayInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	s := newShelf(t)
	name := s.put(conversation(1), nil)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	var w lines
	turns := 0
	for written := 0; written < 100<<20; turns++ {
		w.user(fmt.Sprint("question ", turns))
		for i := range 10 {
			tool := fmt.Sprintf("t%d-%d", turns, i)
			w.uses(fmt.Sprintf("m%d-%d", turns, i), tool)
			w.returns(tool, strings.Repeat("some output of a command \\ \" ", 700))
		}
		w.says(fmt.Sprint("end", turns), "done")
		n, err := w.WriteTo(f)
		if err != nil {
			t.Fatal(err)
		}
		written += int(n)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w = lines{}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	l := s.library()
	q := HistoryQuery{ID: conversation(1)}
	var peak uint64
	questions, items := 0, 0
	for {
		next, err := l.History(context.Background(), q, func(i HistoryItem) error {
			items++
			if i.User != nil {
				questions++
			}
			if items%500 == 0 {
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	if questions != turns {
		t.Errorf("%d of %d turns", questions, turns)
	}
	if grown := int64(peak) - int64(before.HeapInuse); grown > 24<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	t.Logf("%d items; the heap was at most %.1f MB, %.1f before", items, float64(peak)/(1<<20), float64(before.HeapInuse)/(1<<20))
}

// BenchmarkList lists the first page of 10,000 transcripts: for the first time, and again.
func BenchmarkList(b *testing.B) {
	s := newShelf(b)
	for i := range 10000 {
		var w lines
		w.user(fmt.Sprint("question ", i))
		w.says("m", strings.Repeat("answer ", 100))
		s.putIn(fmt.Sprintf("-p%d", i%200), conversation(i), w.Bytes())
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if page, _, err := s.library().List(context.Background(), ListQuery{}); err != nil || len(page) != listLimit {
				b.Fatal(len(page), err)
			}
		}
	})
	l := s.library()
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			if page, _, err := l.List(context.Background(), ListQuery{}); err != nil || len(page) != listLimit {
				b.Fatal(len(page), err)
			}
		}
	})
	b.Run("directory", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := l.List(context.Background(), ListQuery{CWD: "/p7"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNewestPage opens the newest page of a long conversation.
func BenchmarkNewestPage(b *testing.B) {
	s := newShelf(b)
	var w lines
	for i := range 2000 {
		w.user(fmt.Sprint("question ", i))
		w.uses(fmt.Sprint("m", i), fmt.Sprint("t", i))
		w.returns(fmt.Sprint("t", i), strings.Repeat("output ", 1000))
		w.says(fmt.Sprint("e", i), "done")
	}
	s.put(conversation(1), w.Bytes())
	l := s.library()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.History(context.Background(), HistoryQuery{ID: conversation(1)}, func(HistoryItem) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
