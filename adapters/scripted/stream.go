package scripted

import "time"

// message is an API message while it is being written.
type message struct {
	id       string
	index    int    // of the open block, or of the next
	tools    int    // tool uses so far
	kind     string // of the open block: text, thinking, tool_use; "" if none is open
	text     longText
	whole    bool // not streamed: its assistant line has the stop reason
	lines    bool // the last thing said was a line: another one goes under it
	deltas   int
	thought  int // estimated tokens
	blockage time.Time
}

// streams says whether deltas are printed: only the main conversation's, and only if asked for.
func (v *voice) streams() bool { return v.agent == nil && v.process.args.partial }

// startMessage begins an API call if none is under way: "requesting", a moment for the model, the replayed user message,
// message_start.
func (v *voice) startMessage() error {
	if v.message != nil {
		return nil
	}
	p, t := v.process, v.turn
	if v.agent == nil && t != nil {
		t.requesting()
		if err := v.pause(p.script.latency); err != nil {
			return err
		}
	}
	return v.saying(func() {
		m := &message{id: p.ids.message()}
		v.message, v.owed = m, false
		if v.agent != nil || t == nil {
			return
		}
		t.requested = false
		t.replay()
		if t.first.IsZero() {
			t.first = time.Now()
		}
		if !v.streams() {
			return
		}
		api := newObject().str("id", m.id).str("type", "message").str("role", "assistant").str("model", p.model).raw("content", "[]").
			null("stop_reason").null("stop_sequence").raw("usage", messageUsage)
		o := v.streamEvent(newObject().str("type", "message_start").bytes("message", api.end())).
			int("ttft_ms", int(time.Since(t.began)/time.Millisecond)).str("thinking_display", "updates").str("api_message_id", m.id)
		if u := t.uuids(); len(u) > 0 && !t.announced {
			o.str("user_message_uuid", t.mainUUID()).strings("user_message_uuids", u).raw("owed_rows", "[]")
		}
		p.put(o.end())
	})
}

const messageUsage = `{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}`

// streamEvent begins a stream_event line; the caller adds api_message_id.
func (v *voice) streamEvent(ev *object) *object {
	return event("stream_event").bytes("event", ev.end()).str("session_id", v.process.session).null("parent_tool_use_id").
		str("uuid", v.process.ids.uuid())
}

func (v *voice) putStream(ev *object) {
	if v.streams() {
		v.process.put(v.streamEvent(ev).str("api_message_id", v.message.id).end())
	}
}

// openBlock makes a block of this kind the open one, closing any other.
func (v *voice) openBlock(kind, empty string) error {
	if err := v.startMessage(); err != nil {
		return err
	}
	m := v.message
	if m.kind == kind && kind != "tool_use" {
		return nil
	}
	if err := v.closeBlock(); err != nil {
		return err
	}
	return v.saying(func() {
		m.kind, m.text, m.lines, m.blockage = kind, longText{}, false, time.Now()
		if !v.streams() {
			return
		}
		o := v.streamEvent(newObject().str("type", "content_block_start").int("index", m.index).raw("content_block", empty))
		if kind == "thinking" {
			o.str("thinking_display", "updates")
		}
		v.process.put(o.str("api_message_id", m.id).end())
	})
}

const (
	emptyText     = `{"type":"text","text":""}`
	emptyThinking = `{"type":"thinking","thinking":"","signature":""}`
)

// delta says one piece of the open block; piece is the inside of a JSON string, passed on as it is.
func (v *voice) delta(kind, member, piece string) error {
	return v.saying(func() {
		m := v.message
		m.deltas++
		if kind != "input_json_delta" {
			m.text.add(piece)
		}
		if !v.streams() {
			return
		}
		if kind == "thinking_delta" {
			tokens := 1 + len(piece)/4
			m.thought += tokens
			v.process.put(event("system").str("subtype", "thinking_tokens").int("estimated_tokens", m.thought).
				int("estimated_tokens_delta", tokens).str("session_id", v.process.session).str("uuid", v.process.ids.uuid()).end())
		}
		ev := newObject().str("type", "content_block_delta").int("index", m.index).
			raw("delta", newObject().str("type", kind).raw(member, `"`+piece+`"`).String())
		o := v.streamEvent(ev)
		if kind == "thinking_delta" {
			o.str("thinking_display", "updates")
		}
		v.process.put(o.str("api_message_id", m.id).end())
	})
}

