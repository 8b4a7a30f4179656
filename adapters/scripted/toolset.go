package scripted

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// harmless tools run without a question; edits run without one in the mode acceptEdits.
var (
	harmless = map[string]bool{"Read": true, "Glob": true, "Grep": true, "LS": true, "TodoWrite": true, "Skill": true,
		"TaskCreate": true, "TaskUpdate": true, "TaskStop": true, "Task": true, "Agent": true}
	edits = map[string]bool{"Write": true, "Edit": true, "MultiEdit": true, "NotebookEdit": true}
)

// toolUseID numbers the tool uses of a message.
func toolUseID(m *message) string {
	m.tools++
	return fmt.Sprintf("toolu_%s_%d", strings.TrimPrefix(m.id, "msg_"), m.tools)
}

// absolute is the input as the CLI shows it to the host: paths made absolute.
func (p *process) absolute(input []byte) []byte {
	for _, name := range []string{"file_path", "notebook_path"} {
		if path := field(input, name); path != "" && !filepath.IsAbs(path) {
			return merge(input, []member{{name, json.RawMessage(quoted(filepath.Join(p.cwd(), path)))}})
		}
	}
	return input
}

// toolOutput is what a tool gave back.
type toolOutput struct {
	text     string
	fails    bool
	fill     int    // filler after text
	stdout   string // Bash
	original *string
	started  *task // a background agent
}

// pretended is the result of a tool that was not run.
func pretended(u *toolUse) toolOutput {
	path := filePath(u.final)
	switch u.step.kind {
	case questionTool:
		return toolOutput{text: answersText(u.final)}
	case planTool:
		return toolOutput{text: "User has approved exiting plan mode. You can now proceed."}
	case todoTool:
		return toolOutput{text: "Todos have been modified successfully. Continue with the current tasks."}
	}
	switch u.step.name {
	case "Bash":
		return toolOutput{text: "(Bash completed with no output)"}
	case "Write":
		return toolOutput{text: "File created successfully at: " + path + current}
	case "Edit", "MultiEdit", "NotebookEdit":
		return toolOutput{text: "The file " + path + " has been updated successfully." + current}
	case "Read":
		return toolOutput{text: "1\t"}
	}
	return toolOutput{text: u.step.name + " completed"}
}

const current = " (file state is current in your context — no need to Read it back)"

// structured is tool_use_result: the result as the CLI itself keeps it.
func (out toolOutput) structured(u *toolUse) []byte {
	if out.fails {
		return []byte(quoted("Error: " + out.text))
	}
	o := newObject()
	in := u.final
	switch {
	case out.started != nil:
		return out.started.structured(u.voice.process)
	case u.step.kind == questionTool:
		answers := field(in, "answers")
		if answers == "" {
			answers = "{}"
		}
		return o.raw("questions", field(in, "questions")).raw("answers", answers).end()
	case u.step.kind == planTool:
		return o.null("plan").bool("isAgent", false).str("filePath", u.voice.process.home()+"/.claude/plans/scripted-plan.md").end()
	case u.step.kind == todoTool:
		return o.raw("oldTodos", "[]").raw("newTodos", field(in, "todos")).end()
	}
	switch u.step.name {
	case "Bash":
		stdout := out.stdout
		if u.step.says {
			stdout = out.text
		}
		return o.str("stdout", stdout).str("stderr", "").bool("interrupted", false).bool("isImage", false).
			bool("noOutputExpected", stdout == "").end()
	case "Write":
		kind := "create"
		original := "null"
		if out.original != nil {
			kind, original = "update", quoted(*out.original)
		}
		return o.str("type", kind).str("filePath", filePath(in)).str("content", field(in, "content")).raw("structuredPatch", "[]").
			raw("originalFile", original).bool("userModified", false).end()
	case "Edit":
		before, after := field(in, "old_string"), field(in, "new_string")
		original := before
		if out.original != nil {
			original = *out.original
		}
		return o.str("filePath", filePath(in)).str("oldString", before).str("newString", after).str("originalFile", original).
			raw("structuredPatch", patch(original, before, after)).bool("userModified", false).
			bool("replaceAll", field(in, "replace_all") == "true").end()
	case "Read":
		content, lines := unnumbered(out.text)
		return o.str("type", "text").raw("file", newObject().str("filePath", filePath(in)).str("content", content).
			int("numLines", lines).int("startLine", 1).int("totalLines", lines).String()).end()
	}
	return []byte(quoted(out.text))
}

