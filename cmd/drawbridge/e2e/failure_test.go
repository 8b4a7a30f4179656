//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/rpc/editor"
)

func TestAPIErrorsFailTheTurnAndNotTheSession(t *testing.T) {
	kinds := map[string]string{"401": "not_authenticated", "400": "invalid_request", "500": "server_error"}
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		for code, kind := range kinds {
			from := w.mark()
			r := w.say("fail: " + code)
			if r.Status != "failed" || r.StopReason != "error" || r.Error == nil || r.Error.Kind != kind || r.Error.Remedy == "" {
				t.Errorf("%s: %v", code, r)
			}
			if (version == newest || version == "2.1.112") && code != "400" { // older ones retry in silence
				if len(w.since(from, "status_change")) == 0 || !strings.Contains(fmt.Sprint(states(w, from)), "retrying") {
					t.Errorf("%s: no retry was told: %v", code, states(w, from))
				}
			}
			if left := undiscarded(w, from); left != "" {
				t.Errorf("%s: %q stays although the model's history has nothing of it", code, left)
			}
		}
		if err := w.api.Refuse(true); err != nil {
			t.Fatal(err)
		}
		if r := w.say("hello"); r.Status != "failed" || r.Error == nil || r.Error.Kind != "connection" {
			t.Errorf("refused: %v", r)
		}
		if err := w.api.Refuse(false); err != nil {
			t.Fatal(err)
		}
		if r := w.say("hello again"); r.Result != "Echo: hello again" {
			t.Errorf("next: %v", r)
		}
	})
}

func states(w *world, from int) (list []string) {
	for _, m := range w.since(from, "status_change") {
		list = append(list, m.get("state"))
	}
	return list
}

// undiscarded is the text that was streamed since a place, is not part of a confirmed message, and was not discarded either.
func undiscarded(w *world, from int) string {
	texts := map[string]string{}
	for _, m := range w.since(from) {
		switch m.method {
		case "assistant_token":
			texts[m.get("message_id")] += m.get("token")
		case "message_discarded":
			delete(texts, m.get("message_id"))
		}
	}
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(text)
	}
	return b.String()
}

func TestAStreamCutInTheMiddleLeavesOnlyTheTextThatCounts(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		for _, script := range []string{"cut", "sseerr: overloaded_error"} {
			w := enter(t, version)
			r := w.say(script)
			shown := undiscarded(w, 0)
			for _, m := range w.since(0, "assistant_message") {
				var p struct {
					Content []struct{ Text string }
				}
				_ = json.Unmarshal(m.params, &p)
				for _, b := range p.Content {
					shown += b.Text
				}
			}
			want := r.Result
			if r.Status == "failed" {
				want = ""
			}
			if shown != want {
				t.Errorf("%s: %v; the editor shows %q", script, r, shown)
			}
			if r := w.say("next"); r.Result != "Echo: next" {
				t.Errorf("%s, next: %v", script, r)
			}
		}
	})
}

func TestAPromptOf20MB(t *testing.T) {
	eachVersion(t, []string{newest, "2.0.0"}, func(t *testing.T, version string) {
		w := enter(t, version)
		big := strings.Repeat("0123456789abcdef", 20<<20/16)
		r := w.say(big)
		if r.err != nil || r.Status == "cancelled" {
			t.Errorf("the answer is %.300v", r)
		}
		if r := w.say("next"); r.err != nil || r.Status == "" {
			t.Errorf("next: %.300v", r)
		}
	})
}

// scripted makes a world whose claude is the scripted agent.
func scripted(t *testing.T, script string, setups ...setup) *world {
	t.Helper()
	w := outside(t, newest)
	path := filepath.Join(w.home, "script.txtar")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start(append([]setup{func(_ *world, serve *exec.Cmd, _ *editor.InitializeParams) {
		command, _ := json.Marshal([]string{binary, "__agent", path})
		serve.Args = []string{binary, "serve", "--claude", string(command)}
	}}, setups...)...)
	return w
}

