package bridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/adapters"
)

func itemLine(i HistoryItem) string {
	var b strings.Builder
	switch {
	case i.User != nil:
		fmt.Fprintf(&b, "user %.4s %s", i.User.ID, i.User.Content)
	case i.Turn != nil:
		fmt.Fprintf(&b, "end %.4s %s %s %s", i.Turn.TurnID, i.Turn.Origin, i.Turn.Status, i.Turn.StopReason)
		if i.Error != nil {
			fmt.Fprintf(&b, " %s: %s", i.Error.Kind, i.Error.Message)
		}
	case i.Line.Kind == adapters.CommandOutput:
		fmt.Fprintf(&b, "output %s", []byte(i.Line.Text))
	case i.Line.Kind == adapters.Compacted:
		fmt.Fprintf(&b, "compacted %s %d", i.Line.Boundary.Trigger, i.Line.Boundary.PreTokens)
	}
	if i.Line != nil {
		for _, block := range i.Line.Blocks {
			fmt.Fprintf(&b, "said %s/%d %s %s%s %s", i.Line.MessageID, block.Index, block.Type, []byte(block.Text), block.ToolUse.ID, block.ToolUse.Input)
		}
		for _, r := range i.Line.Results {
			fmt.Fprintf(&b, "result %s %s error=%t interrupted=%t denied=%t background=%t", r.ToolUseID, r.Content, r.IsError, r.Interrupted, r.Denied, r.Background)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestRecordedConversationsReplayAsTheyWere(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(recorded, "*", "*.jsonl"))
	if len(files) < 20 {
		t.Fatalf("found %d transcripts", len(files))
	}
	for _, file := range files {
		golden := strings.TrimSuffix(file, ".jsonl") + ".history"
		t.Run(strings.TrimSuffix(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), ".jsonl"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newShelf(t)
			s.put(conversation(1), data)
			whole, pages := all(t, s.library(), HistoryQuery{ID: conversation(1)})
			if pages != 1 {
				t.Errorf("%d pages", pages)
			}
			got := strings.Join(whole, "\n") + "\n"
			if *updateHistory {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			// In pages of one turn each it is the same conversation.
			small, pages := all(t, s.library(), HistoryQuery{ID: conversation(1), Limit: 1})
			if strings.Join(small, "\n") != strings.Join(whole, "\n") {
				t.Errorf("in %d pages:\n%s\nwant:\n%s", pages, strings.Join(small, "\n"), got)
			}
		})
	}
}

func TestAPageBeginsAtAUserMessage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(recorded, "2.1.112", "main.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := newShelf(t)
	s.put(conversation(1), data)
	q := HistoryQuery{ID: conversation(1), Limit: 6}
	for pages := 0; ; pages++ {
		page, next := replayed(t, s.library(), q)
		if len(page) == 0 || !strings.HasPrefix(page[0], "user ") || !strings.HasPrefix(page[len(page)-1], "end ") {
			t.Errorf("page %d: %q", pages, page)
		}
		if q.Cursor = next; next == "" {
			if pages < 3 {
				t.Errorf("only %d pages", pages)
			}
			return
		}
	}
}

func TestATurnThatStillRunsIsNotToldToBeCutOff(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(recorded, "2.1.329", "killed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := newShelf(t)
	s.put(conversation(1), data)
	page, _ := replayed(t, s.library(), HistoryQuery{ID: conversation(1)})
	if last := page[len(page)-1]; !strings.Contains(last, "cancelled") {
		t.Errorf("after the death of its process the last item is %q", last)
	}
	page, _ = replayed(t, s.library(), HistoryQuery{ID: conversation(1), Running: true})
	if last := page[len(page)-1]; strings.HasPrefix(last, "end ") {
		t.Errorf("while it runs the last item is %q", last)
	}
}

func TestResultsOfParallelToolsBesideTheChainAreKept(t *testing.T) {
	var w lines
	w.user("go")
	a := w.uses("m1", "t1")
	b := w.uses("m1", "t2")
	w.last = a
	w.returns("t1", "r1")
	w.last = b
	w.returns("t2", "r2")
	w.says("m2", "done")
	got := history(t, &w)
	for _, id := range []string{"result t1", "result t2"} {
		s := newShelf(t)
		s.put(conversation(1), w.Bytes())
		items, _ := all(t, s.library(), HistoryQuery{ID: conversation(1)})
		if !strings.Contains(strings.Join(items, "\n"), id) {
			t.Errorf("%s is not there: %s", id, got)
		}
	}
	if !strings.HasSuffix(got, "said:done end:end_turn") {
		t.Error(got)
	}
}

func TestABranchThatWasGivenUpIsNotReplayed(t *testing.T) {
	var w lines
	w.user("one")
	fork := w.says("m1", "1")
	w.user("given-up")
	w.uses("m2", "t2")
	w.returns("t2", "lost")
	w.says("m3", "lost")
	w.last = fork
	w.user("two")
	w.says("m4", "2")
	if got, want := history(t, &w), "user:one said:1 end:end_turn user:two said:2 end:end_turn"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.last = "" // back to before the first message
	w.user("anew")
	w.says("m5", "0")
	if got, want := history(t, &w), "user:anew said:0 end:end_turn"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestABrokenChainLosesNothing(t *testing.T) {
	var w lines
	w.user("one")
	w.says("m1", "1")
	w.last = "nowhere"
	w.user("two")
	w.says("m2", "2")
	w.WriteString("{\"half a line\n\n\x00\x00\n")
	w.user("three")
	w.says("m3", "3")
	if got, want := history(t, &w), "user:one said:1 end:end_turn user:two said:2 end:end_turn user:three said:3 end:end_turn"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestALineThatIsTooLongIsToldAndTheRestReplayed(t *testing.T) {
	var w lines
	w.user("one")
	w.says("m1", "1")
	w.user("two")
	w.says("m2", strings.Repeat("x", lineMax+10))
	w.user("three")
	w.says("m3", "3")
	got := history(t, &w)
	if want := "user:one said:1 end:end_turn user:two output:here) end:end_turn user:three said:3 end:end_turn"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestATurnLargerThanAPageIsReadInSeveral(t *testing.T) {
	var w lines
	w.user("one")
	w.says("m0", "1")
	w.user("two")
	for i := range 60 {
		w.uses(fmt.Sprint("m", i+1), fmt.Sprint("t", i))
		w.returns(fmt.Sprint("t", i), strings.Repeat("y", 400<<10))
	}
	w.says("last", "done")
	s := newShelf(t)
	s.put(conversation(1), w.Bytes())
	items, pages := all(t, s.library(), HistoryQuery{ID: conversation(1)})
	if pages < 3 || len(items) != 3+1+60*2+2 {
		t.Errorf("%d items in %d pages", len(items), pages)
	}
	ends := 0
	for _, i := range items {
		if strings.HasPrefix(i, "end ") {
			ends++
			if !strings.Contains(i, "completed") {
				t.Error(i)
			}
		}
	}
	if ends != 2 {
		t.Errorf("%d turns have an end", ends)
	}
}
