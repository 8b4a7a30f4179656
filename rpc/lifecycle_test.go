package rpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/adapters/scripted"
	"drawbridge/bridge"
	"drawbridge/rpc/stream"
)

func TestRequestsBeforeInitializeAreRefused(t *testing.T) {
	e := connect(t, "")
	for _, method := range []string{"user_message", "session_get", "health", "shutdown", "no_such_method"} {
		wantError(t, e.call(method, "{}"), -32002, kindNotInitialized)
	}
	e.initialize(everything)
}

func TestASecondInitializeIsRefused(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	wantError(t, e.call("initialize", everything), -32600, "invalid_request")
	if m := e.call("health", "{}"); m.Error != nil {
		t.Errorf("the connection did not live on: %s", m.frame)
	}
}

func TestInitializeMayBeTriedAgainAfterAnError(t *testing.T) {
	e := connect(t, "")
	wantError(t, e.call("initialize", `{"protocol_version":"2.0"}`), -32602, kindProtocolVersion)
	wantError(t, e.call("initialize", `{"protocol_version":"1.0","cwd":"/no/such/directory"}`), -32803, "invalid_cwd")
	e.initialize(everything)
}

func TestUnknownMethods(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	for _, method := range []string{"no_such_method", "session_fork"} {
		wantError(t, e.call(method, "{}"), -32601, "method_not_found")
	}
	e.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"x":1}}`)
	if m := e.call("health", "{}"); m.Error != nil {
		t.Errorf("an unknown notification was not ignored: %s", m.frame)
	}
}

func TestNothingComesBeforeTheAnswerToInitialize(t *testing.T) {
	for range 50 {
		e := connect(t, "", func(o *Options) { o.Prewarm = true })
		// All in one write, so that the requests are there while initialize is being answered.
		e.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + everything + `}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"session_get"}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"user_message","params":{"content":"hello"}}` + "\n" +
			`{"jsonrpc":"2.0","id":4,"method":"nonsense"}`)
		if m := e.message(); string(m.ID) != "1" || m.Method != "" {
			t.Fatalf("first came %s", m.frame)
		}
		e.answer(3)
		e.hangUp()
	}
}

func TestShutdownAnswersEverythingFirst(t *testing.T) {
	e := connect(t, "-- default --\ntext working\nhang\n")
	e.initialize(everything)
	first, second := e.say("one"), e.say("two")
	e.until(assistantToken)
	shutdown := e.request("shutdown", "null")
	after := e.request("health", "{}")
	answers := map[string]string{}
	for len(answers) < 4 {
		m := e.message()
		if m.Method != "" {
			continue
		}
		answers[string(m.ID)] = m.frame
		if string(m.ID) == fmt.Sprint(shutdown) {
			if string(m.Result) != "null" {
				t.Errorf("shutdown answered %s", m.frame)
			}
			if answers[fmt.Sprint(first)] == "" || answers[fmt.Sprint(second)] == "" {
				t.Error("shutdown was answered before the user messages")
			}
		}
	}
	for _, id := range []int{first, second} {
		if !strings.Contains(answers[fmt.Sprint(id)], `"status":"cancelled"`) {
			t.Errorf("user message %d: %s", id, answers[fmt.Sprint(id)])
		}
	}
	if !strings.Contains(answers[fmt.Sprint(after)], `"code":-32600`) {
		t.Errorf("after shutdown: %s", answers[fmt.Sprint(after)])
	}
	e.send(`{"jsonrpc":"2.0","method":"exit"}`)
	if x := <-e.exit; !x.Shutdown || x.InputEnded || x.Err != nil {
		t.Errorf("exit: %+v", x)
	} else {
		e.exit <- x
	}
}

func TestExitWithoutShutdownSaysSo(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	e.send(`{"jsonrpc":"2.0","method":"exit"}`)
	x := <-e.exit
	if x.Shutdown || x.InputEnded || !x.Initialized {
		t.Errorf("exit: %+v", x)
	}
	e.exit <- x
}

func TestRequestsInFlightAreAnsweredWhenTheInputEnds(t *testing.T) {
	e := connect(t, "-- default --\ntext working\nhang\n")
	e.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + everything + `}`)
	e.send(`{"jsonrpc":"2.0","id":2,"method":"user_message","params":{"content":"hello"}}`)
	_ = e.in.Close()
	e.answer(1)
	if m := e.answer(2); !strings.Contains(string(m.Result), `"status":"cancelled"`) {
		t.Errorf("got %s", m.frame)
	}
	if x := e.hangUp(); !x.InputEnded || x.Shutdown {
		t.Errorf("exit: %+v", x)
	}
}

func TestParamsMayBeAbsentNullOrALuaTable(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	e.send(`{"jsonrpc":"2.0","id":"a","method":"session_get"}`)
	for _, params := range []string{"null", "[]", "[null]", "[ ]", "{}"} {
		if m := e.call("session_get", params); m.Error != nil {
			t.Errorf("params %s: %s", params, m.frame)
		}
	}
	if m := e.call("session_new", `{"env":[],"add_dirs":{}}`); m.Error != nil {
		t.Errorf("empty Lua tables: %s", m.frame)
	}
	wantError(t, e.call("session_get", `{"session_id":5}`), -32602, "invalid_params")
	wantError(t, e.call("session_get", `[1]`), -32602, "invalid_params")
	wantError(t, e.call("session_get", `{"session_id":"nobody"}`), -32803, "session_not_found")
}

func TestAPanicIsAnErrorAndTheConnectionLives(t *testing.T) {
	methods["panic"] = method{handle: func(*Server, *call) (any, error) { panic("ouch") }}
	methods["panic_later"] = method{handle: func(_ *Server, c *call) (any, error) { c.async(); panic("ouch") }, flags: async}
	defer delete(methods, "panic")
	defer delete(methods, "panic_later")
	e := connect(t, "")
	e.initialize(everything)
	wantError(t, e.call("panic", "{}"), -32603, "internal")
	wantError(t, e.call("panic_later", "{}"), -32603, "internal")
	e.send(`{"jsonrpc":"2.0","method":"panic"}`)
	if m := e.call("health", "{}"); m.Error != nil {
		t.Errorf("got %s", m.frame)
	}
}

func TestABadNotificationDoesNotEndTheConnection(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	e.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":"nonsense"}`)
	e.send(`{"jsonrpc":"2.0","method":"$/setTrace","params":[1,2]}`)
	e.send(`{"jsonrpc":"2.0","method":"user_message","params":{"content":"no id"}}`)
	if m := e.call("health", "{}"); m.Error != nil {
		t.Errorf("got %s", m.frame)
	}
}

