package fakeapi

import (
	"net/http"
	"strings"
	"testing"
)

// How the CLIs put a message, sent while a tool ran, before the model; as recorded.
var foldedBy = map[string]func(message string) []turn{
	"2.0.0 and 2.1.17": func(m string) []turn {
		return []turn{user([]any{result("t1", "out\n<system-reminder>\nThe user sent the following message:\n"+m+"\n\nPlease address this message and continue with your tasks.\n</system-reminder>")})}
	},
	"2.1.112": func(m string) []turn {
		return []turn{user([]any{result("t1", "out\n\n<system-reminder>\nThe user sent a new message while you were working:\n"+m+"\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it.\n</system-reminder>")})}
	},
	"2.1.329": func(m string) []turn {
		return []turn{user([]any{result("t1", "out")}), {"system", []any{text("The user sent a new message while you were working:\n" + m + "\n\nThis is how Claude Code surfaces messages the user sends mid-turn — within the running turn.")}}}
	},
}

func notice(toolUseID string) string {
	return "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>" + toolUseID + "</tool-use-id>\n<output-file>/o</output-file>\n" +
		"<status>completed</status>\n<summary>Background command \"Run it\" completed (exit code 0)</summary>\n</task-notification>"
}

// How the CLIs begin a turn of their own; as recorded.
var noticedBy = map[string]func(toolUseID string) turn{
	"2.1.112": func(id string) turn { return user([]any{text(notice(id))}) },
	"2.1.329": func(id string) turn {
		return user([]any{text("<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event.\n\n" + notice(id) + "\n</system-reminder>")})
	},
}

func TestToolResultsAreSaid(t *testing.T) {
	s := start(t)
	got := converse(t, s, user("tools: a;;b"), assistant("x"), user([]any{
		result("t1", "first\n<system-reminder>not this</system-reminder>"),
		map[string]any{"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": []any{text("no: too risky")}},
	}))
	if got.text != "Tool said: first | no: too risky" {
		t.Errorf("said %q", got.text)
	}
	r := s.Requests()[0]
	if len(r.ToolResults) != 2 || r.ToolResults[0].IsError || r.ToolResults[1] != (ToolResult{"t2", "no: too risky", true}) {
		t.Errorf("recorded %+v", r.ToolResults)
	}
}

func TestAFoldedMessageIsAnsweredWithTheToolResult(t *testing.T) {
	for version, fold := range foldedBy {
		t.Run(version, func(t *testing.T) {
			got := converse(t, start(t), append([]turn{user("bash: a"), assistant("x")}, fold("hello two")...)...)
			if got.text != "Tool said: out\nEcho: hello two" || len(got.kinds) != 1 {
				t.Errorf("said %q in %v", got.text, got.kinds)
			}
			got = converse(t, start(t), append([]turn{user("bash: a"), assistant("x")}, fold("bash: b")...)...)
			if len(got.calls) != 1 || got.stop != "tool_use" {
				t.Errorf("a folded script is not run: %+v", got)
			}
		})
	}
}

func TestATurnTheCLIBeginsItselfRunsTheScriptBehindTheHashes(t *testing.T) {
	for version, notify := range noticedBy {
		t.Run(version, func(t *testing.T) {
			s := start(t)
			first := converse(t, s, user("bgbash: sleep 1 ## bgbash: sleep 2 ## hello"))
			second := converse(t, s, user("bgbash"), assistant("x"), notify(first.calls[0].ID))
			if len(second.calls) != 1 || !strings.Contains(string(second.calls[0].Input), "sleep 2") {
				t.Fatalf("first notice: %+v", second)
			}
			if third := converse(t, s, user("bgbash"), assistant("x"), notify(second.calls[0].ID)); third.text != "Echo: hello" {
				t.Errorf("second notice: %q", third.text)
			}
			if unknown := converse(t, s, user("bgbash"), assistant("x"), notify("toolu_other")); unknown.text != "Background done." {
				t.Errorf("notice without a script: %q", unknown.text)
			}
			if n := s.Requests()[1].Notifications[0]; n.TaskID != "b1" || n.ToolUseID != first.calls[0].ID || n.Status != "completed" {
				t.Errorf("recorded %+v", n)
			}
		})
	}
}

