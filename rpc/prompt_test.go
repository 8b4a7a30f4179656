package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drawbridge/adapters"
	"drawbridge/bridge"
)

const oneCommand = "-- default --\nbash echo hi\nresult hi\ntext done\n"

func TestAPermissionRequestTellsWhatWillRun(t *testing.T) {
	e := connect(t, oneCommand)
	session := e.initialize(everything)
	id := e.say("go")
	var start ToolUseStartParams
	e.until(toolUseStart).into(t, &start)
	asked := e.until(permissionRequest)
	var p PermissionParams
	asked.into(t, &p)
	if p.SessionID != session || p.PromptID == "" || p.ToolUseID != start.ToolUseID || p.Tool != "Bash" || p.Kind != "execute" ||
		p.Title != "echo hi" || p.Command != "echo hi" || p.Display != "echo hi" || !slices.Equal(p.Scopes, []string{"once"}) ||
		!strings.Contains(string(p.Input), `"command":"echo hi"`) {
		t.Errorf("got %s", asked.frame)
	}
	if len(p.Parts) != 1 || p.Parts[0].Display != "echo hi" || p.RiskLevel != "low" || p.Reason.Text == "" {
		t.Errorf("got %s", asked.frame)
	}
	for _, absent := range []string{"rules", "saved_to", "diff"} { // nothing to save for a command that does nothing
		if strings.Contains(asked.frame, `"`+absent+`":`) {
			t.Errorf("%s is told: %s", absent, asked.frame)
		}
	}
	var s SessionState
	e.call("session_get", "{}").into(t, &s)
	if len(s.Prompts) != 1 {
		t.Errorf("session_get shows %d prompts", len(s.Prompts))
	}
	e.allow(asked)
	var resolved PromptResolvedParams
	e.until(promptResolved).into(t, &resolved)
	var result ToolResultParams
	e.until(toolResult).into(t, &result)
	if resolved.Outcome != "allowed" || resolved.By != "user" || resolved.PromptID != p.PromptID || result.Outcome != "ok" {
		t.Errorf("resolved %+v, result %+v", resolved, result)
	}
	if m := e.answer(id); !strings.Contains(m.frame, `"status":"completed"`) {
		t.Errorf("got %s", m.frame)
	}
}

// Whatever is not clearly a yes is a no, and the user is told why.
func TestAnAnswerThatIsNoYesDenies(t *testing.T) {
	for name, answer := range map[string]string{
		"null":             `"result":null`,
		"a string":         `"result":"allow"`,
		"true":             `"result":true`,
		"a list":           `"result":["allow"]`,
		"no decision":      `"result":{"prompt_id":"$id"}`,
		"unknown decision": `"result":{"prompt_id":"$id","decision":"yes"}`,
		"a number":         `"result":{"prompt_id":"$id","decision":1}`,
		"another prompt":   `"result":{"prompt_id":"p_other","decision":"allow"}`,
		"no prompt":        `"result":{"decision":"allow"}`,
		"unknown scope":    `"result":{"prompt_id":"$id","decision":"allow","scope":"user"}`,
		"an error":         `"error":{"code":-32603,"message":"no window"}`,
		"the wrong input":  `"result":{"prompt_id":"$id","decision":"allow","updated_input":{"timeout":5}}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := connect(t, oneCommand)
			e.initialize(everything)
			id := e.say("go")
			asked := e.until(permissionRequest)
			var p PermissionParams
			asked.into(t, &p)
			e.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + strings.ReplaceAll(answer, "$id", p.PromptID) + `}`)
			noticed, resolved := false, PromptResolvedParams{}
			for answered := false; !answered; {
				m := e.message()
				switch m.Method {
				case notice:
					noticed = true
				case promptResolved:
					m.into(t, &resolved)
				case "":
					answered = string(m.ID) == fmt.Sprint(id)
				}
			}
			if resolved.Outcome != "denied" || resolved.By != "error" || !noticed {
				t.Errorf("resolved %+v, notice %v", resolved, noticed)
			}
		})
	}
}

func TestAnAnswerInLuaIsUnderstood(t *testing.T) {
	e := connect(t, oneCommand)
	e.initialize(everything)
	id := e.say("go")
	asked := e.until(permissionRequest)
	var p PermissionParams
	asked.into(t, &p)
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"prompt_id":%q,"decision":"allow","rules":{},"updated_input":[],"message":null}}`, asked.ID, p.PromptID))
	var resolved PromptResolvedParams
	e.until(promptResolved).into(t, &resolved)
	if resolved.Outcome != "allowed" {
		t.Errorf("got %+v", resolved)
	}
	e.answer(id)
}

