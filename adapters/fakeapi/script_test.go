package fakeapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestEachDirectiveAnswersAsItsUsageSays(t *testing.T) {
	type calls = []string // "Name field=value", one field that tells
	for _, c := range []struct {
		script string
		text   string
		calls  calls
		stop   string
	}{
		{"hello", "Echo: hello", nil, "end_turn"},
		{"plan the party: today", "Echo: plan the party: today", nil, "end_turn"},
		{"ask me", "Echo: ask me", nil, "end_turn"},
		{"bash ls", "Echo: bash ls", nil, "end_turn"},
		{"cut the crap", "Echo: cut the crap", nil, "end_turn"},
		{"bash: touch x", "I will run it.", calls{"Bash command=touch x"}, "tool_use"},
		{"tools: a;; b", "Running several.", calls{"Bash command=a", "Bash command=b"}, "tool_use"},
		{"chain: a;;b", "Next step.", calls{"Bash command=a"}, "tool_use"},
		{"bgbash: sleep 1", "Running it in the background.", calls{"Bash run_in_background=true"}, "tool_use"},
		{"read: /etc/hosts", "Reading.", calls{"Read file_path=/etc/hosts"}, "tool_use"},
		{"reads: /a;;/b;;/c", "Reading.", calls{"Read file_path=/a", "Read file_path=/b", "Read file_path=/c"}, "tool_use"},
		{"write: /a|x\ny: “z”", "Writing.", calls{"Write content=x\ny: “z”"}, "tool_use"},
		{"edit: /a|old|new", "Editing.", calls{"Read file_path=/a"}, "tool_use"},
		{"todo", "Planning.", calls{"TodoWrite"}, "tool_use"},
		{"ask", "A question.", calls{"AskUserQuestion"}, "tool_use"},
		{"ask2", "Two questions.", calls{"AskUserQuestion"}, "tool_use"},
		{"plan", "The plan is ready.", calls{"ExitPlanMode plan=# Plan\n1. Do it"}, "tool_use"},
		{"task: bash: ls", "Delegating.", calls{"Agent prompt=bash: ls"}, "tool_use"},
		{"taskfg: hello", "Delegating.", calls{"Agent run_in_background=false"}, "tool_use"},
		{"tasks: a&&&b", "Delegating.", calls{"Agent prompt=a", "Agent prompt=b"}, "tool_use"},
		{`call: Glob {"pattern":"*.go"}`, "Calling.", calls{"Glob pattern=*.go"}, "tool_use"},
		{`calls: Glob {"pattern":"a"};;Grep {"pattern":"b"}`, "Calling.", calls{"Glob pattern=a", "Grep pattern=b"}, "tool_use"},
		{"think: deep", "Thought about it.", nil, "end_turn"},
		{"tokens: 3", "tok0 tok1 tok2", nil, "end_turn"},
		{"slow: 2 1", "tok0 tok1", nil, "end_turn"},
		{"big: 5", "xxxxx", nil, "end_turn"},
		{"unicode", UnicodeText, nil, "end_turn"},
		{"escapes", UnicodeText, nil, "end_turn"},
		{"split", SplitText, nil, "end_turn"},
		{"maxtok", "cut off", nil, "max_tokens"},
		{"refuse", "", nil, "refusal"},
		{"tokens: many", `Script error in "tokens: many": strconv.Atoi: parsing "many": invalid syntax (usage: tokens: N)`, nil, "end_turn"},
		{"call: Glob nonsense", `Script error in "call: Glob nonsense": input of Glob is no JSON (usage: call: TOOL {JSON})`, nil, "end_turn"},
	} {
		t.Run(c.script, func(t *testing.T) {
			got := converse(t, start(t), user(c.script))
			if got.text != c.text || got.stop != c.stop || !got.complete {
				t.Errorf("text %q, stop %q, complete %v", got.text, got.stop, got.complete)
			}
			if len(got.calls) != len(c.calls) {
				t.Fatalf("calls %v", got.calls)
			}
			for i, call := range got.calls {
				name, telling, _ := strings.Cut(c.calls[i], " ")
				field, value, _ := strings.Cut(telling, "=")
				var input map[string]any
				if err := json.Unmarshal(call.Input, &input); err != nil {
					t.Fatalf("input %s: %v", call.Input, err)
				}
				if v, isText := input[field].(string); call.Name != name || isText && v != value {
					t.Errorf("call %d is %s %s", i, call.Name, call.Input)
				} else if raw, _ := json.Marshal(input[field]); !isText && telling != "" && string(raw) != value {
					t.Errorf("call %d has %s=%s", i, field, raw)
				}
			}
		})
	}
}

func TestThinkingComesBeforeTheText(t *testing.T) {
	got := converse(t, start(t), user("think: deep thoughts"))
	if !reflect.DeepEqual(got.kinds, []string{"thinking", "text"}) || got.thinking != "deep thoughts" {
		t.Errorf("blocks %v, thinking %q", got.kinds, got.thinking)
	}
}

func TestSplitCutsEverySurrogatePairBetweenTwoDeltas(t *testing.T) {
	a, _ := split("", Request{})
	deltas := a.Blocks[0].deltas
	if len(deltas) != 3 {
		t.Fatalf("deltas %q", deltas)
	}
	for i, d := range deltas[:2] {
		if !strings.Contains(d, `\ud83`) || !strings.HasPrefix(deltas[i+1], `"\ude`) {
			t.Errorf("no cut between %s and %s", d, deltas[i+1])
		}
	}
}

func TestBigIsOneDelta(t *testing.T) {
	if got := converse(t, start(t), user("big: 3000000")); got.deltas != 1 || len(got.text) != 3_000_000 {
		t.Errorf("%d deltas, %d bytes", got.deltas, len(got.text))
	}
}

func TestALongPromptIsEchoedByLengthAndChecksum(t *testing.T) {
	got := converse(t, start(t), user(strings.Repeat("long ", 10_000)+"end"))
	if len(got.text) > 300 || !strings.Contains(got.text, "(50003 bytes, sha256 ") {
		t.Errorf("echo %q", got.text)
	}
}

func TestOldCLIsAreCalledByTheirOwnToolNames(t *testing.T) {
	old := Request{properties: map[string]map[string]json.RawMessage{"Bash": {}, "Task": {}, "exit_plan_mode": {}, "TodoWrite": {}}}
	for script_, want := range map[string]string{"task: x": "Task", "taskfg: x": "Task", "plan": "exit_plan_mode", "bgbash: x": "Bash"} {
		b := script(script_, old).Blocks[1]
		if b.tool != want || strings.Contains(string(b.input), "run_in_background") {
			t.Errorf("%s calls %s %s", script_, b.tool, b.input)
		}
	}
}

func TestUsageNamesEveryDirective(t *testing.T) {
	for name := range byName {
		if !strings.Contains(Usage(), "\n  "+name) && !strings.HasPrefix(Usage(), "  "+name) {
			t.Errorf("%s is not in the usage", name)
		}
	}
	if len(byName) != len(directives) {
		t.Error("two directives have one name")
	}
}
