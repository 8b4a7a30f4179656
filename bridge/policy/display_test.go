package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisibleLeavesNothingHidden(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\nsecond": "plain text\nsecond", "a\u202eb": "a‹U+202E›b", "a\tb": "a‹U+0009›b", "\x1b[31m": "‹U+001B›[31m", "a\u200bb": "a‹U+200B›b", "a\u00a0b": "a‹U+00A0›b", "\r": "‹U+000D›", "\x00": "‹U+0000›",
		"\xff": "‹0xFF›", "é": "é", "日本": "日本", "\u3164": "‹U+3164›", "\ufe0f": "‹U+FE0F›", "\U000e0041": "‹U+E0041›", "\ue000": "‹U+E000›", "\u2028": "‹U+2028›", "\u2800": "‹U+2800›", "\ufffd": "\ufffd", "‹U+202E›": "‹U+2039›U+202E›", "‹x›": "‹x›",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestAPromptShowsTheCommandItsPartsAndItsFlags(t *testing.T) {
	v := rulesOf(t, "R0").Decide(bashCall("git status && curl x | jq ."), tree{})
	want := []Part{{"git status", Allowed, "Bash(git status)"}, {"curl x", Asked, ""}, {"jq .", Asked, ""}}
	if !slices.Equal(v.Parts, want) || v.Display != "git status && curl x | jq ." || v.Title != v.Display || v.Reason.Source != "default" || v.Reason.Text != "no rule covers curl x" {
		t.Errorf("%+v", v)
	}
	v = rulesOf(t, "R0").Decide(bashCall("npm run build; rm x > y"), tree{})
	if v.Parts[1] != (Part{"rm x > y", Denied, "Bash(rm *)"}) || v.Rule == nil || v.Rule.Rule != "Bash(rm *)" || v.Reason.File == "" || v.Reason.Rule != "Bash(rm *)" {
		t.Errorf("%+v", v)
	}
	for cmd, flags := range map[string]string{
		"ls": "", "ls \u202e": "invisible_characters", "\u0430pt install": "confusable", "ls \u2014la": "confusable", "ls '": "unparsed", "cat /etc/hosts": "outside_workspace", "cat .git/config": "protected_path",
		"echo x > ~/.bashrc": "outside_workspace protected_path", "echo " + strings.Repeat("a", longText): "long", "cat ~/.ssh/x": "outside_workspace protected_path", "ls 日本": "", "curl https://a.b/c": "", "ls \t": "invisible_characters",
	} {
		if v := rulesOf(t, "").Decide(bashCall(cmd), tree{}); strings.Join(v.Flags, " ") != flags {
			t.Errorf("%q has flags %v, want %s", cmd, v.Flags, flags)
		}
	}
	c := callOf("Write", "file_path", "/etc/passwd")
	c.Remote = true
	if v := rulesOf(t, "").Decide(c, nil); strings.Join(v.Flags, " ") != "outside_workspace remote" || v.Title != "Write /etc/passwd" || v.Display != "/etc/passwd" {
		t.Errorf("%+v", v)
	}
}

func TestATitleIsOneLineAndSaysWhatIsMissing(t *testing.T) {
	v := rulesOf(t, "").Decide(bashCall("a\nb\u202e"), tree{})
	if v.Title != "a ⏎ b‹U+202E›" || v.Display != "a\nb‹U+202E›" {
		t.Errorf("%q, %q", v.Title, v.Display)
	}
	v = rulesOf(t, "").Decide(bashCall(strings.Repeat("é", 300)), tree{})
	if !strings.HasSuffix(v.Title, " … (+100 characters)") || utf8.RuneCountInString(v.Display) != 300 {
		t.Errorf("%q", v.Title)
	}
}

func TestTheReasonIsRightForEachKindOfQuestion(t *testing.T) {
	plan := bashCall("ls")
	plan.Mode = "plan"
	hook := bashCall("ls")
	hook.DecisionReasonType, hook.DecisionReason = "hook", "no ls \u202etoday"
	for _, r := range []struct {
		call         Call
		rules        string
		source, text string
	}{
		{bashCall("npm install express"), "", "default", "no rule covers npm install express"}, {bashCall("ls '"), "", "unparsed", "does not parse"}, {bashCall("git push"), "?Bash(git push *)", "ask_rule", "Bash(git push *)"},
		{bashCall("git $x"), "-Bash(git push *)", "ask_rule", "could be what the deny rule Bash(git push *) means"}, {plan, "+Bash", "plan_mode", "plan mode"}, {hook, "+Bash", "hook", "no ls ‹U+202E›today"},
		{callOf("Write", "file_path", "/w/.git/config"), "+Edit", "protected", "protected path"}, {callOf("Write", "file_path", "/w/a"), "", "default", "no rule covers Write /w/a"}, {callOf("AskUserQuestion"), "", "claude", "answered by you"}, {callOf("Read", "file_path", "/etc/x"), "", "default", "/etc/x"},
		{bashCall("if a; then b; fi"), "+Bash(a); +Bash(b)", "default", "a shell construct"}, {bashCall("a > f"), "+Bash(a)", "default", "no rule allows writing f"}, {bashCall("ls"), "+Bash(ls)", "allow_rule", "Bash(ls)"}, {bashCall("ls"), "-Bash(ls)", "deny_rule", "Bash(ls)"},
	} {
		v := rulesOf(t, r.rules).Decide(r.call, tree{})
		if v.Reason.Source != r.source || !strings.Contains(v.Reason.Text, r.text) {
			t.Errorf("%s %s with %s: %s %q, want %s with %q", r.call.Tool, r.call.Input, r.rules, v.Reason.Source, v.Reason.Text, r.source, r.text)
		}
	}
}

func TestOurRulesAreEnforcedWhereTheCLIWouldNotAsk(t *testing.T) {
	for _, r := range []struct {
		cmd, rules string
		want       bool
	}{{"ls", "", false}, {"ls", "?Bash(ls)", true}, {"ls $x", "-Bash(ls secret)", true}, {"ls '", "", false}, {"ls '", "-Bash(rm *)", true}, {"ls '", "-Read(.env)", true}, {"git push", "+Bash(ls)", false}, {"rm x", "-Bash(rm *)", false}} {
		if v := rulesOf(t, r.rules).Decide(bashCall(r.cmd), tree{}); v.MustAsk != r.want {
			t.Errorf("%q with %s: must ask %v, want %v", r.cmd, r.rules, v.MustAsk, r.want)
		}
	}
}
