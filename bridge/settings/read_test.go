package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const path = "/home/u/.config/drawbridge/settings.json"

func read(text string) File { return interpret(path, []byte(text), nil) }

func TestEveryKeyIsReadIntoItsField(t *testing.T) {
	f := read(`{
  "$schema": "x",
  "claude": {"command": ["ssh", "host", "claude"], "env": {"A": "1"}},
  "model": "opus", "permission_mode": "plan",
  "permission_timeout_s": 60, "min_answer_ms": 300, "idle_stop_s": 0, "prewarm": true,
  "max_payload_bytes": 1e6,
  "log": {"level": "debug", "file": "/var/log/d.log", "max_bytes": 100000},
  "permissions": {"allow": ["a"], "ask": ["b"], "deny": ["c"]},
  "projects": {"/p": {"permissions": {"deny": ["d"]}, "trusted": true}},
  "allow_bypass_permissions": true, "allow_env": ["PATH"]
}`)
	if !f.Parsed || len(f.Problems) > 0 {
		t.Fatalf("problems: %v", f.Problems)
	}
	s := Resolve(f)
	var want Settings
	want.Claude.Command = []string{"ssh", "host", "claude"}
	want.Claude.Env = map[string]string{"A": "1"}
	want.Model, want.PermissionMode = "opus", "plan"
	want.PermissionTimeout, want.MinAnswer, want.IdleStop = time.Minute, 300*time.Millisecond, 0
	want.Prewarm, want.MaxPayloadBytes = true, 1_000_000
	want.Log.Level, want.Log.File, want.Log.MaxBytes = "debug", "/var/log/d.log", 100_000
	want.Permissions = Rules{Allow: []Rule{{"a", 8, 29}}, Ask: []Rule{{"b", 8, 43}}, Deny: []Rule{{"c", 8, 58}}}
	yes := true
	want.Projects = map[string]Project{"/p": {Permissions: Rules{Deny: []Rule{{"d", 9, 48}}}, Trusted: &yes}}
	want.AllowBypassPermissions, want.AllowEnv = true, []string{"PATH"}
	want.origin = s.origin
	if !reflect.DeepEqual(*s, want) {
		t.Errorf("got  %+v\nwant %+v", *s, want)
	}
}

