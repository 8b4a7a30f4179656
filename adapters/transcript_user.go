package adapters

import (
	"bytes"
	"encoding/json"
	"strings"
)

// user reads a line of type user: what the user said, what tools returned, or what the CLI told the model in the user's name.
func (l *TranscriptLine) user(f *transcriptFields) {
	content := member(f.message, "content")
	var text []byte // the first
	var m Message
	m.Results = l.Results
	switch {
	case isString(content):
		text = content
	case isArray(content):
		for e := array(content); e.next(); {
			if t := userBlock(e.val, &m); text == nil {
				text = t
			}
		}
	default:
		return
	}
	l.Results = m.Results
	switch {
	case len(l.Results) > 0:
		l.returned(f)
	case isTrue(f.meta), isTrue(f.compactSummary), isTrue(f.hidden):
	case bytes.HasPrefix(text, []byte(`"[Request interrupted by user`)):
		l.Kind = Aborted
	case is(member(f.origin, "kind"), "task-notification"), bytes.HasPrefix(text, []byte(`"<task-notification>`)):
		l.Kind = Woken
	case isString(content) && l.local(content):
	default:
		l.Kind, l.Content = Asked, content
		l.Turns = int(integer(member(f.turn, "turnIndex")))
	}
}

func (l *TranscriptLine) returned(f *transcriptFields) {
	l.Kind = Returned
	for i := range l.Results {
		r := &l.Results[i]
		if len(l.Results) == 1 && present(f.structured) {
			r.Structured = f.structured
		}
		switch {
		case is(member(f.decision, "decision"), "reject"):
			r.Denied = true
		case is(f.denial, "user-rejected"): // as in tool_result_meta: without a decision it is the interrupt
			r.Interrupted = true
		case present(f.denial):
			r.Denied = true
		case r.IsError:
			r.judgeByText()
		}
		r.Background = goesOn(r.Structured)
	}
}

// local reads the tags in which the CLI writes what happened in the terminal without the model: a slash command or a shell command
// of the user, and what it printed. It reports whether there are any.
func (l *TranscriptLine) local(content []byte) bool {
	if output := commandOutput(content); output != nil {
		l.output(output.String())
		return true
	}
	if !bytes.HasPrefix(content, []byte(`"<`)) {
		// A command that there is none of, up to 2.1.17: the answer, in the user's name.
		if bytes.HasPrefix(content, []byte(`"Unknown slash command: `)) || bytes.HasPrefix(content, []byte(`"Unknown skill: `)) {
			l.output(str(content))
			return true
		}
		return false
	}
	text := str(content)
	if name, ok := tagged(text, "command-name"); ok {
		arguments, _ := tagged(text, "command-args")
		l.asked("/" + strings.TrimPrefix(name, "/") + " " + arguments)
		return true
	}
	if command, ok := tagged(text, "bash-input"); ok {
		l.asked("!" + command)
		return true
	}
	stdout, ok := tagged(text, "bash-stdout")
	stderr, also := tagged(text, "bash-stderr")
	if ok || also {
		l.output(strings.TrimSpace(stdout + "\n" + stderr))
	}
	return ok || also
}

func (l *TranscriptLine) asked(text string) {
	l.Kind, l.Command, l.Content = Asked, true, appendString(nil, strings.TrimSpace(text))
}

func (l *TranscriptLine) output(text string) {
	if text = strings.TrimSpace(text); text != "" {
		l.Kind, l.Text = Output, appendString(nil, text)
	}
}

// tagged is what stands between <tag> and </tag>.
func tagged(text, tag string) (string, bool) {
	_, after, ok := strings.Cut(text, "<"+tag+">")
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(after, "</"+tag+">")
	return strings.TrimSpace(inner), ok
}

// FirstText is the first text of a message's content, decoded; empty if there is none.
func FirstText(content json.RawMessage) string {
	if isString(content) {
		return str(content)
	}
	for e := array(content); e.next(); {
		if text := member(e.val, "text"); is(member(e.val, "type"), "text") && isString(text) {
			return str(text)
		}
	}
	return ""
}
