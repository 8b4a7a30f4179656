//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/adapters/fakeapi"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// all are the versions of the matrix: a scenario that runs with all of them states in limits what a version cannot do.
var all = []string{newest, "2.1.112", "2.1.17", "2.0.0", "1.0.128", "1.0.22"}

// limit is what a version cannot do in a scenario, and what has to happen instead.
type limit struct {
	lacks   string
	instead func(*testing.T, string)
}

// limits are by scenario and version. What is not here has to go as the scenario says.
var limits = map[string]map[string]limit{
	"TestTokensJoinedAreTheFinalText":                      {"1.0.22": {"no streaming: whole answers", wholeAnswers}},
	"TestAllowedBashRuns":                                  {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestADenialReachesTheModelWithItsReason":              {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestTheEditedCommandRuns":                             {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestThreeReadsAskAtOnceAndAreAnsweredInReverse":       {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestQuestionsAreAnsweredAndDeclined":                  {"2.0.0": {"no such tool", noQuestions}, "1.0.110": {"no such tool", noQuestions}, "1.0.128": {"no such tool", noQuestions}, "1.0.22": {"no such tool", noQuestions}},
	"TestAPlanIsRejectedWithCommentsAndApprovedIntoAMode":  {"1.0.22": {"no prompts: the plan is refused", planRefused}},
	"TestAPIErrorsFailTheTurnAndNotTheSession":             {"1.0.22": {"it retries for minutes in silence: told, and interrupted", silentRetries}},
	"TestFiveMessagesAtOnceGetFiveAnswersInOrder":          {"1.0.22": {"no streaming: whole answers", fiveWholeAnswers}},
	"TestInterruptWhileStreaming":                          {"1.0.22": {"no interrupt: ended and resumed", endedAndResumed}},
	"TestInterruptWhileAPromptIsOpenTakesItBackFirst":      {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestInterruptWhileBashRunsLeavesNoProcess":            {"1.0.22": {"no interrupt: ended with its commands", endedWithItsCommands}},
	"TestInterruptAtOnceAfterAMessage":                     {"1.0.22": {"no interrupt: ended and resumed", endedAtOnce}},
	"TestShutdownLeavesNothing":                            {"1.0.22": {"no prompts: allowed by the CLI's own rules", shutdownWithACommand}},
	"TestASessionGrantIsNotAskedAgain":                     {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestADenyRuleHoldsWhereTheCLIDoesNotAsk":              {"1.0.22": {"no hooks: rules_enforced says so", rulesNotEnforced}},
	"TestAnAskRuleAsksWhereTheCLIDoesNot":                  {"1.0.22": {"no hooks: rules_enforced says so", rulesNotEnforced}},
	"TestTheModelIsToldOfAnEdit":                           {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
	"TestWhatAHostileProjectBringsStaysOff":                {"1.0.22": {"a folder that is not trusted is refused", untrustedIsRefused}, "1.0.110": {"a folder that is not trusted is refused", untrustedIsRefused}},
	"TestSeveralBlocksAndAnImageAreSent":                   {"1.0.22": {"one text: joined, and an image refused", oneTextAlone}},
	"TestALongResultReachesTheEditorCutAndALongInputWhole": {"1.0.22": {"no prompts: refused by the CLI", refusedByTheCLI}},
}

// matrix is how each scenario went with each version.
var matrix struct {
	sync.Mutex
	scenarios []string
	cells     map[string]string // scenario and version → ok, degraded, FAILED
}

// eachVersion runs a scenario with several CLIs, side by side; with a version that cannot do it, what has to happen instead.
func eachVersion(t *testing.T, versions []string, scenario func(*testing.T, string)) {
	name := t.Name()
	matrix.Lock()
	matrix.scenarios = append(matrix.scenarios, name)
	matrix.Unlock()
	if only := os.Getenv("DRAWBRIDGE_VERSION"); only != "" {
		versions = []string{only}
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			run, word := scenario, "ok"
			if l, ok := limits[name][v]; ok {
				run, word = l.instead, "degraded"
			}
			t.Cleanup(func() { enterResult(t, name, v, word) })
			run(t, v)
		})
	}
}

func enterResult(t *testing.T, scenario, version, word string) {
	if t.Failed() {
		word = "FAILED"
	}
	matrix.Lock()
	defer matrix.Unlock()
	if matrix.cells == nil {
		matrix.cells = map[string]string{}
	}
	matrix.cells[scenario+" "+version] = word
}

// writeMatrix writes the table to a file, for people: go test shows no output of a run that went well.
func writeMatrix(path string) error {
	matrix.Lock()
	defer matrix.Unlock()
	var versions []string
	for cell := range matrix.cells {
		_, v, _ := strings.Cut(cell, " ")
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return slices.Index(all, b) - slices.Index(all, a) })
	slices.Sort(matrix.scenarios)
	var b strings.Builder
	row := func(name string, cell func(version string) string) {
		fmt.Fprintf(&b, "%-62s", name)
		for _, v := range versions {
			fmt.Fprintf(&b, "  %-8s", cell(v))
		}
		b.WriteString("\n")
	}
	row("", func(v string) string { return v })
	var declared []string
	for _, name := range matrix.scenarios {
		row(strings.TrimPrefix(name, "Test"), func(v string) string {
			word := matrix.cells[name+" "+v]
			switch word {
			case "":
				return "-"
			case "degraded":
				declared = append(declared, fmt.Sprintf("%s, %s: %s", strings.TrimPrefix(name, "Test"), v, limits[name][v].lacks))
			}
			return word
		})
	}
	b.WriteString("\ndegraded as declared:\n")
	for _, line := range declared {
		b.WriteString("  " + line + "\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// wholeAnswers: the answer comes in one piece, and is the same.
func wholeAnswers(t *testing.T, version string) {
	w := enter(t, version)
	for text, want := range map[string]string{"hello": "Echo: hello", "unicode": fakeapi.UnicodeText, "split": fakeapi.SplitText} {
		from := w.mark()
		r := w.say(text)
		w.completed(r)
		if r.Result != want || w.whole(from) != want || w.tokens(from) != "" {
			t.Errorf("%s: the result is %q, the message %q, the tokens %q", text, r.Result, w.whole(from), w.tokens(from))
		}
	}
	w.toldToLack("streaming")
}

// whole is the text of the messages told from a place on.
func (w *world) whole(from int) string {
	var text string
	for _, m := range w.since(from, "assistant_message") {
		var p struct {
			Content []struct{ Text string }
		}
		_ = json.Unmarshal(m.params, &p)
		for _, b := range p.Content {
			text += b.Text
		}
	}
	return text
}

// toldToLack: a notice names what the version lacks.
func (w *world) toldToLack(what string) {
	w.Helper()
	for _, m := range w.since(0, "notice") {
		if m.get("kind") == "claude_degraded" && strings.Contains(m.get("message"), what) && m.get("remedy") != "" {
			return
		}
	}
	w.Errorf("%s: no notice says that there is no %s", w.version, what)
}

// refusedByTheCLI: nobody is asked, the command does not run, and the turn goes on.
func refusedByTheCLI(t *testing.T, version string) {
	w := enter(t, version)
	w.completed(w.say("bash: touch made"))
	if w.exists("made") || w.asked(0) > 0 {
		t.Errorf("the file is there: %v; asked %d times", w.exists("made"), w.asked(0))
	}
	if m := w.await(0, "a result", method("tool_result")); m.get("outcome") != "denied" {
		t.Errorf("outcome %s", m.get("outcome"))
	}
	w.toldToLack("permission prompts")
}

func noQuestions(t *testing.T, version string) {
	w := enter(t, version)
	w.completed(w.say("ask"))
	if n := len(w.since(0, "ask_user_question")); n > 0 {
		t.Errorf("asked %d times", n)
	}
	if r := w.say("next"); r.Result != "Echo: next" {
		t.Errorf("next: %v", r)
	}
}

func planRefused(t *testing.T, version string) {
	w := enter(t, version, option("permission_mode", "plan"))
	w.completed(w.say("plan"))
	w.completed(w.say("write: " + filepath.Join(w.project, "new.txt") + "|text"))
	if w.asked(0) > 0 || w.exists("new.txt") {
		t.Errorf("asked %d times; the file is there: %v", w.asked(0), w.exists("new.txt"))
	}
}

// silentRetries: the version takes no heed of CLAUDE_CODE_MAX_RETRIES. That it is silent is told, and an interrupt ends it.
func silentRetries(t *testing.T, version string) {
	w := enter(t, version)
	if r := w.say("fail: 400"); r.Status != "failed" || r.Error == nil || r.Error.Kind != "invalid_request" {
		t.Errorf("400: %v", r)
	}
	answer := w.send("fail: 500")
	w.await(0, "that it is quiet", func(m message) bool { return m.method == "status_change" && m.get("quiet_ms") != "" })
	w.interrupt()
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("500: %v", r)
	}
	if r := w.say("next"); r.Result != "Echo: next" {
		t.Errorf("next: %v", r)
	}
}

func fiveWholeAnswers(t *testing.T, version string) {
	w := enter(t, version)
	var answers []<-chan turn
	want := ""
	for i := range 5 {
		answers = append(answers, w.sendInOrder(fmt.Sprintf("number %d", i)))
		want += fmt.Sprintf("Echo: number %d", i)
	}
	for i, c := range answers {
		if r := w.await1(c); r.Result != fmt.Sprintf("Echo: number %d", i) {
			t.Errorf("answer %d: %v", i, r)
		}
	}
	if got := w.whole(0); got != want {
		t.Errorf("messages %q", got)
	}
}

// ownRules are rules of the CLI's own: where it cannot ask, they are how a command is let through.
func ownRules(w *world, _ *exec.Cmd, _ *editor.InitializeParams) {
	dir := filepath.Join(w.home, ".claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"permissions":{"allow":["Bash"]}}`), 0o600); err != nil {
		w.Fatal(err)
	}
}

// apiAsked waits until the API is asked for an answer to text.
func (w *world) apiAsked(text string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if _, err := w.api.Wait(ctx, func(r fakeapi.Request) bool { return strings.Contains(string(r.Body), text) }); err != nil {
		w.Fatalf("%s: the API was not asked %q: %v", w.version, text, err)
	}
}

// endedAndResumed: an interrupt ends the process, and the next message goes on with the conversation.
func endedAndResumed(t *testing.T, version string) {
	w := enter(t, version)
	w.completed(w.say("remember the milk"))
	answer := w.send("slow: 2000 5")
	w.apiAsked("slow: 2000 5")
	w.interrupt()
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("the answer is %v", r)
	}
	if r := w.say("next"); r.Result != "Echo: next" {
		t.Errorf("next: %v", r)
	}
	requests := w.api.Requests()
	if last := requests[len(requests)-1]; !strings.Contains(string(last.Body), "remember the milk") {
		t.Error("the conversation is not that of before")
	}
	w.toldToLack("interrupt")
}

func endedWithItsCommands(t *testing.T, version string) {
	w := enter(t, version, ownRules)
	mark := nextMark()
	answer := w.send("bash: touch started; sleep " + mark)
	w.awaitFile("started")
	w.interrupt()
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("the answer is %v", r)
	}
	w.gone(mark, 5*time.Second)
	if r := w.say("next"); r.Status != "completed" {
		t.Errorf("next: %v", r)
	}
}

func endedAtOnce(t *testing.T, version string) {
	w := enter(t, version)
	w.completed(w.say("warm up"))
	for i := range 4 {
		from := w.mark()
		answer := w.send("slow: 400 10")
		w.await(from, "the turn", method("turn_start"))
		time.Sleep(time.Duration(i*i) * 10 * time.Millisecond)
		w.interrupt()
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Fatalf("round %d: %v", i, r)
		}
		if r := w.say("next"); r.Result != "Echo: next" {
			t.Fatalf("round %d, next: %v", i, r)
		}
	}
}

func shutdownWithACommand(t *testing.T, version string) {
	w := enter(t, version, ownRules)
	mark := nextMark()
	answer := w.send("bash: touch started; sleep " + mark)
	w.awaitFile("started")
	if err := w.client.Shutdown(w.ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("the answer is %v", r)
	}
	w.gone(mark, 2*time.Second)
	w.empty(2 * time.Second)
}

func rulesNotEnforced(t *testing.T, version string) {
	w := enter(t, version, userFile(`{"permissions":{"deny":["Read(./.env)"],"ask":["Bash(ls *)"]}}`))
	w.completed(w.say("bash: ls -a"))
	var health struct {
		Enforced string `json:"rules_enforced"`
		Reason   string `json:"rules_reason"`
	}
	if err := w.client.Call(w.ctx, "health", nil, &health); err != nil || health.Enforced != "partly" || health.Reason == "" {
		t.Errorf("health %+v %v", health, err)
	}
	w.toldToLack("deny and ask rules")
}

func untrustedIsRefused(t *testing.T, version string) {
	w := outside(t, version)
	dir := filepath.Join(w.project, ".claude")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	hook := `{"permissions":{"allow":["Bash"]}}`
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(hook), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start(option("trusted", false), option("prewarm", true))
	r := w.say("bash: touch asked")
	if r.Status != "failed" || r.Error == nil || r.Error.Kind != "not_permitted" || r.Error.Remedy == "" || w.exists("asked") {
		t.Errorf("%v", r)
	}
	if n := len(w.api.Requests()); n > 0 {
		t.Errorf("the API was asked %d times", n)
	}
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func blocks(image bool) json.RawMessage {
	list := `{"type":"text","text":"first part"},{"type":"text","text":"second part"}`
	if image {
		list += `,{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + onePixel + `"}}`
	}
	return json.RawMessage("[" + list + "]")
}

func (w *world) sayBlocks(content json.RawMessage) (t turn) {
	w.Helper()
	t.err = w.client.Call(w.ctx, "user_message", map[string]any{"content": content}, &t)
	return t
}

func TestSeveralBlocksAndAnImageAreSent(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.completed(w.sayBlocks(blocks(true)))
		w.apiAsked("first part")
		w.apiAsked(`"image/png"`)
	})
}