// patch is one hunk without context.
func patch(file, before, after string) string {
	line := 1
	if i := strings.Index(file, before); i > 0 {
		line += strings.Count(file[:i], "\n")
	}
	var lines []string
	for _, l := range strings.Split(before, "\n") {
		lines = append(lines, "-"+l)
	}
	old := len(lines)
	for _, l := range strings.Split(after, "\n") {
		lines = append(lines, "+"+l)
	}
	return array([]string{newObject().int("oldStart", line).int("oldLines", old).int("newStart", line).int("newLines", len(lines)-old).
		strings("lines", lines).String()})
}

// unnumbered takes the line numbers of a Read away again.
func unnumbered(text string) (content string, lines int) {
	all := strings.Split(text, "\n")
	for i, l := range all {
		if _, rest, numbered := strings.Cut(l, "\t"); numbered {
			all[i] = rest
		}
	}
	return strings.Join(all, "\n"), len(all)
}

// resultOf is the line with a tool's result, cut where filler belongs. The caller holds the lock.
func (v *voice) resultOf(u *toolUse, out toolOutput) (prefix []byte, text *longText, suffix []byte) {
	text = &longText{}
	content := []byte(quoted(out.text))
	if out.started != nil { // an agent's result is a block
		content = []byte(array([]string{textBlock(quoted(out.text))}))
	}
	if out.fill > 0 {
		content = []byte(`"` + escaped(out.text))
		text.pad(out.fill)
	}
	result := newObject()
	mark := out.fails
	if !mark {
		result.str("tool_use_id", u.id).str("type", "tool_result").key("content")
	} else {
		result.str("type", "tool_result").key("content")
	}
	o := event("user").key("message")
	o.buf = append(append(o.buf, newObject().str("role", "user").key("content").buf...), '[')
	prefix = append(append(o.buf, result.buf...), content...)

	rest := &object{}
	if out.fill > 0 {
		rest.buf = append(rest.buf, '"')
	}
	switch {
	case mark:
		rest.buf = append(rest.buf, `,"is_error":true`...)
		rest.str("tool_use_id", u.id)
	case u.step.name == "Bash":
		rest.buf = append(rest.buf, `,"is_error":false`...)
	}
	rest.buf = append(rest.buf, `}]}`...)
	v.sign(rest)
	if v.agent == nil || mark {
		rest.bytes("tool_use_result", out.structured(u))
	}
	decision := newObject().str("decision", "accept")
	meta := newObject().str("id", u.id)
	if !u.verdict.allow {
		decision = newObject().str("decision", "reject")
		meta.str("non_execution_kind", "permission-rule")
	}
	decision.str("source", u.verdict.source)
	if u.verdict.reason != "" && u.step.agent == nil {
		decision.str("reason_type", u.verdict.reason)
	}
	rest.raw("tool_result_meta", array([]string{meta.bytes("permission_decision", decision.end()).String()}))
	v.markSubagent(rest)
	return prefix, text, rest.end()
}

const (
	rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT " +
		"written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	stoppedWhileRunning = " Correction to the text above: this call was stopped while running, not refused before it ran. " +
		"It may have run in part or in full, and its changes may have been written."
)

// rejectedLine is the result of a tool that an interrupt stopped. The caller holds the lock.
func (u *toolUse) rejectedLine() []byte {
	v, text := u.voice, rejected
	if u.running {
		text += stoppedWhileRunning
	}
	if u.prompt != nil || u.verdict.interrupt {
		v.deny(u)
	}
	message := newObject().str("role", "user").raw("content", array([]string{newObject().str("type", "tool_result").str("content", text).
		bool("is_error", true).str("tool_use_id", u.id).String()}))
	return v.userLine(message.end(), func(o *object) {
		if v.agent == nil {
			o.str("tool_use_result", "User rejected tool use")
		}
		o.raw("tool_result_meta", array([]string{newObject().str("id", u.id).str("non_execution_kind", "user-rejected").String()}))
	})
}

// runeCut is the length of the beginning of s of about n bytes that cuts no character in two.
func runeCut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return max(n, 1)
}
