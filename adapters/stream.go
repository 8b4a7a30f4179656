package adapters

// stream is the API message of the main agent that is being streamed, or was last. Subagents are not streamed.
//
// Text that was told as tokens becomes part of the conversation with the assistant line that repeats it: that line confirms its
// block, always before the block's content_block_stop. Text that is never confirmed is void: when the connection breaks, 2.0.0 to
// 2.1.112 ask the API anew without streaming and print the answer under another message id, and 2.1.329 says so
// (abandoned_blocks) and streams again.
type stream struct {
	id     string
	blocks []streamBlock
}

type streamBlock struct {
	index     int
	kind      string
	told      bool // tokens of it went out
	confirmed bool // its assistant line came
	dropped   bool // it was discarded: what still comes of it is not told
}

// event holds the spans of a stream_event's event. It is read in the one pass over the line: a token costs a few hundred
// nanoseconds, and reading it twice would be seen.
type event struct {
	kind      []byte
	index     []byte
	block     []byte // content_block
	message   []byte
	deltaKind []byte
	text      []byte // of the delta
	thinking  []byte // likewise
	reason    []byte // stop_reason of the delta
}

func (e *event) scan(outer *members) bool {
	m := outer.enter()
	for m.nextKey() {
		if string(m.key) == "delta" && m.i < len(m.b) && m.b[m.i] == '{' {
			e.scanDelta(&m)
			continue
		}
		if !m.value() {
			break
		}
		switch string(m.key) {
		case "type":
			e.kind = m.val
		case "index":
			e.index = m.val
		case "content_block":
			e.block = m.val
		case "message":
			e.message = m.val
		}
	}
	return outer.leave(&m)
}

func (e *event) scanDelta(outer *members) bool {
	m := outer.enter()
	for m.next() {
		switch string(m.key) {
		case "type":
			e.deltaKind = m.val
		case "text":
			e.text = m.val
		case "thinking":
			e.thinking = m.val
		case "stop_reason":
			e.reason = m.val
		}
	}
	return outer.leave(&m)
}

func (b *baseline) streamEvent(l *line, m *Message) {
	m.Wire = "stream_event"
	if present(l.parent) {
		m.Parent = str(l.parent)
	}
	m.Kind = Skipped
	switch e := &l.event; {
	case is(e.kind, "content_block_delta"):
		b.delta(l, m)
	case is(e.kind, "content_block_start"):
		b.moveTo(l.apiMessageID, m)
		if i := small(e.index); i >= 0 {
			b.stream.at(i, blockType(member(e.block, "type")))
		}
	case is(e.kind, "content_block_stop"):
		b.moveTo(l.apiMessageID, m)
		m.Kind, m.MessageID, m.Block = BlockStop, b.stream.id, max(small(e.index), 0)
	case is(e.kind, "message_start"):
		// The content in there is not read: 2.0.0 shows blocks in it that are yet to come.
		b.begin(member(e.message, "id"), m)
	case is(e.kind, "message_delta"):
		if isString(e.reason) {
			b.turn.stopReason = str(e.reason)
		}
	case is(e.kind, "message_stop"):
		if abandoned := member(l.span, "abandoned_blocks"); isObject(abandoned) {
			b.discard(small(member(abandoned, "from_block_index")), m)
		}
	case !isString(e.kind):
		m.malformed("no event")
	}
}

// delta is the hot path: it allocates nothing.
func (b *baseline) delta(l *line, m *Message) {
	text, block := l.event.text, "text"
	switch kind := l.event.deltaKind; {
	case is(kind, "text_delta"):
		m.Kind = Token
	case is(kind, "thinking_delta"):
		m.Kind, text, block = Thinking, l.event.thinking, "thinking"
	default:
		return // input_json_delta, signature_delta, citations_delta: the assistant line has the whole of it
	}
	i := small(l.event.index)
	if !isString(text) || i < 0 {
		m.malformed("a delta without text or index")
		return
	}
	if len(text) == 2 {
		m.Kind = Skipped
		return
	}
	b.moveTo(l.apiMessageID, m)
	s := b.stream.at(i, block)
	if s.dropped {
		m.Kind = Skipped
		return
	}
	s.told = true
	m.MessageID, m.Block, m.Text = b.stream.id, i, Text(text)
	b.repeat.remember(m.Raw, l, m)
}

// moveTo follows a stream_event that names another message than the current one (2.1.329 names it in each), which can only be if
// its message_start was lost.
func (b *baseline) moveTo(id []byte, m *Message) {
	if isString(id) && string(id[1:len(id)-1]) != b.stream.id {
		b.begin(id, m)
	}
}

// begin starts a message. What was told of the one before and not confirmed is void.
func (b *baseline) begin(id []byte, m *Message) {
	b.discard(0, m)
	b.stream.id = str(id)
	b.stream.blocks = b.stream.blocks[:0]
	b.turn.stopReason = ""
	b.turn.interrupted = false
}

// discard drops what was told of the current message from block from on and never confirmed. An interrupted answer stays as it
// is: nothing replaces it.
func (b *baseline) discard(from int, m *Message) {
	if b.turn.interrupted {
		return
	}
	first := -1
	for i := range b.stream.blocks {
		s := &b.stream.blocks[i]
		if s.index < from || s.confirmed || s.dropped {
			continue
		}
		if s.told && (first < 0 || s.index < first) {
			first = s.index
		}
		s.dropped = true
	}
	if first >= 0 {
		m.Discarded = &Discard{MessageID: b.stream.id, FromBlock: first}
	}
}

// at finds the block of an index, the last one first, because that is where the deltas go.
func (s *stream) at(index int, kind string) *streamBlock {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if s.blocks[i].index == index {
			return &s.blocks[i]
		}
	}
	s.blocks = append(s.blocks, streamBlock{index: index, kind: kind})
	return &s.blocks[len(s.blocks)-1]
}

// confirm finds the block that an assistant line of this message repeats: the first of its type that no line has repeated yet. A
// block that told nothing gives way to one that did, because empty blocks get no line of their own.
func (s *stream) confirm(kind string, hasText bool) *streamBlock {
	var found *streamBlock
	for i := range s.blocks {
		c := &s.blocks[i]
		if c.confirmed || c.kind != kind {
			continue
		}
		if found == nil {
			found = c
		}
		if !hasText || c.told {
			found = c
			break
		}
	}
	if found != nil {
		found.confirmed = true
	}
	return found
}
