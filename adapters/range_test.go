package adapters

import (
	"slices"
	"strings"
	"testing"
)

func TestVersionsAreParsed(t *testing.T) {
	for output, want := range map[string]string{
		"2.1.329 (Claude Code)\n":                "2.1.329",
		"1.0.22":                                 "1.0.22",
		"claude v1.0.22 (anthropic-2024-12-01)":  "1.0.22",
		"Claude Code 2.0.0":                      "2.0.0",
		"  v2.2.0-beta.1 (Claude Code)":          "2.2.0-beta.1",
		"hello 1.2.3":                            "",
		"(anthropic-2024-12-01)":                 "",
		"":                                       "",
		"2.1":                                    "",
		"warning: old node\n2.1.329":             "",
		"99999999999999999999.0.0 (Claude Code)": "",
	} {
		v, ok := ParseVersion(output)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%q is %v %t, want %q", output, v, ok, want)
		}
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	order := []string{"1.0.22", "1.0.110", "2.0.0-rc.1", "2.0.0", "2.0.1", "2.1.17", "2.1.112", "2.1.329", "2.2.0", "10.0.0"}
	for i, a := range order {
		for j, b := range order {
			v, _ := ParseVersion(a)
			w, _ := ParseVersion(b)
			if got := v.Compare(w); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
}

func TestEachVersionHasTheFeaturesItShowed(t *testing.T) {
	for version, want := range map[string]string{
		"1.0.22":  "",
		"1.0.60":  "prompts interrupt",
		"1.0.90":  "prompts initialize set_permission_mode interrupt",
		"1.0.110": "streaming prompts initialize echo blocks set_permission_mode interrupt hooks",
		"1.0.128": "streaming prompts initialize echo restricted blocks keeps set_permission_mode interrupt hooks",
		"2.0.0":   "streaming prompts initialize echo restricted blocks keeps set_permission_mode interrupt hooks",
		"2.1.17":  "streaming prompts initialize echo restricted blocks keeps set_permission_mode interrupt rewind_files hooks",
		"2.1.112": "streaming prompts initialize echo own restricted blocks keeps set_permission_mode interrupt rewind_files stop_task hooks",
		"2.1.329": "streaming prompts initialize echo names own restricted blocks keeps set_permission_mode interrupt rewind_files stop_task hooks",
		"9.9.9":   "streaming prompts initialize echo names own restricted blocks keeps set_permission_mode interrupt rewind_files stop_task hooks",
		"garbage": "streaming prompts initialize echo names own restricted blocks keeps set_permission_mode interrupt rewind_files stop_task hooks",
	} {
		f := For(version)().Features()
		has := map[string]bool{
			"streaming": f.Streaming, "prompts": f.Prompts, "initialize": f.Initialize, "echo": f.Echo, "names": f.ResultNames,
			"own": f.OwnTurns, "restricted": f.Restricted, "blocks": f.ContentBlocks, "keeps": f.KeepsSessionID, "hooks": f.Hooks,
		}
		for _, c := range []string{"interrupt", "set_permission_mode", "rewind_files", "stop_task"} {
			has[c] = f.Controls[c]
		}
		for name, got := range has {
			if got != slices.Contains(strings.Fields(want), name) {
				t.Errorf("%s: %s is %t", version, name, got)
			}
		}
	}
}

func TestTheArgumentListOfEachVersion(t *testing.T) {
	all := Options{
		SessionID: "id", Model: "-opus", Effort: "high", PermissionMode: "plan", AddDirs: []string{"/a", "--b"}, AppendSystemPrompt: "-p\x00x",
		MCPConfig: []byte(`{"mcpServers":{}}`), MaxTurns: 3, MaxBudgetUSD: 0.5, MaxThinkingTokens: 1000, Restricted: true, AllowBypass: true,
	}
	const (
		format = "-p --output-format=stream-json --input-format=stream-json --verbose "
		stream = "--include-partial-messages "
		prompt = "--permission-prompt-tool=stdio "
		replay = "--replay-user-messages "
		rest   = " --model=-opus"
		dirs   = " --add-dir=/a --add-dir=--b --append-system-prompt=-px --mcp-config={\"mcpServers\":{}} --max-turns=3"
	)
	for version, want := range map[string]string{
		"2.1.329": format + stream + prompt + replay + "--permission-mode=plan --allow-dangerously-skip-permissions --setting-sources user --strict-mcp-config --session-id=id" + rest + " --effort=high" + dirs + " --max-budget-usd=0.5 --max-thinking-tokens=1000",
		"2.1.17":  format + stream + prompt + replay + "--permission-mode=plan --allow-dangerously-skip-permissions --setting-sources user --strict-mcp-config --session-id=id" + rest + dirs + " --max-budget-usd=0.5 --max-thinking-tokens=1000",
		"2.0.0":   format + stream + prompt + replay + "--permission-mode=plan --setting-sources user --strict-mcp-config --session-id=id" + rest + dirs,
		"1.0.128": format + stream + prompt + replay + "--permission-mode=plan --setting-sources user --strict-mcp-config --session-id=id" + rest + dirs,
		"1.0.110": format + stream + prompt + replay + "--permission-mode=plan --strict-mcp-config --session-id=id" + rest + dirs,
		"1.0.60":  format + prompt + "--permission-mode=plan --strict-mcp-config --session-id=id" + rest + dirs,
		"1.0.22":  format + "--permission-mode=plan" + rest + dirs,
	} {
		if got := strings.Join(For(version)().Args(all), " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", version, got, want)
		}
	}
}

func TestArgumentsOfResumeForkAndRejectedFlags(t *testing.T) {
	const base = "-p --output-format=stream-json --input-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --replay-user-messages --permission-mode=default"
	for _, c := range []struct {
		version string
		o       Options
		want    string
	}{
		{"2.1.329", Options{}, base},
		{"2.1.329", Options{Resume: "a", SessionID: "b"}, base + " --resume=a"},
		{"2.1.329", Options{Resume: "a", Fork: true, SessionID: "b"}, base + " --resume=a --fork-session --session-id=b"},
		{"2.0.0", Options{Resume: "a", Fork: true, SessionID: "b"}, base + " --resume=a --fork-session"},
		{"2.1.329", Options{Continue: true}, base + " --continue"},
		{"2.1.329", Options{Continue: true, Resume: "a"}, base + " --resume=a"},
		{"2.1.329", Options{Model: "x", Without: []string{"--model", "--replay-user-messages"}}, strings.Replace(base, " --replay-user-messages", "", 1)},
	} {
		if got := strings.Join(For(c.version)().Args(c.o), " "); got != c.want {
			t.Errorf("%s %+v\n got %s\nwant %s", c.version, c.o, got, c.want)
		}
	}
}
