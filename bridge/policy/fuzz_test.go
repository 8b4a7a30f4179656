package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzDecide: no input makes the policy panic, and none that it cannot read is allowed.
func FuzzDecide(f *testing.F) {
	raw, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		var c struct{ Cmd string }
		if json.Unmarshal(sc.Bytes(), &c) == nil {
			f.Add("Bash", "command", c.Cmd, "Bash(npm run *)", "Bash(rm *)")
		}
	}
	for _, g := range []grammar{plainGrammar, wrappedGrammar} {
		for _, cmd := range append(g.good, g.evil...) {
			f.Add("Bash", "command", cmd, "Bash", "Bash(rm *)")
		}
	}
	f.Add("Edit", "file_path", "/w/a", "Edit(/**)", "Read(./.env)")
	f.Add("WebFetch", "url", "https://go.dev", "WebFetch(domain:*.dev)", "WebFetch(domain:evil.dev)")
	f.Add("mcp__s__t", "x", "y", "mcp__s", "mcp__s__u")
	f.Fuzz(func(t *testing.T, tool, key, value, allow, deny string) {
		rules, _ := Compile([]Source{{List: Allow, Text: allow, Scope: ScopeUser}, {List: Deny, Text: deny}, {List: Ask, Text: deny}})
		raw, err := json.Marshal(map[string]string{key: value})
		if err != nil {
			t.Skip()
		}
		c := Call{Tool: tool, Input: raw, Cwd: "/w", ProjectRoot: "/w", Home: "/home/u", ShellCwd: "/w", MCPServerSource: "user"}
		v := rules.Decide(c, tree{"/w": "/", "/w/link": "/etc", "/w/loop": "loop"})
		if v.Decision == Allowed {
			switch {
			case tool == "Bash" && (len(value) > maxScript || !utf8.ValidString(value) || strings.ContainsAny(value, "\x00\r\u202e\u200b") || strings.TrimSpace(value) == ""):
				t.Fatalf("%q was allowed", value)
			case v.Rule == nil || v.Rule.List != Allow:
				t.Fatalf("%q was allowed by no rule", value)
			}
		}
		for _, text := range append([]string{v.Display, v.Title, v.Reason.Text}, v.Proposed...) {
			if hidden(text) {
				t.Fatalf("%q hides something", text)
			}
		}
		for _, p := range v.Proposed {
			if ok, err := Covers(p, ScopeSession, c, tree{"/w": "/", "/w/link": "/etc", "/w/loop": "loop"}); !ok {
				t.Fatalf("%q is proposed for %q and does not cover it: %v", p, value, err)
			}
		}
		c.Input = json.RawMessage(value) // whatever the CLI may send
		if v := rules.Decide(c, nil); v.Decision == Allowed && !json.Valid(c.Input) {
			t.Fatalf("input %q was allowed", value)
		}
	})
}

// hidden is what Visible must not leave, in terms of Unicode categories.
func hidden(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co, unicode.Cs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\u202eb", "\xff", "‹U+202E›", "\u3164\u200b\ufe0f", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v := Visible(s); hidden(v) {
			t.Fatalf("%q became %q, which hides something", s, v)
		}
		if Visible(s) == s && hidden(s) {
			t.Fatalf("%q was left", s)
		}
	})
}

// FuzzMatch compares the automaton with a regular expression, for texts that are known.
func FuzzMatch(f *testing.F) {
	f.Add("ls *", "ls -la")
	f.Add("a*b*c", "abbc")
	f.Add("**", "")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) || len(pattern) > 200 || len(text) > 200 || strings.HasSuffix(pattern, "**") {
			t.Skip()
		}
		budget := maxWork
		if got, want := globText(pattern, false).match([]rune(text), &budget) == sure, oracle(pattern).MatchString(text); got != want {
			t.Fatalf("%q against %q: %v, want %v", pattern, text, got, want)
		}
	})
}
