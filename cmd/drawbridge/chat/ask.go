package chat

import (
	"context"
	"strconv"
	"strings"

	"drawbridge/adapters"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// permissionDialog asks for a decision. reply is called once, by a key.
func permissionDialog(ctx context.Context, t *transcript, p rpc.PermissionParams, reply func(editor.Decision)) *dialog {
	d := &dialog{ctx: ctx, show: func(t *transcript) { t.permission(p) }}
	answer := editor.Decision{PromptID: p.PromptID, Decision: editor.Allow}
	allow := func(change func(*editor.Decision)) func() *step {
		return func() *step {
			if change != nil {
				change(&answer)
			}
			reply(answer)
			return nil
		}
	}
	var root step
	back := func() *step { return &root }
	reason := func() *step {
		prompt := "Why not?"
		if p.Plan != "" {
			prompt = "What should be different?"
		}
		return &step{prompt: prompt, help: "Claude is told · Enter alone: no reason · Esc: back", input: &line{}, back: back, done: func(text string) (*step, string) {
			reply(editor.Decision{PromptID: p.PromptID, Decision: editor.Deny, Message: strings.TrimSpace(text)})
			return nil, ""
		}}
	}
	root = step{prompt: "Allow?"}
	switch {
	case p.Plan != "":
		root.prompt = "Go on?"
		root.keys = append(root.keys, choice{'y', "yes, ask before each edit", allow(func(d *editor.Decision) { d.PermissionMode = offered(p.Modes, "default") })})
		if offered(p.Modes, "acceptEdits") != "" {
			root.keys = append(root.keys, choice{'a', "yes, and accept edits", allow(func(d *editor.Decision) { d.PermissionMode = "acceptEdits" })})
		}
		root.keys = append(root.keys, choice{'n', "no, keep planning", reason})
	default:
		root.keys = append(root.keys, choice{'y', "allow once", allow(nil)}, choice{'n', "deny", reason})
		if offered(p.Scopes, "session") != "" {
			root.keys = append(root.keys, choice{'a', "allow for the session", allow(func(d *editor.Decision) { d.Scope = "session" })})
		}
		if offered(p.Modes, "acceptEdits") != "" {
			root.keys = append(root.keys, choice{'m', "allow, and accept edits from now on",
				allow(func(d *editor.Decision) { d.PermissionMode = "acceptEdits" })})
		}
	}
	if field := editableField(p); field != "" {
		root.keys = append(root.keys, choice{'e', "edit the " + oneLine(field), func() *step {
			text := newLine(member(p.Input, field))
			return &step{prompt: "Run:", help: "Enter: allow it like this · Esc: back", input: &text, back: back, done: func(text string) (*step, string) {
				if strings.TrimSpace(text) == "" {
					return nil, "Empty."
				}
				if text != member(p.Input, field) {
					input, err := exchange(p.Input, field, text)
					if err != nil {
						return nil, "Cannot be edited."
					}
					answer.UpdatedInput = input
				}
				reply(answer)
				return nil, ""
			}}
		}})
	}
	if body := permissionBody(p); len(cut(body)) < len(body) {
		root.keys = append(root.keys, choice{'v', "view all", func() *step {
			t.end()
			for _, l := range body {
				say(t, l.s, "│ ", l.text)
			}
			return &root
		}})
	}
	d.step = root
	return d
}

// editableLimit is how long a text may be to be edited on a line.
const editableLimit = 4000

// editableField is the member of the input that can be edited here: the first one that is a string of moderate length.
func editableField(p rpc.PermissionParams) string {
	for _, field := range p.Editable {
		if text := member(p.Input, field); text != "" && len(text) <= editableLimit && p.Plan == "" {
			return field
		}
	}
	return ""
}

func offered(list []string, name string) string {
	for _, s := range list {
		if s == name {
			return s
		}
	}
	return ""
}

// questionDialog asks one question after the other. reply is called once, by a key.
func questionDialog(ctx context.Context, t *transcript, q rpc.QuestionParams, reply func(editor.Answers)) *dialog {
	answers := map[string]any{}
	var ask func(n int) *step
	ask = func(n int) *step {
		one := q.Questions[n]
		help := "a number, or your own words · Enter alone: skip · Esc: decline"
		if one.MultiSelect {
			help = "numbers, as 1,3, or your own words · Enter alone: skip · Esc: decline"
		}
		return &step{prompt: "Answer:", help: help, input: &line{}, clears: true, done: func(text string) (*step, string) {
			answer, problem := readAnswer(one, text)
			if problem != "" {
				return nil, problem
			}
			if answer != nil {
				answers[one.Question] = answer
			}
			if n+1 < len(q.Questions) {
				t.question(q, n+1)
				return ask(n + 1), ""
			}
			reply(editor.Answers{Answers: answers})
			return nil, ""
		}, back: func() *step {
			reply(editor.Answers{Declined: true})
			return nil
		}}
	}
	return &dialog{ctx: ctx, show: func(t *transcript) { t.question(q, 0) }, step: *ask(0)}
}

// trustDialog asks whether a project's own settings may run something.
func trustDialog(path string, reply func(trusted bool)) *dialog {
	answer := func(trusted bool) func() *step {
		return func() *step {
			reply(trusted)
			return nil
		}
	}
	return &dialog{ctx: context.Background(),
		show: func(t *transcript) {
			t.section("prompt")
			say(t, ask, "┌ ", "Do you trust this folder?")
			say(t, bold, "│ ", plain(path))
			say(t, normal, "│ ", "If you do, Claude Code runs what the project itself brings along: hooks, MCP servers and helpers, as soon as it "+
				"starts. If not, they stay off and everything else works.")
		},
		step: step{prompt: "Trust it?", keys: []choice{{'y', "yes", answer(true)}, {'n', "no", answer(false)}}}}
}

// readAnswer makes an answer of what was typed: labels by their numbers, else the text as it is; nil for nothing.
func readAnswer(q adapters.Question, text string) (answer any, problem string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, ""
	}
	var labels []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			labels = []string{text}
			break
		}
		if n < 1 || n > len(q.Options) {
			return nil, "There is no choice " + word + "."
		}
		labels = append(labels, q.Options[n-1].Label)
	}
	switch {
	case q.MultiSelect:
		return labels, ""
	case len(labels) > 1:
		return nil, "Only one can be chosen."
	}
	return labels[0], ""
}
