package editor

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if part := os.Getenv("EDITOR_TEST_BRIDGE"); part != "" {
		os.Exit(playBridge(part))
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a frame may take before a test gives up.
const patience = 20 * time.Second

// stub is a bridge that says what the test tells it to, one JSON value a line.
type stub struct {
	t      *testing.T
	client *Client
	in     *bufio.Reader
	out    *io.PipeWriter
}

func connect(t *testing.T, h Handler) *stub {
	t.Helper()
	return connectWith(t, h, Options{})
}

func connectWith(t *testing.T, h Handler, o Options) *stub {
	t.Helper()
	toBridge, fromEditor := io.Pipe()
	toEditor, fromBridge := io.Pipe()
	s := &stub{t: t, in: bufio.NewReader(toBridge), out: fromBridge}
	s.client = Connect(context.Background(), toEditor, fromEditor, h, o)
	t.Cleanup(func() {
		_ = fromBridge.Close()
		_ = toBridge.Close()
		<-s.client.Ended()
	})
	return s
}

func (s *stub) send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.out, format+"\n", args...); err != nil {
		s.t.Fatal(err)
	}
}

type frame struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
	text   string
}

func (s *stub) receive() frame {
	s.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = s.out.Close(); _ = s.client.stream.Close() })
	defer stop.Stop()
	line, err := s.in.ReadString('\n')
	if err != nil {
		s.t.Fatalf("nothing more from the editor: %v", err)
	}
	f := frame{text: strings.TrimSpace(line)}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		s.t.Fatalf("%v: %s", err, line)
	}
	return f
}

func (s *stub) want(text string) {
	s.t.Helper()
	if f := s.receive(); f.text != text {
		s.t.Fatalf("the editor sent %s\nwant            %s", f.text, text)
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// playBridge is a bridge in a process of its own.
func playBridge(part string) int {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var f frame
		_ = json.Unmarshal(lines.Bytes(), &f)
		switch {
		case part == "stubborn": // answers nothing, and does not end with its input
		case f.Method == "user_message":
			return 72
		case f.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"session_id":"s_1"}}`+"\n", f.ID)
		case f.Method == "exit":
			return 0
		}
	}
	if part == "stubborn" {
		select {}
	}
	return 1
}