// closeBlock reports the open text or thinking block as a whole, then closes it: the complete message comes
// before content_block_stop on every version.
func (v *voice) closeBlock() error {
	m := v.message
	if m == nil || m.kind == "" {
		return nil
	}
	if m.kind == "thinking" && v.streams() {
		if err := v.saying(func() {
			v.putStream(newObject().str("type", "content_block_delta").int("index", m.index).
				raw("delta", `{"type":"signature_delta","signature":"c2NyaXB0ZWQ="}`))
		}); err != nil {
			return err
		}
	}
	return v.saying(func() {
		v.reportBlock(false)
		v.stopBlock()
	})
}

// reportBlock prints the assistant line of the open text or thinking block. The caller holds the lock.
func (v *voice) reportBlock(aborted bool) {
	m := v.message
	block, rest := `{"type":"text","text":"`, `"}`
	if m.kind == "thinking" {
		block, rest = `{"type":"thinking","thinking":"`, `","signature":"c2NyaXB0ZWQ="}`
		if aborted {
			rest = `","signature":""}`
		}
	}
	if m.kind == "text" && v.turn != nil && v.agent == nil {
		v.turn.text = m.text
	}
	if m.kind == "text" && v.agent != nil {
		v.agent.report = m.text.String()
	}
	if v.agent != nil && !v.agent.background {
		return // what a subagent in the foreground says is not passed on, only what it does
	}
	prefix, suffix := v.assistantLine(nil, func(o *object) {
		if m.kind == "thinking" {
			o.int("thinking_duration_ms", int(time.Since(m.blockage)/time.Millisecond)).str("thinking_display", "updates")
		}
		if aborted {
			o.bool("aborted", true)
		}
	})
	v.process.putLong(append(prefix, block...), &m.text, append([]byte(rest), suffix...))
}

// stopBlock: the caller holds the lock.
func (v *voice) stopBlock() {
	m := v.message
	v.putStream(newObject().str("type", "content_block_stop").int("index", m.index))
	m.kind = ""
	m.index++
}

// closeMessage ends the open API message. before is said between message_delta and message_stop, where 2.1.329 asks for permission.
func (v *voice) closeMessage(stopReason string, before ...func()) error {
	if v.message == nil {
		return nil
	}
	if err := v.closeBlock(); err != nil {
		return err
	}
	return v.saying(func() {
		v.putStream(newObject().str("type", "message_delta").
			raw("delta", newObject().str("stop_reason", stopReason).null("stop_sequence").String()).
			raw("usage", newObject().int("output_tokens", max(v.message.deltas, 1)).String()))
		for _, say := range before {
			say()
		}
		v.putStream(newObject().str("type", "message_stop"))
		v.spend()
		v.message = nil
	})
}

// cutMessage closes an interrupted message: what was said of its block is reported, then note, then the stream is closed and the rest
// declared abandoned. A half-written tool use is not reported and not stopped. The caller holds the lock.
func (v *voice) cutMessage(note []byte) {
	m := v.message
	reported := m != nil && m.kind != "" && m.kind != "tool_use" && !m.text.empty()
	if reported {
		v.reportBlock(true)
	}
	if note != nil {
		v.process.put(note)
	}
	if m == nil {
		return
	}
	if reported {
		v.stopBlock()
	}
	v.putStream(newObject().str("type", "message_delta").null("context_management").
		raw("delta", `{"container":null,"stop_details":null,"stop_reason":null,"stop_sequence":null}`).
		raw("usage", `{"output_tokens_details":{"thinking_tokens":0},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":10,"iterations":[],"output_tokens":5,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"fallback_credit":null}`))
	v.abandoned(m.index)
	v.spend()
	v.message = nil
}

// abandoned is a message_stop that takes back the blocks from this one on.
func (v *voice) abandoned(from int) {
	if v.streams() {
		v.process.put(v.streamEvent(newObject().str("type", "message_stop")).str("api_message_id", v.message.id).
			raw("abandoned_blocks", newObject().str("api_message_id", v.message.id).int("from_block_index", from).String()).end())
	}
}

func (v *voice) spend() {
	output := max(v.message.deltas, 1)
	v.process.spent.add(10, output)
	if v.agent == nil && v.turn != nil {
		v.turn.spent.add(10, output)
	}
	if v.agent != nil {
		v.agent.tokens += 10 + output
	}
}
