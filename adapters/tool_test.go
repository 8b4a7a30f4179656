package adapters

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestToolsAreDescribedByTheirInput(t *testing.T) {
	const cwd = "/home/user/project"
	at := func(path string, line int) []Location { return []Location{{Path: path, Line: line}} }
	for _, c := range []struct {
		tool, input, title, kind string
		locations                []Location
	}{
		{"Bash", `{"command":"npm install express","description":"Harmless"}`, "npm install express", "execute", nil},
		{"Read", `{"file_path":"/home/user/project/a.go"}`, "Read a.go", "read", at("/home/user/project/a.go", 0)},
		{"Read", `{"file_path":"/etc/passwd","offset":10,"limit":5}`, "Read /etc/passwd (lines 10–14)", "read", at("/etc/passwd", 10)},
		{"Read", `{"file_path":"sub/a.go","offset":7}`, "Read sub/a.go (from line 7)", "read", at("/home/user/project/sub/a.go", 7)},
		{"Read", `{"file_path":"/home/user/project/../secret"}`, "Read /home/user/project/../secret", "read", at("/home/user/project/../secret", 0)},
		{"Write", `{"file_path":"../b","content":"x"}`, "Write ../b", "edit", at("/home/user/b", 0)},
		{"Edit", `{"file_path":"~/c","old_string":"a","new_string":"b"}`, "Edit ~/c", "edit", at("~/c", 0)},
		{"MultiEdit", `{"file_path":"d","edits":[{},{},{}]}`, "Edit d (3 changes)", "edit", at("/home/user/project/d", 0)},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"","edit_mode":"delete"}`, "Edit n.ipynb (delete a cell)", "edit", at("/home/user/project/n.ipynb", 0)},
		{"LS", `{"path":"/tmp"}`, "List /tmp", "read", at("/tmp", 0)},
		{"Glob", `{"pattern":"**/*.go"}`, "Find **/*.go", "search", nil},
		{"Grep", `{"pattern":"func main","glob":"*.go","path":"cmd"}`, "Search for func main in *.go in cmd", "search", at("/home/user/project/cmd", 0)},
		{"WebFetch", `{"url":"https://x.org","prompt":"p"}`, "Fetch https://x.org", "fetch", nil},
		{"WebSearch", `{"query":"go"}`, "Search the web for go", "fetch", nil},
		{"Task", `{"description":"Sub job","prompt":"find it","subagent_type":"Explore"}`, "Agent Explore: find it", "think", nil},
		{"Agent", `{"prompt":"find it"}`, "Agent: find it", "think", nil},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b"}]}`, "Update the list (1 of 2 done)", "think", nil},
		{"TaskCreate", `{"subject":"First","description":"x"}`, "Add to the list: First", "think", nil},
		{"TaskUpdate", `{"taskId":"1","status":"completed"}`, "List item 1: completed", "think", nil},
		{"BashOutput", `{"bash_id":"b1"}`, "Output of b1", "read", nil},
		{"KillShell", `{"shell_id":"b1"}`, "Stop b1", "execute", nil},
		{"Skill", `{"skill":"verify","args":"--all"}`, "Skill verify --all", "other", nil},
		{"SlashCommand", `{"command":"/review 7"}`, "/review 7", "other", nil},
		{"ExitPlanMode", `{}`, "Carry out the plan", "switch_mode", nil},
		{"EnterPlanMode", `{}`, "Go to plan mode", "switch_mode", nil},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","options":[]}]}`, "Which?", "other", nil},
		{"mcp__github__create_issue", `{"title": "t"}`, `github: create_issue {"title": "t"}`, "other", nil},
		{"Brand", "{\"description\":\"fine\",\n\"x\":1}", `Brand {"description":"fine", "x":1}`, "other", nil},
		{"Bash", `{}`, "Bash", "execute", nil},
		{"Read", `not json`, "Read", "read", nil},
		{"Brand", ``, "Brand", "other", nil},
	} {
		v := Describe(c.tool, json.RawMessage(c.input), cwd)
		if v.Title != c.title || v.Kind != c.kind || !reflect.DeepEqual(v.Locations, c.locations) {
			t.Errorf("%s %s\n got %q %s %v\nwant %q %s %v", c.tool, c.input, v.Title, v.Kind, v.Locations, c.title, c.kind, c.locations)
		}
	}
	if v := Describe("Read", json.RawMessage(`{"file_path":"sub\\a.go"}`), `C:\work`); v.Locations[0].Path != `C:\work\sub\a.go` {
		t.Errorf("Windows: %v", v.Locations)
	}
}

