package policy

import "testing"

// A fileRow is a tool call on a path, the rules and the verdict.
type fileRow struct {
	tool, path, rules string
	want              Decision
}

func checkFiles(t *testing.T, files FS, rows []fileRow) {
	t.Helper()
	for _, r := range rows {
		key := map[string]string{"NotebookEdit": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path"}[r.tool]
		if key == "" {
			key = "file_path"
		}
		if v := rulesOf(t, r.rules).Decide(callOf(r.tool, key, r.path), files); v.Decision != r.want {
			t.Errorf("%s %q with %s: %s (%s), want %s", r.tool, r.path, r.rules, v.Decision, v.Reason.Text, r.want)
		}
	}
}

func TestRule22PathGlobsAndTheirAnchors(t *testing.T) {
	checkFiles(t, tree{}, []fileRow{
		{"Read", "/etc/hosts", "+Read(//etc/hosts)", Allowed}, {"Read", "/etc/hosts", "+Read(/etc/hosts)", Asked}, {"Read", "/w/etc/hosts", "+Read(/etc/hosts)", Allowed}, {"Read", "/home/u/a/b", "+Read(~/a/*)", Allowed},
		{"Read", "~/a/b", "+Read(~/a/*)", Allowed}, {"Read", "/home/v/a/b", "+Read(~/a/*)", Asked}, {"Read", "/w/a", "+Read(a)", Allowed}, {"Read", "/w/a", "+Read(./a)", Allowed}, {"Read", "a", "+Read(a)", Allowed},
		{"Read", "/w/x/a", "+Read(a)", Asked}, {"Read", "/w/x/a", "-Read(a)", Denied}, {"Read", "/w/x/a", "-Read(./a)", Denied}, {"Read", "/w/x/y/a", "?Read(a)", Asked}, {"Read", "/a", "-Read(a); +Read", Allowed},
		{"Read", "/w/x/a", "-Read(/a); +Read", Allowed}, {"Read", "/w/x/b/a", "-Read(x/*/a)", Denied}, {"Read", "/w/x/a/b", "+Read(x/*)", Asked}, {"Read", "/w/x/a/b", "+Read(x/**)", Allowed}, {"Read", "/w/x", "+Read(x/**)", Asked},
		{"Read", "/w/x/a/b.go", "+Read(**/*.go)", Allowed}, {"Read", "/w/b.go", "+Read(**/*.go)", Allowed}, {"Read", "/w/x/b/c/d", "+Read(x/**/d)", Allowed}, {"Read", "/w/x/d", "+Read(x/**/d)", Allowed}, {"Read", "/w/xd", "+Read(x/**/d)", Asked},
		{"Read", "/w/a.go", "+Read(?.go)", Allowed}, {"Read", "/w/ab.go", "+Read(?.go)", Asked}, {"Read", "/w/b.go", "+Read([a-c].go)", Allowed}, {"Read", "/w/d.go", "+Read([a-c].go)", Asked}, {"Read", "/w/d.go", "+Read([!a-c].go)", Allowed},
		{"Read", "/w/*", `+Read(\*)`, Allowed}, {"Read", "/w/a", `+Read(\*)`, Asked}, {"Read", "/w/src/a", "+Read(src)", Allowed}, {"Read", "/w/src/a", "+Read(src/)", Allowed}, {"Read", "/w/a.d/b", "+Read(*.d)", Asked}, {"Read", "/w/a.d/b", "-Read(*.d)", Denied},
		{"Read", "/x/y", "+Read(../x/y)", Allowed}, {"Read", "/w/a(b)", "+Read(a(b))", Allowed},
	})
	c := callOf("Read", "file_path", "/w/sub/a")
	c.Cwd = "/w/sub"
	for rules, want := range map[string]Decision{"+Read(/a)": Asked, "+Read(/sub/a)": Allowed, "+Read(a)": Allowed} {
		if v := rulesOf(t, rules).Decide(c, tree{}); v.Decision != want {
			t.Errorf("%s from /w/sub in project /w: %s, want %s", rules, v.Decision, want)
		}
	}
}

func TestRule23EditGovernsWritingAndReadGovernsSearching(t *testing.T) {
	var rows []fileRow
	for _, tool := range []string{"Edit", "Write", "MultiEdit", "NotebookEdit"} {
		rows = append(rows, fileRow{tool, "/w/a", "+Edit(a)", Allowed}, fileRow{tool, "/w/a", "-Edit(a); +Edit", Denied}, fileRow{tool, "/w/a", "-Read(a); +Edit", Denied}, fileRow{tool, "/w/a", "+Read(a)", Asked},
			fileRow{tool, "/w/a", "+Edit", Allowed}, fileRow{tool, "/w/a", "-Write(a); +Edit", Denied}, fileRow{tool, "/w/a", "?MultiEdit(a); +Edit", Asked}, fileRow{tool, "/w/a", "?Edit(a); +Edit", Asked})
	}
	rows = append(rows, fileRow{"Read", "/w/a", "+Edit(a)", Allowed}, fileRow{"Read", "/w/a", "-Edit(a); +Read", Allowed}, fileRow{"Write", "/w/a", "+Write", Allowed}, fileRow{"Edit", "/w/a", "+Write", Asked},
		fileRow{"Grep", "/w/src", "+Read(src/**)", Allowed}, fileRow{"Grep", "/w", "+Read(src/**)", Asked}, fileRow{"Glob", "/w/src", "+Read(src)", Allowed}, fileRow{"LS", "/w/src", "+Read(src/*)", Asked}, fileRow{"Grep", "/w/secret/x", "-Read(secret); +Read", Denied},
		fileRow{"LS", "/w/src", "-LS(src); +Read", Denied})
	checkFiles(t, tree{}, rows)
	checkFiles(t, tree{"/w": "/", "/w/a": ""}, []fileRow{{"Grep", "/w/a", "+Read(a)", Allowed}})
	for text, tool := range map[string]string{"+Write(a)": "Write", "+MultiEdit(a)": "MultiEdit", "+Grep(a)": "Grep"} {
		rules, problems := compileText(text)
		if v := rules.Decide(callOf(tool, "file_path", "/w/a", "path", "/w/a"), tree{}); len(problems) != 1 || v.Decision != Asked {
			t.Errorf("%s: %s with %d problems, want ask and a problem", text, v.Decision, len(problems))
		}
	}
	if v := rulesOf(t, "+Read(/**)").Decide(callOf("Grep", "pattern", "x"), tree{}); v.Decision != Allowed {
		t.Errorf("Grep without path searches the session's directory: %s", v.Decision)
	}
	for pattern, want := range map[string]Decision{"*.go": Allowed, "/etc/*": Asked, "../*": Asked, "a/*/../../../*": Asked, "/w/src/*": Allowed} {
		if v := rulesOf(t, "+Read(/**)").Decide(callOf("Glob", "pattern", pattern), tree{}); v.Decision != want {
			t.Errorf("Glob %s: %s (%s), want %s", pattern, v.Decision, v.Reason.Text, want)
		}
	}
}

func TestRule24APathIsTwoPaths(t *testing.T) {
	files := tree{"/w": "/", "/w/link": "/etc", "/w/in": "src", "/w/src": "/", "/w/loop": "loop", "/w/locked": "!", "/w/dangling": "/nowhere/x", "/etc": "/", "/etc/hosts": ""}
	checkFiles(t, files, []fileRow{
		{"Read", "/w/link/hosts", "+Read(/**)", Asked}, {"Read", "/w/link/hosts", "+Read(/**); +Read(//etc/**)", Asked}, {"Read", "/w/link/hosts", "+Read(//**)", Allowed}, {"Read", "/w/link/hosts", "-Read(//etc/**)", Denied}, {"Read", "/w/link/hosts", "-Read(/link/**)", Denied},
		{"Read", "/w/in/a", "+Read(/**)", Allowed}, {"Edit", "/w/dangling", "+Edit(/**)", Asked}, {"Read", "/w/loop", "+Read(/**)", Asked}, {"Read", "/w/locked/x", "+Read(/**)", Asked}, {"Read", "/w/a/../../etc/hosts", "+Read(/**)", Asked},
		{"Read", "/w/link/../a", "+Read(//**)", Asked}, {"Read", "/w/.ENV", "-Read(.env)", Denied}, {"Read", "/w/.ENV", "+Read(.env)", Asked}, {"Read", "/proc/self/environ", "+Read(//**)", Asked}, {"Read", "/dev/sda", "+Read", Asked}, {"Read", "//host/share", "+Read", Asked},
		{"Read", `\\host\share`, "+Read", Asked}, {"Read", "/w/a:stream", "+Read", Asked}, {"Read", "", "+Read", Asked}, {"Read", "~root/x", "+Read", Asked}, {"Read", "/w/a\u202eb", "+Read", Asked}, {"Read", "/w/a\nb", "+Read", Allowed},
		{"Read", "/w/caf\u00e9", "-Read(cafe\u0301); +Read", Asked}, {"Read", "/w/cafe\u0301", "-Read(caf\u00e9); +Read", Asked}, {"Read", "/w/caf\u00e9", "-Read(caf\u00e9); +Read", Denied}, {"Read", "/w/cafe", "-Read(caf\u00e9); +Read", Allowed},
	})
	linked := tree{"/w": "/real", "/real": "/"} // the session's own directory is a link
	checkFiles(t, linked, []fileRow{{"Read", "/w/a", "+Read(/**)", Allowed}, {"Read", "/real/a", "+Read(/**)", Allowed}, {"Read", "/real/a", "-Read(/a)", Denied}})
	c := callOf("Read", "file_path", "/w/a")
	c.Remote = true
	if v := rulesOf(t, "+Read").Decide(c, tree{}); v.Decision != Asked {
		t.Errorf("a path on another machine: %s", v.Decision)
	}
	if v := rulesOf(t, "-Read(a)").Decide(c, nil); v.Decision != Denied {
		t.Errorf("a denied path on another machine: %s", v.Decision)
	}
	if v := rulesOf(t, "+Read").Decide(callOf("Read", "file_path", "/w/a"), nil); v.Decision != Asked {
		t.Errorf("a path that cannot be resolved: %s", v.Decision)
	}
}

func TestWindowsPathsAreComparedAsWindowsDoes(t *testing.T) {
	for name, want := range map[string]Decision{`C:\w\a.go`: Allowed, `c:\w\a.go`: Asked, `C:\w\.git\config`: Asked, `C:\w\GIT~1\config`: Asked, `C:\w\.git.\config`: Asked, `C:\w\a.go:stream`: Asked, `\\host\share\a`: Asked, `a.go`: Allowed} {
		c := Call{Tool: "Edit", Input: inputOf("file_path", name), Cwd: `C:/w`, ProjectRoot: `C:/w`, Home: `C:/Users/u`, Windows: true}
		if v := rulesOf(t, "+Edit(/**)").Decide(c, tree{}); v.Decision != want {
			t.Errorf("%s: %s (%s), want %s", name, v.Decision, v.Reason.Text, want)
		}
	}
}

func TestRule25WebFetchGoesByTheHost(t *testing.T) {
	for _, r := range []row{
		{"https://go.dev/doc", "+WebFetch(domain:go.dev)", Allowed}, {"http://GO.dev.:8080/?q#f", "+WebFetch(domain:go.dev)", Allowed}, {"https://x.go.dev", "+WebFetch(domain:go.dev)", Asked}, {"https://x.go.dev", "+WebFetch(domain:*.go.dev)", Allowed},
		{"https://go.dev", "+WebFetch(domain:*.go.dev)", Asked}, {"https://evilgo.dev", "+WebFetch(domain:*.go.dev)", Asked}, {"https://any.example.com", "+WebFetch(domain:*)", Allowed}, {"https://go.dev", "-WebFetch(domain:go.dev); +WebFetch", Denied},
		{"https://GO.DEV.", "-WebFetch(domain:go.dev); +WebFetch", Denied}, {"https://go.dev", "?WebFetch(domain:*); +WebFetch", Asked}, {"ftp://go.dev", "+WebFetch", Asked}, {"file:///etc/passwd", "+WebFetch", Asked}, {"go.dev", "+WebFetch", Asked},
		{"https://u@go.dev", "+WebFetch(domain:go.dev)", Asked}, {"https://go.dev@evil.com", "+WebFetch(domain:go.dev)", Asked}, {"https://go.dev\\@evil.com", "+WebFetch(domain:go.dev)", Asked}, {"https://go.dev /", "+WebFetch(domain:go.dev)", Asked},
		{"https://go.dev\t", "+WebFetch(domain:go.dev)", Asked}, {"https://127.0.0.1", "+WebFetch", Asked}, {"https://127.0.0.1", "+WebFetch(domain:127.0.0.1)", Allowed}, {"https://2130706433", "+WebFetch(domain:*)", Asked}, {"https://0x7f.1", "+WebFetch(domain:*)", Asked},
		{"https://[::1]:80/", "+WebFetch(domain:*)", Asked}, {"https://[::1]/", "+WebFetch(domain:[::1])", Allowed}, {"http://localhost:3000", "+WebFetch(domain:*)", Asked}, {"http://localhost:3000", "+WebFetch(domain:localhost)", Allowed}, {"http://a.local", "+WebFetch", Asked},
		{"http://intranet", "+WebFetch", Asked}, {"http://a.internal", "+WebFetch(domain:*.internal)", Asked}, {"http://a.internal", "+WebFetch(domain:a.internal)", Allowed}, {"https://xn--bcher-kva.de", "+WebFetch(domain:xn--bcher-kva.de)", Allowed}, {"https://bücher.de", "+WebFetch(domain:*)", Asked},
		{"https://%67o.dev", "+WebFetch(domain:*)", Asked}, {"https://go\u3002dev", "+WebFetch(domain:*)", Asked}, {"https://", "+WebFetch(domain:*)", Asked}, {"https://u@go.dev", "-WebFetch(domain:go.dev)", Asked}, {"https:/go.dev", "+WebFetch", Asked}, {"https://\u212aelvin.com", "+WebFetch(domain:kelvin.com)", Asked},
	} {
		if v := rulesOf(t, r.rules).Decide(callOf("WebFetch", "url", r.what, "prompt", "x"), tree{}); v.Decision != r.want {
			t.Errorf("%q with %s: %s (%s), want %s", r.what, r.rules, v.Decision, v.Reason.Text, r.want)
		}
	}
}

func TestRule26MCPServersAgentsAndSkills(t *testing.T) {
	for _, r := range []struct {
		tool, source, rules string
		scope               Scope
		want                Decision
	}{
		{"mcp__s__t", "user", "+mcp__s", ScopeUser, Allowed}, {"mcp__s__t", "user", "+mcp__s__*", ScopeUser, Allowed}, {"mcp__s__t", "user", "+mcp__s__t", ScopeUser, Allowed}, {"mcp__s__u", "user", "+mcp__s__t", ScopeUser, Asked},
		{"mcp__s__get_x", "user", "+mcp__s__get_*", ScopeUser, Allowed}, {"mcp__s2__t", "user", "+mcp__s", ScopeUser, Asked}, {"mcp__s__t", "project", "+mcp__s", ScopeUser, Asked}, {"mcp__s__t", "", "+mcp__s", ScopeUser, Asked}, {"mcp__s__t", "project", "+mcp__s", ScopeProject, Allowed},
		{"mcp__s__t", "project", "+mcp__s", ScopeSession, Allowed}, {"mcp__s__t", "project", "-mcp__s", ScopeUser, Denied}, {"mcp__s__t", "project", "?mcp__s__t", ScopeUser, Asked}, {"mcp__a__b__t", "user", "+mcp__a", ScopeUser, Asked}, {"mcp__a__b__t", "user", "+mcp__a__b__t", ScopeUser, Allowed},
		{"mcp__a__b__t", "user", "-mcp__a", ScopeUser, Denied}, {"mcp__S__t", "user", "+mcp__s", ScopeUser, Asked},
	} {
		rules, problems := Compile([]Source{{List: map[byte]List{'+': Allow, '-': Deny, '?': Ask}[r.rules[0]], Text: r.rules[1:], Scope: r.scope}})
		c := callOf(r.tool)
		c.MCPServerSource = r.source
		if v := rules.Decide(c, tree{}); v.Decision != r.want || len(problems) > 0 {
			t.Errorf("%s from %q with %s (%s): %s (%s) %v, want %s", r.tool, r.source, r.rules, r.scope, v.Decision, v.Reason.Text, problems, r.want)
		}
	}
	for _, r := range []struct {
		tool, key, name, rules string
		want                   Decision
	}{
		{"Agent", "subagent_type", "x", "+Agent(x)", Allowed}, {"Task", "subagent_type", "x", "+Agent(x)", Allowed}, {"Agent", "subagent_type", "x", "+Task(x)", Allowed}, {"Agent", "subagent_type", "y", "+Agent(x)", Asked}, {"Agent", "subagent_type", "X", "+Agent(x)", Asked},
		{"Agent", "subagent_type", "X", "-Agent(x)", Denied}, {"Skill", "skill", "p:x", "+Skill(p:x)", Allowed}, {"Skill", "skill", "x", "+Agent(x)", Asked}, {"Skill", "skill", "x", "?Skill(x)", Asked}, {"Agent", "subagent_type", "x", "+Agent", Allowed}, {"Task", "subagent_type", "x", "-Agent", Denied},
	} {
		if v := rulesOf(t, r.rules).Decide(callOf(r.tool, r.key, r.name), tree{}); v.Decision != r.want {
			t.Errorf("%s %s with %s: %s, want %s", r.tool, r.name, r.rules, v.Decision, r.want)
		}
	}
}

func TestRule27WhatNoRuleMayAnswer(t *testing.T) {
	for name, change := range map[string]func(*Call){
		"AskUserQuestion": func(c *Call) { c.Tool = "AskUserQuestion" }, "ExitPlanMode": func(c *Call) { c.Tool = "ExitPlanMode" }, "elicitation": func(c *Call) { c.Tool = "elicitation" },
		"requires_user_interaction": func(c *Call) { c.RequiresUserInteraction = true }, "server_policy_ask_only": func(c *Call) { c.ServerPolicyAskOnly = true },
		"hook": func(c *Call) { c.DecisionReasonType = "hook" }, "rule": func(c *Call) { c.DecisionReasonType = "rule" }, "safetyCheck": func(c *Call) { c.DecisionReasonType = "safetyCheck" },
		"sandboxOverride": func(c *Call) { c.DecisionReasonType = "sandboxOverride" }, "sandbox": func(c *Call) { c.Input = inputOf("command", "ls", "dangerouslyDisableSandbox", true) },
		"sandbox as text": func(c *Call) { c.Input = inputOf("command", "ls", "dangerouslyDisableSandbox", "true") }, "plan mode": func(c *Call) { c.Mode = "plan" }, "unknown member": func(c *Call) { c.Input = inputOf("command", "ls", "_simulatedSedEdit", "x") },
		"Command": func(c *Call) { c.Input = inputOf("Command", "ls") }, "no JSON": func(c *Call) { c.Input = []byte("{") }, "not UTF-8": func(c *Call) { c.Input = []byte("{\"command\":\"ls \xff\"}") }, "null": func(c *Call) { c.Input = []byte("null") },
	} {
		c := bashCall("ls")
		change(&c)
		allow := rulesOf(t, "+Bash; +AskUserQuestion; +ExitPlanMode; +elicitation")
		if v := allow.Decide(c, tree{}); v.Decision != Asked || v.MustAsk {
			t.Errorf("%s: %s, must ask %v; want ask, left to the CLI", name, v.Decision, v.MustAsk)
		}
		if v := rulesOf(t, "-Bash; -AskUserQuestion; -ExitPlanMode; -elicitation").Decide(c, tree{}); v.Decision != Denied {
			t.Errorf("%s with a deny rule: %s", name, v.Decision)
		}
	}
	for _, source := range []string{"mode", "asyncAgent", "other", "workingDir", "subcommandResults", ""} {
		c := bashCall("ls")
		c.DecisionReasonType = source
		if v := rulesOf(t, "+Bash(ls)").Decide(c, tree{}); v.Decision != Allowed {
			t.Errorf("decision reason %s: %s", source, v.Decision)
		}
	}
	for tool := range planTools {
		c := callOf(tool, "file_path", "/w/a", "path", "/w", "url", "https://go.dev", "pattern", "x")
		c.Mode = "plan"
		if v := rulesOf(t, "+"+tool).Decide(c, tree{}); v.Decision != Allowed {
			t.Errorf("%s in plan mode: %s (%s)", tool, v.Decision, v.Reason.Text)
		}
	}
	var rows []fileRow
	for _, name := range []string{"/w/.git/config", "/w/sub/.git/hooks/x", "/w/.GIT/config", "/w/.claude/settings.json", "/w/.vscode/tasks.json", "/w/.github/workflows/x.yml", "/w/.mcp.json", "/w/sub/.envrc", "/w/.yarnrc.yml", "/home/u/.bashrc", "/home/u/.ssh/config", "/home/u/.config/nvim/init.lua", "/home/u/.config/drawbridge/settings.json", "/our/binary"} {
		rows = append(rows, fileRow{"Write", name, "+Edit", Asked}, fileRow{"Write", name, "+Write", Asked}, fileRow{"Edit", name, "+Edit(//**)", Asked}, fileRow{"Edit", name, "+Edit(/" + name + ")", Allowed}, fileRow{"Read", name, "+Read(//**)", Allowed})
	}
	rows = append(rows, fileRow{"Edit", "/w/.git/config", "+Edit(/.git)", Asked}, fileRow{"Edit", "/w/.gitignore", "+Edit(/**)", Allowed}, fileRow{"Edit", "/w/.github/x.md", "+Edit(/**)", Allowed}, fileRow{"Edit", "/w/link/config", "+Edit(//**)", Asked})
	for _, r := range rows {
		c := callOf(r.tool, "file_path", r.path)
		c.Protected = []string{"/our/binary"}
		if v := rulesOf(t, r.rules).Decide(c, tree{"/w": "/", "/w/link": ".git"}); v.Decision != r.want {
			t.Errorf("%s %s with %s: %s (%s), want %s", r.tool, r.path, r.rules, v.Decision, v.Reason.Text, r.want)
		}
	}
	checkBash(t, []row{
		{"cp x .git/hooks/pre-commit", "+Bash(cp *)", Asked}, {"tee .git/config", "+Bash(tee *)", Asked}, {"cp x .git/hooks/y", "+Bash(cp x .git/hooks/y)", Allowed}, {"cp x y", "+Bash(cp *)", Allowed}, {"ls .git", "+Bash(ls *)", Allowed},
		{"a > .git/config", "+Bash(a); +Edit(/.git/config)", Allowed},
	})
}
