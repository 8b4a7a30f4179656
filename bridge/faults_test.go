package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters"
)

// A CLI whose every line the test writes itself, for what the scripted agent would never do.

// hostile runs f with a CLI that says what f makes it say.
func hostile(t *testing.T, f func(*stage, *hostileCLI)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cli := &hostileCLI{version: "2.1.329", heard: make(chan hostLine, 1000), started: make(chan struct{}, 100)}
		g := &stage{t: t, editor: &logClient{}}
		g.bridge = New(Options{Client: g.editor, CLI: cli, Version: "test"})
		var err error
		g.session, err = g.bridge.Open(SessionOptions{CWD: dir, Trusted: true, Streaming: true, CanAsk: true, CanAnswer: true})
		if err != nil {
			t.Fatal(err)
		}
		f(g, cli)
		g.bridge.Close(context.Background())
		synctest.Wait()
	})
}

// hostileCLI is found at once and does nothing by itself.
type hostileCLI struct {
	version string
	heard   chan hostLine // what it was sent
	started chan struct{}

	launches []Launch
	out, err *io.PipeWriter
	exit     chan Exit
	holdsOut bool // something it has started keeps its output open when it is gone
}

// hostLine is a line of the bridge.
type hostLine struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
		Mode    string `json:"mode"`
		Model   string `json:"model"`
	} `json:"request"`
	Response struct {
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
	} `json:"response"`
}

func (h *hostileCLI) Known() ClaudeCode { return ClaudeCode{Level: "unknown"} }

func (h *hostileCLI) Find(context.Context, string) (Found, *Error) {
	return Found{ClaudeCode: ClaudeCode{Version: h.version, Level: "fully_compatible"}, Argv: []string{"claude"}}, nil
}

func (h *hostileCLI) Start(l Launch) (Process, error) {
	h.launches = append(h.launches, l)
	p := &hostileProcess{cli: h, exit: make(chan Exit, 1), done: make(chan struct{})}
	var in *io.PipeReader
	in, p.stdin = io.Pipe()
	p.stdout, h.out = io.Pipe()
	p.stderr, h.err = io.Pipe()
	h.exit = p.exit
	out, stderr := h.out, h.err
	go func() {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var l hostLine
			_ = json.Unmarshal(lines.Bytes(), &l)
			h.heard <- l
		}
	}()
	go func() {
		p.status = <-p.exit
		_ = in.Close()
		if !h.holdsOut {
			_ = out.Close()
		}
		_ = stderr.Close()
		close(p.done)
	}()
	h.started <- struct{}{}
	return p, nil
}

type hostileProcess struct {
	cli            *hostileCLI
	stdin          *io.PipeWriter
	stdout, stderr *io.PipeReader
	exit           chan Exit
	done           chan struct{}
	status         Exit
}

func (p *hostileProcess) Stdin() io.WriteCloser { return p.stdin }
func (p *hostileProcess) Stdout() io.Reader     { return p.stdout }
func (p *hostileProcess) Stderr() io.Reader     { return p.stderr }
func (p *hostileProcess) Pid() int              { return 1 }
func (p *hostileProcess) Terminate() error      { return nil }
func (p *hostileProcess) Wait() Exit            { <-p.done; return p.status }

func (p *hostileProcess) Kill() error {
	select {
	case p.exit <- Exit{Code: 137, Signal: "killed"}:
	default:
	}
	return nil
}

// die ends it.
func (h *hostileCLI) die(code int) { h.exit <- Exit{Code: code} }

func (h *hostileCLI) say(format string, args ...any) {
	_, _ = fmt.Fprintf(h.out, format+"\n", args...)
}

// hears waits for a line of a type, or a control request of a subtype, and passes the others over.
func (h *hostileCLI) hears(what string) hostLine {
	for l := range h.heard {
		if l.Type == what || l.Request.Subtype == what {
			return l
		}
	}
	return hostLine{}
}

func (h *hostileCLI) agrees(l hostLine, body string) {
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, l.RequestID, body)
}

// ready takes the CLI to where it takes messages.
func (h *hostileCLI) ready() {
	<-h.started
	h.agrees(h.hears("initialize"), `{}`)
}

// begins and ends a turn about the message.
func (h *hostileCLI) begins(message string) {
	h.say(`{"type":"system","subtype":"init","session_id":"c","cwd":"/","model":"m","permissionMode":"default","tools":[],"user_message_uuids":[%q]}`, message)
}

func (h *hostileCLI) ends(message string) {
	h.say(`{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"c","user_message_uuids":[%q],"total_cost_usd":0,"usage":{}}`, message)
}

func TestTheFirstReceiptOfAnInterruptCountsEvenWhenItComesLate(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		go func() { _ = g.session.Interrupt(context.Background(), false) }()
		first := cli.hears("interrupt")
		second := cli.hears("interrupt") // a second later: the CLI was busy
		cli.agrees(first, fmt.Sprintf(`{"still_queued":[],"cancelled":[%q]}`, message))
		cli.agrees(second, `{"still_queued":[],"cancelled":[]}`)
		if r := <-answer; r.Status != "cancelled" {
			t.Errorf("answer %+v", r)
		}
		if told := g.editor.told("notice"); told != "" {
			t.Errorf("a CLI that had ended the turn was stopped: %s", told)
		}
		cli.die(0)
	})
}

