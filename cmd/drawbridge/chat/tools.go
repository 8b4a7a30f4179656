package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"drawbridge/rpc"
)

// toolUse is a tool that runs.
type toolUse struct {
	id, title string
	depth     int // of the agent that uses it; the main one has 0
	began     time.Time
	silent    bool // something else shows it, unless it goes wrong
}

// silent are the tools that a question or the list of todos shows.
var silent = map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true, "TodoWrite": true, "TaskCreate": true, "TaskUpdate": true}

func (t *transcript) find(id string) *toolUse {
	if i := slices.IndexFunc(t.tools, func(u *toolUse) bool { return u.id == id }); i >= 0 {
		return t.tools[i]
	}
	return nil
}

// depth is how deep an agent is whose tool use has the id: the main agent has none.
func (t *transcript) depth(parent string) int {
	if parent == "" {
		return 0
	}
	if u := t.find(parent); u != nil {
		return u.depth + 1
	}
	return 1
}

// indent is the margin of what an agent does.
func (t *transcript) indent(parent string) string {
	const deepest = 4
	margin := ""
	for range min(t.depth(parent), deepest) {
		margin += "  │ "
	}
	return margin
}

func (t *transcript) toolStart(p rpc.ToolUseStartParams) {
	u := &toolUse{id: p.ToolUseID, title: oneLine(p.Title), depth: t.depth(p.ParentToolUseID), began: t.now(), silent: silent[p.Name]}
	if name := oneLine(p.Name); !strings.HasPrefix(u.title, name) {
		u.title = name + " " + u.title
	}
	t.tools = append(t.tools, u)
	if u.silent {
		return
	}
	name, rest, _ := strings.Cut(u.title, " ")
	t.section("tool")
	t.begin(accent, t.indent(p.ParentToolUseID)+"● ")
	t.print(accent, name)
	t.print(normal, " "+rest)
	t.end()
	t.card = u
}

const resultLines = 4 // of a tool's result that are shown

func (t *transcript) toolResult(p rpc.ToolResultParams) {
	u := t.find(p.ToolUseID)
	if u == nil {
		return
	}
	t.tools = slices.DeleteFunc(t.tools, func(o *toolUse) bool { return o == u })
	denied := p.Outcome == "denied" && p.Permission == nil // the user has said so
	if denied || u.silent && p.Outcome == "ok" {
		return
	}
	margin := t.indent(p.ParentToolUseID)
	follows := t.card == u
	if !follows {
		t.section("tool")
	}
	s, mark := good, "✓"
	if p.Outcome != "ok" && p.Outcome != "background" {
		s, mark = bad, "✗"
	}
	t.begin(s, margin+"  "+mark+" ")
	if !follows {
		t.print(normal, u.title+" · ")
	}
	if p.Outcome != "ok" {
		t.print(s, outcomes(p.Outcome)+" · ")
	}
	t.print(dim, seconds(t.now().Sub(u.began)))
	t.end()
	if p.Outcome == "interrupted" {
		return // what it says then is meant for the model
	}
	shown := lines(plain(resultText(p.Content)))
	for i, l := range shown {
		if i == resultLines && len(shown) > resultLines+1 {
			say(t, dim, margin+"    ", "… "+plural(len(shown)-resultLines, "more line"))
			break
		}
		if l != "" {
			say(t, dim, margin+"    ", l)
		}
	}
}

func outcomes(outcome string) string {
	switch outcome {
	case "error":
		return "failed"
	case "background":
		return "goes on in the background"
	}
	return oneLine(outcome)
}

// resultText is the text of a tool's result: a string, or blocks.
func resultText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(content, &blocks)
	for i, b := range blocks {
		if i > 0 {
			text += "\n"
		}
		if text += b.Text; b.Type != "text" {
			text += "[" + b.Type + "]"
		}
	}
	return text
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

func (t *transcript) task(p rpc.TaskUpdateParams) {
	if !p.Background {
		return // its tool use tells
	}
	t.section("task")
	say(t, dim, "◦ ", "in the background: "+oneLine(p.Title)+" · "+oneLine(p.Status))
	if p.Summary != "" {
		say(t, dim, "  ", oneLine(p.Summary))
	}
}

func (t *transcript) todos(p rpc.TodoUpdateParams) {
	t.section("todos")
	for _, i := range p.Items {
		switch i.Status {
		case "completed":
			say(t, dim, "  [x] ", plain(i.Content))
		case "in_progress":
			say(t, bold, "  [>] ", plain(i.Content))
		default:
			say(t, normal, "  [ ] ", plain(i.Content))
		}
	}
}
