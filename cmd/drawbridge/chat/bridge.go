package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"drawbridge/bridge"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"

	"github.com/google/uuid"
)

// conversation is the connection to a bridge. What the bridge says becomes work for the one goroutine that owns the screen, in the
// order in which it was said.
type conversation struct {
	t       *transcript
	asker   asker
	client  *editor.Client
	session string
	work    chan func()
	over    chan struct{} // closed when no more work is done
	waiting int           // user messages that are not answered
	failed  bool          // a turn has failed
}

// asker asks the user. reply is to be called at most once; ctx ends when the answer is not wanted any more.
type asker interface {
	permission(ctx context.Context, p rpc.PermissionParams, reply func(editor.Decision))
	question(ctx context.Context, q rpc.QuestionParams, reply func(editor.Answers))
}

// backlog is how much work may wait before the bridge has to: the screen is drawn once for all that waits.
const backlog = 512

func newConversation(t *transcript, a asker) *conversation {
	return &conversation{t: t, asker: a, work: make(chan func(), backlog), over: make(chan struct{})}
}

// post has the screen's goroutine do f.
func (c *conversation) post(f func()) {
	select {
	case c.work <- f:
	case <-c.over:
	}
}

// launch starts the bridge and initializes it. The bridge's own last words go to the transcript.
func (c *conversation) launch(ctx context.Context, o Options) error {
	cmd := exec.Command(o.Bridge[0], o.Bridge[1:]...)
	cmd.Stderr = &lastWords{c: c}
	var err error
	// When ctx ends, the bridge is shut down in good order, so that it can be seen how everything ended.
	c.client, err = editor.Launch(context.WithoutCancel(ctx), cmd, editor.Handler{
		Notification: func(method string, params json.RawMessage) {
			params = bytes.Clone(params)
			c.post(func() { c.t.notified(method, params) })
		},
		Permission: func(ctx context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			return put(ctx, c, p, c.asker.permission)
		},
		Question: func(ctx context.Context, q rpc.QuestionParams) (editor.Answers, error) {
			return put(ctx, c, q, c.asker.question)
		},
	}, editor.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, initializeLimit)
	defer cancel()
	r, err := c.client.Initialize(ctx, editor.InitializeParams{
		ClientInfo: rpc.Peer{Name: "drawbridge chat", Version: o.Version}, ProcessID: os.Getpid(), CWD: o.CWD,
		Capabilities: rpc.Capabilities{Streaming: true, Permissions: true, Progress: true, Thinking: true, Questions: true},
		Options:      map[string]any{"trusted": o.Trusted, "prewarm": true},
	})
	if err != nil {
		return err
	}
	c.session = r.SessionID
	return nil
}

const initializeLimit = 20 * time.Second

// put asks the user and waits for the answer.
func put[P, A any](ctx context.Context, c *conversation, p P, ask func(context.Context, P, func(A))) (A, error) {
	reply := make(chan A, 1)
	c.post(func() {
		if ctx.Err() == nil { // it may have been taken back before it could be shown
			ask(ctx, p, func(a A) { reply <- a })
		}
	})
	select {
	case a := <-reply:
		return a, nil
	case <-ctx.Done():
		c.post(func() {}) // so that it is taken off the screen
	case <-c.over:
	}
	var none A
	return none, errors.New("nobody can be asked")
}

// lastWords shows what the bridge writes to its stderr. Waiting for the process waits for it.
type lastWords struct {
	c    *conversation
	line []byte
}

func (l *lastWords) Write(b []byte) (int, error) {
	const longest = 64 << 10
	for _, part := range bytes.SplitAfter(b, []byte("\n")) {
		l.line = append(l.line, part...)
		if whole := bytes.HasSuffix(part, []byte("\n")); whole || len(l.line) > longest {
			text := string(bytes.TrimSpace(l.line))
			l.line = l.line[:0]
			l.c.post(func() {
				if text != "" && (l.c.t.noticed == "" || !strings.HasSuffix(text, l.c.t.noticed)) {
					l.c.t.notice(rpc.NoticeParams{Message: text})
				}
			})
		}
	}
	return len(b), nil
}

// send says text to Claude. Its turn may have to wait.
func (c *conversation) send(text string) {
	id := uuid.NewString()
	c.t.sent = append(c.t.sent, said{id, text})
	c.waiting++
	go func() {
		r, err := c.client.Send(context.Background(), editor.Message{SessionID: c.session, UserMessageID: id, Content: text})
		c.post(func() {
			c.waiting--
			var refused *editor.Error
			switch {
			case err == nil:
				c.failed = c.failed || r.Status == "failed"
				c.t.answered(r)
			case errors.As(err, &refused):
				c.t.takeSent(id)
				c.failed = true
				c.t.section("turn")
				c.t.failed(&bridge.Error{Message: refused.Message, Remedy: refused.Remedy})
			}
			// Any other error is the end of the connection, which is told once.
		})
	}()
}

// interrupt stops the running turn.
func (c *conversation) interrupt() {
	go func() { _ = c.client.Interrupt(context.Background(), c.session) }()
}

// shutdown ends the bridge, and does what work that makes.
func (c *conversation) shutdown() error {
	if c.client == nil {
		return nil
	}
	ended := make(chan error, 1)
	go func() { ended <- c.client.Shutdown(context.Background()) }()
	for {
		select {
		case f := <-c.work:
			f()
		case err := <-ended:
			c.drain()
			return err
		}
	}
}

// drain does the work that waits, so that a flood of tokens is drawn a few times and not token by token.
func (c *conversation) drain() {
	for range backlog {
		select {
		case f := <-c.work:
			f()
		default:
			return
		}
	}
}