func TestInterruptTakesThePromptBackBeforeTheTurnEnds(t *testing.T) {
	e := connect(t, oneCommand)
	e.initialize(everything)
	id := e.say("go")
	asked := e.until(permissionRequest)
	e.request("interrupt", "{}")
	var order []string
	for answered := false; !answered; {
		m := e.message()
		switch {
		case m.Method == "$/cancelRequest":
			if !strings.Contains(m.frame, `"id":`+string(asked.ID)+`}`) {
				t.Errorf("got %s", m.frame)
			}
			order = append(order, "cancel")
		case m.Method == promptResolved:
			order = append(order, "resolved")
			if !strings.Contains(m.frame, `"outcome":"withdrawn"`) || !strings.Contains(m.frame, `"by":"interrupt"`) {
				t.Errorf("got %s", m.frame)
			}
		case m.Method == turnComplete:
			order = append(order, "complete")
		case string(m.ID) == fmt.Sprint(id):
			answered = true
			if !strings.Contains(m.frame, `"status":"cancelled"`) {
				t.Errorf("got %s", m.frame)
			}
			order = append(order, "answer")
		}
	}
	if got := strings.Join(order, " "); got != "cancel resolved complete answer" {
		t.Errorf("order: %s", got)
	}
	// The editor's answer comes too late, and again: the user is told so.
	e.allow(asked)
	if m := e.until(notice); !strings.Contains(m.frame, "late_answer") {
		t.Errorf("got %s", m.frame)
	}
}

func TestCancelRequestCancelsTheTurn(t *testing.T) {
	for range 20 {
		e := connect(t, "-- default --\ntext working\nhang\n")
		e.initialize(everything)
		id := e.say("go")
		e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id))
		if m := e.answer(id); m.Error != nil || !strings.Contains(m.frame, `"status":"cancelled"`) {
			t.Errorf("got %s", m.frame)
		}
		e.hangUp()
	}
}

func TestManyPromptsMayBeOpenAndAnsweredInAnyOrder(t *testing.T) {
	e := connect(t, "-- default --\nparallel {\nbash echo 1\nbash echo 2\nbash echo 3\n}\ntext done\n")
	e.initialize(everything)
	id := e.say("go")
	asked := []message{e.until(permissionRequest), e.until(permissionRequest), e.until(permissionRequest)}
	slices.Reverse(asked)
	for _, m := range asked {
		e.allow(m)
	}
	if m := e.answer(id); !strings.Contains(m.frame, `"status":"completed"`) {
		t.Errorf("got %s", m.frame)
	}
}

func TestQuestionsAreAnsweredOrDeclined(t *testing.T) {
	for answer, outcome := range map[string]string{
		`{"answers":{"Which?":"red"}}`:          "answered",
		`{"answers":[]}`:                        "answered", // an empty Lua table: every question left out
		`{"declined":true,"message":"not now"}`: "declined",
		`{}`:                                    "declined",
		`{"answers":{"Another?":"red"}}`:        "declined",
		`{"answers":"red"}`:                     "declined",
	} {
		e := connect(t, "-- default --\nquestion [Color] Which? | red: warm | blue\ntext done\n")
		e.initialize(everything)
		id := e.say("go")
		asked := e.until(askUserQuestion)
		var q QuestionParams
		asked.into(t, &q)
		if len(q.Questions) != 1 || q.Questions[0].Question != "Which?" || q.Questions[0].Header != "Color" ||
			len(q.Questions[0].Options) != 2 || q.Questions[0].Options[0] != (adapters.Option{Label: "red", Description: "warm"}) {
			t.Errorf("got %s", asked.frame)
		}
		e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, answer))
		var p PromptResolvedParams
		e.until(promptResolved).into(t, &p)
		if p.Outcome != outcome {
			t.Errorf("%s: %+v", answer, p)
		}
		e.answer(id)
		e.hangUp()
	}
}

func TestATitleIsShownWithoutHiddenCharacters(t *testing.T) {
	s := newServer(Options{Bridge: bridge.Options{CLI: connect(t, "").cli}})
	p := s.promptParams("s", &bridge.Prompt{ID: "p", Permission: &adapters.Permission{Tool: "Bash", Input: json.RawMessage(`{"command":"a\u202eb"}`)},
		Display: "a‹U+202E›b", View: adapters.ToolView{Title: "a\u202eb", Command: "a\u202eb"}, Reason: bridge.Reason{Text: "\u202e"}}).(PermissionParams)
	if p.Title != "a‹U+202E›b" || p.Display != "a‹U+202E›b" || p.Reason.Text != "‹U+202E›" || p.Command != "a\u202eb" ||
		string(p.Input) != `{"command":"a\u202eb"}` {
		t.Errorf("got %+v", p)
	}
}

func TestAQuestionThatWasWithdrawnBeforeIsNotSent(t *testing.T) {
	e := connect(t, "")
	e.initialize(everything)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := newServer(Options{Bridge: bridge.Options{CLI: e.cli}})
	if _, err := s.ask(ctx, permissionRequest, nil, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