func TestHugeLinesAndGarbageLoseNothingAndTheMemoryComesBack(t *testing.T) {
	w := scripted(t, `
-- huge --
match huge
line bytes 52428800
text Huge done.
-- noise --
match noise
stderr bytes 20971520
raw null
raw [1,2,3]
raw "a string"
raw {"type":"brand_new","data":1}
raw this is not JSON
raw {"type":"assistant","message":17}
text Noise done.
`)
	w.completed(w.say("hello"))
	before := rss(t, w.process.Process.Pid)
	for range 3 {
		if r := w.say("huge"); r.Result != "Huge done." {
			t.Errorf("%v", r)
		}
		if r := w.say("noise"); r.Result != "Noise done." {
			t.Errorf("%v", r)
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for rss(t, w.process.Process.Pid) > before+20<<20 {
		if time.Now().After(deadline) {
			t.Fatalf("the bridge had %d MiB before and has %d MiB now", before>>20, rss(t, w.process.Process.Pid)>>20)
		}
		w.completed(w.say("hello"))
		time.Sleep(200 * time.Millisecond)
	}
	var health struct {
		Counters struct {
			UnknownTypes map[string]int `json:"unknown_types"`
			ParseErrors  int            `json:"parse_errors"`
		} `json:"counters"`
	}
	if err := w.client.Call(w.ctx, "health", nil, &health); err != nil || health.Counters.UnknownTypes["brand_new"] != 3 || health.Counters.ParseErrors != 3 {
		t.Errorf("health %+v %v", health, err)
	}
}

// rss is the resident memory of a process, in bytes.
func rss(t *testing.T, pid int) int {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int
		if _, err := fmt.Sscanf(s.Text(), "VmRSS: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

func TestAClaudeThatMisbehavesIsSurvived(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"dies":              {"-- x --\nmatch x\ntext Some words\ndie\n", "killed"},
		"half a line":       {"-- x --\nmatch x\nhalf\nexit 0\n", "status 0"},
		"exits with words":  {"-- x --\nmatch x\nstderr the disk is gone\nexit 3\n", "status 3: the disk is gone"},
		"never initializes": {"ignore initialize\n", "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := scripted(t, c.script)
			began := time.Now()
			r := w.say("x")
			if r.Status != "failed" || r.Error == nil || !strings.Contains(r.Error.Message, c.says) || r.Error.Remedy == "" && name != "never initializes" {
				t.Errorf("%v", r)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v to find out", took)
			}
			if name == "never initializes" {
				return
			}
			if r := w.say("hello"); r.Result != "Echo: hello" {
				t.Errorf("next: %v", r)
			}
		})
	}
}

func TestAClaudeThatIgnoresInterruptAndTermIsStopped(t *testing.T) {
	w := scripted(t, "-- x --\nmatch x\nignore interrupt\nignore term\ntokens 1000 every 50ms\n")
	answer := w.send("x")
	w.await(0, "tokens", method("assistant_token"))
	w.interrupt()
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("%v", r)
	}
	if r := w.say("hello"); r.Result != "Echo: hello" {
		t.Errorf("next: %v", r)
	}
}

func TestAMissingClaudeIsToldAndExits72(t *testing.T) {
	w := outside(t, newest)
	w.fails = true
	w.start(func(w *world, serve *exec.Cmd, _ *editor.InitializeParams) {
		serve.Args = []string{binary, "serve"}
		serve.Env = append(serve.Env, "PATH=/nonexistent")
	})
	r := w.say("hello")
	if r.Status != "failed" || r.Error == nil || r.Error.Kind != "claude_not_found" || r.Error.Remedy == "" {
		t.Errorf("%v", r)
	}
	_ = w.client.Shutdown(w.ctx)
	if code := w.process.ProcessState.ExitCode(); code != 72 {
		t.Errorf("exit code %d", code)
	}
}

func TestASecondVoiceTalksTheProtocolToo(t *testing.T) {
	w := outside(t, newest)
	cmd := exec.Command("node", "testdata/vscode-jsonrpc.mjs", filepath.Join(cache, "vscode-jsonrpc"), binary, w.project, "serve", "--claude", w.claude())
	cmd.Env = w.env()
	out, err := cmd.CombinedOutput()
	want := `server drawbridge 1.0
answer completed Echo: hello tokens equal
tool Bash touch interop && echo made
asked touch interop && echo made
resolved allowed user
result ok
answer completed
tool Bash touch never
asked touch never
taken back
resolved withdrawn interrupt
`
	if err != nil || !strings.HasPrefix(string(out), want) || !strings.HasSuffix(string(out), "answer cancelled\nexit 0\n") {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, out, want)
	}
	if !w.exists("interop") || w.exists("never") {
		t.Error("the commands did not run as allowed")
	}
}
