package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestVersionsAgreeWhenTheMajorsDo(t *testing.T) {
	for asked, spoken := range map[string]string{"1.0": "1.0", "1.7": "1.0", "1": "1.0", "0.9": "", "2.0": "", "": "", "one": "", "1.x": "", "1.-1": ""} {
		got, err := negotiate(asked)
		if got != spoken || (err == nil) != (spoken != "") {
			t.Errorf("asked %q: got %q, %v", asked, got, err)
		}
	}
}

func TestAnotherMajorVersionIsToldWhichAreSpoken(t *testing.T) {
	e := connect(t, "")
	m := e.call("initialize", `{"protocol_version":"2.0"}`)
	wantError(t, m, -32602, kindProtocolVersion)
	if m.Error == nil || !strings.Contains(string(m.Error.Data), `"supported":["1.0"]`) {
		t.Errorf("got %s", m.frame)
	}
}

func TestTheAgentClientProtocolIsSentToItsSubcommand(t *testing.T) {
	e := connect(t, "")
	m := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}`)
	wantError(t, m, -32602, kindProtocolVersion)
	if m.Error == nil || !strings.Contains(string(m.Error.Data), "drawbridge acp") {
		t.Errorf("got %s", m.frame)
	}
}

// conversation is a turn with everything in it that a capability decides about.
const conversation = `
-- default --
think hmm
text hello
bash echo hi
result hi
`

// methodsOf plays the conversation with a client that has these capabilities, allows what it is asked, and counts what it is sent.
func methodsOf(t *testing.T, capabilities string) (counts map[string]int, frames []message) {
	t.Helper()
	e := connect(t, conversation)
	e.initialize(`{"protocol_version":"1.0","capabilities":` + capabilities + `}`)
	id := e.say("go")
	counts = map[string]int{}
	for {
		m := e.message()
		frames = append(frames, m)
		counts[m.Method]++
		if m.Method == permissionRequest {
			e.allow(m)
		}
		if m.Method == "" && string(m.ID) == fmt.Sprint(id) {
			return counts, frames
		}
	}
}

// allow answers a permission request.
func (e *editor) allow(m message) {
	e.t.Helper()
	var p PermissionParams
	m.into(e.t, &p)
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"prompt_id":%q,"decision":"allow"}}`, m.ID, p.PromptID))
}

func TestACapabilityThatTheClientLacksIsOff(t *testing.T) {
	const all = `{"streaming":true,"permissions":true,"progress":true,"thinking":true,"questions":true,"diffs":true,"raw_events":true}`
	without := func(name string) string { return strings.Replace(all, `"`+name+`":true`, `"`+name+`":false`, 1) }

	counts, _ := methodsOf(t, all)
	for _, want := range []string{assistantToken, thinkingToken, permissionRequest, promptResolved, toolUseStart, toolResult, claudeEvent} {
		if counts[want] == 0 {
			t.Errorf("with everything, no %s: %v", want, counts)
		}
	}
	if counts[assistantMessage] != 0 {
		t.Errorf("what was streamed came again as a whole: %v", counts)
	}

	counts, frames := methodsOf(t, without("streaming"))
	if counts[assistantToken]+counts[thinkingToken] != 0 || counts[assistantMessage] == 0 {
		t.Errorf("without streaming: %v", counts)
	}
	var said []string
	for _, m := range frames {
		if m.Method == assistantMessage {
			var p AssistantMessageParams
			m.into(t, &p)
			for _, c := range p.Content {
				said = append(said, string(c))
			}
		}
	}
	if all := strings.Join(said, " "); !strings.Contains(all, `"hello"`) || !strings.Contains(all, `"hmm"`) {
		t.Errorf("without streaming the client was told %s", all)
	}

	counts, _ = methodsOf(t, without("thinking"))
	if counts[thinkingToken] != 0 || counts[assistantToken] == 0 {
		t.Errorf("without thinking: %v", counts)
	}

	counts, frames = methodsOf(t, without("permissions"))
	if counts[permissionRequest] != 0 {
		t.Errorf("without permissions: %v", counts)
	}
	denied, notified := false, false
	for _, m := range frames {
		denied = denied || m.Method == toolResult && strings.Contains(m.frame, `"outcome":"denied"`)
		notified = notified || m.Method == notice
	}
	if !denied || !notified {
		t.Errorf("without permissions: denied %v, notice %v", denied, notified)
	}

	counts, frames = methodsOf(t, without("progress"))
	if counts[toolProgress] != 0 {
		t.Errorf("without progress: %v", counts)
	}
	for _, m := range frames {
		var p map[string]json.RawMessage
		if m.Method == statusChange {
			m.into(t, &p)
			if len(p) != 2 || p["state"] == nil || p["session_id"] == nil {
				t.Errorf("without progress, status_change tells %s", m.frame)
			}
		}
	}

	counts, _ = methodsOf(t, without("raw_events"))
	if counts[claudeEvent] != 0 {
		t.Errorf("without raw_events: %v", counts)
	}
}

