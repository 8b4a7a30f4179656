package editor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"drawbridge/rpc"
	"drawbridge/rpc/stream"
)

func TestNotificationsAreHandledInTheOrderOfTheWireAndBeforeTheAnswer(t *testing.T) {
	const tokens = 1000
	var got []string
	s := connect(t, Handler{Notification: func(method string, params json.RawMessage) {
		got = append(got, method+string(params)) // no lock: the answer comes after the last one
	}})
	go func() {
		f := s.receive()
		for i := range tokens {
			s.send(`{"jsonrpc":"2.0","method":"assistant_token","params":%d}`, i)
		}
		s.send(`{"jsonrpc":"2.0","id":%s,"result":{"status":"completed"}}`, f.ID)
	}()
	turn, err := s.client.UserMessage(context.Background(), "", "hello")
	if err != nil || turn.Status != "completed" {
		t.Fatalf("got %+v, %v", turn, err)
	}
	if len(got) != tokens {
		t.Fatalf("%d notifications were handled before the answer, want %d", len(got), tokens)
	}
	for i, g := range got {
		if want := fmt.Sprintf("assistant_token%d", i); g != want {
			t.Fatalf("notification %d is %s, want %s", i, g, want)
		}
	}
}

func TestPromptsAreOpenSideBySideAndAnsweredInAnyOrder(t *testing.T) {
	asked := make(chan string)
	answers := map[string]chan Decision{"p_1": make(chan Decision), "p_2": make(chan Decision), "p_3": make(chan Decision)}
	noted := make(chan string, 1)
	s := connect(t, Handler{
		Permission: func(_ context.Context, p rpc.PermissionParams) (Decision, error) {
			asked <- p.PromptID
			return <-answers[p.PromptID], nil
		},
		Notification: func(method string, _ json.RawMessage) { noted <- method },
	})
	for i := 1; i <= 3; i++ {
		s.send(`{"jsonrpc":"2.0","id":%d,"method":"permission_request","params":{"prompt_id":"p_%d","tool":"Bash"}}`, i, i)
	}
	open := []string{receive(t, asked), receive(t, asked), receive(t, asked)}
	slices.Sort(open)
	if !slices.Equal(open, []string{"p_1", "p_2", "p_3"}) {
		t.Fatalf("asked %v", open)
	}
	s.send(`{"jsonrpc":"2.0","method":"tool_progress","params":{}}`)
	if m := receive(t, noted); m != "tool_progress" {
		t.Fatalf("got %s", m)
	}
	answers["p_3"] <- Decision{PromptID: "p_3", Decision: Allow, UpdatedInput: json.RawMessage(`{"command":"ls"}`)}
	s.want(`{"jsonrpc":"2.0","id":3,"result":{"prompt_id":"p_3","decision":"allow","updated_input":{"command":"ls"}}}`)
	answers["p_1"] <- Decision{PromptID: "p_1", Decision: Deny, Message: "no"}
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"prompt_id":"p_1","decision":"deny","message":"no"}}`)
	answers["p_2"] <- Decision{PromptID: "p_2", Decision: Allow, Scope: "session"}
	s.want(`{"jsonrpc":"2.0","id":2,"result":{"prompt_id":"p_2","decision":"allow","scope":"session"}}`)
}

func TestAPromptThatIsTakenBackEndsAndNoOtherDoes(t *testing.T) {
	ended := make(chan string)
	asked := make(chan string)
	stay := make(chan struct{})
	s := connect(t, Handler{
		Question: func(ctx context.Context, q rpc.QuestionParams) (Answers, error) {
			asked <- q.PromptID
			<-ctx.Done()
			ended <- q.PromptID
			return Answers{Declined: true}, nil
		},
		Permission: func(ctx context.Context, p rpc.PermissionParams) (Decision, error) {
			asked <- p.PromptID
			<-stay
			return Decision{PromptID: p.PromptID, Decision: Allow}, ctx.Err()
		},
	})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"permission_request","params":{"prompt_id":"p_1"}}`)
	receive(t, asked)
	s.send(`{"jsonrpc":"2.0","id":2,"method":"ask_user_question","params":{"prompt_id":"p_2","questions":[{"question":"?"}]}}`)
	receive(t, asked)
	s.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`)
	s.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}`)
	s.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":"nonsense"}`)
	if p := receive(t, ended); p != "p_2" {
		t.Fatalf("%s ended", p)
	}
	if f := s.receive(); string(f.ID) != "2" || f.Error == nil || f.Error.Code != -32800 {
		t.Fatalf("the editor sent %s", f.text)
	}
	close(stay)
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"prompt_id":"p_1","decision":"allow"}}`)
}

// A withdrawal right behind its request must find it, however late the handler's goroutine gets to run.
func TestAWithdrawalRightBehindItsRequestIsNotLost(t *testing.T) {
	s := connect(t, Handler{Permission: func(ctx context.Context, _ rpc.PermissionParams) (Decision, error) {
		<-ctx.Done()
		return Decision{}, ctx.Err()
	}})
	for i := 1; i <= 100; i++ {
		s.send(`{"jsonrpc":"2.0","id":%d,"method":"permission_request","params":{}}`+"\n"+
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i, i)
		if f := s.receive(); f.Error == nil || f.Error.Code != -32800 {
			t.Fatalf("the editor sent %s", f.text)
		}
	}
}

func TestWhatTheEditorCannotDoIsRefused(t *testing.T) {
	s := connect(t, Handler{Permission: func(context.Context, rpc.PermissionParams) (Decision, error) {
		return Decision{}, errors.New("the window is gone")
	}})
	for id, c := range map[int]struct {
		request string
		code    int
	}{
		1: {`"method":"ask_user_question","params":{}`, -32601},
		2: {`"method":"elicitation"`, -32601},
		3: {`"method":"permission_request","params":[1]`, -32602},
	} {
		s.send(`{"jsonrpc":"2.0","id":%d,%s}`, id, c.request)
		if f := s.receive(); f.Error == nil || f.Error.Code != c.code {
			t.Errorf("%s: the editor sent %s", c.request, f.text)
		}
	}
	s.send(`{"jsonrpc":"2.0","id":4,"method":"permission_request","params":{}}`)
	if f := s.receive(); f.Error == nil {
		t.Errorf("an error of the handler: the editor sent %s", f.text)
	}
}

func TestOtherRequestsReachTheHandler(t *testing.T) {
	s := connect(t, Handler{Request: func(_ context.Context, method string, params json.RawMessage) (any, error) {
		return map[string]string{"title": method + string(params)}, nil
	}})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"window/showMessageRequest","params":[7]}`)
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"title":"window/showMessageRequest[7]"}}`)
}

func TestInitializeSaysOnlyWhatWasSaid(t *testing.T) {
	s := connect(t, Handler{})
	go func() {
		s.want(`{"jsonrpc":"2.0","method":"initialize","params":{"protocol_version":"1.0","client_info":{"name":"test"},` +
			`"capabilities":{"streaming":true,"permissions":false,"progress":false,"thinking":false,"questions":false,"diffs":false,` +
			`"raw_events":false},"options":{"trusted":true}},"id":1}`)
		s.send(`{"jsonrpc":"2.0","id":1,"result":{"protocol_version":"1.0","session_id":"s_1","unknown":[]}}`)
	}()
	p := InitializeParams{ClientInfo: rpc.Peer{Name: "test"}, Options: map[string]any{"trusted": true}}
	p.Capabilities.Streaming = true
	r, err := s.client.Initialize(context.Background(), p)
	if err != nil || r.SessionID != "s_1" {
		t.Fatalf("got %+v, %v", r, err)
	}
	s.want(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
}

func TestAnErrorOfTheBridgeHasItsKindAndRemedy(t *testing.T) {
	s := connect(t, Handler{})
	go func() {
		s.receive()
		s.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32803,"message":"There is no session.","data":{"kind":"session_not_found","remedy":"Open one."}}}`)
	}()
	_, err := s.client.UserMessage(context.Background(), "s_9", "hello")
	var e *Error
	if !errors.As(err, &e) || e.Code != -32803 || e.Kind != "session_not_found" || e.Remedy != "Open one." || e.Error() != "There is no session." {
		t.Fatalf("got %#v", err)
	}
}

