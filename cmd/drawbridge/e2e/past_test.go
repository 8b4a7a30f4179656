//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"drawbridge/rpc"
)

// since2 are the versions whose conversations keep their id when they are resumed.
var since2 = []string{newest, "2.1.112", "2.1.17", "2.0.0"}

func (w *world) list() rpc.SessionListResult {
	w.Helper()
	var l rpc.SessionListResult
	if err := w.client.Call(w.ctx, "session_list", map[string]string{"cwd": w.project}, &l); err != nil {
		w.Fatalf("session_list: %v", err)
	}
	return l
}

// remembers says whether the model was sent what was said before, with the last message.
func (w *world) remembers(text string) bool {
	for i := len(w.api.Requests()) - 1; i >= 0; i-- {
		if r := w.api.Requests()[i]; len(r.Tools) > 0 {
			return strings.Contains(string(r.Body), text)
		}
	}
	return false
}

// history is the methods of a conversation's past.
func (w *world) history(session string) string {
	w.Helper()
	var h rpc.SessionHistoryResult
	if err := w.client.Call(w.ctx, "session_history", map[string]any{"session_id": session}, &h); err != nil {
		w.Fatalf("session_history: %v", err)
	}
	var told []string
	for _, m := range h.Messages {
		told = append(told, m.Method)
	}
	return strings.Join(told, " ")
}