func oneTextAlone(t *testing.T, version string) {
	w := enter(t, version)
	w.completed(w.sayBlocks(blocks(false)))
	w.apiAsked("first part\\n\\nsecond part")
	if r := w.sayBlocks(blocks(true)); r.Status != "failed" || r.Error == nil || r.Error.Kind != "unsupported_by_claude" || r.Error.Remedy == "" {
		t.Errorf("an image: %v", r)
	}
	if r := w.say("next"); r.Result != "Echo: next" {
		t.Errorf("next: %v", r)
	}
}

func TestALongResultReachesTheEditorCutAndALongInputWhole(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		const limit = 32 << 10
		w := enter(t, version, arguments("--max-payload-bytes", fmt.Sprint(limit)))
		long := strings.Repeat("0123456789abcdef", 60<<10/16)
		shown := 0
		w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			if strings.Contains(string(p.Input), long) {
				shown++
			}
			return w.allow(p), nil
		}
		w.completed(w.say("write: " + filepath.Join(w.project, "long") + "|" + long))
		if data, err := os.ReadFile(filepath.Join(w.project, "long")); err != nil || string(data) != long || shown != 1 {
			t.Errorf("%d bytes were written (%v), shown whole %d times", len(data), err, shown)
		}
		// The CLIs themselves cut what Bash prints at 30 KB, and refuse to Read more than 25,000 tokens.
		lines := strings.Repeat("0123456789abcdef\n", 60<<10/17)
		if err := os.WriteFile(filepath.Join(w.project, "read"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		from := w.mark()
		w.completed(w.say("read: " + filepath.Join(w.project, "read")))
		m := w.await(from, "the result", method("tool_result"))
		if n := len(m.params); n > limit || n < limit/2 || m.get("outcome") != "ok" {
			t.Errorf("the result is %s and has %d bytes", m.get("outcome"), n)
		}
		if m.get("truncated", "original_bytes") == "" || !strings.Contains(string(m.params), "[truncated: original_size=") {
			t.Errorf("it is not marked: %.300s", m.params)
		}
	})
}

