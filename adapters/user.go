package adapters

import (
	"bytes"
	"strings"
)

// user reads a line of type user. It is what the model is told, and so many things: tool results, the echo of a message of ours,
// output of a slash command, the mark of an interrupt, a subagent's prompt, and texts the CLI tells the model in the user's name.
func (b *baseline) user(l *line, m *Message) {
	content := member(l.message, "content")
	var text []byte // of a line that is text alone
	switch {
	case isString(content):
		text = content
	case isArray(content):
		for e := array(content); e.next(); {
			if t := userBlock(e.val, m); text == nil {
				text = t
			}
		}
	default:
		m.malformed("no content")
		return
	}
	if len(m.Results) > 0 {
		b.toolResults(l, m)
		return
	}

	var replay, synthetic []byte
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "isReplay":
			replay = o.val
		case "isSynthetic":
			synthetic = o.val
		}
	}
	summary := b.summary && !isTrue(replay)
	b.summary = false
	switch {
	case m.Parent != "":
		m.Kind = Skipped // a subagent's prompt
	case isString(content) && commandOutput(content) != nil:
		m.Kind, m.Text = CommandOutput, commandOutput(content)
	case isTrue(replay):
		m.Kind, m.UUID = Echo, str(l.uuid)
	case isTrue(synthetic):
		m.Kind = Skipped
	case bytes.HasPrefix(text, []byte(`"[Request interrupted by user`)):
		m.Kind = Interrupted
		b.turn.interrupted = true
	case summary && bytes.HasPrefix(text, []byte(`"This session is being continued from a previous conversation`)):
		m.Kind = Skipped
	case b.traits.plainEcho && isString(l.uuid):
		m.Kind, m.UUID = Echo, str(l.uuid)
	default:
		m.Kind = Skipped
	}
}

// commandOutput takes the text of a slash command's output out of its tags; nil if it is none.
func commandOutput(content []byte) Text {
	if !bytes.HasPrefix(content, []byte(`"<local-command-std`)) {
		return nil
	}
	s := strings.TrimSpace(str(content))
	for _, tag := range []string{"local-command-stdout", "local-command-stderr"} {
		inner, ok := strings.CutPrefix(s, "<"+tag+">")
		if !ok {
			continue
		}
		inner, ok = strings.CutSuffix(inner, "</"+tag+">")
		if !ok {
			continue
		}
		return appendString(nil, strings.TrimSpace(inner))
	}
	return nil
}

// userBlock reads one block of a user line: it appends a tool_result to the message and returns the text of a text.
func userBlock(span []byte, m *Message) (text []byte) {
	var r ToolResult
	var kind []byte
	for o := object(span); o.next(); {
		switch string(o.key) {
		case "type":
			kind = o.val
		case "text":
			text = o.val
		case "tool_use_id":
			r.ToolUseID = str(o.val)
		case "content":
			r.Content = o.val
		case "is_error":
			r.IsError = isTrue(o.val)
		}
	}
	switch {
	case is(kind, "text"):
		return text
	case is(kind, "tool_result"):
		if r.Content == nil {
			r.Content = []byte(`""`)
		}
		m.Results = append(m.Results, r)
	}
	return nil
}

// toolResults completes the results of a line with what stands beside the message.
func (b *baseline) toolResults(l *line, m *Message) {
	m.Kind = ToolResults
	for i := range m.Results {
		r := &m.Results[i]
		if len(m.Results) == 1 && present(l.structured) {
			r.Structured = l.structured
		}
		if isArray(l.meta) {
			r.judge(l.meta)
		} else if r.IsError {
			r.judgeByText()
		}
		r.Background = goesOn(r.Structured)
		b.ended(r, m)
	}
}

// judge reads tool_result_meta (2.1.329), which says in words why a tool did not run.
func (r *ToolResult) judge(meta []byte) {
	for e := array(meta); e.next(); {
		var id, kind, decision []byte
		for o := object(e.val); o.next(); {
			switch string(o.key) {
			case "id":
				id = o.val
			case "non_execution_kind":
				kind = o.val
			case "permission_decision":
				decision = member(o.val, "decision")
			}
		}
		if !is(id, r.ToolUseID) {
			continue
		}
		switch {
		case is(decision, "reject"):
			r.Denied = true
		case is(kind, "user-rejected"):
			// The CLI says this of a tool that an interrupt ended, whether it was running or asked about; a user's plain no comes
			// with a decision.
			r.Interrupted = true
		case present(kind):
			r.Denied = true
		}
	}
}

// judgeByText does the same for versions without tool_result_meta. The message of a denial of ours is the whole text there: who
// sent the denial knows it, the line does not tell.
func (r *ToolResult) judgeByText() {
	text := str(r.Content)
	switch {
	case strings.HasSuffix(text, "[Request interrupted by user for tool use]"),
		strings.HasPrefix(text, "Tool permission request failed: AbortError"),
		strings.HasPrefix(text, "The user doesn't want to "):
		r.Interrupted = true
	case strings.HasPrefix(text, "Permission to use "),
		strings.HasPrefix(text, "Tool permission request failed: "),
		strings.HasPrefix(text, "Claude requested permissions to "),
		text == "This command requires approval":
		r.Denied = true
	}
}

// goesOn reports whether the tool's work continues in the background after this result.
func goesOn(structured []byte) bool {
	if !isObject(structured) {
		return false
	}
	for o := object(structured); o.next(); {
		switch string(o.key) {
		case "isAsync":
			if isTrue(o.val) {
				return true
			}
		case "status":
			if is(o.val, "async_launched") {
				return true
			}
		case "backgroundTaskId":
			if isString(o.val) {
				return true
			}
		}
	}
	return false
}
