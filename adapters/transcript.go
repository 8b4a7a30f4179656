package adapters

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Claude writes each conversation into a file of its own,
// <configuration directory>/projects/<directory of the session>/<session id>.jsonl, a line for each message and for much else. The
// versions differ in what else there is, hardly in the messages.

// TranscriptLine is a line of such a file. Like a Message it borrows from the line that it was read from.
type TranscriptLine struct {
	Kind TranscriptKind
	UUID string // of the line; of a user message also the message's own
	// Parent is the line that this one follows; empty for the first of a conversation. Where the file branches, because the user
	// went back, several lines have the same parent. Of a title it is the line that was the last when it was given (summaries only).
	Parent    string
	Timestamp string // RFC 3339
	CWD       string
	Version   string // of the CLI that wrote it
	Sidechain bool   // spoken between a subagent and its agent (up to 2.0.x in the same file)

	MessageID  string // Said: the API's; Folded: the user message's
	Model      string // Said
	Blocks     []Block
	StopReason string // Said: of the API (end_turn, tool_use, …), empty on the lines before a message's last
	Origin     Origin
	Failure    *Failure // Said, of Origin OriginError

	Results  []ToolResult    // Returned
	Content  json.RawMessage // Asked, Folded: a string or content blocks
	Command  bool            // Asked: a slash or shell command, to which there may be no answer
	Text     Text            // Output, Titled
	Title    TitleSource
	Boundary *Boundary // Bounded
	Turns    int       // Asked: how many turns the conversation has with this one; 0 if the version does not count
	CostUSD  float64   // Counted: of the conversation as far as one process has led it
}

// TranscriptKind says what a TranscriptLine is.
type TranscriptKind uint8

const (
	Other    TranscriptKind = iota // not part of the conversation
	Linked                         // in the chain of parents, with nothing to show
	Asked                          // a message of the user, with which a turn begins
	Folded                         // a message that the user sent into a running turn
	Woken                          // a turn of the CLI's own begins: a background task has ended
	Said                           // content blocks of the model, or what the CLI says in its place
	Returned                       // tool results
	Output                         // what a slash command printed
	Aborted                        // the mark that the user interrupted the turn
	Bounded                        // the conversation was compacted here
	Titled                         // the conversation's title
	Counted                        // what it has cost
)

var transcriptKinds = [...]string{"Other", "Linked", "Asked", "Folded", "Woken", "Said", "Returned", "Output", "Aborted", "Bounded", "Titled", "Counted"}

func (k TranscriptKind) String() string {
	if int(k) < len(transcriptKinds) {
		return transcriptKinds[k]
	}
	return "TranscriptKind(?)"
}

// TitleSource says who gave a title; the later ones win over the earlier.
type TitleSource uint8

const (
	SummaryTitle TitleSource = iota // 2.0.0 sums up conversations, not always the one whose file it writes it to
	ModelTitle
	UserTitle
)

// Decode reads one line into l, which it resets. It never fails: what cannot be read is Other.
func (l *TranscriptLine) Decode(line []byte) {
	*l = TranscriptLine{Blocks: l.Blocks[:0], Results: l.Results[:0]}
	var f transcriptFields
	if !f.read(line) {
		return
	}
	l.UUID, l.Parent, l.Timestamp, l.CWD, l.Version = str(f.uuid), str(f.parent), str(f.timestamp), str(f.cwd), str(f.version)
	l.Sidechain = isTrue(f.sidechain)
	if l.UUID != "" {
		l.Kind = Linked
	}
	switch string(f.kind) {
	case `"user"`:
		l.user(&f)
	case `"assistant"`:
		l.assistant(&f)
	case `"system"`:
		l.system(&f)
	case `"attachment"`:
		l.attachment(f.attachment)
	case `"custom-title"`:
		l.titled(member(line, "customTitle"), UserTitle)
	case `"ai-title"`:
		l.titled(member(line, "aiTitle"), ModelTitle)
	case `"summary"`:
		l.titled(member(line, "summary"), SummaryTitle)
		l.Parent = str(member(line, "leafUuid"))
	case `"cost-state"`:
		l.Kind, l.CostUSD = Counted, number(member(line, "totalCostUSD"))
	}
}

// transcriptFields are the members of a line that matter.
type transcriptFields struct {
	kind, subtype, uuid, parent, logicalParent, timestamp, cwd, version, sidechain, meta               []byte
	message, content, structured, attachment, origin, compact, apiError, apiStatus, apiType, errorKind []byte
	compactSummary, hidden, denial, decision, turn                                                     []byte
}