func TestACallWhoseContextEndsIsTakenBack(t *testing.T) {
	s := connect(t, Handler{})
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- s.client.Call(ctx, "context_usage", nil, nil) }()
	if f := s.receive(); string(f.ID) != "1" {
		t.Fatalf("got %s", f.text)
	}
	cancel()
	if err := receive(t, result); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
}

func TestTheEndOfTheInputEndsPromptsAndCalls(t *testing.T) {
	asked := make(chan struct{})
	promptEnded := make(chan struct{})
	s := connect(t, Handler{Permission: func(ctx context.Context, _ rpc.PermissionParams) (Decision, error) {
		close(asked)
		<-ctx.Done()
		close(promptEnded)
		return Decision{}, ctx.Err()
	}})
	result := make(chan error)
	go func() { result <- s.client.Call(context.Background(), "health", nil, nil) }()
	s.receive()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"permission_request","params":{}}`)
	receive(t, asked)
	go func() { _, _ = io.Copy(io.Discard, s.in) }()
	_ = s.out.Close()
	receive(t, promptEnded)
	if err := receive(t, result); err == nil {
		t.Error("the call was answered")
	}
	receive(t, s.client.Ended())
	if err := s.client.Call(context.Background(), "health", nil, nil); err == nil {
		t.Error("a call after the end was answered")
	}
}

func TestTheEndOfTheContextHangsUp(t *testing.T) {
	toBridge, fromEditor := io.Pipe()
	toEditor, fromBridge := io.Pipe()
	defer fromBridge.Close()
	ctx, cancel := context.WithCancel(context.Background())
	c := Connect(ctx, toEditor, fromEditor, Handler{}, Options{})
	cancel()
	if _, err := toBridge.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the bridge reads %v, want the end of its input", err)
	}
	receive(t, c.Ended())
}

func TestHeadersAreSentWhenTheFramingIsLSP(t *testing.T) {
	s := connectWith(t, Handler{}, Options{Framing: stream.LSP})
	if err := s.client.Notify(context.Background(), "exit", nil); err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","method":"exit"}`
	want := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(bufio.NewReader(s.in), got); err != nil || string(got) != want {
		t.Errorf("the editor sent %q, %v", got, err)
	}
}

