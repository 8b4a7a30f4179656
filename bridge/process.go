package bridge

import (
	"context"
	"io"
	"strings"
	"sync"

	"go.uber.org/zap"
)

// CLI finds the claude program and starts it. There are two: the program on this machine (Local) and the scripted agent of the
// tests, which runs in-process over pipes, because a synthetic clock cannot run over a real child's.
type CLI interface {
	// Known is what is known of it without looking; it never waits.
	Known() ClaudeCode
	// Find looks for the program a session in cwd would run.
	Find(ctx context.Context, cwd string) (Found, *Error)
	// Start starts it.
	Start(l Launch) (Process, error)
}

// Found is a claude program.
type Found struct {
	ClaudeCode
	Argv []string // the command, without the arguments of a run
	// Remote: the program runs on another machine or in a container, so that the files it sees are not those seen here.
	Remote bool
}

// Launch is what a process is started with.
type Launch struct {
	Argv []string
	Dir  string
	Env  map[string]string // on top of the bridge's own
}

// Process is a running claude.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Terminate asks it to end (SIGTERM); Kill ends it and everything it has started.
	Terminate() error
	Kill() error
	// Wait returns when it and everything it has started is gone.
	Wait() Exit
	Pid() int
}

// Exit is how a process has ended.
type Exit struct {
	Code   int
	Signal string // if a signal ended it
	Err    error  // if it could not be started, or its end is not known
}

// feed is what is to be written to a process. Putting never waits, so that neither the pump nor a permission answer hangs on a CLI
// that does not read; drain writes, in order, in a goroutine of its own.
type feed struct {
	mu     sync.Mutex
	lines  [][]byte
	closed bool
	wake   chan struct{} // holds one token while there is something to do
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

func (f *feed) put(line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.lines = append(f.lines, line)
		f.nudge()
	}
}

// close ends the input once everything that was put is written.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.nudge()
}

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// drain writes to w until the feed is closed or w takes no more; it closes w.
func (f *feed) drain(w io.WriteCloser, trace func([]byte)) {
	defer w.Close()
	for range f.wake {
		for {
			f.mu.Lock()
			lines, closed := f.lines, f.closed
			f.lines = nil
			f.mu.Unlock()
			if len(lines) == 0 {
				if closed {
					return
				}
				break
			}
			for _, line := range lines {
				trace(line)
				if _, err := w.Write(line); err != nil {
					f.close()
					f.mu.Lock()
					f.lines = nil
					f.mu.Unlock()
					return
				}
			}
		}
	}
}

// tail keeps the last words of a process's stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func newTail() *tail { return &tail{} }

func (t *tail) read(r io.Reader, log *zap.Logger) {
	buf := make([]byte, 8<<10)
	logged := 0
	for {
		n, err := r.Read(buf)
		if n > 0 {
			t.mu.Lock()
			t.text = append(t.text, buf[:n]...)
			if len(t.text) > tailSize {
				t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
			}
			t.mu.Unlock()
			if logged += n; logged < 1<<20 { // 20 MB of stderr do not belong in the log
				log.Info("claude stderr", zap.ByteString("text", redact(buf[:n])))
			}
		}
		if err != nil {
			return
		}
	}
}

// String is the last words, without secrets.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(redact(t.text)), "\uFFFD")
}
