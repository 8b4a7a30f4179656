package adapters

import "bytes"

// repeat is the delta that was decoded last. The next one of its block differs from it in two places, the text and the uuid. A line
// that is the same in all others is not scanned: it can only mean the same. That takes a quarter of the time.
type repeat struct {
	line   []byte // a copy; empty if the last line was no delta
	text   int    // where the text begins, at its quote
	rest   int    // what stands behind it
	uuid   int    // where the uuid begins, at its quote
	kind   Kind
	parent string
	block  int
	id     string // of the message
}

const uuidSpan = len(`"b46de105-d6b9-4abf-9786-6a8bbfab2b12"`)

// remember keeps the delta raw. Where the spans stand in it is told by their capacity, which ends where raw's does.
func (p *repeat) remember(raw []byte, l *line, m *Message) {
	if len(l.uuid) != uuidSpan || !isString(l.uuid) {
		return
	}
	text, uuid := cap(raw)-cap(m.Text), cap(raw)-cap(l.uuid)
	if uuid < text {
		return
	}
	p.line = append(p.line[:0], raw...)
	p.text, p.rest, p.uuid = text, text+len(m.Text), uuid
	p.kind, p.parent, p.block, p.id = m.Kind, m.Parent, m.Block, m.MessageID
}

// forget is called with every line that does not repeat the last one.
func (p *repeat) forget() { p.line = p.line[:0] }

// decode reads raw if it repeats the line.
func (p *repeat) decode(raw []byte, m *Message) bool {
	if len(p.line) == 0 || len(raw) <= p.text || !bytes.Equal(raw[:p.text], p.line[:p.text]) {
		return false
	}
	end := skipString(raw, p.text)
	if end < p.text+len(`"x"`) || len(raw)-end != len(p.line)-p.rest {
		return false
	}
	rest, known, uuid := raw[end:], p.line[p.rest:], p.uuid-p.rest
	if !bytes.Equal(rest[:uuid], known[:uuid]) || !bytes.Equal(rest[uuid+uuidSpan:], known[uuid+uuidSpan:]) {
		return false
	}
	if skipString(rest, uuid) != uuid+uuidSpan {
		return false
	}
	m.Kind, m.Wire, m.Parent, m.MessageID, m.Block, m.Text = p.kind, "stream_event", p.parent, p.id, p.block, Text(raw[p.text:end])
	return true
}