func (f *transcriptFields) read(line []byte) bool {
	m := object(line)
	for m.next() {
		switch string(m.key) {
		case "type":
			f.kind = m.val
		case "subtype":
			f.subtype = m.val
		case "uuid":
			f.uuid = m.val
		case "parentUuid":
			f.parent = m.val
		case "logicalParentUuid":
			f.logicalParent = m.val
		case "timestamp":
			f.timestamp = m.val
		case "cwd":
			f.cwd = m.val
		case "version":
			f.version = m.val
		case "isSidechain":
			f.sidechain = m.val
		case "isMeta":
			f.meta = m.val
		case "isCompactSummary":
			f.compactSummary = m.val
		case "isVisibleInTranscriptOnly":
			f.hidden = m.val
		case "message":
			f.message = m.val
		case "content":
			f.content = m.val
		case "toolUseResult":
			f.structured = m.val
		case "toolDenialKind":
			f.denial = m.val
		case "permissionDecision":
			f.decision = m.val
		case "attachment":
			f.attachment = m.val
		case "origin":
			f.origin = m.val
		case "compactMetadata":
			f.compact = m.val
		case "isApiErrorMessage":
			f.apiError = m.val
		case "apiErrorStatus":
			f.apiStatus = m.val
		case "apiErrorType":
			f.apiType = m.val
		case "error":
			f.errorKind = m.val
		case "turnPosition":
			f.turn = m.val
		}
	}
	return m.ok && len(bytes.TrimSpace(line[m.i:])) == 0
}

func (l *TranscriptLine) assistant(f *transcriptFields) {
	var content []byte
	for m := object(f.message); m.next(); {
		switch string(m.key) {
		case "id":
			l.MessageID = str(m.val)
		case "model":
			l.Model = str(m.val)
		case "stop_reason":
			l.StopReason = str(m.val)
		case "content":
			content = m.val
		}
	}
	for e := array(content); e.next(); {
		l.Blocks = append(l.Blocks, transcriptBlock(e.val, len(l.Blocks)))
	}
	if l.MessageID == "" || len(l.Blocks) == 0 {
		return
	}
	l.Kind = Said
	if l.Model != "<synthetic>" {
		return
	}
	l.Model = ""
	text := l.Blocks[0].Text.String()
	switch {
	case text == "No response requested.":
		l.Kind = Linked
	case !isTrue(f.apiError):
		l.Origin = OriginCommand
	case strings.Contains(text, "output token maximum"): // as in baseline.ranOut: no error of the turn
		l.Origin, l.StopReason = OriginCommand, "max_tokens"
	case strings.Contains(text, "appears to violate our Usage Policy"):
		l.Origin, l.StopReason = OriginCommand, "refusal"
	default:
		l.Origin, l.StopReason = OriginError, "error"
		l.Failure = apiError{status: int(integer(f.apiStatus)), apiType: str(f.apiType), kind: str(f.errorKind), text: text}.failure("")
	}
}

func transcriptBlock(span []byte, index int) Block {
	b := Block{Index: index, Raw: span}
	var id, name, text []byte
	for m := object(span); m.next(); {
		switch string(m.key) {
		case "type":
			b.Type = blockType(m.val)
		case "text", "thinking":
			text = m.val
		case "id":
			id = m.val
		case "name":
			name = m.val
		case "input":
			b.ToolUse.Input = m.val
		}
	}
	if isString(text) {
		b.Text = Text(text)
	}
	if b.Type == "tool_use" {
		b.ToolUse.ID, b.ToolUse.Name = str(id), str(name)
	}
	return b
}

func (l *TranscriptLine) system(f *transcriptFields) {
	switch string(f.subtype) {
	case `"compact_boundary"`:
		// What came before is still shown, so the chain goes on where it was cut.
		if l.Parent == "" {
			l.Parent = str(f.logicalParent)
		}
		b := &Boundary{}
		for m := object(f.compact); m.next(); {
			switch string(m.key) {
			case "trigger":
				b.Trigger = str(m.val)
			case "preTokens":
				b.PreTokens = int(integer(m.val))
			}
		}
		l.Kind, l.Boundary = Bounded, b
	case `"local_command"`:
		if isString(f.content) {
			l.local(f.content)
		}
	}
}

// attachment reads what the CLI tells the model beside the conversation. Only a message that the user sent meanwhile is part of it.
func (l *TranscriptLine) attachment(span []byte) {
	if !is(member(span, "type"), "queued_command") {
		return
	}
	if mode := member(span, "commandMode"); isString(mode) && !is(mode, "prompt") {
		return
	}
	prompt := member(span, "prompt")
	if !isString(prompt) && !isArray(prompt) || bytes.HasPrefix(prompt, []byte(`"<task-notification`)) {
		return
	}
	l.Kind, l.Content = Folded, prompt
	if id := member(span, "source_uuid"); isString(id) {
		l.MessageID = str(id)
	}
}

func (l *TranscriptLine) titled(title []byte, source TitleSource) {
	if isString(title) {
		l.Kind, l.Text, l.Title = Titled, Text(title), source
	}
}
