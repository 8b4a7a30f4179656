package scripted

import (
	"regexp"
	"strings"
	"testing"
)

func TestErrorsOfAScriptNameSceneAndLine(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"pase 20ms\n", `line 1: unknown setting "pase"`},
		{"# reason\npace soon\n", `line 2: "soon" is no duration (50ms, 2s)`},
		{"-- a --\ntext x\n\n-- b --\ntext x\ntex y\n", `line 6, scene b: unknown directive "tex"`},
		{"-- a --\nask\n", "line 2, scene a: `ask` must follow a tool"},
		{"-- a --\ntext hi\nresult x\n", "line 3, scene a: `result` must follow a tool"},
		{"-- a --\ntool Bash {\"command\":}\n", `line 2, scene a: not a JSON object: {"command":}`},
		{"-- a --\ntext costs $PRICE\n", "line 2, scene a: unknown variable $PRICE; a dollar sign is written $$"},
		{"-- a --\nbash ls\non deny {\ntext no\n", "line 3, scene a: no } closes this block"},
		{"-- a --\ntext x\n}\n", "line 3, scene a: } closes nothing"},
		{"-- a --\ntext <<END\nx\n", "line 2, scene a: no line END ends the text"},
		{"-- a --\nparallel {\ntext x\n}\n", "line 4, scene a: only tools and subagents may stand in a group"},
		{"-- a --\nfail 418\n", "line 2, scene a: no known API error 418 (400, 401, 403, 404, 413, 429, 500, 529, connection)"},
		{"-- a --\nsubagent Explore {\n}\n", "line 3, scene a: subagent wants `[background] TYPE description {`"},
		{"-- a --\ntodo first\n", "line 2, scene a: todo wants `[x] done; [>] in progress; [ ] pending`"},
		{"-- a --\nignore me\n", `line 2, scene a: cannot ignore "me" (interrupt, term, eof or initialize)`},
	} {
		_, err := Parse([]byte(c.script))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\nwant %s\ngot  %v", c.script, c.want, err)
		}
	}
}

func TestTheFirstSceneThatMatchesAnswers(t *testing.T) {
	s := parse(t, "-- Plan --\n-- fix --\nmatch fix * in *\nmatch repair *\n-- any fix --\nmatch fix *\n-- default --\n")
	for prompt, want := range map[string]string{
		" plan ": "Plan", "explain the plan": "default", "FIX a bug in\nmain.go": "fix", "repair it": "fix", "fix this": "any fix",
		"/unknown": "",
	} {
		vars := map[string]string{}
		sc := s.find(prompt, vars)
		got := ""
		if sc != nil {
			got = sc.name
		}
		if got != want {
			t.Errorf("%q is answered by %q, want %q", prompt, got, want)
		}
		if prompt == "FIX a bug in\nmain.go" && vars["1"] != "a bug" {
			t.Errorf("$1 is %q", vars["1"])
		}
	}
}

// TestTheExampleOfTheDocumentationIsAScript keeps doc.go honest.
func TestTheExampleOfTheDocumentationIsAScript(t *testing.T) {
	doc := string(docSource)
	begin := strings.Index(doc, "// # How a build is fixed")
	if begin < 0 {
		begin = strings.Index(doc, "//	# How a build is fixed.")
	}
	end := strings.Index(doc, "// A scene answers the messages")
	example := regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(doc[begin:end], "")
	s := parse(t, example)
	if len(s.scenes) != 1 || s.standard == nil {
		t.Errorf("the example has %d scenes", len(s.scenes))
	}
}

func TestEveryDirectiveIsDocumented(t *testing.T) {
	doc := string(docSource)
	for word := range directives {
		if !regexp.MustCompile(`(?m)^//.*\b` + word + `\b`).MatchString(doc) {
			t.Errorf("doc.go does not say what %s does", word)
		}
	}
	for word := range attachments {
		if !regexp.MustCompile(`(?m)^//.*\b` + word + `\b`).MatchString(doc) {
			t.Errorf("doc.go does not say what %s does", word)
		}
	}
}