func TestAMistakeIsNamedWithItsPlaceAndWhatIsExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\n  \"modle\": \"opus\"\n}", `2:3: unknown key "modle"; did you mean "model"?`},
		{`{"permissionMode": "plan"}`, `1:2: unknown key "permissionMode"; did you mean "permission_mode"?`},
		{`{"claude.command": "x"}`, `1:2: unknown key "claude.command"; write it as {"claude": {"command": …}}`},
		{`{"command": "x"}`, `1:2: unknown key "command"; did you mean "claude.command"?`},
		{`{"log": {"levle": "info"}}`, `1:10: unknown key "log.levle"; did you mean "log.level"?`},
		{`{"permisions": {}}`, `1:2: unknown key "permisions"; did you mean "permissions"?`},
		{`{"colour": 1}`, `1:2: unknown key "colour"`},
		{`{"min_answer_ms": "10"}`, `1:19: min_answer_ms: expected a whole number of milliseconds from 0 to 10000, found the string "10"`},
		{`{"idle_stop_s": -1}`, `1:17: idle_stop_s: expected a whole number of seconds from 0 to 604800, found the number -1`},
		{`{"idle_stop_s": 1.5}`, `1:17: idle_stop_s: expected a whole number of seconds from 0 to 604800, found the number 1.5`},
		{`{"idle_stop_s": 1e99}`, `1:17: idle_stop_s: expected a whole number of seconds from 0 to 604800, found the number 1e99`},
		{`{"prewarm": null}`, `1:13: prewarm: expected true or false, found null`},
		{`{"log": "debug"}`, `1:9: log: expected an object, found the string "debug"`},
		{`{"log": {"file": "d.log"}}`, `1:18: log.file: expected an absolute path (or one that begins with ~/), found the string "d.log"`},
		{`{"log": {"level": "loud"}}`, `1:19: log.level: expected one of debug, info, warn, error, found the string "loud"`},
		{`{"claude": {"command": []}}`, `1:24: claude.command: expected the program as a string (a name or an absolute path), or a list of it and its arguments, found a list`},
		{`{"claude": {"command": "bin/claude"}}`, `1:24: claude.command: expected the program as a string (a name or an absolute path), or a list of it and its arguments, found the string "bin/claude"`},
		{`{"claude": {"env": {"TOKEN": 5}}}`, `1:30: claude.env: expected a string as the value of "TOKEN"`},
		{`{"permissions": {"deny": "Read(.env)"}}`, `1:26: permissions.deny: expected a list of rules such as ["Bash(npm test *)"], found the string "Read(.env)"`},
		{`{"permissions": {"deny": ["a", 5]}}`, `1:32: permissions.deny: expected a rule such as "Bash(npm test *)", found the number 5`},
		{`{"projects": {"p": {}}}`, `1:15: projects: expected the absolute path of a project's root, found "p"`},
		{"{\"model\": \"a\",\n \"model\": \"b\"}", `2:2: model is here twice; the one on line 1 counts`},
		{`{"max_payload_bytes": 5000, "daemon": {"max_payload_bytes": 6000}}`, `1:40: max_payload_bytes is here twice; the one on line 1 counts`},
		{"{\"bidi\u202e\": 1}", `1:2: unknown key "bidi\u202e"`},
		{"{\"größe\": 1, \"modle\": 1}", `1:14: unknown key "modle"; did you mean "model"?`},
	} {
		f := read(c.text)
		if !f.Parsed {
			t.Errorf("%s: does not parse", c.text)
		}
		var got []string
		for _, p := range f.Problems {
			got = append(got, strings.TrimPrefix(p.String(), path+":"))
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestATextThatIsNoJSONIsToldWithItsPlaceAndTheUsualCause(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "1:1: does not parse: the file is empty; the least it may hold is {}"},
		{"{\n  \"a\": 1,\n}", "2:9: does not parse: invalid character ',' at start of value: no comma before a closing bracket"},
		{"{\n  // mine\n}", "2:3: does not parse: invalid character '/' at start of value: JSON has no comments"},
		{"{'a': 1}", "1:2: does not parse: invalid character '\\'' at start of value: names and strings stand in double quotes"},
		{"{\"a\": 1\n \"b\": 2}", "2:2: does not parse: invalid character '\"' after object value (expecting ',' or '}'): a comma or a colon is missing before it"},
		{"{\"a\": [1", "1:9: does not parse: the file ends too early: a bracket or a quote is not closed"},
		{"{}\n{}", "2:1: does not parse: there is more text after the end of the settings"},
		{"{} x", "1:4: does not parse: there is more text after the end of the settings"},
		{"\xff\xfe{\x00}\x00", "1:1: does not parse: the file is UTF-16; save it as UTF-8"},
		{"{\"a\": \"\xff\"}", "1:8: does not parse: invalid UTF-8"},
		{"[]", "1:1: expected an object, found a list"},
	} {
		f := read(c.text)
		if f.Parsed || len(f.Values) > 0 || !f.Permissions.Incomplete {
			t.Errorf("%q: parsed %v, values %v, incomplete %v", c.text, f.Parsed, f.Values, f.Permissions.Incomplete)
		}
		got := strings.TrimPrefix(f.Problems[0].String(), path+":")
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestAByteOrderMarkIsNoMistake(t *testing.T) {
	f := read("\xef\xbb\xbf{\"modle\": 1, \"model\": \"opus\"}")
	if s := Resolve(f); s.Model != "opus" || len(f.Problems) != 1 || f.Problems[0].Column != 2 {
		t.Errorf("model %q, problems %v", s.Model, f.Problems)
	}
}

func TestWhatIsRightBesideAMistakeIsUsed(t *testing.T) {
	f := read(`{"model": 5, "prewarm": true, "nonsense": {}, "permissions": {"allow": ["a", {}, "b"], "x": 1}, "log": {"level": 1, "max_bytes": 70000}}`)
	s := Resolve(f)
	if !s.Prewarm || s.Log.MaxBytes != 70000 || s.Log.Level != "info" || s.Model != "" || len(s.Permissions.Allow) != 2 {
		t.Errorf("got %+v", s)
	}
	if s.Permissions.Incomplete {
		t.Error("a mistake that can hide no deny or ask rule suspends the others")
	}
}

func TestAMistakeThatMayHideADenyOrAskRuleMarksTheRulesIncomplete(t *testing.T) {
	for _, text := range []string{
		`{"permissions": {"deny": "Read(.env)"}}`,
		`{"permissions": {"deny": ["a", 5]}}`,
		`{"permissions": {"ask": [""]}}`,
		`{"permissions": {"denny": ["a"]}}`,
		`{"permissions": []}`,
		`{"permisions": {"deny": ["a"]}}`,
		`{"deny": ["a"]}`,
		`{"permissions.deny": ["a"]}`,
		`{"projects": ["/p"]}`,
		`{"project": {"/p": {}}}`,
	} {
		if f := read(text); !f.Permissions.Incomplete {
			t.Errorf("%s: the rules pass for complete; problems %v", text, f.Problems)
		}
	}
	for _, text := range []string{
		`{"projects": {"/p": []}}`,
		`{"projects": {"/p": {"permissions": {"deny": 1}}}}`,
		`{"projects": {"/p": {"permission": {"deny": []}}}}`,
	} {
		if f := read(text); !f.Projects["/p"].Permissions.Incomplete || f.Permissions.Incomplete {
			t.Errorf("%s: want the project's rules alone incomplete, got %+v", text, f)
		}
	}
}

// Which of two is meant nobody knows, so the stricter reading counts.
func TestOfANameThatIsThereTwiceTheFirstCountsButRulesThatRestrictCountAlways(t *testing.T) {
	f := read(`{
"permissions": {"deny": ["d1"], "allow": ["a1"], "deny": ["d2"]},
"permissions": {"deny": ["d3"], "allow": ["a2"], "ask": ["q"]},
"projects": {"/p": {"trusted": false, "permissions": {"allow": ["pa1"], "ask": ["pq1"]}},
             "/p/": {"trusted": true, "permissions": {"allow": ["pa2"], "ask": ["pq2"]}}},
"projects": {"/q": {"trusted": true, "permissions": {"allow": ["qa"], "deny": ["qd"]}}}
}`)
	check := func(what string, rules []Rule, want ...string) {
		t.Helper()
		if got := texts(rules); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	check("deny", f.Permissions.Deny, "d1", "d2", "d3")
	check("allow", f.Permissions.Allow, "a1")
	check("ask", f.Permissions.Ask, "q")
	p, q := f.Projects["/p"], f.Projects["/q"]
	check("/p allow", p.Permissions.Allow, "pa1")
	check("/p ask", p.Permissions.Ask, "pq1", "pq2")
	check("/q allow", q.Permissions.Allow)
	check("/q deny", q.Permissions.Deny, "qd")
	if p.Trusted == nil || *p.Trusted || q.Trusted != nil {
		t.Errorf("trusted: /p %v, /q %v", p.Trusted, q.Trusted)
	}
	if len(f.Problems) < 4 {
		t.Errorf("each repetition is a problem, got %v", f.Problems)
	}
}

func TestThousandsOfMistakesAreCountedAndNotListed(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `"k%d": 1,`, i)
	}
	f := read("{" + b.String() + `"model": "opus"}`)
	if last := f.Problems[len(f.Problems)-1]; len(f.Problems) != maxProblems+1 || last.Message != "and 4980 more problems" {
		t.Errorf("%d problems, the last %q", len(f.Problems), last.Message)
	}
	if Resolve(f).Model != "opus" {
		t.Error("the model is lost among the mistakes")
	}
}

func TestAFileOfTooManyValuesOrLevelsDoesNotParse(t *testing.T) {
	for _, text := range []string{
		`{"a": [` + strings.Repeat("0,", maxValues) + "0]}",
		`{"a": ` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000) + "}",
	} {
		if f := read(text); f.Parsed || len(f.Problems) != 1 {
			t.Errorf("parsed %v, %v", f.Parsed, f.Problems)
		}
	}
}