func TestAConversationGoesOnInANewBridgeAndInTheTerminal(t *testing.T) {
	eachVersion(t, since2, func(t *testing.T, version string) {
		w := enter(t, version)
		w.completed(w.say("the secret word is marmalade"))
		w.completed(w.say("bash: touch made"))
		if err := w.client.Shutdown(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.start()
		l := w.list()
		if len(l.Sessions) != 1 || l.Sessions[0].Source != "drawbridge" || l.Sessions[0].CWD != w.project || l.Sessions[0].Title == "" {
			t.Fatalf("list %+v", l)
		}
		id := l.Sessions[0].SessionID
		var s struct {
			SessionID string `json:"session_id"`
		}
		if err := w.client.Call(w.ctx, "session_resume", map[string]any{"session_id": id, "trusted": true}, &s); err != nil {
			t.Fatal(err)
		}
		if r := w.await1(w.sendTo(s.SessionID, "go on")); r.Result != "Echo: go on" || !w.remembers("marmalade") {
			t.Errorf("%v; remembers: %v", r, w.remembers("marmalade"))
		}
		if l := w.list(); len(l.Sessions) != 1 || l.Sessions[0].OpenAs != s.SessionID {
			t.Errorf("list %+v", l)
		}

		want := "user_message assistant_message turn_complete user_message assistant_message tool_use_start tool_result assistant_message turn_complete user_message assistant_message turn_complete"
		deadline := time.Now().Add(5 * time.Second) // 2.1.112 writes some 50 ms late
		for got := w.history(s.SessionID); got != want; got = w.history(s.SessionID) {
			if time.Now().After(deadline) {
				t.Fatalf("history: %s", got)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err := w.client.Shutdown(w.ctx); err != nil {
			t.Fatal(err)
		}

		terminal := exec.Command(w.claude(), "-p", "--resume", id, "hello from the terminal")
		terminal.Dir, terminal.Env = w.project, w.env()
		if out, err := terminal.CombinedOutput(); err != nil || !strings.Contains(string(out), "Echo: hello from the terminal") || !w.remembers("marmalade") {
			t.Errorf("claude --resume: %v %s", err, out)
		}
	})
}

func TestATerminalConversationIsListedResumedAndForked(t *testing.T) {
	eachVersion(t, []string{newest, "2.1.112", "2.0.0"}, func(t *testing.T, version string) {
		w := outside(t, version)
		terminal := exec.Command(w.claude(), "-p", "the secret word is marmalade")
		terminal.Dir, terminal.Env = w.project, w.env()
		if out, err := terminal.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		w.start(option("continue", true))
		if r := w.say("go on"); r.Result != "Echo: go on" || !w.remembers("marmalade") {
			t.Errorf("continue: %v; remembers: %v", r, w.remembers("marmalade"))
		}
		l := w.list()
		if len(l.Sessions) != 1 {
			t.Fatalf("list %+v", l)
		}
		var s struct {
			SessionID string `json:"session_id"`
		}
		if err := w.client.Call(w.ctx, "session_resume", map[string]any{"session_id": l.Sessions[0].SessionID, "fork": true, "trusted": true}, &s); err != nil {
			t.Fatal(err)
		}
		if r := w.await1(w.sendTo(s.SessionID, "the fork")); r.Result != "Echo: the fork" || !w.remembers("marmalade") {
			t.Errorf("fork: %v", r)
		}
		deadline := time.Now().Add(5 * time.Second) // the CLI writes its transcript when it likes
		for len(w.list().Sessions) != 2 {
			if time.Now().After(deadline) {
				t.Fatalf("%d conversations after the fork", len(w.list().Sessions))
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

func TestAnIdleClaudeIsStoppedAndStartedAgainUnseen(t *testing.T) {
	eachVersion(t, since2, func(t *testing.T, version string) {
		w := enter(t, version, option("idle_stop_s", 1))
		w.completed(w.say("the secret word is marmalade"))
		bridge := w.process.Process.Pid
		deadline := time.Now().Add(patience)
		for len(w.childrenOf(bridge)) > 0 {
			if time.Now().After(deadline) {
				t.Fatal("claude was never stopped")
			}
			time.Sleep(50 * time.Millisecond)
		}
		from := w.mark()
		if r := w.say("go on"); r.Result != "Echo: go on" || !w.remembers("marmalade") {
			t.Errorf("%v; remembers: %v", r, w.remembers("marmalade"))
		}
		for _, m := range w.since(from, "notice") {
			t.Errorf("notice %s", m.params)
		}
	})
}

func TestAKilledClaudeLosesNothingItHadWritten(t *testing.T) {
	eachVersion(t, since2, func(t *testing.T, version string) {
		w := enter(t, version)
		w.completed(w.say("the secret word is marmalade"))
		time.Sleep(200 * time.Millisecond) // 2.1.112 writes its transcript some 50 ms late
		for i := range 4 {
			answer := w.send("slow: 1000 10")
			w.await(0, "tokens", method("assistant_token"))
			_, claude := w.guardOf(w.process.Process.Pid)
			time.Sleep(time.Duration(i*70) * time.Millisecond)
			w.kill(claude)
			if r := w.await1(answer); r.Status != "failed" || r.Error == nil || r.Error.Kind != "claude_exited" {
				t.Errorf("round %d: %v", i, r)
			}
			if r := w.say(fmt.Sprintf("again %d", i)); r.Status != "completed" || !w.remembers("marmalade") {
				t.Errorf("round %d: next: %v; remembers: %v", i, r, w.remembers("marmalade"))
			}
		}
	})
}

func TestUsageIsSummedUp(t *testing.T) {
	w := enter(t, newest)
	w.completed(w.say("one"))
	w.completed(w.say("two"))
	var sum rpc.UsageResult
	if err := w.client.Call(w.ctx, "usage", nil, &sum); err != nil || len(sum.Rows) != 1 || sum.Rows[0].Turns != 2 || sum.Rows[0].CostUSD <= 0 {
		t.Fatalf("usage %+v %v", sum, err)
	}
	var total float64
	for _, m := range w.since(0, "usage_report") {
		var p struct {
			Cost float64 `json:"cost_usd"`
		}
		_ = json.Unmarshal(m.params, &p)
		total += p.Cost
	}
	if diff := total - sum.Rows[0].CostUSD; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("the turns cost %v, the sum is %v", total, sum.Rows[0].CostUSD)
	}
	out, err := w.command("usage", "--json").Output()
	if err != nil || !strings.Contains(string(out), `"turns"`) {
		t.Errorf("drawbridge usage: %v %s", err, out)
	}
}

// command is a subcommand of drawbridge in this world.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = w.project, w.env()
	return cmd
}
