package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

func bashInput(command string) map[string]any {
	return map[string]any{"command": strings.TrimSpace(command), "description": "Run it"}
}

func bash(args string, _ Request) (Answer, error) {
	return say(Text("I will run it."), Tool("Bash", bashInput(args))), nil
}

func tools(args string, _ Request) (Answer, error) {
	a := say(Text("Running several."))
	for c := range strings.SplitSeq(args, ";;") {
		a.Blocks = append(a.Blocks, Tool("Bash", bashInput(c)))
	}
	return a, nil
}

func chain(args string, _ Request) (Answer, error) {
	first, rest, more := strings.Cut(args, ";;")
	step := Tool("Bash", bashInput(first))
	if more {
		step.then = "chain: " + rest
	}
	return say(Text("Next step."), step), nil
}

func bgbash(args string, r Request) (Answer, error) {
	input := bashInput(args)
	if r.has("Bash", "run_in_background") { // 1.0.22 refuses what it does not know
		input["run_in_background"] = true
	}
	return say(Text("Running it in the background."), Tool("Bash", input)), nil
}

func reads(args string, _ Request) (Answer, error) {
	a := say(Text("Reading."))
	for p := range strings.SplitSeq(args, ";;") {
		a.Blocks = append(a.Blocks, Tool("Read", map[string]any{"file_path": strings.TrimSpace(p)}))
	}
	return a, nil
}

func write(args string, _ Request) (Answer, error) {
	path, text, ok := strings.Cut(args, "|")
	if !ok {
		return Answer{}, errors.New("no |")
	}
	return say(Text("Writing."), Tool("Write", map[string]any{"file_path": path, "content": text})), nil
}

func edit(args string, _ Request) (Answer, error) {
	f := strings.SplitN(args, "|", 3)
	if len(f) != 3 {
		return Answer{}, errors.New("not three fields")
	}
	input, err := json.Marshal(map[string]any{"file_path": f[0], "old_string": f[1], "new_string": f[2]})
	read := Tool("Read", map[string]any{"file_path": f[0]})
	read.then = "call: Edit " + string(input)
	return say(Text("Editing."), read), err
}

// todo is refused by 2.1.329, which offers neither tool outside a terminal.
func todo(_ string, r Request) (Answer, error) {
	if !r.has("TodoWrite") {
		return say(Text("Planning."),
			Tool("TaskCreate", map[string]any{"subject": "First thing", "description": "Do the first thing", "activeForm": "Doing the first thing"}),
			Tool("TaskCreate", map[string]any{"subject": "Second thing", "description": "Do the second thing", "activeForm": "Doing the second thing"})), nil
	}
	return say(Text("Planning."), Tool("TodoWrite", map[string]any{"todos": []map[string]any{
		{"id": "1", "content": "First thing", "status": "in_progress", "priority": "high", "activeForm": "Doing the first thing"},
		{"id": "2", "content": "Second thing", "status": "pending", "priority": "low", "activeForm": "Doing the second thing"},
	}})), nil
}

type question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	MultiSelect bool     `json:"multiSelect"`
	Options     []option `json:"options"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

var (
	database = question{"Which database?", "DB", false, []option{{"PostgreSQL", "A server"}, {"SQLite", "A file"}}}
	features = question{"Which features?", "Features", true, []option{{"Auth", "Log in"}, {"Cache", "Remember"}, {"Logs", "Tell"}}}
)

func ask(string, Request) (Answer, error) {
	return say(Text("A question."), Tool("AskUserQuestion", map[string]any{"questions": []question{database}})), nil
}

func ask2(string, Request) (Answer, error) {
	return say(Text("Two questions."), Tool("AskUserQuestion", map[string]any{"questions": []question{database, features}})), nil
}

func plan(_ string, r Request) (Answer, error) {
	name := "ExitPlanMode"
	if r.has("exit_plan_mode") { // 1.0.22
		name = "exit_plan_mode"
	}
	return say(Text("The plan is ready."), Tool(name, map[string]any{"plan": "# Plan\n1. Do it"})), nil
}

func task(args string, r Request) (Answer, error) { return delegate(args, r, nil) }

func taskfg(args string, r Request) (Answer, error) {
	if name := subagentTool(r); !r.has(name, "run_in_background") {
		return delegate(args, r, nil) // a CLI that has no background for them
	}
	return delegate(args, r, map[string]any{"run_in_background": false})
}

func delegate(args string, r Request, extra map[string]any) (Answer, error) {
	a := say(Text("Delegating."))
	for p := range strings.SplitSeq(args, "&&&") {
		input := map[string]any{"description": "Part of the work", "prompt": strings.TrimSpace(p), "subagent_type": "general-purpose"}
		for k, v := range extra {
			input[k] = v
		}
		a.Blocks = append(a.Blocks, Tool(subagentTool(r), input))
	}
	return a, nil
}

// subagentTool is the tool's name: Task, then Agent from 2.1.112 or before.
func subagentTool(r Request) string {
	if r.has("Agent") {
		return "Agent"
	}
	return "Task"
}

func call(args string, _ Request) (Answer, error) { return callAll([]string{args}) }

func calls(args string, _ Request) (Answer, error) { return callAll(strings.Split(args, ";;")) }

func callAll(all []string) (Answer, error) {
	a := say(Text("Calling."))
	for _, c := range all {
		name, input, _ := strings.Cut(strings.TrimSpace(c), " ")
		if !json.Valid([]byte(input)) {
			return Answer{}, fmt.Errorf("input of %s is no JSON", name)
		}
		a.Blocks = append(a.Blocks, Tool(name, json.RawMessage(input)))
	}
	return a, nil
}
