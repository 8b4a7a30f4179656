package bridge

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters"
	"drawbridge/adapters/scripted"
)

// stage is a bridge whose CLI is the scripted agent, in-process over io.Pipe, and whose editor is a log of what it was told.
type stage struct {
	t       *testing.T
	bridge  *Bridge
	session *Session
	cli     *stageCLI
	editor  *logClient
}

// play runs f on a stage with the script, in a synctest bubble: time passes only when everybody waits.
func play(t *testing.T, script string, f func(*stage)) {
	t.Helper()
	playWith(t, script, SessionOptions{}, f)
}

func playWith(t *testing.T, script string, o SessionOptions, f func(*stage)) {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	o.CWD = t.TempDir()
	o.Trusted, o.Streaming, o.CanAsk, o.CanAnswer = true, true, true, true
	synctest.Test(t, func(t *testing.T) {
		g := &stage{t: t, cli: &stageCLI{script: parsed, version: "2.1.329"}, editor: &logClient{}}
		g.bridge = New(Options{Client: g.editor, CLI: g.cli, Version: "test"})
		g.session, err = g.bridge.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		f(g)
		g.bridge.Close(context.Background())
		synctest.Wait()
	})
}

// say sends a message and waits for its answer, as a front does.
func (g *stage) say(text string) TurnResult {
	g.t.Helper()
	select {
	case r := <-g.send(context.Background(), text):
		return r
	case <-time.After(time.Hour): // of the bubble's time
		g.t.Errorf("no answer to %q:\n%s", text, g.editor.told())
		nothing := ""
		return TurnResult{Result: &nothing}
	}
}

// send sends a message; the answer comes through the channel.
func (g *stage) send(ctx context.Context, text string) <-chan TurnResult {
	g.t.Helper()
	turn, err := g.session.Begin(UserMessage{Content: quoted(text)})
	if err != nil {
		g.t.Fatal(err)
	}
	answer := make(chan TurnResult, 1)
	go func() {
		r := turn.Wait(ctx)
		g.editor.log("answer %s %s", r.Status, r.StopReason)
		turn.Answered()
		answer <- r
	}()
	return answer
}

func quoted(s string) []byte { return []byte(fmt.Sprintf("%q", s)) }

// stageCLI starts scripted agents.
type stageCLI struct {
	script  *scripted.Script
	version string

	mu     sync.Mutex
	starts []Launch
	procs  []*stageProcess
	broken *Error // Find fails with it
}

func (c *stageCLI) Known() ClaudeCode { return ClaudeCode{Level: "unknown"} }

func (c *stageCLI) Find(context.Context, string) (Found, *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return Found{ClaudeCode: ClaudeCode{Level: "missing"}}, c.broken
	}
	return Found{ClaudeCode: ClaudeCode{Version: c.version, Level: "fully_compatible"}, Argv: []string{"claude"}}, nil
}

func (c *stageCLI) Start(l Launch) (Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = append(c.starts, l)
	p := &stageProcess{signals: make(chan os.Signal, 1), done: make(chan struct{})}
	var in *io.PipeReader
	var out, err *io.PipeWriter
	in, p.stdin = io.Pipe()
	p.stdout, out = io.Pipe()
	p.stderr, err = io.Pipe()
	ctx, kill := context.WithCancel(context.Background())
	p.kill = kill
	agent := scripted.Agent{Script: c.script, Args: l.Argv[1:], Dir: l.Dir, Signals: p.signals, Kill: kill, Number: len(c.starts)}
	go func() {
		defer close(p.done)
		p.code = agent.Run(ctx, in, out, err)
	}()
	c.procs = append(c.procs, p)
	return p, nil
}

type stageProcess struct {
	stdin          *io.PipeWriter
	stdout, stderr *io.PipeReader
	signals        chan os.Signal
	kill           func()
	done           chan struct{}
	code           int
}

func (p *stageProcess) Stdin() io.WriteCloser { return p.stdin }
func (p *stageProcess) Stdout() io.Reader     { return p.stdout }
func (p *stageProcess) Stderr() io.Reader     { return p.stderr }
func (p *stageProcess) Kill() error           { p.kill(); return nil }
func (p *stageProcess) Pid() int              { return 1 }