// A bad neighbour takes nothing with it: whatever else stands in an object that parses, the model is read.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`"permissions": {"deny": ["a", 5, "a"]}`, `"projects": {"/p": {"trusted": 1}}`, `"claude": {"env": {"A": 1}}`, `"x": [[[{}]]]`,
		`"log": {"level": "\ud83d\ude00"}`, `"max_payload_bytes": 1e400`, `"model": "other"`, "\"a\": \"\xff\"", `"a": 1, "a": {"b": null}`, `{`, "\xef\xbb\xbf",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, neighbour string) {
		read(neighbour)
		file := read(`{"model": "opus", ` + neighbour + `}`)
		if file.Parsed && Resolve(file).Model != "opus" {
			t.Errorf("the model is lost beside %q", neighbour)
		}
		if !file.Parsed && (len(file.Problems) == 0 || !file.Permissions.Incomplete) {
			t.Errorf("%q does not parse in silence", neighbour)
		}
		lines := 1 + strings.Count(neighbour, "\n")
		for _, p := range file.Problems {
			if p.Line < 0 || p.Line > lines || p.Line > 0 && p.Column < 1 {
				t.Errorf("%q: the problem %v has no place in the file", neighbour, p)
			}
			if strings.ContainsFunc(p.String(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
				t.Errorf("%q: the problem %q is not plain", neighbour, p)
			}
		}
	})
}