func TestAHugeResultReachesTheEditorCutAndAHugeInputWhole(t *testing.T) {
	content := strings.Repeat("0123456789abcd\n", 15<<20/15)
	input, err := json.Marshal(map[string]string{"file_path": "huge", "content": content})
	if err != nil {
		t.Fatal(err)
	}
	w := scripted(t, "real\n-- write --\nmatch write\ntool Write "+string(input)+"\nask\ntext Written.\n"+
		"-- print --\nmatch print\ntool Bash {\"command\":\"cat huge\"}\nrun\nresult bytes 30MB\ntext Printed.\n")
	var shown struct{ Content string }
	w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) {
		_ = json.Unmarshal(p.Input, &shown)
		return w.allow(p), nil
	}
	if r := w.say("write"); r.Result != "Written." || shown.Content != content {
		t.Errorf("%v; %d bytes of %d were shown", r, len(shown.Content), len(content))
	}
	if data, err := os.ReadFile(filepath.Join(w.project, "huge")); err != nil || string(data) != content {
		t.Errorf("%d bytes of %d were written: %v", len(data), len(content), err)
	}
	from := w.mark()
	if r := w.say("print"); r.Result != "Printed." {
		t.Errorf("%v", r)
	}
	m := w.await(from, "the result", method("tool_result"))
	if n := len(m.params); n > 10<<20 || n < 5<<20 || m.get("truncated", "original_bytes") == "" {
		t.Errorf("the result has %d bytes", n)
	}
	var health struct {
		Counters struct{ Truncations int } `json:"counters"`
	}
	if err := w.client.Call(w.ctx, "health", nil, &health); err != nil || health.Counters.Truncations != 2 { // Write tells what it wrote, too
		t.Errorf("health %+v %v", health, err)
	}
}

