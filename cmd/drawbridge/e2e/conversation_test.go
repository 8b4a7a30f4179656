//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"drawbridge/adapters/fakeapi"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

func TestTokensJoinedAreTheFinalText(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		for text, want := range map[string]string{"hello": "Echo: hello", "unicode": fakeapi.UnicodeText, "split": fakeapi.SplitText} {
			from := w.mark()
			r := w.say(text)
			w.completed(r)
			if r.Result != want || w.tokens(from) != want {
				t.Errorf("%s: the result is %q, the tokens are %q, want %q", text, r.Result, w.tokens(from), want)
			}
		}
	})
}

func TestAllowedBashRuns(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.completed(w.say("bash: touch made"))
		if !w.exists("made") {
			t.Error("the file is not there")
		}
		var order []string
		for _, m := range w.since(0, "tool_use_start", "permission_request", "prompt_resolved", "tool_result", "turn_complete") {
			order = append(order, m.method)
		}
		if got := strings.Join(order, " "); got != "tool_use_start permission_request prompt_resolved tool_result turn_complete" {
			t.Errorf("order: %s", got)
		}
	})
}

func TestADenialReachesTheModelWithItsReason(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.permission = func(context.Context, rpc.PermissionParams) (editor.Decision, error) {
			return editor.Decision{Decision: editor.Deny, Message: "use make instead"}, nil
		}
		w.completed(w.say("bash: touch made"))
		w.toldModel("use make instead")
		if w.exists("made") {
			t.Error("the command ran")
		}
		if m := w.await(0, "a result", method("tool_result")); m.get("outcome") != "denied" {
			t.Errorf("outcome %s", m.get("outcome"))
		}
	})
}

func TestTheEditedCommandRuns(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			d := w.allow(p)
			var input map[string]any
			_ = json.Unmarshal(p.Input, &input)
			input["command"] = "touch edited"
			d.UpdatedInput, _ = json.Marshal(input)
			return d, nil
		}
		w.completed(w.say("bash: touch original"))
		if !w.exists("edited") || w.exists("original") {
			t.Errorf("edited %v, original %v", w.exists("edited"), w.exists("original"))
		}
	})
}

func TestThreeReadsAskAtOnceAndAreAnsweredInReverse(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		var mu sync.Mutex
		var open []chan struct{}
		all3 := make(chan struct{})
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			mine := make(chan struct{})
			mu.Lock()
			if open = append(open, mine); len(open) == 3 {
				close(all3)
			}
			mu.Unlock()
			<-mine
			return w.allow(p), nil
		}
		answer := w.send("reads: /etc/hostname;;/etc/passwd;;/etc/group")
		<-all3
		for i := 2; i >= 0; i-- {
			from := w.mark()
			close(open[i])
			w.await(from, "the end of the prompt", method("prompt_resolved"))
		}
		w.completed(w.await1(answer))
		if n := len(w.since(0, "tool_result")); n != 3 {
			t.Errorf("%d results", n)
		}
	})
}

func TestQuestionsAreAnsweredAndDeclined(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.question = func(context.Context, rpc.QuestionParams) (editor.Answers, error) {
			return editor.Answers{Answers: map[string]any{"Which database?": "My own DB", "Which features?": []string{"Auth", "Logs"}}}, nil
		}
		w.completed(w.say("ask2"))
		w.toldModel("My own DB")
		w.toldModel("Auth")
		w.question = func(context.Context, rpc.QuestionParams) (editor.Answers, error) {
			return editor.Answers{Declined: true, Message: "decide yourself"}, nil
		}
		w.completed(w.say("ask"))
		w.toldModel("decide yourself")
	})
}

func TestAPlanIsRejectedWithCommentsAndApprovedIntoAMode(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version, option("permission_mode", "plan"))
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			return editor.Decision{Decision: editor.Deny, Message: "shorter please"}, nil
		}
		w.completed(w.say("plan"))
		w.toldModel("shorter please")
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			if p.Plan == "" {
				t.Error("the prompt shows no plan")
			}
			d := w.allow(p)
			d.PermissionMode = "acceptEdits"
			return d, nil
		}
		w.completed(w.say("plan"))
		asked := 0
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			asked++
			return w.allow(p), nil
		}
		w.completed(w.say("write: " + filepath.Join(w.project, "new.txt") + "|text"))
		if asked != 0 || !w.exists("new.txt") {
			t.Errorf("in acceptEdits the write was asked %d times; the file is there: %v", asked, w.exists("new.txt"))
		}
	})
}

