package adapters

import "bytes"

// openUse is a tool use that was announced and has no result yet.
type openUse struct {
	name   string
	parent string
	input  []byte // a copy, only where permission requests do not say which tool use they are about
	asked  bool   // a permission request was taken for this one
	seq    int    // announced as the seq-th
}

// voice counts the blocks of a message that comes without stream events: a subagent's, or one that was fetched again.
type voice struct {
	messageID string
	blocks    int
}

func (b *baseline) assistant(l *line, m *Message) {
	var id, model, content, stop, used []byte
	msg := object(l.message)
	for msg.next() {
		switch string(msg.key) {
		case "id":
			id = msg.val
		case "model":
			model = msg.val
		case "content":
			content = msg.val
		case "stop_reason":
			stop = msg.val
		case "usage":
			used = msg.val
		}
	}
	if !msg.ok || !isArray(content) {
		m.malformed("no content")
		return
	}
	if is(model, "<synthetic>") {
		b.synthetic(l, id, content, m)
		return
	}
	m.Kind = Assistant
	main := m.Parent == ""
	m.MessageID = b.stream.id
	streamed := main && isString(id) && string(id[1:len(id)-1]) == b.stream.id
	if !streamed {
		m.MessageID = str(id)
	}
	if main {
		if !streamed {
			b.discard(0, m) // the answer was fetched again under another id
		}
		b.turn.interrupted = false
		if isObject(used) {
			u := usage(used)
			m.Context = u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens + u.OutputTokens
		}
		if isString(stop) {
			b.turn.stopReason = str(stop)
		}
	} else if agent := member(l.span, "agent_id"); isString(agent) {
		b.agents[str(agent)] = m.Parent
	}
	for e := array(content); e.next(); {
		b.block(e.val, streamed, m)
	}
}

// block appends one content block of an assistant line.
func (b *baseline) block(span []byte, streamed bool, m *Message) {
	block := Block{Raw: span}
	var id, name, text []byte
	for o := object(span); o.next(); {
		switch string(o.key) {
		case "type":
			block.Type = blockType(o.val)
		case "text", "thinking":
			text = o.val
		case "id":
			id = o.val
		case "name":
			name = o.val
		case "input":
			block.ToolUse.Input = o.val
		}
	}
	if isString(text) {
		block.Text = Text(text)
	}
	block.Index = -1
	if streamed {
		if s := b.stream.confirm(block.Type, len(block.Text) > 2); s != nil {
			block.Index, block.Streamed = s.index, s.told && !s.dropped
		}
	}
	if block.Index < 0 {
		block.Index = b.nextBlock(m)
	}
	if block.Type == "tool_use" {
		block.ToolUse.ID, block.ToolUse.Name = str(id), str(name)
		b.announce(&block.ToolUse, m)
	}
	m.Blocks = append(m.Blocks, block)
}

// nextBlock counts where no stream does.
func (b *baseline) nextBlock(m *Message) int {
	v := b.voices[m.Parent]
	if v == nil {
		v = &voice{}
		b.voices[m.Parent] = v
	}
	if v.messageID != m.MessageID {
		*v = voice{messageID: m.MessageID}
		if m.Parent == "" && m.MessageID == b.stream.id {
			v.blocks = len(b.stream.blocks)
		}
	}
	v.blocks++
	return v.blocks - 1
}

func (b *baseline) announce(u *ToolUse, m *Message) {
	if u.ID == "" {
		return
	}
	use := &openUse{name: u.Name, parent: m.Parent, seq: b.announced}
	b.announced++
	if b.traits.guessesToolUse {
		use.input = bytes.Clone(u.Input)
	}
	b.uses[u.ID] = use
	b.agentStarts(u, m)
}

// synthetic reads a line that the CLI made up: output of a slash command, or the text of an error.
func (b *baseline) synthetic(l *line, id, content []byte, m *Message) {
	var local, status, apiType, kind []byte
	isError := b.traits.namesNoError
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "local_command_source", "local_command_run":
			local = o.val
		case "api_error_status":
			status = o.val
		case "api_error_type":
			apiType = o.val
		case "error":
			kind = o.val
			isError = isError || present(o.val)
		case "is_api_error_message":
			isError = isError || isTrue(o.val)
		}
	}
	m.Kind, m.MessageID, m.Origin = Assistant, str(id), OriginError
	for e := array(content); e.next(); {
		text := member(e.val, "text")
		if is(text, "No response requested.") || is(text, "(no content)") {
			continue // fills the model's turn where it has nothing to say
		}
		m.Blocks = append(m.Blocks, Block{Index: len(m.Blocks), Type: blockType(member(e.val, "type")), Text: Text(text), Raw: e.val})
	}
	if len(m.Blocks) == 0 {
		m.Kind = Skipped
		return
	}
	isError = isError || bytes.HasPrefix(m.Blocks[0].Text, []byte(`"API Error`)) // the output limit in 2.1.17 is not marked
	switch {
	case present(local) || !isError:
		m.Origin = OriginCommand // 2.1.112 marks it by nothing
	case m.Parent != "":
	case b.ranOut(int(integer(status)), m.Blocks[0].Text.String()):
		// The turn is not failed by it, so no error will carry this text.
		m.Kind, m.Text, m.Level, m.Blocks = Notice, m.Blocks[0].Text, "warning", m.Blocks[:0]
	default:
		b.turn.apiError = apiError{
			status:  int(integer(status)),
			apiType: str(apiType),
			kind:    str(kind),
			text:    m.Blocks[0].Text.String(),
		}
	}
}

// blockType names the type of a block without allocating the common ones.
func blockType(span []byte) string {
	switch {
	case is(span, "text"):
		return "text"
	case is(span, "thinking"):
		return "thinking"
	case is(span, "tool_use"):
		return "tool_use"
	case is(span, "tool_result"):
		return "tool_result"
	}
	return str(span)
}
