package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

func TestTheLastLineNeedsNoNewline(t *testing.T) {
	e := connect(t, Options{Framing: NDJSON})
	go func() {
		e.send(ping)
		e.in.Close()
	}()
	e.want(pong)
	<-e.conn.Done()
	if err := e.conn.Err(); err != nil {
		t.Errorf("connection ended with %v", err)
	}
}

func TestAtTheEndOfInputRequestsInFlightAreCancelledAndAnswered(t *testing.T) {
	session, cancel := context.WithCancel(context.Background())
	var turns sync.WaitGroup
	turns.Add(1)
	e := connectHandler(t, Options{Framing: NDJSON, OnEOF: func() {
		cancel()
		turns.Wait()
	}}, func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		jsonrpc2.Async(ctx)
		<-session.Done()
		// The response is written before the handler counts as ended, as in
		// the server, where the context's end comes after the response.
		context.AfterFunc(ctx, turns.Done)
		return jsonrpc2.RawMessage(`"cancelled"`), nil
	})
	go func() {
		e.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}` + "\n")
		e.in.Close()
	}()
	e.want(`{"jsonrpc":"2.0","id":1,"result":"cancelled"}`)
	if _, err := e.out.ReadByte(); err != io.EOF {
		t.Errorf("after the answer: %v, want EOF", err)
	}
	<-e.conn.Done()
}

func TestOnEOFIsCalledOnce(t *testing.T) {
	calls := 0
	s := New(strings.NewReader(""), io.Discard, Options{OnEOF: func() { calls++ }})
	defer s.Close()
	for range 3 {
		if _, _, err := s.ReadFrame(t.Context()); err != io.EOF {
			t.Errorf("ReadFrame: %v, want EOF", err)
		}
	}
	if calls != 1 {
		t.Errorf("OnEOF was called %d times", calls)
	}
}

func TestLostFramingIsAnsweredAndEndsTheInput(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"negative length", "Content-Length: -1\r\n\r\n{}", `framing lost: bad Content-Length \"-1\"`},
		{"length no number", "Content-Length: ten\r\n\r\n{}", `framing lost: bad Content-Length \"ten\"`},
		{"no length given", "Content-Length:\r\n\r\n{}", `framing lost: bad Content-Length \"\"`},
		{"absurd length", "Content-Length: 99999999999999999999\r\n\r\n{}", `framing lost: bad Content-Length \"99999999999999999999\"`},
		{"a line of JSON", `{"a":1}` + "\n", `framing lost: expected a Content-Length header, got \"{\\\"a\\\":1}\"`},
		{"a line of text", "hello\r\n", `framing lost: expected a Content-Length header, got \"hello\"`},
		{"body longer than announced", "Content-Length: 53\r\n\r\n" + ping + "xyz\r\n", `framing lost: expected a Content-Length header, got \"xyz\"`},
		{"header without end", strings.Repeat("x", maxHeader+1), "framing lost: header line longer than 8192 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := connect(t, Options{Framing: LSP})
			go e.send(tt.input)
			want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"` + tt.want + `"}}`
			got := e.receive()
			if got == pong {
				got = e.receive()
			}
			if got != want {
				t.Errorf("received %s\nwant     %s", got, want)
			}
			<-e.conn.Done()
			if !errors.Is(e.conn.Err(), ErrFraming) {
				t.Errorf("connection ended with %v", e.conn.Err())
			}
		})
	}
}

func TestAnEmptyBodyIsAnsweredAndTheConnectionLives(t *testing.T) {
	e := connect(t, Options{Framing: LSP})
	go e.send("Content-Length: 0\r\n\r\n" + framed(LSP, ping))
	e.want(errorFrame(-32700, "not JSON: the frame is empty"))
	e.want(pong)
}

func TestInputThatEndsInsideAFrameIsAnswered(t *testing.T) {
	e := connect(t, Options{Framing: LSP})
	go func() {
		e.send("Content-Length: 53\r\n\r\n" + ping[:20])
		e.in.Close()
	}()
	e.want(errorFrame(-32700, "input ended inside a frame of 53 bytes"))
	<-e.conn.Done()
	if !errors.Is(e.conn.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("connection ended with %v", e.conn.Err())
	}
}

// blockedReader is a stdin that nothing interrupts.
type blockedReader struct{ release chan struct{} }

func (r blockedReader) Read([]byte) (int, error) {
	<-r.release
	return 0, io.EOF
}

func TestCloseDoesNotWaitForABlockedReader(t *testing.T) {
	stdin := blockedReader{make(chan struct{})}
	var out bytes.Buffer
	s := New(stdin, &out, Options{Framing: NDJSON})
	read := make(chan error)
	go func() {
		_, _, err := s.ReadFrame(context.Background())
		read <- err
	}()
	if _, err := s.WriteFrame(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if out.String() != "{}\n" {
		t.Errorf("what was queued before Close was not written: %q", &out)
	}
	if _, err := s.WriteFrame(t.Context(), []byte(`{}`)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after Close: %v", err)
	}
	close(stdin.release)
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

func TestCloseEndsAReadOfAPipeOfTheSystem(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s := New(r, io.Discard, Options{})
	read := make(chan error)
	go func() {
		_, _, err := s.ReadFrame(context.Background())
		read <- err
	}()
	s.Close()
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Errorf("read: %v", err)
	}
}

func TestConnCloseEndsAConnection(t *testing.T) {
	e := connect(t, Options{Framing: NDJSON})
	go e.send(ping + "\n")
	e.want(pong)
	if err := e.conn.Close(); err != nil {
		t.Error(err)
	}
	if err := e.conn.Err(); err != nil {
		t.Error(err)
	}
}

func TestTheReadBufferGivesMemoryBack(t *testing.T) {
	for _, framing := range []Framing{NDJSON, LSP} {
		big := `{"jsonrpc":"2.0","method":"note","params":["` + strings.Repeat("x", 20<<20) + `"]}`
		small := `{"jsonrpc":"2.0","method":"note"}`
		s := New(strings.NewReader(framed(framing, big)+framed(framing, small)), io.Discard, Options{Framing: framing})
		defer s.Close()
		for _, want := range []string{big, small} {
			frame, n, err := s.ReadFrame(t.Context())
			if err != nil || string(frame) != want {
				t.Fatalf("read %d bytes, error %v", len(frame), err)
			}
			if n != int64(len(framed(framing, want))) {
				t.Errorf("%s: %d bytes on the wire, want %d", framing, n, len(framed(framing, want)))
			}
		}
		if len(s.in.buf) > keepBuffer {
			t.Errorf("%s: the buffer still has %d bytes", framing, len(s.in.buf))
		}
	}
}

func TestASkippedLineIsNotHeld(t *testing.T) {
	var long letters
	s := New(io.MultiReader(io.LimitReader(&long, 200<<20), strings.NewReader("\n"+ping)), io.Discard, Options{Framing: NDJSON, MaxFrame: 1 << 20})
	defer s.Close()
	frame, _, err := s.ReadFrame(t.Context())
	if err != nil || string(frame) != ping {
		t.Fatalf("read %.80q, %v", frame, err)
	}
	if long.room > baseBuffer {
		t.Errorf("while skipping the buffer had room for %d bytes", long.room)
	}
}

// letters is an endless word; room is the space the last Read was given.
type letters struct{ room int }

func (l *letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	l.room = len(b)
	return len(b), nil
}

func TestTraceSeesEachFrameInItsOrder(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	e := connect(t, Options{Framing: LSP, Trace: func(d Direction, frame []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, map[Direction]string{In: "<", Out: ">"}[d]+string(frame))
	}})
	go e.send(framed(LSP, `{"jsonrpc":"2.0","id":1.0,"method":"echo","params":[1]}`) + framed(LSP, `bad`))
	e.receive()
	e.receive()
	if _, err := e.stream.AppendNotification("n", []byte(`[1]`)); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{
		`<{"jsonrpc":"2.0","id":1.0,"method":"echo","params":[1]}`, ">" + pong,
		`<bad`, ">" + errorFrame(-32700, "not JSON: expected a value at byte 0"),
		`>{"jsonrpc":"2.0","method":"n","params":[1]}`,
	}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("traced\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}

func TestParseFramingReadsWhatStringWrites(t *testing.T) {
	for _, f := range []Framing{Auto, LSP, NDJSON} {
		if got, err := ParseFraming(f.String()); got != f || err != nil {
			t.Errorf("ParseFraming(%q) = %v, %v", f, got, err)
		}
	}
	if _, err := ParseFraming("json"); err == nil {
		t.Error(`ParseFraming("json") did not fail`)
	}
}