func TestEditableValues(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"x","description":"y"}`, "command"},
		{"Bash", `{"description":"y"}`, ""},
		{"Edit", `{"file_path":"f","old_string":"a","new_string":"b"}`, "new_string"},
		{"MultiEdit", `{"file_path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`, "edits[].new_string"},
		{"ExitPlanMode", `{}`, ""},
		{"WebFetch", `{"url":"u","prompt":"p"}`, "prompt url"},
		{"AskUserQuestion", `{"questions":[{"question":"q"}]}`, ""},
		{"mcp__x__y", `{"title":"t","path":"/p","repoPath":"/p","issue_id":"7","userId":"u","body":{"text":"b","file":"f"},"tags":["a"],"n":1}`, "body.text tags[] title"},
	} {
		if got := strings.Join(Editable(c.tool, json.RawMessage(c.input)), " "); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestAnEditExchangesOneValueAndKeepsEveryOtherByte(t *testing.T) {
	for _, c := range []struct{ tool, original, updated, want string }{
		{"Bash", `{ "command" : "ls",  "timeout":1.0 }`, `{"timeout":1,"command":"ls -l"}`, `{ "command" : "ls -l",  "timeout":1.0 }`},
		{"Bash", `{"command":"\u006cs"}`, `{"command":"ls"}`, `{"command":"\u006cs"}`},
		{"Bash", `{"command":"a","x":null,"l":[],"o":{}}`, `{"command":"b","l":{},"o":[]}`, `{"command":"b","x":null,"l":[],"o":{}}`},
		{"MultiEdit", `{"file_path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`,
			`{"file_path":"f","edits":[{"old_string":"a","new_string":"B\n"},{"old_string":"c","new_string":"D"}]}`,
			`{"file_path":"f","edits":[{"old_string":"a","new_string":"B\n"},{"old_string":"c","new_string":"D"}]}`},
	} {
		got, err := ApplyEdit(c.tool, json.RawMessage(c.original), json.RawMessage(c.updated))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.updated, got, err, c.want)
		}
	}
}

func TestAnEditOfAnythingElseIsRefusedByName(t *testing.T) {
	const original = `{"command":"ls","description":"d","timeout":5,"nested":{"a":[1,"x"]}}`
	for updated, part := range map[string]string{
		`{"command":"ls","description":"d","timeout":5,"nested":{"a":[1,"x"]},"_simulatedSedEdit":{"filePath":"/x","newContent":"y"}}`: `"_simulatedSedEdit" was not there`,
		`{"command":"ls","description":"d","nested":{"a":[1,"x"]}}`:                                                                    `"timeout" is missing`,
		`{"command":"ls","description":"other","timeout":5,"nested":{"a":[1,"x"]}}`:                                                    `"description" may not be changed`,
		`{"command":"ls","description":"d","timeout":6,"nested":{"a":[1,"x"]}}`:                                                        `"timeout" may not be changed`,
		`{"command":["ls"],"description":"d","timeout":5,"nested":{"a":[1,"x"]}}`:                                                      `"command" may not be changed`,
		`{"command":"ls","description":"d","timeout":5,"nested":{"a":[1,"y"]}}`:                                                        `"nested.a[]" may not be changed`,
		`{"command":"ls","description":"d","timeout":5,"nested":{"a":[1]}}`:                                                            `"nested.a" has 1 elements`,
		`{"command":"ls","description":"d","timeout":5,"nested":{"a":[1,"x"]},"command":"rm"}`:                                         `"command" is there twice`,
		`{"command":"ls","description":"d","timeout":5,"nested":{"a":[1,"x"]},"\u0063ommand":"rm"}`:                                    `"command" is there twice`,
		`{"command":"ls"`: "not a JSON object",
		`null`:            "not a JSON object",
	} {
		got, err := ApplyEdit("Bash", json.RawMessage(original), json.RawMessage(updated))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s\n got %s, %v\nwant %s", updated, got, err, part)
		}
	}
}

func FuzzApplyEdit(f *testing.F) {
	f.Add([]byte(`{"command":"ls","n":[1,{"a":"b"}]}`), []byte(`{"command":"x","n":[1,{"a":"b"}]}`))
	f.Add([]byte(` {"a":{}} `), []byte(`{"a":[]}`))
	f.Fuzz(func(t *testing.T, original, updated []byte) {
		for _, tool := range []string{"Bash", "mcp__a__b"} {
			got, err := ApplyEdit(tool, original, updated)
			if err != nil {
				continue
			}
			var was, now map[string]any
			if json.Unmarshal(original, &was) != nil || json.Unmarshal(got, &now) != nil {
				t.Fatalf("%q with %q became %q", original, updated, got)
			}
			for key := range now {
				if _, ok := was[key]; !ok {
					t.Fatalf("%q with %q has got %q", original, updated, key)
				}
				if tool == "Bash" && key != "command" && !reflect.DeepEqual(was[key], now[key]) {
					t.Fatalf("%q with %q changed %q", original, updated, key)
				}
			}
		}
	})
}

