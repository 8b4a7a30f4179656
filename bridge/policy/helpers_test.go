package policy

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"
)

// A tree is a file system in a map: a path to the target of a symbolic link, "" for a file, "/" for a directory. What
// is not in it does not exist.
type tree map[string]string

type node struct {
	name string
	mode fs.FileMode
}

func (n node) Name() string       { return n.name }
func (n node) Size() int64        { return 0 }
func (n node) Mode() fs.FileMode  { return n.mode }
func (n node) ModTime() time.Time { return time.Time{} }
func (n node) IsDir() bool        { return n.mode.IsDir() }
func (n node) Sys() any           { return nil }

func (t tree) Lstat(name string) (fs.FileInfo, error) {
	target, ok := t[name]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case target == "!":
		return nil, fs.ErrPermission
	case target == "/":
		return node{path.Base(name), fs.ModeDir}, nil
	case target == "":
		return node{path.Base(name), 0}, nil
	}
	return node{path.Base(name), fs.ModeSymlink}, nil
}

func (t tree) Readlink(name string) (string, error) { return t[name], nil }

// R0 are the rules most acceptance cases share.
const r0 = "+Bash(npm run *); +Bash(git status); -Bash(rm *)"

// rulesOf reads "+X; -Y; ?Z": allow, deny and ask rules of the user's file. R0 stands for the rules of r0.
func rulesOf(t testing.TB, text string) *Rules {
	t.Helper()
	rules, problems := compileText(text)
	if len(problems) > 0 {
		t.Fatalf("rules %q: %v", text, problems[0].Text)
	}
	return rules
}

func compileText(text string) (*Rules, []Problem) {
	var sources []Source
	for _, f := range strings.Split(strings.ReplaceAll(text, "R0", r0), "; ") {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		list := map[byte]List{'+': Allow, '-': Deny, '?': Ask}[f[0]]
		sources = append(sources, Source{List: list, Text: f[1:], Scope: ScopeUser, File: "/home/u/.config/drawbridge/settings.json"})
	}
	return Compile(sources)
}

// inputOf makes a tool's input of pairs.
func inputOf(pairs ...any) json.RawMessage {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return raw
}

// callOf is a call in the setting of the acceptance cases: session in /w, home /home/u, shell in /w, default mode.
func callOf(tool string, pairs ...any) Call {
	return Call{Tool: tool, Input: inputOf(pairs...), Cwd: "/w", ProjectRoot: "/w", Home: "/home/u", ShellCwd: "/w", Mode: "default"}
}

func bashCall(command string) Call { return callOf("Bash", "command", command) }

// A row of the tables: a command or a path, the rules, and the verdict.
type row struct {
	what, rules string
	want        Decision
}

// checkBash decides each row's command.
func checkBash(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		if v := rulesOf(t, r.rules).Decide(bashCall(r.what), tree{}); v.Decision != r.want {
			t.Errorf("%q with %s: %s (%s), want %s", r.what, r.rules, v.Decision, v.Reason.Text, r.want)
		}
	}
}