func (p *stageProcess) Terminate() error {
	select {
	case p.signals <- syscall.SIGTERM:
	default:
	}
	return nil
}

func (p *stageProcess) Wait() Exit {
	<-p.done
	if p.code == 137 {
		return Exit{Code: 137, Signal: "killed"}
	}
	return Exit{Code: p.code}
}

// logClient writes down what it is told, one line a thing, and answers prompts with its funcs.
type logClient struct {
	permission func(context.Context, *Prompt) (Decision, error)
	question   func(context.Context, *Prompt) (Answers, error)
	resolved   func(PromptResolved) // told of each, if it is set

	mu    sync.Mutex
	lines []string
	texts strings.Builder // the tokens, joined
}

func (c *logClient) log(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// told is everything so far; filtered by prefixes, if there are any.
func (c *logClient) told(prefixes ...string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, l := range c.lines {
		for _, p := range prefixes {
			if strings.HasPrefix(l, p) {
				b.WriteString(l + "\n")
				break
			}
		}
		if len(prefixes) == 0 {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

func (c *logClient) Message(s *Session, m *adapters.Message) error {
	if m.Discarded != nil {
		c.log("discarded %d", m.Discarded.FromBlock)
	}
	switch m.Kind {
	case adapters.Token:
		c.mu.Lock()
		c.texts.WriteString(m.Text.String())
		c.mu.Unlock()
	case adapters.Assistant:
		for _, b := range m.Blocks {
			switch b.Type {
			case "text":
				c.log("text %s", b.Text.String())
			case "tool_use":
				c.log("tool %s", b.ToolUse.Name)
			}
		}
	case adapters.ToolResults:
		for _, r := range m.Results {
			word := "ok"
			switch {
			case r.Denied:
				word = "denied"
			case r.Interrupted:
				word = "interrupted"
			case r.IsError:
				word = "error"
			}
			c.log("result %s", word)
		}
	}
	return nil
}

func (c *logClient) Event(s *Session, e Event) error {
	switch e := e.(type) {
	case TurnStarted:
		c.log("turn_start %s", e.Origin)
	case TurnCompleted:
		c.log("turn_complete %s %s", e.Origin, e.Status)
	case UsageReported:
		c.log("usage")
	case StateChanged:
		if e.State.QuietMS > 0 {
			c.log("state %s %d", e.State.State, e.State.QuietMS)
			break
		}
		c.log("state %s", e.State.State)
	case SessionChanged:
		if e.Update.Queue != nil {
			c.log("queue %d", len(*e.Update.Queue))
		}
		if e.Update.PermissionMode != nil {
			c.log("mode %s", *e.Update.PermissionMode)
		}
	case ToolAnnounced:
		c.log("tool %s", e.ToolUse.Name)
	case PromptResolved:
		c.log("prompt_resolved %s by %s", e.Outcome, e.By)
		if c.resolved != nil {
			c.resolved(e)
		}
		if e.Input != nil && e.Outcome == "allowed" {
			c.log("input %s", e.Input)
		}
	case ToolDecided:
		c.log("decided %s by %s %s", e.Decision, e.By, e.Rule)
	case Notice:
		c.log("notice %s %s", e.Level, e.Kind)
	}
	return nil
}

func (c *logClient) Flush(*Session) error { return nil }

func (c *logClient) Permission(ctx context.Context, s *Session, p *Prompt) (Decision, error) {
	c.log("asked %s", p.View.Title)
	if c.permission == nil {
		<-ctx.Done()
		c.log("taken back")
		return Decision{}, ctx.Err()
	}
	return c.permission(ctx, p)
}

func (c *logClient) Question(ctx context.Context, s *Session, p *Prompt) (Answers, error) {
	c.log("asked %s", p.Questions[0].Question)
	if c.question == nil {
		<-ctx.Done()
		c.log("taken back")
		return Answers{}, ctx.Err()
	}
	return c.question(ctx, p)
}

func allow(_ context.Context, p *Prompt) (Decision, error) {
	return Decision{PromptID: p.ID, Decision: "allow"}, nil
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.TrimSpace(want))
	}
}