func TestQuestionsAreReadAndAnswered(t *testing.T) {
	input := json.RawMessage(`{"questions":[{"question":"Which database?","header":"DB","multiSelect":false,"options":[{"label":"SQLite","description":"embedded"}]},{"question":"Which features?","header":"F","multiSelect":true,"options":[]}],"x":1}`)
	questions, err := ParseQuestions(input)
	want := []Question{
		{Question: "Which database?", Header: "DB", Options: []Option{{"SQLite", "embedded"}}},
		{Question: "Which features?", Header: "F", MultiSelect: true, Options: []Option{}},
	}
	if err != nil || !reflect.DeepEqual(questions, want) {
		t.Errorf("%+v, %v", questions, err)
	}
	got, err := AnswerInput(input, map[string]json.RawMessage{"Which features?": json.RawMessage(`["Auth","Logs"]`), "Which database?": json.RawMessage(`"My \"own\""`)})
	suffix := `,"x":1,"answers":{"Which database?":"My \"own\"","Which features?":"Auth, Logs"}}`
	if err != nil || !strings.HasSuffix(string(got), suffix) || !json.Valid(got) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := AnswerInput(input, nil); err != nil || !strings.HasSuffix(string(got), `"answers":{}}`) {
		t.Errorf("%s, %v", got, err)
	}
	for _, answers := range []map[string]json.RawMessage{{"Which?": json.RawMessage(`"x"`)}, {"Which database?": json.RawMessage(`7`)}, {"Which database?": json.RawMessage(`[7]`)}, {"Which database?": nil}} {
		if got, err := AnswerInput(input, answers); err == nil {
			t.Errorf("%v was taken: %s", answers, got)
		}
	}
	for _, bad := range []string{``, `{}`, `{"questions":[]}`, `{"questions":[{"header":"x"}]}`, `{"questions":"x"}`} {
		if _, err := ParseQuestions(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestTheTodoListFollowsRecordedTools(t *testing.T) {
	var changes [][]Todo
	var list TodoList
	for _, tr := range transcripts(t) {
		if tr.name != "2.1.112/tasks" {
			continue
		}
		a, m := For(tr.version)(), Message{}
		for _, line := range tr.lines {
			a.Decode(line, &m)
			if list.Apply(&m) {
				changes = append(changes, list.Items())
			}
		}
	}
	if len(changes) != 5 {
		t.Fatalf("%d changes: %v", len(changes), changes)
	}
	first, second := changes[1][0].Content, changes[1][1].Content
	if first == second || changes[2][0].Status != "in_progress" {
		t.Errorf("%v", changes)
	}
	if want := []Todo{{Content: first, Status: "completed", ActiveForm: changes[1][0].ActiveForm}}; !reflect.DeepEqual(changes[4], want) {
		t.Errorf("at last %v, want %v", changes[4], want)
	}
}

func TestTheTodoListOfTodoWrite(t *testing.T) {
	a, m, list := For("2.0.0")(), Message{}, TodoList{}
	apply := func(line string) bool {
		a.Decode([]byte(line), &m)
		return list.Apply(&m)
	}
	use := `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[{"content":"one","status":"in_progress","activeForm":"Doing one"},{"content":"two","status":"odd"}]}}]}}`
	done := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`
	if apply(use) || !apply(done) {
		t.Error("the list changes with the result")
	}
	want := []Todo{{"one", "in_progress", "Doing one"}, {"two", "pending", ""}}
	if !reflect.DeepEqual(list.Items(), want) {
		t.Errorf("%v", list.Items())
	}
	if apply(use) || apply(done) {
		t.Error("the same list again is no change")
	}
	apply(strings.Replace(use, `"one"`, `"three"`, 1))
	if apply(strings.Replace(done, `"content":"ok"`, `"content":"no","is_error":true`, 1)) {
		t.Error("a failed tool changes nothing")
	}
	if !apply(`{"type":"conversation_reset","trigger":"clear"}`) || len(list.Items()) != 0 {
		t.Error("a cleared conversation has no list")
	}
}

func TestAPlanIsRead(t *testing.T) {
	if got := Plan(json.RawMessage(`{"plan":"# Plan\n1. do it"}`)); got != "# Plan\n1. do it" {
		t.Errorf("%q", got)
	}
	if got := Plan(json.RawMessage(`{}`)); got != "" {
		t.Errorf("%q", got)
	}
}

func TestAClonedMessageSurvivesItsLine(t *testing.T) {
	for _, tr := range transcripts(t) {
		a, m := For(tr.version)(), Message{}
		for i, line := range tr.lines {
			buf := append([]byte(nil), line...)
			a.Decode(buf, &m)
			c := m.Clone()
			var before, after strings.Builder
			writeDump(&before, &m)
			for j := range buf {
				buf[j] = '#'
			}
			for j := range m.Blocks {
				m.Blocks[j] = Block{}
			}
			writeDump(&after, c)
			if before.String() != after.String() {
				t.Fatalf("%s line %d: the clone changed with the line\n%s\n%s", tr.name, i+1, before.String(), after.String())
			}
		}
	}
}