func TestSettingsTakeEffectInTheOrderTheyAreSent(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	for range 20 {
		e.request("set_permission_mode", `{"mode":"plan"}`)
		e.request("set_permission_mode", `{"mode":"acceptEdits"}`)
		last := e.request("set_permission_mode", `{"mode":"default"}`)
		e.answer(last)
		var s SessionState
		e.call("session_get", "{}").into(t, &s)
		if *s.PermissionMode != "default" {
			t.Fatalf("the mode is %s", *s.PermissionMode)
		}
	}
}

// A synchronous handler's request is reused as soon as it has returned, and a context derived from it would read the next one's
// memory. Under -race this fails if any handler does so.
func TestNoContextIsDerivedFromARequestOnTheReader(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	var ids []int
	for i := range 300 {
		ids = append(ids, e.request("session_get", "{}"), e.request("interrupt", "{}"))
		e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, ids[2*i]))
	}
	for range ids {
		if m := e.message(); m.Error != nil {
			t.Fatal(m.frame)
		}
	}
}

func TestOnlyAnAncestorIsWatched(t *testing.T) {
	if _, ok := ancestor(os.Getppid()); !ok {
		t.Error("the parent is no ancestor")
	}
	for _, pid := range []int{os.Getpid(), 0, -1, 1 << 30} {
		if _, ok := ancestor(pid); ok {
			t.Errorf("%d is taken for an ancestor", pid)
		}
	}
}

func TestHeadersAreAnsweredWithHeaders(t *testing.T) {
	e := connect(t, "", func(o *Options) { o.Framing = stream.Auto })
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + everything + `}`
	e.send(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	if header := e.next(); !strings.HasPrefix(header, "Content-Length: ") {
		t.Errorf("got %s", header)
	}
}

// An editor that has stopped reading cannot keep the bridge, or claude, alive.
func TestAnEditorThatDoesNotReadCannotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	parsed, err := scripted.Parse([]byte("-- default --\ntokens 100000\nhang\n"))
	if err != nil {
		t.Fatal(err)
	}
	cli := &stageCLI{script: parsed}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	exit := make(chan Exit)
	go func() {
		exit <- Serve(context.Background(), in, out, Options{Bridge: bridge.Options{CLI: cli}, Session: bridge.SessionOptions{CWD: t.TempDir(), Trusted: true}})
	}()
	lines := bufio.NewReader(fromServer)
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + everything + `}`,
		`{"jsonrpc":"2.0","id":2,"method":"user_message","params":{"content":"go"}}`,
	} {
		if _, err := io.WriteString(toServer, frame+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, assistantToken) {
			break // and nobody reads any more
		}
	}
	_ = toServer.Close()
	select {
	case x := <-exit:
		if !x.InputEnded {
			t.Errorf("exit: %+v", x)
		}
	case <-time.After(2 * patience):
		t.Fatal("the server does not end")
	}
	_ = fromServer.Close()
}

// The editor is killed, and something else still holds the pipe open: a shell stands for the editor here.
func TestTheBridgeEndsWithTheEditorsProcess(t *testing.T) {
	if os.Getenv("DRAWBRIDGE_TEST_SERVE") != "" {
		Serve(context.Background(), os.Stdin, os.Stdout, Options{Bridge: bridge.Options{CLI: &stageCLI{}}})
		os.Exit(0)
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Parallel()
	// The server runs below the shell, which waits.
	shell := exec.Command("sh", "-c", `"$0" -test.run=TestTheBridgeEndsWithTheEditorsProcess <&3 & wait`, os.Args[0])
	shell.Env = append(os.Environ(), "DRAWBRIDGE_TEST_SERVE=1")
	stdin, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer toServer.Close()
	defer stdin.Close()
	shell.ExtraFiles = []*os.File{stdin}
	fromServer, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer fromServer.Close()
	shell.Stdout = out
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0","process_id":%d}}`+"\n", shell.Process.Pid)
	lines := bufio.NewReader(fromServer)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Fatalf("got %q, %v", line, err)
	}
	_ = shell.Process.Kill()
	_ = shell.Wait()
	_ = fromServer.SetReadDeadline(time.Now().Add(patience))
	if rest, err := io.ReadAll(lines); err != nil { // the end of the server's output
		t.Fatalf("the server lives on: %q, %v", rest, err)
	}
}
