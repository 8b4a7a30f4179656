package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"drawbridge/adapters/scripted"
	"drawbridge/bridge"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// editor is the other end of a server whose CLI is the scripted agent. It speaks one JSON value per line.
type editor struct {
	t      *testing.T
	cli    *stageCLI
	in     *io.PipeWriter
	frames chan string // what the server has sent; closed when it sends no more
	exit   chan Exit
	nextID int
}

// patience is how long a frame may take before a test gives up: nothing here takes long, but the machine may be busy.
const patience = 20 * time.Second

// connect starts a server with the script.
func connect(t *testing.T, script string, change ...func(*Options)) *editor {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, cli: &stageCLI{script: parsed}, frames: make(chan string, 10000), exit: make(chan Exit, 1)}
	o := Options{Bridge: bridge.Options{CLI: e.cli, Version: "test"}, Session: bridge.SessionOptions{CWD: t.TempDir(), Trusted: true}}
	for _, f := range change {
		f(&o)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	e.in = toServer
	go func() { e.exit <- Serve(context.Background(), in, out, o) }()
	go func() {
		defer close(e.frames)
		lines := bufio.NewReader(fromServer)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			e.frames <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() { e.hangUp() })
	return e
}

// hangUp ends the input and waits for the server to be gone.
func (e *editor) hangUp() Exit {
	e.t.Helper()
	_ = e.in.Close()
	for {
		select {
		case x := <-e.exit:
			e.exit <- x
			for range e.frames { // until the output is closed
			}
			return x
		case <-e.frames:
		case <-time.After(patience):
			e.t.Fatal("the server does not end")
		}
	}
}

func (e *editor) send(frame string) {
	e.t.Helper()
	if _, err := io.WriteString(e.in, frame+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

// request sends a request and returns its id.
func (e *editor) request(method, params string) int {
	e.t.Helper()
	e.nextID++
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.nextID, method, params))
	return e.nextID
}

func (e *editor) next() string {
	e.t.Helper()
	select {
	case frame, ok := <-e.frames:
		if !ok {
			e.t.Fatal("the server has hung up")
		}
		return frame
	case <-time.After(patience):
		e.t.Fatal("the server is silent")
	}
	return ""
}

// message is a frame of the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	frame string
}

func (m message) into(t *testing.T, v any) {
	t.Helper()
	raw := m.Params
	if m.Method == "" {
		raw = m.Result
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%v in %s", err, m.frame)
	}
}

func (e *editor) message() message {
	e.t.Helper()
	frame := e.next()
	m := message{frame: frame}
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		e.t.Fatalf("not JSON: %s", frame)
	}
	return m
}

// answer skips what comes before the answer to the request id.
func (e *editor) answer(id int) message {
	e.t.Helper()
	for {
		if m := e.message(); m.Method == "" && string(m.ID) == fmt.Sprint(id) {
			return m
		}
	}
}

// until skips what comes before the method.
func (e *editor) until(method string) message {
	e.t.Helper()
	for {
		if m := e.message(); m.Method == method {
			return m
		}
	}
}

// call sends a request and returns its answer.
func (e *editor) call(method, params string) message {
	e.t.Helper()
	return e.answer(e.request(method, params))
}

// everything is a client that can do all there is.
const everything = `{"protocol_version":"1.0","client_info":{"name":"test"},"capabilities":{"streaming":true,"permissions":true,` +
	`"progress":true,"thinking":true,"questions":true,"diffs":true}}`

// initialize makes the connection ready and returns the id of the default session.
func (e *editor) initialize(params string) string {
	e.t.Helper()
	m := e.call("initialize", params)
	if m.Error != nil {
		e.t.Fatalf("initialize: %s", m.frame)
	}
	var r struct {
		SessionID    string `json:"session_id"`
		Capabilities struct {
			Experimental struct {
				Drawbridge InitializeResult `json:"drawbridge"`
			} `json:"experimental"`
		} `json:"capabilities"`
	}
	m.into(e.t, &r)
	return r.SessionID + r.Capabilities.Experimental.Drawbridge.SessionID
}

// say sends a user message and returns the id of the request.
func (e *editor) say(text string) int {
	return e.request("user_message", fmt.Sprintf(`{"content":%q}`, text))
}

// wantError fails unless m is an error with this code and kind.
func wantError(t *testing.T, m message, code int, kind string) {
	t.Helper()
	if m.Error == nil || m.Error.Code != code || !strings.Contains(string(m.Error.Data), `"kind":"`+kind+`"`) {
		t.Errorf("got %s, want error %d of kind %s", m.frame, code, kind)
	}
}

// stageCLI starts scripted agents in-process.
type stageCLI struct {
	script *scripted.Script

	mu     sync.Mutex
	starts []bridge.Launch
}

func (c *stageCLI) Known() bridge.ClaudeCode {
	return bridge.ClaudeCode{Level: "unknown", Message: "not looked for yet"}
}

func (c *stageCLI) Find(context.Context, string) (bridge.Found, *bridge.Error) {
	return bridge.Found{ClaudeCode: bridge.ClaudeCode{Version: c.script.Version(), Level: "fully_compatible", Message: "scripted"}, Argv: []string{"claude"}}, nil
}

func (c *stageCLI) Start(l bridge.Launch) (bridge.Process, error) {
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

func (p *stageProcess) Wait() bridge.Exit {
	<-p.done
	return bridge.Exit{Code: p.code}
}
