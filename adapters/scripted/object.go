package scripted

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// object appends the members of one JSON object in the order they are given, because the real CLI's
// order of members is part of what readers are tested against (a result line does not begin with "type").
type object struct{ buf []byte }

func newObject() *object { return &object{buf: append(make([]byte, 0, 512), '{')} }

// event is the beginning of every line but a result: its "type".
func event(kind string) *object { return newObject().str("type", kind) }

func (o *object) key(name string) *object {
	if n := len(o.buf); n > 0 && o.buf[n-1] != '{' {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(appendString(o.buf, name), ':')
	return o
}

func (o *object) str(name, value string) *object {
	o.key(name)
	o.buf = appendString(o.buf, value)
	return o
}

// raw adds a member whose value is JSON already.
func (o *object) raw(name, value string) *object {
	o.key(name)
	o.buf = append(o.buf, value...)
	return o
}

func (o *object) bytes(name string, value []byte) *object { return o.raw(name, string(value)) }

func (o *object) null(name string) *object { return o.raw(name, "null") }

func (o *object) int(name string, value int) *object { return o.raw(name, strconv.Itoa(value)) }

func (o *object) bool(name string, value bool) *object {
	return o.raw(name, strconv.FormatBool(value))
}

// money adds US dollars, to the hundred-millionth, without an exponent.
func (o *object) money(name string, usd float64) *object {
	return o.raw(name, strconv.FormatFloat(float64(int64(usd*1e8+0.5))/1e8, 'f', -1, 64))
}

func (o *object) strings(name string, values []string) *object {
	o.key(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = appendString(o.buf, v)
	}
	o.buf = append(o.buf, ']')
	return o
}

func (o *object) end() []byte { return append(o.buf, '}') }

func (o *object) String() string { return string(o.end()) }

// quoted is s as a JSON string.
func quoted(s string) string { return string(appendString(nil, s)) }

// escaped is s as the inside of a JSON string.
func escaped(s string) string {
	q := quoted(s)
	return q[1 : len(q)-1]
}

const hexDigits = "0123456789abcdef"

// appendString escapes as JSON.stringify does: quotes, backslash and control characters, nothing else.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\r':
				dst = append(dst, '\\', 'r')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c < 0x20:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, r) // invalid UTF-8 becomes U+FFFD, as in node
		i += size
	}
	return append(dst, '"')
}

// member is one member of a JSON object, in the order of the text.
type member struct {
	name  string
	value json.RawMessage
}

// members splits an object without losing its order; anything else has none.
func members(raw []byte) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return all
		}
		var m member
		m.name, _ = name.(string)
		if dec.Decode(&m.value) != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

// field is the text of a member of raw: a string unquoted, anything else as it stands, "" if absent.
func field(raw []byte, name string) string {
	for _, m := range members(raw) {
		if m.name == name {
			return plain(m.value)
		}
	}
	return ""
}

func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	return string(raw)
}

// merge sets members of an object, in place where the name is there already.
func merge(raw []byte, with []member) []byte {
	all := members(raw)
next:
	for _, w := range with {
		for i := range all {
			if all[i].name == w.name {
				all[i].value = w.value
				continue next
			}
		}
		all = append(all, w)
	}
	o := newObject()
	for _, m := range all {
		o.bytes(m.name, m.value)
	}
	return o.end()
}