func TestTheScriptBehindTheHashesHoldsForEveryStepOfAChain(t *testing.T) {
	s := start(t)
	first := converse(t, s, user("chain: one;;two ## hello"))
	second := converse(t, s, user("chain"), assistant("x"), user([]any{result(first.calls[0].ID, "")}))
	if got := converse(t, s, user("chain"), assistant("x"), noticedBy["2.1.112"](second.calls[0].ID)); got.text != "Echo: hello" {
		t.Errorf("said %q", got.text)
	}
}

func TestANoticeBesideAPromptLeavesThePromptItsAnswer(t *testing.T) {
	for version, notify := range noticedBy {
		if got := converse(t, start(t), user("x"), assistant("x"), notify("t1"), user("hello")); got.text != "Echo: hello" {
			t.Errorf("%s: %q", version, got.text)
		}
	}
}

func TestAChainGoesOnWithEachResult(t *testing.T) {
	s := start(t)
	conversation := []turn{user("chain: one;;two;;three")}
	for _, want := range []string{"one", "two", "three"} {
		got := converse(t, s, conversation...)
		if len(got.calls) != 1 || !strings.Contains(string(got.calls[0].Input), want) {
			t.Fatalf("step %s: %+v", want, got)
		}
		conversation = append(conversation, assistant("x"), user([]any{result(got.calls[0].ID, want+" done")}))
	}
	if got := converse(t, s, conversation...); got.text != "Tool said: three done" {
		t.Errorf("end %q", got.text)
	}
}

func TestAnEditReadsFirst(t *testing.T) {
	s := start(t)
	read := converse(t, s, user("edit: /a|x ;; y|z"))
	got := converse(t, s, user("edit"), assistant("x"), user([]any{result(read.calls[0].ID, "content")}))
	if len(got.calls) != 1 || got.calls[0].Name != "Edit" || string(got.calls[0].Input) != `{"file_path":"/a","new_string":"z","old_string":"x ;; y"}` {
		t.Errorf("calls %+v", got.calls)
	}
}

func TestAPromptAfterAnInterruptIsAnsweredAlone(t *testing.T) {
	for _, interrupted := range [][]turn{
		{user("bash: sleep 9"), assistant("x"), user([]any{result("t1", "Exit code 137"), text("[Request interrupted by user for tool use]"), text("hello")})},
		{user([]any{text("tokens: 9"), text("[Request interrupted by user]"), text("hello")})}, // 2.0.0 and 2.1.17 merge the two prompts
		{user("fail: 400"), user("hello")}, // a failed prompt stays in the history
	} {
		if got := converse(t, start(t), interrupted...); got.text != "Echo: hello" {
			t.Errorf("said %q", got.text)
		}
	}
}

func TestWhatTheCLIAddsIsNotThePrompt(t *testing.T) {
	s := start(t)
	got := converse(t, s, user([]any{
		text("<system-reminder>\nbash: rm\n</system-reminder>"), text("hello"),
		text("<local-command-stdout>Set model</local-command-stdout>"), text("<command-name>/model</command-name>\n<command-args></command-args>"),
	}), turn{"system", "# Environment\nbash: rm"})
	if got.text != "Echo: hello" || len(s.Requests()[0].UserTexts) != 1 {
		t.Errorf("said %q to %q", got.text, s.Requests()[0].UserTexts)
	}
}

func TestHousekeepingGetsAHarmlessAnswer(t *testing.T) {
	for prompt, want := range map[string]string{
		"<policy_spec>\n# Bash command prefix detection\n</policy_spec>\nCommand: ls": "none",
		"Command: sleep 2\nOutput: \n\n":                                              "<is_displaying_contents>\nfalse\n</is_displaying_contents>\n\n<filepaths>\n</filepaths>",
		"bash: touch x":                                                               `{"title":"Scripted session","isNewTopic":true}`,
	} {
		r := Request{UserTexts: []string{prompt}}
		if got := housekeeping(r).Blocks; len(got) != 1 || got[0].text != want {
			t.Errorf("%q: %+v", prompt, got)
		}
	}
}