func TestParallelSessionsDoNotMix(t *testing.T) {
	eachVersion(t, []string{newest, "2.0.0"}, func(t *testing.T, version string) {
		w := enter(t, version)
		sessions := []string{""}
		for range 2 {
			var s struct {
				SessionID string `json:"session_id"`
			}
			if err := w.client.Call(w.ctx, "session_new", map[string]any{"cwd": w.project, "trusted": true}, &s); err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, s.SessionID)
		}
		var answers []<-chan turn
		for i, s := range sessions {
			answers = append(answers, w.sendTo(s, fmt.Sprintf("message %d", i)))
		}
		for i, c := range answers {
			if r := w.await1(c); r.Result != fmt.Sprintf("Echo: message %d", i) {
				t.Errorf("session %d answered %v", i, r)
			}
		}
		bySession := map[string]string{}
		for _, m := range w.since(0, "assistant_token") {
			bySession[m.get("session_id")] += m.get("token")
		}
		if len(bySession) != 3 {
			t.Errorf("tokens of %d sessions", len(bySession))
		}
		for s, text := range bySession {
			if !strings.HasPrefix(text, "Echo: message ") || len(text) != len("Echo: message 0") {
				t.Errorf("session %s streamed %q", s, text)
			}
		}
	})
}

func TestFiveMessagesAtOnceGetFiveAnswersInOrder(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		var answers []<-chan turn
		for i := range 5 {
			answers = append(answers, w.sendInOrder(fmt.Sprintf("number %d", i)))
		}
		for i, c := range answers {
			if r := w.await1(c); r.Result != fmt.Sprintf("Echo: number %d", i) {
				t.Errorf("answer %d: %v", i, r)
			}
		}
		if got, want := w.tokens(0), "Echo: number 0Echo: number 1Echo: number 2Echo: number 3Echo: number 4"; got != want {
			t.Errorf("tokens %q", got)
		}
	})
}

func TestABackgroundAgentAsksAndReportsAfterTheFirstAnswer(t *testing.T) {
	w := enter(t, newest)
	release := make(chan struct{})
	w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
		<-release
		return w.allow(p), nil
	}
	w.completed(w.say("task: bash: touch inside"))
	from := w.mark()
	w.await(0, "the agent's question", method("permission_request"))
	close(release)
	w.await(from, "the end of the CLI's own turn", func(m message) bool {
		return m.method == "turn_complete" && m.get("origin") == "background"
	})
	if !w.exists("inside") {
		t.Error("the agent's command did not run")
	}
	if r := w.say("next"); r.Result != "Echo: next" {
		t.Errorf("next: %v", r)
	}
}

func TestAMessageSentIntoATurnOfTheCLIsOwnIsAnsweredOnce(t *testing.T) {
	eachVersion(t, []string{newest, "2.1.112"}, func(t *testing.T, version string) {
		w := enter(t, version)
		for i := range 20 {
			from := w.mark()
			// The command ends at once; the turn that says so runs a tool, and our message comes in the middle of it.
			w.completed(w.say(fmt.Sprintf("bgbash: true ## bash: sleep 0.3; touch own%d", i)))
			w.await(from, "the turn of the CLI's own", func(m message) bool {
				return m.method == "turn_start" && m.get("origin") == "background" || m.method == "task_update" && m.get("status") == "completed"
			})
			text := fmt.Sprintf("folded %d", i)
			if r := w.say(text); r.Status != "completed" || !strings.Contains(r.Result, text) {
				t.Fatalf("round %d: %v", i, r)
			}
			w.await(from, "the end of the CLI's own turn", func(m message) bool { return w.exists(fmt.Sprintf("own%d", i)) })
		}
		answered := map[string]int{}
		for _, m := range w.since(0, "turn_complete") {
			if id := m.get("user_message_id"); id != "" {
				answered[id]++
			}
		}
		for id, n := range answered {
			if n != 1 {
				t.Errorf("message %s has %d ends", id, n)
			}
		}
		if len(answered) != 40 {
			t.Errorf("%d messages were answered, 40 were sent", len(answered))
		}
	})
}
