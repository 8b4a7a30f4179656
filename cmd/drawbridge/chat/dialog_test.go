package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"drawbridge/adapters"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// asked is a permission dialog on the screen since noon, with its answer.
type asked struct {
	*dialog
	answer *editor.Decision
	now    time.Time
}

func askPermission(p rpc.PermissionParams) *asked {
	a := &asked{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	p.PromptID = "p_1"
	t := newTranscript(&page{out: new(bytes.Buffer)})
	a.dialog = permissionDialog(context.Background(), t, p, func(d editor.Decision) { a.answer = &d })
	a.guard.shown(a.now)
	return a
}

// press presses a key after a while.
func (a *asked) press(after time.Duration, keys string) *asked {
	list, _ := decodeKeys([]byte(keys))
	a.now = a.now.Add(after)
	for _, k := range list {
		k.at, k.alone = a.now, true
		a.pressed(k)
	}
	return a
}

var bash = rpc.PermissionParams{Tool: "Bash", Title: "rm x", Display: "rm x", Command: "rm x", Editable: []string{"command"}, Scopes: []string{"once"},
	Input: json.RawMessage(`{"command":"rm x","timeout":1.50,"description":"d"}`)}

func TestAKeyPressedBeforeThePromptWasOnTheScreenDoesNotAnswer(t *testing.T) {
	a := askPermission(bash)
	early := key{r: 'y', alone: true, at: a.now.Add(-time.Millisecond)}
	if a.pressed(early); a.answer != nil {
		t.Error("it was answered by a key that is older than the prompt")
	}
	a.guard = guard{}
	if a.pressed(key{r: 'y', alone: true, at: a.now.Add(time.Hour)}); a.answer != nil {
		t.Error("it was answered before it was shown")
	}
}

func TestAKeyCountsAfterAThirdOfASecondWithoutOthers(t *testing.T) {
	if a := askPermission(bash).press(quiet-1, "y"); a.answer != nil {
		t.Error("a key right after the prompt answered it")
	}
	if a := askPermission(bash).press(quiet-1, "y").press(quiet-1, "y").press(quiet-1, "y"); a.answer != nil {
		t.Error("somebody who goes on typing has answered")
	}
	if a := askPermission(bash).press(time.Minute, "x").press(quiet-1, "y"); a.answer != nil {
		t.Error("a key right after one that means nothing answered the prompt")
	}
	if a := askPermission(bash).press(quiet-1, "y").press(quiet, "y"); a.answer == nil {
		t.Error("a key after a pause did not count")
	}
}

func TestPastedTextAndKeysInACrowdDoNotAnswer(t *testing.T) {
	a := askPermission(bash).press(time.Minute, "\x1b[200~y\x1b[201~").press(time.Minute, "\x1b[38;5y").press(time.Minute, "\x1b")
	if a.pressed(key{r: 'y', at: a.now.Add(time.Minute)}); a.answer != nil {
		t.Errorf("answered: %+v", a.answer)
	}
}

func TestOnlyWhatIsOfferedCanBeChosen(t *testing.T) {
	keys := func(p rpc.PermissionParams) string {
		var b strings.Builder
		for _, c := range askPermission(p).step.keys {
			b.WriteRune(c.key)
		}
		return b.String()
	}
	for want, change := range map[string]func(*rpc.PermissionParams){
		"yne":  func(*rpc.PermissionParams) {},
		"ynae": func(p *rpc.PermissionParams) { p.Scopes = []string{"once", "session"} },
		"ynme": func(p *rpc.PermissionParams) { p.Modes = []string{"acceptEdits"} },
		"yn":   func(p *rpc.PermissionParams) { p.Editable = nil },
		"yan":  func(p *rpc.PermissionParams) { p.Plan = "# Plan"; p.Modes = []string{"default", "acceptEdits"} },
		"ynv": func(p *rpc.PermissionParams) {
			p.Editable, p.Display = nil, strings.Repeat("line\n", 2*cardLines)
		},
	} {
		p := bash
		change(&p)
		if got := keys(p); got != want {
			t.Errorf("the keys are %s, want %s", got, want)
		}
	}
	if a := askPermission(bash).press(time.Minute, "a"); a.answer != nil {
		t.Errorf("a scope that was not offered was chosen: %+v", a.answer)
	}
}

func TestDecisions(t *testing.T) {
	wide, plan := bash, bash
	wide.Scopes, wide.Modes = []string{"once", "session"}, []string{"acceptEdits"}
	plan.Plan, plan.Modes = "# Plan", []string{"default", "acceptEdits"}
	for _, c := range []struct {
		p    rpc.PermissionParams
		keys []string
		want editor.Decision
	}{
		{wide, []string{"y"}, editor.Decision{Decision: editor.Allow}},
		{wide, []string{"a"}, editor.Decision{Decision: editor.Allow, Scope: "session"}},
		{wide, []string{"m"}, editor.Decision{Decision: editor.Allow, PermissionMode: "acceptEdits"}},
		{wide, []string{"n", "\r"}, editor.Decision{Decision: editor.Deny}},
		{wide, []string{"n", "not today\r"}, editor.Decision{Decision: editor.Deny, Message: "not today"}},
		{wide, []string{"n", "half", "\x1b", "y"}, editor.Decision{Decision: editor.Allow}},
		{wide, []string{"e", "\r"}, editor.Decision{Decision: editor.Allow}},
		{wide, []string{"e", "\x15", "\r", "ls <&>\r"}, editor.Decision{Decision: editor.Allow,
			UpdatedInput: json.RawMessage(`{"command":"ls <&>","description":"d","timeout":1.50}`)}},
		{plan, []string{"y"}, editor.Decision{Decision: editor.Allow, PermissionMode: "default"}},
		{plan, []string{"a"}, editor.Decision{Decision: editor.Allow, PermissionMode: "acceptEdits"}},
		{plan, []string{"n", "shorter\r"}, editor.Decision{Decision: editor.Deny, Message: "shorter"}},
	} {
		a := askPermission(c.p)
		for _, k := range c.keys {
			a.press(time.Second, k)
		}
		if a.answer == nil {
			t.Errorf("%q: not answered", c.keys)
			continue
		}
		if c.want.Decision == editor.Allow || a.answer.PromptID != "" {
			c.want.PromptID = "p_1"
		}
		if !reflect.DeepEqual(*a.answer, c.want) {
			t.Errorf("%q: %+v, want %+v", c.keys, *a.answer, c.want)
		}
	}
}

func TestAnswersToQuestions(t *testing.T) {
	q := adapters.Question{Question: "Which?", Options: []adapters.Option{{Label: "Red"}, {Label: "Green"}, {Label: "Blue"}}}
	multi := q
	multi.MultiSelect = true
	for _, c := range []struct {
		q       adapters.Question
		text    string
		want    any
		problem bool
	}{
		{q, "2", "Green", false},
		{q, " a lighter one ", "a lighter one", false},
		{q, "2 of them", "2 of them", false},
		{q, "", nil, false},
		{q, "4", nil, true},
		{q, "0", nil, true},
		{q, "1,2", nil, true},
		{multi, "3, 1", []string{"Blue", "Red"}, false},
		{multi, "none of these", []string{"none of these"}, false},
	} {
		got, problem := readAnswer(c.q, c.text)
		if !reflect.DeepEqual(got, c.want) || (problem != "") != c.problem {
			t.Errorf("%q: %v, %q", c.text, got, problem)
		}
	}
}

func TestQuestionsAreAskedOneAfterTheOther(t *testing.T) {
	q := rpc.QuestionParams{PromptID: "p_1", Questions: []adapters.Question{
		{Question: "A?", Options: []adapters.Option{{Label: "x"}, {Label: "y"}}}, {Question: "B?"}, {Question: "C?"}}}
	ask := func(keys string) *editor.Answers {
		var answer *editor.Answers
		var out bytes.Buffer
		d := questionDialog(context.Background(), newTranscript(&page{out: &out}), q, func(a editor.Answers) { answer = &a })
		d.guard = guard{passed: true}
		list, _ := decodeKeys([]byte(keys))
		for _, k := range list {
			d.pressed(k)
		}
		return answer
	}
	if a := ask("2\r\rown words\r"); a == nil || a.Declined || !reflect.DeepEqual(a.Answers, map[string]any{"A?": "y", "C?": "own words"}) {
		t.Errorf("got %+v", a)
	}
	if a := ask("\r\r\r"); a == nil || a.Declined || a.Answers == nil || len(a.Answers) != 0 {
		t.Errorf("all skipped: got %+v", a)
	}
	if a := ask("typed\x1b"); a != nil {
		t.Errorf("escape empties the line first, and yet: %+v", a)
	}
	if a := ask("typed\x1b\x1b"); a == nil || !a.Declined {
		t.Errorf("declined: got %+v", a)
	}
}

func TestNoChoiceIsCutOff(t *testing.T) {
	p := bash
	p.Scopes, p.Modes = []string{"once", "session"}, []string{"acceptEdits"}
	for _, columns := range []int{20, 40, 60, 200} {
		rows, _ := askPermission(p).rows(false, columns)
		all := strings.Join(rows, "")
		for _, means := range []string{"y allow once", "n deny", "a allow for the session", "m allow, and accept edits from now on", "e edit the command"} {
			if !strings.Contains(all, means) {
				t.Errorf("%d columns: %q is missing from %q", columns, means, rows)
			}
		}
	}
}