func TestWithoutQuestionsTheyAreDeclined(t *testing.T) {
	e := connect(t, "-- default --\nquestion [Color] Which? | red | blue\ntext $ANSWER\n")
	e.initialize(`{"protocol_version":"1.0","capabilities":{"permissions":true}}`)
	id := e.say("go")
	for {
		m := e.message()
		if m.Method == askUserQuestion || m.Method == permissionRequest {
			t.Fatalf("asked: %s", m.frame)
		}
		if string(m.ID) == fmt.Sprint(id) {
			return
		}
	}
}

func TestTheAnswerToInitializeSaysWhatIsInForce(t *testing.T) {
	e := connect(t, "")
	m := e.call("initialize", `{"protocol_version":"1.3","capabilities":{"streaming":true,"telepathy":true}}`)
	var r InitializeResult
	m.into(t, &r)
	if r.ProtocolVersion != "1.0" || r.ServerInfo != (Peer{"drawbridge", "test"}) || r.SessionID == "" ||
		r.Capabilities.Capabilities != (Capabilities{Streaming: true}) || len(r.Capabilities.Modes) == 0 || r.ClaudeCode.Level != "unknown" {
		t.Errorf("got %s", m.frame)
	}
	for _, want := range []string{`"tools":[]`, `"mcp_servers":0`} {
		if !strings.Contains(m.frame, want) {
			t.Errorf("no %s in %s", want, m.frame)
		}
	}
}

func TestTheLSPFormOfInitialize(t *testing.T) {
	root, second := t.TempDir(), t.TempDir()
	e := connect(t, "", func(o *Options) { o.Session.CWD = "" })
	m := e.call("initialize", fmt.Sprintf(`{"processId":null,"clientInfo":{"name":"vim"},"rootUri":"file://%s","rootPath":%q,`+
		`"workspaceFolders":[{"uri":"file://%s","name":"a"},{"uri":"file://%s","name":"b"}],"trace":"off",`+
		`"capabilities":{"window":{"workDoneProgress":true},"textDocument":{"hover":{"contentFormat":["markdown"]}},`+
		`"experimental":{"drawbridge":{"protocol_version":"1.0","capabilities":{"streaming":true,"permissions":true}}}},`+
		`"initializationOptions":{"permission_mode":"plan","env":[]}}`, root, root, root, second))
	var r struct {
		Capabilities struct {
			Experimental struct {
				Drawbridge InitializeResult `json:"drawbridge"`
			} `json:"experimental"`
		} `json:"capabilities"`
		ServerInfo Peer `json:"serverInfo"`
	}
	m.into(t, &r)
	ours := r.Capabilities.Experimental.Drawbridge
	if r.ServerInfo.Name != "drawbridge" || ours.SessionID == "" || ours.Capabilities.Capabilities != (Capabilities{Streaming: true, Permissions: true}) {
		t.Errorf("got %s", m.frame)
	}
	var s SessionState
	e.call("session_get", "{}").into(t, &s)
	if s.CWD == nil || *s.CWD != root || s.PermissionMode == nil || *s.PermissionMode != "plan" {
		t.Errorf("session: cwd %v, mode %v", s.CWD, s.PermissionMode)
	}
	e.answer(e.say("go"))
	e.cli.mu.Lock()
	defer e.cli.mu.Unlock()
	if start := e.cli.starts[0]; start.Dir != root || !strings.Contains(strings.Join(start.Argv, " "), second) {
		t.Errorf("claude was started in %s with %q", start.Dir, start.Argv)
	}
}

