package adapters

import (
	"bytes"
	"encoding/json"
)

// The scanner finds values in a JSON text without decoding or copying them: a span is a piece of the line, exactly as it stands
// there. It accepts what encoding/json accepts and nothing else, so that every span it hands out can be put verbatim into another
// JSON text. It is iterative: the nesting of a line is the model's to choose, and a Go stack that overflows cannot be recovered.

// maxDepth is how deep values may nest, as in encoding/json, which has to read what is passed on.
const maxDepth = 10000

// valid reports whether b is one JSON value with nothing but blanks around it.
func valid(b []byte) bool {
	i := skipValue(b, skipSpace(b, 0), maxDepth)
	return i >= 0 && skipSpace(b, i) == len(b)
}

// members walks the members of a JSON object. After next has returned false, ok tells whether the object was whole.
type members struct {
	key, val []byte // of the current member; key is decoded, val is the span
	ok       bool

	b     []byte
	i     int // where to go on
	limit int // how deep values may still nest
	begun bool
	ended bool
}

// object begins a walk over the object that b begins with, blanks apart. What is no object has no members and is not ok. What stands
// behind the object is not looked at: see whole.
func object(b []byte) members {
	return members{b: b, limit: maxDepth - 1}
}

func (m *members) next() bool {
	return m.nextKey() && m.value()
}

// nextKey goes on to the next member's key and stops before its value, which has to be taken by value or enter.
func (m *members) nextKey() bool {
	if !m.open('{', '}') {
		return false
	}
	i, escaped := scanString(m.b, m.i)
	if i < 0 {
		return m.fail()
	}
	m.key = m.b[m.i+1 : i-1]
	if escaped {
		m.key = []byte(str(m.b[m.i:i]))
	}
	i = skipSpace(m.b, i)
	if i >= len(m.b) || m.b[i] != ':' {
		return m.fail()
	}
	m.i = skipSpace(m.b, i+1)
	return true
}

// value takes in the value.
func (m *members) value() bool {
	end := -1
	if m.i < len(m.b) && m.b[m.i] == '"' {
		end, _ = scanString(m.b, m.i)
	} else {
		end = skipValue(m.b, m.i, m.limit)
	}
	if end < 0 {
		return m.fail()
	}
	m.val, m.i = m.b[m.i:end], end
	return true
}

// enter begins a walk over the value, which is an object, so that no byte of it is read twice. leave goes on behind it.
func (m *members) enter() members {
	return members{b: m.b, i: m.i, limit: m.limit - 1}
}

func (m *members) leave(inner *members) bool {
	if !inner.ok {
		return m.fail()
	}
	m.i = inner.i
	return true
}

// whole reports whether the walk has come to the end of the object and nothing is behind it.
func (m *members) whole() bool {
	return m.ok && skipSpace(m.b, m.i) == len(m.b)
}

// elements walks the elements of a JSON array in the manner of members.
type elements struct {
	members
}

func array(b []byte) elements { return elements{object(b)} }

func (e *elements) next() bool {
	return e.open('[', ']') && e.value()
}

// open steps over the opening bracket or the comma to where the next member begins; false at the end.
func (m *members) open(opening, closing byte) bool {
	i := skipSpace(m.b, m.i)
	if i >= len(m.b) || m.ended {
		return m.fail()
	}
	switch c := m.b[i]; {
	case !m.begun && c == opening:
		m.begun = true
		i = skipSpace(m.b, i+1)
		if i < len(m.b) && m.b[i] == closing {
			return m.close(i)
		}
	case m.begun && c == ',':
		i = skipSpace(m.b, i+1)
	case m.begun && c == closing:
		return m.close(i)
	default:
		return m.fail()
	}
	m.i = i
	return true
}

func (m *members) close(i int) bool {
	m.i, m.ok, m.ended = i+1, true, true
	return false
}

func (m *members) fail() bool {
	m.ended = true
	return false
}

// str decodes a string span; what is no string is empty.
func str(span []byte) string {
	if len(span) < 2 || span[0] != '"' {
		return ""
	}
	if bytes.IndexByte(span, '\\') < 0 {
		return string(span[1 : len(span)-1])
	}
	var s string
	if json.Unmarshal(span, &s) != nil {
		return ""
	}
	return s
}

// is reports whether span is the string s, which needs no escapes.
func is(span []byte, s string) bool {
	return len(span) == len(s)+2 && span[0] == '"' && string(span[1:len(span)-1]) == s
}