func TestAFailureWithTimesRecoversForTheSameRequestOnly(t *testing.T) {
	s := start(t)
	for _, want := range []int{529, 529, 200} {
		if res := post(t, s, body(t, true, user("fail: 529 2"))); res.StatusCode != want {
			t.Errorf("status %d instead of %d", res.StatusCode, want)
		}
	}
	if res := post(t, s, body(t, true, user("x"), assistant("x"), user("fail: 529 2"))); res.StatusCode != 529 {
		t.Errorf("the same script later in the conversation: status %d", res.StatusCode)
	}
}

func TestErrorsHaveTheTypeOfTheirStatus(t *testing.T) {
	s := start(t)
	for status, want := range map[string]string{
		"400": "invalid_request_error", "401": "authentication_error", "403": "permission_error", "404": "not_found_error",
		"413": "request_too_large", "429": "rate_limit_error", "500": "api_error", "503": "api_error", "529": "overloaded_error",
	} {
		var e struct {
			Type  string
			Error struct{ Type, Message string }
		}
		res := post(t, s, body(t, true, user("fail: "+status)))
		decodeJSON(t, res, &e)
		if e.Type != "error" || e.Error.Type != want || e.Error.Message != "scripted failure "+status || !strings.HasPrefix(res.Status, status) {
			t.Errorf("%s: %s %+v", status, res.Status, e)
		}
		if id := res.Header.Get("Request-Id"); !strings.HasPrefix(id, "req_") {
			t.Errorf("request id %q", id)
		}
	}
}

func TestABrokenStreamBreaksAfterSomeWordsAndRecoversWithoutStreaming(t *testing.T) {
	for _, c := range []struct{ script, failure string }{{"cut", ""}, {"sseerr: overloaded_error", "overloaded_error"}} {
		s := start(t)
		got := converse(t, s, user(c.script))
		if got.complete || got.text != "partial words here" || got.failure != c.failure {
			t.Errorf("%s: %+v", c.script, got)
		}
		var m struct{ Content []struct{ Text string } }
		decodeJSON(t, post(t, s, body(t, false, user(c.script))), &m)
		if len(m.Content) != 1 || m.Content[0].Text != "Recovered." {
			t.Errorf("%s, again without streaming: %+v", c.script, m)
		}
	}
	s := start(t)
	if first, second := converse(t, s, user("cut 1")), converse(t, s, user("cut 1")); first.complete || second.text != "Recovered." {
		t.Errorf("cut once: %+v, then %+v", first, second)
	}
}

func TestTheModelGoesOnWhenTheCLIUrgesIt(t *testing.T) {
	got := converse(t, start(t), user("maxtok"), assistant("cut off"), user("Output token limit hit. Resume directly — no apology."))
	if got.text != "The rest." {
		t.Errorf("said %q", got.text)
	}
}

func TestAnUnstreamedAnswerSaysTheSame(t *testing.T) {
	s := start(t)
	var m struct {
		ID, Type, Role, Model string
		StopReason            string `json:"stop_reason"`
		Content               []struct {
			Type, Text, Name string
			Input            struct{ Command string }
		}
	}
	decodeJSON(t, post(t, s, body(t, false, user("bash: ls"))), &m)
	if m.Type != "message" || m.Role != "assistant" || m.Model != "claude-test" || m.StopReason != "tool_use" ||
		len(m.Content) != 2 || m.Content[0].Text != "I will run it." || m.Content[1].Input.Command != "ls" {
		t.Errorf("%+v", m)
	}
}

func TestIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for range 2 { // servers, whose ids may meet in a resumed session
		s := start(t)
		for range 3 {
			got := converse(t, s, user("tools: a;;b"))
			for _, id := range []string{got.id, got.calls[0].ID, got.calls[1].ID} {
				if seen[id] || id == "" {
					t.Errorf("id %q came twice", id)
				}
				seen[id] = true
			}
		}
	}
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	s := start(t)
	res, err := http.Get(s.URL() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", res.StatusCode)
	}
}
