package adapters

// baseline is the tolerant reader that all versions share. It is laid out for the CLI as it is today; what an older one does
// differently stands in its traits (range.go and the v*.go files), not here.
//
// It remembers what the CLI does not repeat: which message is being streamed and which of its blocks have been confirmed, which
// tool uses are open and whose they are, which tasks run. None of it grows with the length of a session.
type baseline struct {
	traits traits

	stream    stream
	repeat    repeat              // the last line, if it was a delta
	uses      map[string]*openUse // announced tool uses without a result, by id
	announced int                 // how many there were
	agents    map[string]string   // agent id → the tool use of the agent tool it works for
	tasks     map[string]*task    // by task id
	voices    map[string]*voice   // who speaks outside a stream, by Parent
	summary   bool                // the next user line is the summary behind a compact boundary

	sessionID string // of the last system/init
	model     string // likewise
	named     bool   // this CLI names the user messages it answers

	turn turn
}

// turn is what has to be known at the result about the lines before it.
type turn struct {
	interrupted bool   // the CLI's mark was seen, and nothing of the model since
	stopReason  string // of the last API message: max_tokens, refusal, …
	apiError    apiError
}

func newBaseline(t traits) *baseline {
	return &baseline{
		traits: t,
		uses:   map[string]*openUse{},
		agents: map[string]string{},
		tasks:  map[string]*task{},
		voices: map[string]*voice{},
	}
}

func (b *baseline) Features() Features { return b.traits.Features }

// line holds the spans of a line's members that more than one reader wants. The others are found where they are needed.
type line struct {
	span         []byte // the object
	kind         []byte
	subtype      []byte
	event        event
	message      []byte
	parent       []byte
	uuid         []byte
	apiMessageID []byte
	request      []byte
	requestID    []byte
	response     []byte
	structured   []byte
	meta         []byte
}

// scan fills l from the object span and reports whether it is one. Members come in any order: 2.1.329 prints the type of a result
// in the middle of it.
func (l *line) scan(span []byte) bool {
	l.span = span
	m := object(span)
	for m.nextKey() {
		if string(m.key) == "event" && m.i < len(span) && span[m.i] == '{' {
			l.event.scan(&m)
			continue
		}
		if !m.value() {
			break
		}
		switch string(m.key) {
		case "type":
			l.kind = m.val
		case "subtype":
			l.subtype = m.val
		case "message":
			l.message = m.val
		case "parent_tool_use_id":
			l.parent = m.val
		case "uuid":
			l.uuid = m.val
		case "api_message_id":
			l.apiMessageID = m.val
		case "request":
			l.request = m.val
		case "request_id":
			l.requestID = m.val
		case "response":
			l.response = m.val
		case "tool_use_result":
			l.structured = m.val
		case "tool_result_meta":
			l.meta = m.val
		}
	}
	return m.whole()
}

func (b *baseline) Decode(raw []byte, m *Message) {
	*m = Message{Raw: raw, Blocks: m.Blocks[:0], Results: m.Results[:0], Tasks: m.Tasks[:0]}
	if b.repeat.decode(raw, m) {
		return
	}
	b.repeat.forget()
	span := trim(raw)
	if len(span) == 0 {
		m.Kind = Skipped
		return
	}
	if span[0] != '{' {
		m.log(span)
		return
	}
	var l line
	if !l.scan(span) {
		if i := skipSpace(span, 1); i < len(span) && span[i] != '"' {
			m.log(span) // text that begins with a brace
			return
		}
		m.Wire = str(l.kind)
		m.malformed("the line is not valid JSON")
		return
	}
	if is(l.kind, "stream_event") {
		b.streamEvent(&l, m)
		return
	}
	m.Wire = wireName(l.kind, l.subtype)
	m.Parent = str(l.parent)
	switch str(l.kind) {
	case "assistant":
		b.assistant(&l, m)
	case "user":
		b.user(&l, m)
	case "result":
		b.result(&l, m)
	case "system":
		b.system(&l, m)
	case "tool_progress":
		b.toolProgress(&l, m)
	case "control_request":
		b.controlRequest(&l, m)
	case "control_cancel_request":
		m.Kind, m.CancelID = Cancel, str(l.requestID)
	case "control_response":
		controlResponse(&l, m)
	case "conversation_reset":
		// new_conversation_id is not the id to resume: the next system/init has that one.
		m.Kind, m.Boundary = Cleared, &Boundary{Trigger: str(member(span, "trigger"))}
		b.sessionID = ""
	case "keep_alive", "command_lifecycle", "tool_use_summary", "prompt_suggestion", "rate_limit_event", "auth_status", "active_goal":
		m.Kind = Skipped
	default:
		m.Kind = Unknown
	}
}

// wireName joins type and subtype as they are counted and logged.
func wireName(kind, subtype []byte) string {
	switch {
	case is(kind, "assistant"):
		return "assistant"
	case is(kind, "user"):
		return "user"
	case !present(kind):
		return "(no type)"
	case !isString(kind):
		return "(odd type)"
	case isString(subtype):
		return str(kind) + "/" + str(subtype)
	}
	return str(kind)
}

func (m *Message) log(span []byte) {
	m.Kind, m.Wire, m.Text = Log, "(text)", appendString(nil, string(span))
}

func (m *Message) malformed(why string) {
	m.Kind, m.Err = Malformed, &MalformedError{Wire: m.Wire, Reason: why}
}

// MalformedError says what could not be read in a line of a known type.
type MalformedError struct {
	Wire   string // as Message.Wire
	Reason string
}

func (e *MalformedError) Error() string {
	if e.Wire == "" {
		return e.Reason
	}
	return e.Wire + ": " + e.Reason
}