func TestASettingMadeWhileClaudeStartsIsInForceInIt(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		g.session.options.PermissionMode = "acceptEdits"
		g.session.Start()
		<-cli.started
		initialize := cli.hears("initialize")
		if args := strings.Join(cli.launches[0].Argv, " "); !strings.Contains(args, "acceptEdits") {
			t.Fatalf("started with %s", args)
		}
		if mode, err := g.session.SetPermissionMode(context.Background(), "default"); err != nil || mode != "default" {
			t.Fatalf("mode %q, %v", mode, err)
		}
		if _, err := g.session.SetModel(context.Background(), "haiku"); err != nil {
			t.Fatal(err)
		}
		answer := g.send(context.Background(), "hello")
		cli.agrees(initialize, `{"current_permission_mode":"acceptEdits"}`)
		var mode, model string
		for {
			l := <-cli.heard
			if l.Type == "user" {
				break
			}
			mode, model = mode+l.Request.Mode, model+l.Request.Model
		}
		if mode != "default" || model != "haiku" {
			t.Errorf("claude was told mode %q, model %q before the message", mode, model)
		}
		if now := *g.session.Snapshot().Update.PermissionMode; now != "default" {
			t.Errorf("the mode is %q", now)
		}
		cli.die(1)
		<-answer
	})
}

func TestARequestToAClaudeThatHasJustEndedFailsAtOnce(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		g.session.Start()
		cli.ready()
		synctest.Wait()
		run := g.session.run
		cli.die(1)
		<-run.done
		began := time.Now()
		_, err := run.call(context.Background(), adapters.Control{Subtype: "mcp_status"}) // had found the run alive a moment before
		if e, ok := err.(*Error); !ok || e.Kind != KindClaudeExited || time.Since(began) > 0 {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
	})
}

func TestAClaudeThatRefusesAFlagBeforeAnyMessageIsStartedAgain(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		g.session.Start()
		<-cli.started
		_, _ = fmt.Fprintln(cli.err, "error: unknown option '--replay-user-messages'")
		cli.die(1)
		cli.ready()
		synctest.Wait()
		if args := strings.Join(cli.launches[1].Argv, " "); strings.Contains(args, "--replay-user-messages") {
			t.Errorf("started again with %s", args)
		}
		if state := g.session.Snapshot().State.State; state != "idle" {
			t.Errorf("the state is %q", state)
		}
		cli.die(0)
	})
}

func TestNonsenseNeitherFillsTheMemoryNorTheEditor(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		g.session.Start()
		cli.ready()
		for i := range 1000 {
			cli.say(`{"type":"x%d%s","message":`, i, strings.Repeat("y", 1000))
		}
		synctest.Wait()
		if n := len(g.session.noticed); n > 100 {
			t.Errorf("%d notices are remembered", n)
		}
		if told := g.editor.told("notice"); strings.Count(told, "\n") > 100 {
			t.Errorf("the editor was told %d times", strings.Count(told, "\n"))
		}
		cli.die(0)
	})
}

func TestAToolsResultEndsTheQuestionAboutIt(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.begins(message)
		cli.say(`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`)
		cli.say(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"}}}`)
		cli.say(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}`)
		cli.ends(message)
		<-answer
		want(t, g.editor.told("asked", "taken", "prompt", "result", "turn_c"), `
asked ls
taken back
prompt_resolved withdrawn by claude
result error
turn_complete user completed`)
		cli.die(0)
	})
}

func TestAClaudeWhoseOutputEndsDoesNotKeepTheTurn(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		answer := g.send(context.Background(), "hello")
		cli.ready()
		cli.hears("user")
		_ = cli.out.Close()
		began := time.Now()
		r := <-answer
		if r.Status != "failed" || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), r)
		}
	})
}

func TestAnOutputThatSomebodyElseHoldsOpenDoesNotKeepTheTurn(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		cli.holdsOut = true
		answer := g.send(context.Background(), "hello")
		cli.ready()
		cli.hears("user")
		cli.die(1)
		began := time.Now()
		r := <-answer
		if r.Status != "failed" || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), r)
		}
	})
}

func TestTheEndOfClaudesOwnTurnTakesItsPromptsBack(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.say(`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`)
		cli.say(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"}}}`)
		cli.say(`{"type":"result","subtype":"success","is_error":false,"result":"own","session_id":"c","origin":{"kind":"task-notification"},"total_cost_usd":0,"usage":{}}`)
		cli.begins(message)
		cli.ends(message)
		<-answer
		want(t, g.editor.told("prompt", "turn"), `
turn_start user
prompt_resolved withdrawn by claude
turn_complete background completed
turn_start user
turn_complete user completed`)
		cli.die(0)
	})
}

func TestTheQuestionOfASubagentsSubagentOutlivesTheTurnThatDidNotWaitForIt(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.begins(message)
		uses := func(parent, id, tool, input string) {
			cli.say(`{"type":"assistant","message":{"id":"m_%s","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]},"parent_tool_use_id":%s}`, id, id, tool, input, parent)
		}
		uses(`null`, "t1", "Agent", `{"description":"look","prompt":"look"}`)
		cli.say(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"launched"}]},"parent_tool_use_id":null,"tool_use_result":{"isAsync":true,"status":"async_launched","agentId":"a1"}}`)
		uses(`"t1"`, "t2", "Agent", `{"description":"deeper","prompt":"deeper"}`)
		uses(`"t2"`, "t3", "Bash", `{"command":"ls"}`)
		cli.say(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t3","agent_id":"a2","input":{"command":"ls"}}}`)
		cli.ends(message)
		if r := <-answer; r.Status != "completed" {
			t.Errorf("answer %+v", r)
		}
		synctest.Wait()
		if told := g.editor.told("prompt_resolved"); told != "" || len(g.session.Snapshot().Prompts) != 1 {
			t.Errorf("its question is gone: %s", told)
		}
		cli.die(0)
	})
}
