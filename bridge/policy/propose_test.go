package policy

import (
	"strings"
	"testing"
)

func TestProposedRulesCoverTheCallAndNothingThatRunsAnything(t *testing.T) {
	for _, r := range []struct {
		call        Call
		rules, want string
	}{
		{bashCall("npm install express"), "", "Bash(npm install *)"}, {bashCall("npm run build"), "", "Bash(npm run build *)"}, {bashCall("timeout 5 npm run build"), "", "Bash(npm run build *)"}, {bashCall("git status && make test"), "+Bash(git status)", "Bash(make test)"},
		{bashCall("npm test && cargo build --release"), "", "Bash(npm test *) Bash(cargo build *)"}, {bashCall("npm run a && npm run a -- x"), "", "Bash(npm run a *)"}, {bashCall("python3 x.py"), "", "Bash(python3 x.py)"}, {bashCall("bash -c 'ls'"), "", "Bash(bash -c ls)"},
		{bashCall("sudo npm run build"), "", "Bash(sudo npm run build)"}, {bashCall("ls $x"), "", "Bash(ls *)"}, {bashCall("foo $x"), "", ""}, {bashCall("foo '*'"), "", ""}, {bashCall("a; b; c; d; e; f"), "", ""}, {bashCall("if a; then b; fi"), "", ""}, {bashCall("ls '"), "", ""},
		{bashCall("ls > f"), "", ""}, {bashCall("git push"), "?Bash(git push)", ""}, {bashCall("git commit -m 'a b'"), "", "Bash(git commit *)"}, {bashCall("git -c a=b status"), "", "Bash(git -c a=b status)"}, {bashCall("FOO=1 ls"), "", ""}, {bashCall("# x"), "", ""},
		{bashCall("npm run '*'"), "", ""}, {bashCall("find . -exec rm x"), "", "Bash(find . -exec rm x)"},
		{callOf("Edit", "file_path", "/w/src/a.go"), "", "Edit(/src/a.go)"}, {callOf("Read", "file_path", "/etc/foo/bar"), "", "Read(//etc/foo/**)"}, {callOf("Read", "file_path", "/home/u/x/y"), "", "Read(~/x/**)"}, {callOf("Write", "file_path", "/w/.git/config"), "", ""},
		{callOf("Read", "file_path", "/etc/hosts"), "", ""}, {callOf("Grep", "path", "/w/src"), "", "Read(/src/**)"}, {callOf("Edit", "file_path", "/w/[a].go"), "", ""}, {callOf("WebFetch", "url", "https://go.dev/x"), "", "WebFetch(domain:go.dev)"}, {callOf("WebFetch", "url", "http://localhost:1"), "", "WebFetch(domain:localhost)"},
		{callOf("WebFetch", "url", "https://u@go.dev"), "", ""}, {callOf("mcp__s__t"), "", "mcp__s__t"}, {callOf("Agent", "subagent_type", "x"), "", "Agent(x)"}, {callOf("Skill", "skill", "x"), "", "Skill(x)"}, {callOf("PowerShell", "command", "x"), "", ""}, {callOf("Unknown"), "", ""}, {callOf("WebSearch", "query", "x"), "", "WebSearch"},
		{callOf("AskUserQuestion"), "", ""}, {callOf("ExitPlanMode"), "", ""},
	} {
		v := rulesOf(t, r.rules).Decide(r.call, tree{})
		if got := strings.Join(v.Proposed, " "); got != r.want {
			t.Errorf("%s %s: proposed %q, want %q", r.call.Tool, r.call.Input, got, r.want)
		}
		for _, text := range v.Proposed {
			if ok, err := Covers(text, ScopeSession, r.call, tree{}); !ok || err != nil {
				t.Errorf("%s is proposed for %s and does not cover it (%v)", text, r.call.Input, err)
			}
		}
	}
}

func TestCoversTellsARuleThatHelpsFromOneThatDoesNot(t *testing.T) {
	for _, r := range []struct {
		call Call
		rule string
		want bool
	}{
		{bashCall("npm install express"), "Bash(npm install express)", true}, {bashCall("npm install express"), "Bash(npm *)", true}, {bashCall("npm install express"), "Bash", true}, {bashCall("npm install express"), "Bash(ls *)", false}, {bashCall("npm install express"), "Read(//**)", false},
		{bashCall("a && b"), "Bash(a)", true}, {bashCall("echo x && b"), "Bash(echo *)", true}, {bashCall("if a; then b; fi"), "Bash(a)", false}, {bashCall("if a; then b; fi"), "Bash", true}, {bashCall("find . -delete"), "Bash(find *)", false}, {bashCall("ls '"), "Bash", false}, {bashCall("ls > f"), "Bash(ls)", false},
		{callOf("Edit", "file_path", "/w/a"), "Edit(/**)", true}, {callOf("Edit", "file_path", "/w/.git/a"), "Edit(/**)", false}, {callOf("Edit", "file_path", "/w/a"), "Write(a)", false}, {callOf("AskUserQuestion"), "AskUserQuestion", false}, {callOf("mcp__s__t"), "mcp__s", true},
	} {
		if ok, err := Covers(r.rule, ScopeSession, r.call, tree{}); ok != r.want || err != nil && r.rule != "Write(a)" {
			t.Errorf("%s covers %s: %v %v, want %v", r.rule, r.call.Input, ok, err, r.want)
		}
	}
	if _, err := Covers("Bash(", ScopeSession, bashCall("ls"), tree{}); err == nil {
		t.Error("a rule that cannot be read is no error")
	}
}

func TestResolvedNamesTheDirectory(t *testing.T) {
	c := callOf("Read")
	c.Cwd = "/w/sub"
	for rule, want := range map[string]string{"Read(/a)": "Read(/w/a)", "Read(a)": "Read(/w/sub/a)", "Read(./a)": "Read(/w/sub/a)", "Edit(~/x/**)": "Edit(/home/u/x/**)", "Read(//etc)": "Read(/etc)", "Bash(ls *)": "Bash(ls *)"} {
		if got := Resolved(rule, c); got != want {
			t.Errorf("%s is %s, want %s", rule, got, want)
		}
	}
}

func TestARevokedGrantIsGoneAndWithAddsOne(t *testing.T) {
	base := rulesOf(t, "-Bash(rm *)")
	with, _ := base.With(Source{List: Allow, Text: "Bash(ls)", Scope: ScopeSession})
	if v := with.Decide(bashCall("ls"), tree{}); v.Decision != Allowed {
		t.Errorf("with the grant: %s", v.Decision)
	}
	if v := base.Decide(bashCall("ls"), tree{}); v.Decision != Asked || len(base.Sources()) != 1 {
		t.Errorf("without it: %s", v.Decision)
	}
}
