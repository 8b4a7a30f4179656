package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/jsonrpc2"
)

func TestANotificationIsFramedAsJsonrpc2WouldEncodeIt(t *testing.T) {
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, size := range []int{1, 50, 60, 900, 1000, 10000, 100000} {
			var out bytes.Buffer
			s := New(strings.NewReader(""), &out, Options{Framing: framing})
			token := strings.Repeat("x", size)
			pending, err := s.AppendNotification("assistant_token", []byte(`{"token":"`), []byte(token), []byte(`"}`))
			if err != nil || pending == 0 {
				t.Fatal(pending, err)
			}
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			m := jsonrpc2.NewNotification("assistant_token", jsonrpc2.RawMessage(`{"token":"`+token+`"}`))
			want := framed(framing, string(jsonrpc2.AppendMessage(nil, m)))
			if out.Len() != pending || out.String() != want {
				t.Errorf("wrote %d bytes %.200q\nwant %.200q", pending, &out, want)
			}
			out.Reset()
			n, err := s.Write(t.Context(), m)
			if err != nil || int(n) != len(want) {
				t.Errorf("Write returned %d, %v; want %d", n, err, len(want))
			}
			if err := s.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Errorf("wrote %.200q\nwant %.200q", &out, want)
			}
			s.Close()
			<-s.Done()
		}
	}
}

func TestLineBreaksBetweenTokensDoNotBreakALine(t *testing.T) {
	var out bytes.Buffer
	s := New(strings.NewReader(""), &out, Options{Framing: NDJSON})
	if _, err := s.WriteFrame(t.Context(), []byte("[\n1,\r\n\n2\n]")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendNotification("n", []byte("{\n}")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	<-s.Done()
	want := "[ 1,\r  2 ]\n" + `{"jsonrpc":"2.0","method":"n","params":{ }}` + "\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", &out, want)
	}
}

// stalled returns a Stream whose editor does not read until the returned pipe is
// read. It is to be used in a synctest bubble.
func stalled(t *testing.T, opts Options) (*Stream, *io.PipeReader) {
	t.Helper()
	opts.Framing = NDJSON
	r, w := io.Pipe()
	s := New(strings.NewReader(""), w, opts)
	t.Cleanup(func() {
		r.Close()
		s.Close()
		<-s.Done()
	})
	return s, r
}

func TestPaceWaitsForAnEditorThatLagsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, editor := stalled(t, Options{})
		ctx := t.Context()
		token := []byte(`"` + strings.Repeat("x", 1<<10) + `"`)
		var sent int
		paced := false
		go func() { // the pump
			for range 1000 {
				pending, err := s.AppendNotification("n", token)
				if err != nil {
					t.Error(err)
				}
				sent++
				if pending >= FlushAt {
					go s.Flush()
					if err := s.Pace(ctx); err != nil {
						t.Error(err)
					}
				}
			}
			s.Flush()
			paced = true
		}()
		synctest.Wait()
		if most := (paceAt + FlushAt) / len(token); sent == 0 || sent > most {
			t.Errorf("with a stalled editor the pump sent %d notifications, want at most %d", sent, most)
		}

		// Others are not held up by the pump's flood.
		if _, err := s.WriteFrame(ctx, []byte(`"interrupted"`)); err != nil {
			t.Error(err)
		}

		var got []string
		go func() {
			lines := bufio.NewScanner(editor)
			for lines.Scan() {
				got = append(got, lines.Text())
			}
		}()
		synctest.Wait()
		if !paced || len(got) != 1001 {
			t.Errorf("after the editor read again it has %d frames, and the pump is done: %v", len(got), paced)
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := stalled(t, Options{})
		if _, err := s.WriteFrame(t.Context(), bytes.Repeat([]byte{'1'}, paceAt)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Pace(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Pace: %v", err)
		}
		if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain: %v", err)
		}
	})
}

func TestWhatWasAppendedFirstIsWrittenFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, editor := stalled(t, Options{})
		ctx := t.Context()
		var want strings.Builder
		for i := range 100 { // in turn by the pump and by others
			if _, err := s.AppendNotification("n", fmt.Appendf(nil, "[%d]", i)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"n","params":[%d]}`+"\n", i)
			switch i % 3 {
			case 0:
				go s.Flush()
			case 1:
				if _, err := s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.NewNumberID(int64(i)), nil, nil)); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&want, `{"jsonrpc":"2.0","id":%d,"result":null}`+"\n", i)
			}
			synctest.Wait()
		}
		s.Close()
		got, err := io.ReadAll(editor)
		if err != nil || string(got) != want.String() {
			t.Errorf("error %v, wrote\n%s\nwant\n%s", err, got, want.String())
		}
	})
}

func TestTheStreamsGoroutineWritesWhatThePumpLeftToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, editor := stalled(t, Options{})
		if _, err := s.AppendNotification("n", []byte(`1`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(s.out.pending) == 0 {
			t.Error("AppendNotification was flushed by another goroutine")
		}
		if _, err := s.WriteFrame(t.Context(), []byte(`2`)); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if got, _ := io.ReadAll(editor); string(got) != `{"jsonrpc":"2.0","method":"n","params":1}`+"\n2\n" {
			t.Errorf("wrote %s", got)
		}
	})
}

func TestCloseWhileThePumpIsWritingEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, editor := stalled(t, Options{})
		if _, err := s.AppendNotification("n", []byte(`1`)); err != nil {
			t.Fatal(err)
		}
		go s.Flush()
		synctest.Wait()
		s.Close()
		synctest.Wait() // the stream's goroutine has found the pump at it
		if _, err := io.ReadAll(editor); err != nil {
			t.Error(err)
		}
		<-s.Done()
	})
}

func TestAnEditorThatNeverReadsIsTakenForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failures []error
		s, _ := stalled(t, Options{MaxPending: 1 << 20, OnFail: func(err error) { failures = append(failures, err) }})
		frame := bytes.Repeat([]byte{'1'}, 64<<10)
		var err error
		n := 0
		for ; err == nil && n < 100; n++ {
			_, err = s.WriteFrame(t.Context(), frame)
		}
		if !errors.Is(err, ErrStalled) || n != 17 {
			t.Errorf("write %d failed with %v", n, err)
		}
		if _, err := s.AppendNotification("n", frame); !errors.Is(err, ErrStalled) {
			t.Errorf("a later write: %v", err)
		}
		if err := s.Pace(t.Context()); !errors.Is(err, ErrStalled) {
			t.Errorf("Pace: %v", err)
		}
		<-s.Done()
		if len(failures) != 1 || !errors.Is(failures[0], ErrStalled) || !errors.Is(s.Err(), ErrStalled) {
			t.Errorf("OnFail was told %v, Err is %v", failures, s.Err())
		}
		if s.out.pending != nil {
			t.Error("what was pending is still held")
		}
	})
}

func TestOneFrameMayBeLargerThanWhatMayBePending(t *testing.T) {
	var out bytes.Buffer
	s := New(strings.NewReader(""), &out, Options{Framing: NDJSON, MaxPending: 1 << 10})
	if _, err := s.WriteFrame(t.Context(), bytes.Repeat([]byte{'1'}, 1<<20)); err != nil {
		t.Error(err)
	}
	s.Close()
	<-s.Done()
	if out.Len() != 1<<20+1 {
		t.Errorf("wrote %d bytes", out.Len())
	}
}

func TestTheWriteBuffersGiveMemoryBack(t *testing.T) {
	s := New(strings.NewReader(""), io.Discard, Options{Framing: NDJSON})
	defer s.Close()
	for range 3 {
		if _, err := s.WriteFrame(t.Context(), bytes.Repeat([]byte{'1'}, 20<<20)); err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if kept := cap(s.out.pending) + cap(s.out.spare); kept > 2*keepPending {
		t.Errorf("%d bytes are kept", kept)
	}
}

type brokenPipe struct{ err error }

func (w brokenPipe) Write([]byte) (int, error) { return 0, w.err }

func TestAfterAFailedWriteEverythingFailsAtOnce(t *testing.T) {
	epipe := errors.New("broken pipe")
	stdin, keepOpen := io.Pipe()
	defer keepOpen.Close()
	told := make(chan error, 2)
	s := New(stdin, brokenPipe{epipe}, Options{Framing: NDJSON, OnFail: func(err error) { told <- err }})
	if _, err := s.WriteFrame(t.Context(), []byte(`1`)); err != nil {
		t.Errorf("the write before the failure: %v", err)
	}
	<-s.Done()
	if err := <-told; !errors.Is(err, epipe) || !errors.Is(s.Err(), epipe) {
		t.Errorf("OnFail was told %v, Err is %v", err, s.Err())
	}
	_, err1 := s.WriteFrame(t.Context(), []byte(`1`))
	_, err2 := s.AppendNotification("n", []byte(`1`))
	for _, err := range []error{err1, err2, s.Flush(), s.Pace(t.Context()), s.Drain(t.Context())} {
		if !errors.Is(err, epipe) {
			t.Errorf("after the failure: %v", err)
		}
	}
	if _, _, err := s.ReadFrame(t.Context()); !errors.Is(err, epipe) {
		t.Errorf("the read that nobody can be told of: %v", err)
	}
	s.Close()
	if len(told) != 0 {
		t.Error("OnFail was called twice")
	}
}

func TestAnEndedContextHoldsBackCallsButNoResponse(t *testing.T) {
	var out bytes.Buffer
	s := New(strings.NewReader(""), &out, Options{Framing: LSP})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Write(ctx, jsonrpc2.NewNotification("n", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("notification: %v", err)
	}
	if _, err := s.Write(ctx, jsonrpc2.NewCall(jsonrpc2.NewNumberID(1), "n", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("call: %v", err)
	}
	if _, err := s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.NewNumberID(1), nil, nil)); err != nil {
		t.Errorf("response: %v", err)
	}
	s.Close()
	<-s.Done()
	if want := framed(LSP, `{"jsonrpc":"2.0","id":1,"result":null}`); out.String() != want {
		t.Errorf("wrote %q, want %q", &out, want)
	}
}

func TestFlushingFromManySidesLosesNothing(t *testing.T) {
	r, w := io.Pipe()
	s := New(strings.NewReader(""), w, Options{Framing: NDJSON})
	const writers, each = 4, 3000
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range each {
				if i%2 == 0 {
					s.AppendNotification("n", []byte(`1`))
				} else {
					s.WriteFrame(context.Background(), []byte(`{"jsonrpc":"2.0","method":"n","params":1}`))
				}
				if i%7 == 0 {
					s.Flush()
				}
			}
		})
	}
	go func() {
		wg.Wait()
		s.Close()
	}()
	lines := bufio.NewScanner(r)
	n := 0
	for ; lines.Scan(); n++ {
		if lines.Text() != `{"jsonrpc":"2.0","method":"n","params":1}` {
			t.Fatalf("line %d is %q", n, lines.Text())
		}
	}
	if n != writers*each {
		t.Errorf("%d lines arrived of %d", n, writers*each)
	}
}