// launch starts this test's own binary as a bridge.
func launch(t *testing.T, part string, o Options) *Client {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EDITOR_TEST_BRIDGE="+part)
	cmd.Stderr = os.Stderr
	c, err := Launch(context.Background(), cmd, Handler{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { <-c.Ended() })
	return c
}

func TestShutdownWaitsForTheProcess(t *testing.T) {
	c := launch(t, "good", Options{})
	r, err := c.Initialize(context.Background(), InitializeParams{})
	if err != nil || r.SessionID != "s_1" {
		t.Fatalf("got %+v, %v", r, err)
	}
	if err := c.Shutdown(context.Background()); err != nil {
		t.Errorf("got %v", err)
	}
	if !c.cmd.ProcessState.Success() {
		t.Errorf("the process ended with %v", c.cmd.ProcessState)
	}
}

func TestTheDeathOfTheProcessIsToldWithItsExitCode(t *testing.T) {
	c := launch(t, "dies", Options{})
	if _, err := c.UserMessage(context.Background(), "", "hello"); err == nil {
		t.Error("the message was answered")
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 72 {
		t.Errorf("got %v", err)
	}
	if err := c.Shutdown(context.Background()); !errors.As(err, &exit) || exit.ExitCode() != 72 {
		t.Errorf("a shutdown afterwards: got %v", err)
	}
}

func TestABridgeThatDoesNotEndIsKilled(t *testing.T) {
	c := launch(t, "stubborn", Options{Grace: 100 * time.Millisecond})
	var exit *exec.ExitError
	if err := c.Shutdown(context.Background()); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Errorf("got %v", err)
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	if _, err := Launch(context.Background(), exec.Command("/no/such/bridge"), Handler{}, Options{}); err == nil {
		t.Error("it was started")
	}
}
