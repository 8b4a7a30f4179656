package scripted

import "strings"

// assistantLine is an assistant line around its one block. If block is nil it is cut where the block belongs. The first one of a turn
// names the message it answers.
func (v *voice) assistantLine(block []byte, extra func(*object)) (line, suffix []byte) {
	p, m := v.process, v.message
	o := event("assistant").key("message")
	o.buf = append(o.buf, newObject().str("id", m.id).str("type", "message").str("role", "assistant").str("model", p.model).key("content").buf...)
	o.buf = append(o.buf, '[')
	if block == nil {
		line, o.buf = o.buf, nil
	}
	o.buf = append(append(o.buf, block...), ']')
	if m.whole {
		o.str("stop_reason", "end_turn")
	} else {
		o.null("stop_reason")
	}
	o.null("stop_sequence").raw("usage", messageUsage).null("context_management")
	o.buf = append(o.buf, '}')
	v.sign(o)
	if !m.whole {
		o.str("request_id", "req_"+strings.TrimPrefix(m.id, "msg_"))
	}
	if extra != nil {
		extra(o)
	}
	v.markSubagent(o)
	if t := v.turn; v.agent == nil && t != nil && !t.announced {
		t.announced = true
		if u := t.uuids(); len(u) > 0 {
			o.str("user_message_uuid", t.mainUUID()).strings("user_message_uuids", u)
		}
	}
	if block == nil {
		return line, o.end()
	}
	return o.end(), nil
}

// sign adds whose line it is.
func (v *voice) sign(o *object) {
	if v.agent == nil {
		o.null("parent_tool_use_id")
	} else {
		o.str("parent_tool_use_id", v.agent.toolUse).str("agent_id", v.agent.id)
	}
	o.str("session_id", v.process.session).str("uuid", v.process.ids.uuid()).str("timestamp", timestamp())
}

func (v *voice) markSubagent(o *object) {
	if v.agent != nil {
		o.str("subagent_type", v.agent.kind).str("task_description", v.agent.description)
	}
}

// userLine is a line of type user: a tool's result, or a note.
func (v *voice) userLine(message []byte, extra func(*object)) []byte {
	o := event("user").bytes("message", message)
	v.sign(o)
	if extra != nil {
		extra(o)
	}
	v.markSubagent(o)
	return o.end()
}

func textBlock(text string) string { return `{"type":"text","text":` + text + `}` }