func TestAnLSPEditorThatDoesNotKnowUsIsAskedByAMessage(t *testing.T) {
	for _, c := range []struct{ name, command, choice, outcome string }{
		{"allowed", "echo hi", `{"title":"Allow once"}`, "allowed"},
		{"denied", "echo hi", `{"title":"Deny"}`, "denied"},
		{"closed", "echo hi", `null`, "denied"},
		{"long", "echo " + strings.Repeat("x", 1000), "", "denied"},
		{"invisible", "echo \u202e hi", "", "denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := connect(t, "-- default --\nbash "+c.command+"\nresult hi\n")
			e.initialize(`{"processId":null,"rootUri":null,"capabilities":{"window":{"showMessage":{"messageActionItem":{}}}}}`)
			id := e.say("go")
			asked := false
			for {
				m := e.message()
				switch m.Method {
				case "window/showMessageRequest":
					asked = true
					if !strings.Contains(m.frame, `"actions":[{"title":"Deny"},{"title":"Allow once"}]`) {
						t.Errorf("got %s", m.frame)
					}
					e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, c.choice))
				case notice:
					if c.choice == "" && !strings.Contains(m.frame, "too long to show in this editor") {
						t.Errorf("got %s", m.frame)
					}
				case promptResolved:
					var p PromptResolvedParams
					m.into(t, &p)
					if p.Outcome != c.outcome {
						t.Errorf("got %s", m.frame)
					}
				case permissionRequest:
					t.Errorf("got %s", m.frame)
				case "":
					if string(m.ID) == fmt.Sprint(id) {
						if asked != (c.choice != "") {
							t.Errorf("asked: %v", asked)
						}
						return
					}
				}
			}
		})
	}
}

func TestAnLSPEditorShowsTheTurnAsProgress(t *testing.T) {
	e := connect(t, "-- default --\nbash echo hi\nrun\nresult hi\ntext done\n")
	e.initialize(`{"processId":null,"rootUri":null,"capabilities":{"window":{"workDoneProgress":true},` +
		`"experimental":{"drawbridge":{"protocol_version":"1.0","capabilities":{"permissions":true}}}}}`)
	id := e.say("go")
	var kinds []string
	for answered := false; !answered; {
		m := e.message()
		switch m.Method {
		case "window/workDoneProgress/create":
			e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID))
		case "$/progress":
			var p struct{ Value struct{ Kind string } }
			m.into(t, &p)
			kinds = append(kinds, p.Value.Kind)
		case "":
			answered = string(m.ID) == fmt.Sprint(id)
		}
	}
	// The editor may be slower than the turn: then the token comes too late and nothing is shown.
	if all := strings.Join(kinds, " "); all != "" && (kinds[0] != "begin" || kinds[len(kinds)-1] != "end") {
		t.Errorf("progress: %s", all)
	}
}

func TestTheCancelButtonOfTheProgressInterruptsTheTurn(t *testing.T) {
	e := connect(t, "-- default --\ntext working\nhang\n")
	e.initialize(`{"processId":null,"rootUri":null,"capabilities":{"window":{"workDoneProgress":true}}}`)
	id := e.say("go")
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, e.until("window/workDoneProgress/create").ID))
	var begin struct{ Token string }
	e.until("$/progress").into(t, &begin)
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":%q}}`, begin.Token))
	end := e.until("$/progress")
	if !strings.Contains(end.frame, `"kind":"end"`) {
		t.Errorf("got %s", end.frame)
	}
	if m := e.answer(id); !strings.Contains(m.frame, `"status":"cancelled"`) {
		t.Errorf("got %s", m.frame)
	}
}

func TestNoMemberIsNull(t *testing.T) {
	_, frames := methodsOf(t, `{"streaming":true,"permissions":true,"progress":true,"thinking":true}`)
	e := connect(t, "")
	e.initialize(everything)
	for _, method := range []string{"session_get", "session_new", "health"} {
		frames = append(frames, e.call(method, "{}"))
	}
	for _, m := range frames {
		if strings.Contains(m.frame, `:null`) {
			t.Errorf("null in %s", m.frame)
		}
	}
}