func TestTheDoctorExitsAsTheBridgeDoes(t *testing.T) {
	w := outside(t, newest)
	program := func(name, prints string) string {
		path := filepath.Join(w.home, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+prints+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		claude string
		code   int
		level  string
	}{
		{w.claude(), 0, "fully_compatible"},
		{program("old", "1.0.10 (Claude Code)"), 78, "incompatible"},
		{program("odd", "good morning"), 0, "unknown"},
		{filepath.Join(w.home, "nowhere"), 72, "missing"},
	} {
		cmd := exec.Command(binary, "doctor", "--json", "--claude", c.claude)
		cmd.Env, cmd.Dir = w.env(), w.project
		out, err := cmd.Output()
		var report struct {
			ClaudeCode struct{ Level string } `json:"claude_code"`
			Account    map[string]any
			Findings   []struct{ Remedy string }
		}
		if jerr := json.Unmarshal(out, &report); jerr != nil || cmd.ProcessState.ExitCode() != c.code || report.ClaudeCode.Level != c.level {
			t.Errorf("%s: %v, %v, %+v, want %d", c.claude, err, jerr, report, c.code)
		}
		if c.level == "fully_compatible" && (len(report.Findings) > 0 || report.Account["apiKeySource"] != "ANTHROPIC_API_KEY") {
			t.Errorf("a good one: %s", out)
		}
	}
}
