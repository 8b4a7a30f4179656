package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"drawbridge/adapters"
	"drawbridge/bridge"
	"drawbridge/rpc/stream"

	"go.lsp.dev/jsonrpc2"
)

// tellAll shows a client the messages and events, and returns the frames it gets.
func tellAll(t *testing.T, c client, things ...any) []message {
	t.Helper()
	var out bytes.Buffer
	s := newServer(Options{Bridge: bridge.Options{CLI: &stageCLI{}}})
	s.stream = stream.New(strings.NewReader(""), &out, stream.Options{Framing: stream.NDJSON})
	s.conn = jsonrpc2.NewConn(s.stream, jsonrpc2.WithCodec(codec{}))
	s.client = c
	s.greeting.out()
	session, err := s.bridge.Open(bridge.SessionOptions{CWD: t.TempDir(), Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	for _, thing := range things {
		switch x := thing.(type) {
		case *adapters.Message:
			err = s.Message(session, x)
		case bridge.Event:
			err = s.Event(session, x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(session); err != nil {
		t.Fatal(err)
	}
	s.closeBridge()
	_ = s.stream.Close()
	<-s.stream.Done()
	var frames []message
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		m := message{frame: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		frames = append(frames, m)
	}
	return frames
}

func methodNames(frames []message) string {
	var names []string
	for _, m := range frames {
		names = append(names, m.Method)
	}
	return strings.Join(names, " ")
}

var allOn = client{Capabilities: Capabilities{true, true, true, true, true, true, false}}

func textBlock(text string, streamed bool) adapters.Block {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": text})
	return adapters.Block{Type: "text", Raw: raw, Streamed: streamed}
}

func TestASubagentsTextIsToldAsAWhole(t *testing.T) {
	frames := tellAll(t, allOn,
		&adapters.Message{Kind: adapters.Token, Parent: "toolu_1", MessageID: "m", Text: adapters.Text(`"found"`)},
		&adapters.Message{Kind: adapters.Assistant, Parent: "toolu_1", MessageID: "m", Blocks: []adapters.Block{textBlock("found it", true)}})
	var p AssistantMessageParams
	frames[0].into(t, &p)
	if len(frames) != 1 || p.ParentToolUseID != "toolu_1" || len(p.Content) != 1 || !strings.Contains(string(p.Content[0]), "found it") {
		t.Errorf("got %v", frames)
	}
}

func TestBlocksKeepTheirOrder(t *testing.T) {
	use := adapters.Block{Type: "tool_use", Index: 2, ToolUse: adapters.ToolUse{ID: "toolu_1", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}}
	frames := tellAll(t, client{}, &adapters.Message{Kind: adapters.Assistant, MessageID: "m",
		Blocks: []adapters.Block{textBlock("a", true), textBlock("b", true), use, textBlock("c", false)}})
	if got := methodNames(frames); got != "assistant_message tool_use_start assistant_message" {
		t.Errorf("got %s", got)
	}
}

func TestTextTheCLIMakesUpForAFailedTurnIsNotTold(t *testing.T) {
	frames := tellAll(t, allOn, &adapters.Message{Kind: adapters.Assistant, Origin: adapters.OriginError, Blocks: []adapters.Block{textBlock("API Error", false)}},
		bridge.Notice{Level: "info", Kind: "end"})
	if got := methodNames(frames); got != "notice" {
		t.Errorf("got %s", got)
	}
}

func TestOutputOfACommandSaysSo(t *testing.T) {
	frames := tellAll(t, allOn, &adapters.Message{Kind: adapters.CommandOutput, MessageID: "m", Text: adapters.Text(`"Total cost: \"$1\""`)},
		&adapters.Message{Kind: adapters.Assistant, Origin: adapters.OriginCommand, MessageID: "n", Blocks: []adapters.Block{textBlock("x", false)}})
	for _, m := range frames {
		var p AssistantMessageParams
		m.into(t, &p)
		if p.Origin != "command" || len(p.Content) != 1 {
			t.Errorf("got %s", m.frame)
		}
	}
	if len(frames) != 2 || !strings.Contains(frames[0].frame, `{"type":"text","text":"Total cost: \"$1\""}`) {
		t.Errorf("got %v", frames)
	}
}

func TestDiscardedTextIsToldBeforeWhatReplacesIt(t *testing.T) {
	frames := tellAll(t, allOn,
		&adapters.Message{Kind: adapters.Token, MessageID: "m", Text: adapters.Text(`"a\ud83d"`)},
		&adapters.Message{Kind: adapters.Token, MessageID: "n", Text: adapters.Text(`"b"`), Discarded: &adapters.Discard{MessageID: "m", FromBlock: 0}})
	if got := methodNames(frames); got != "assistant_token message_discarded assistant_token" {
		t.Errorf("got %s", got)
	}
}

func TestOutcomesOfToolUses(t *testing.T) {
	results := []adapters.ToolResult{
		{ToolUseID: "ok", Content: json.RawMessage(`"x"`)},
		{ToolUseID: "error", IsError: true},
		{ToolUseID: "denied", IsError: true, Denied: true},
		{ToolUseID: "interrupted", IsError: true, Denied: true, Interrupted: true},
		{ToolUseID: "background", Background: true},
		{ToolUseID: "by-claude", IsError: true},
	}
	frames := tellAll(t, allOn, &adapters.Message{Kind: adapters.ToolDenied, Denial: &adapters.Denial{ToolUseID: "by-claude"}},
		&adapters.Message{Kind: adapters.ToolResults, Results: results})
	for _, m := range frames {
		var p ToolResultParams
		m.into(t, &p)
		want := p.ToolUseID
		if want == "by-claude" {
			want = "denied"
			if p.Permission == nil || *p.Permission != (Permission{Decision: "deny", By: "claude"}) {
				t.Errorf("got %s", m.frame)
			}
		}
		if p.Outcome != want {
			t.Errorf("%s: %s", p.ToolUseID, p.Outcome)
		}
	}
	if len(frames) != len(results) {
		t.Errorf("got %d frames", len(frames))
	}
}

func TestTheOldConversationIsNamedWhenItIsCleared(t *testing.T) {
	old, newer := "old", "new"
	frames := tellAll(t, allOn, bridge.SessionChanged{Update: bridge.Update{ClaudeSessionID: &old}},
		&adapters.Message{Kind: adapters.Cleared, Boundary: &adapters.Boundary{SessionID: newer}},
		bridge.SessionChanged{Update: bridge.Update{ClaudeSessionID: &newer}},
		&adapters.Message{Kind: adapters.Compacted, Boundary: &adapters.Boundary{Trigger: "auto", PreTokens: 5}})
	if !strings.Contains(frames[1].frame, `"kind":"cleared","trigger":"manual","claude_session_id":"old"`) ||
		!strings.Contains(frames[3].frame, `"kind":"compacted","trigger":"auto","pre_tokens":5`) {
		t.Errorf("got %s\n%s", frames[1].frame, frames[3].frame)
	}
}

// A client without progress hears of a state when it begins, not of each retry.
func TestStatesWithoutProgress(t *testing.T) {
	states := []any{
		bridge.StateChanged{State: bridge.State{State: "retrying", Attempt: 1, Error: "overloaded"}},
		bridge.StateChanged{State: bridge.State{State: "retrying", Attempt: 2, Error: "overloaded"}},
		bridge.StateChanged{State: bridge.State{State: "running"}},
	}
	if n := len(tellAll(t, allOn, states...)); n != 3 {
		t.Errorf("with progress %d", n)
	}
	frames := tellAll(t, client{}, states...)
	if len(frames) != 2 || strings.Contains(frames[0].frame, "attempt") {
		t.Errorf("without progress %v", frames)
	}
}

func TestRawLinesAreToldAsTheyAre(t *testing.T) {
	frames := tellAll(t, client{Capabilities: Capabilities{RawEvents: true}},
		&adapters.Message{Kind: adapters.Unknown, Raw: []byte(`{"type":"news","a":1.0}`)},
		&adapters.Message{Kind: adapters.Log, Raw: []byte("a \"log\" line\x00")})
	if !strings.Contains(frames[0].frame, `"event":{"type":"news","a":1.0}`) || !strings.Contains(frames[1].frame, `"event":"a \"log\" line\u0000"`) {
		t.Errorf("got %s\n%s", frames[0].frame, frames[1].frame)
	}
}

func TestAnLSPClientReadsNoticesInItsLog(t *testing.T) {
	frames := tellAll(t, client{lsp: true}, bridge.Notice{Level: "warning", Kind: "k", Message: "Careful.", Remedy: "Stop."})
	if methodNames(frames) != "notice window/logMessage" || !strings.Contains(frames[1].frame, `{"type":2,"message":"Careful. Stop."}`) {
		t.Errorf("got %v", frames)
	}
}

func TestSetTraceShowsTheLinesOfTheCLI(t *testing.T) {
	e := connect(t, "-- default --\ntext hi\n")
	e.initialize(everything)
	e.send(`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}`)
	id := e.say("go")
	traced := 0
	for {
		m := e.message()
		if m.Method == "$/logTrace" {
			traced++
		}
		if string(m.ID) == "2" && m.Method == "" {
			break
		}
	}
	if traced == 0 || id != 2 {
		t.Errorf("%d lines", traced)
	}
}

func TestATokenAllocatesNothing(t *testing.T) {
	s, session := quietServer(t)
	m := token(`"a token with \"escapes\" and \u00e9"`)
	n := 0
	allocs := testing.AllocsPerRun(1000, func() {
		if err := s.Message(session, m); err != nil {
			t.Fatal(err)
		}
		if n++; n%50 == 0 {
			_ = s.Flush(session)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkMessage(b *testing.B) {
	s, session := quietServer(b)
	m := token(`" quite an ordinary token"`)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Message(session, m); err != nil {
			b.Fatal(err)
		}
		if i%200 == 0 {
			_ = s.Flush(session)
		}
	}
}

// quietServer is a server with a session, whose editor takes everything and says nothing.
func quietServer(t testing.TB) (*Server, *bridge.Session) {
	t.Helper()
	s := newServer(Options{Bridge: bridge.Options{CLI: &stageCLI{}}})
	s.stream = stream.New(strings.NewReader(""), io.Discard, stream.Options{Framing: stream.NDJSON})
	s.conn = jsonrpc2.NewConn(s.stream, jsonrpc2.WithCodec(codec{}))
	s.client = allOn
	s.greeting.out()
	session, err := s.bridge.Open(bridge.SessionOptions{CWD: t.TempDir(), Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.closeBridge()
		_ = s.stream.Close()
		<-s.stream.Done()
	})
	return s, session
}
