package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Limit cuts the longest strings in the JSON values so that together they take at most limit bytes, and says whether it had to.
// All are cut to the same length, whatever is shorter stays as it is, and the JSON stays valid: a string ends before an escape, a
// character or a surrogate pair that would be cut in two, with a mark that holds its size in UTF-8, quotes and escapes not counted:
//
//	"the first million lines… [truncated: original_size=31457280 bytes]"
//
// Names of members are never cut. A value that is too long for its numbers or its structure is replaced by the mark alone. The
// elements of values are exchanged; what they pointed to is not written to.
func Limit(limit int, values []json.RawMessage) bool {
	total := 0
	for _, v := range values {
		total += len(v)
	}
	if total <= limit {
		return false
	}
	var lengths []int
	fixed := total
	for _, v := range values {
		for at := range stringValues(v) {
			lengths = append(lengths, at.end-at.begin)
			fixed -= at.end - at.begin
		}
	}
	longest := waterline(lengths, limit-fixed)
	if longest < shortestCut {
		for i, v := range values {
			if len(v) > limit/len(values) {
				values[i] = fmt.Appendf(nil, `"%s"`, truncation(len(v)))
			}
		}
		return true
	}
	for i, v := range values {
		values[i] = cutStrings(v, longest)
	}
	return true
}

// shortestCut is the room that a string needs for a mark and a few letters of its own.
const shortestCut = 80

func truncation(size int) string { return fmt.Sprintf("[truncated: original_size=%d bytes]", size) }

// waterline is the length to which the longest of lengths have to be cut for the sum to be at most room; -1 if there is none.
func waterline(lengths []int, room int) int {
	slices.Sort(lengths)
	for i, length := range lengths {
		rest := len(lengths) - i
		if length*rest > room {
			return room / rest
		}
		room -= length
	}
	return -1
}

// span is a piece of a JSON text.
type span struct{ begin, end int }

// stringValues yields where the strings of valid JSON stand that are no names of members, quotes included.
func stringValues(b []byte) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		for i := 0; ; {
			quote := bytes.IndexByte(b[i:], '"')
			if quote < 0 {
				return
			}
			begin := i + quote
			if i = skipString(b, begin); i < 0 {
				return
			}
			if next := skipSpace(b, i); next < len(b) && b[next] == ':' {
				continue
			}
			if !yield(span{begin, i}) {
				return
			}
		}
	}
}

// cutStrings is v with every string value of more than longest bytes cut to at most that.
func cutStrings(v []byte, longest int) []byte {
	var out []byte
	done := 0
	for at := range stringValues(v) {
		if at.end-at.begin <= longest {
			continue
		}
		content := v[at.begin+1 : at.end-1]
		mark := " " + truncation(decodedSize(content))
		out = append(out, v[done:at.begin+1]...)
		out = append(out, content[:wholeUpTo(content, max(0, longest-len(mark)-2))]...)
		out = append(append(out, mark...), '"')
		done = at.end
	}
	if out == nil {
		return v
	}
	return append(out, v[done:]...)
}

// wholeUpTo is the largest index up to limit at which the content of a JSON string can be cut.
func wholeUpTo(content []byte, limit int) int {
	for i := 0; i < len(content); {
		size := 1
		switch c := content[i]; {
		case c == '\\' && content[i+1] == 'u':
			size = 6
			if isHighHalf(content[i:]) && len(content)-i >= 12 && isLowHalf(content[i+6:]) {
				size = 12
			}
		case c == '\\':
			size = 2
		case c >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(content[i:])
		}
		if i+size > limit {
			return i
		}
		i += size
	}
	return len(content)
}

// decodedSize is how many bytes of UTF-8 the content of a JSON string stands for.
func decodedSize(content []byte) int {
	size := len(content)
	for i := 0; ; {
		at := bytes.IndexByte(content[i:], '\\')
		if at < 0 {
			return size
		}
		i += at
		if content[i+1] != 'u' {
			size--
			i += 2
			continue
		}
		if isHighHalf(content[i:]) && len(content)-i >= 12 && isLowHalf(content[i+6:]) {
			size -= 12 - 4
			i += 12
			continue
		}
		size -= 6 - max(1, utf8.RuneLen(escaped(content[i:])))
		i += 6
	}
}

// escaped is the character of the escape \uXXXX that b begins with. Half a pair counts as the U+FFFD that it is decoded to.
func escaped(b []byte) (r rune) {
	for _, c := range b[2:6] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20-'a') + 10
		}
	}
	if r >= 0xd800 && r < 0xe000 {
		return utf8.RuneError
	}
	return r
}

func isHighHalf(b []byte) bool { return isHalf(b) && b[3]|0x20 <= 'b' }
func isLowHalf(b []byte) bool  { return isHalf(b) && b[3]|0x20 >= 'c' }

func isHalf(b []byte) bool {
	return len(b) >= 6 && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && (b[3] == '8' || b[3] == '9' || b[3]|0x20 >= 'a' && b[3]|0x20 <= 'f')
}

// Limit cuts what m tells the editor so that no message about it is longer than limit bytes, and returns the size of what was cut, 0
// if nothing was. What goes back to the CLI or is put before the user for approval is never cut: the input of a tool use, and
// everything of a permission request or another request of the CLI. Nor is a token, and not Raw.
func (m *Message) Limit(limit int) (original int) {
	if len(m.Raw) <= limit {
		return 0
	}
	for i := range m.Results {
		r := &m.Results[i]
		values := []json.RawMessage{r.Content, r.Structured}
		if size := len(r.Content) + len(r.Structured); Limit(limit, values) {
			r.Content, r.Structured, r.Original = values[0], values[1], size
			original += size
		}
	}
	original += m.limitBlocks(limit)
	switch m.Kind {
	case CommandOutput, Notice, Log:
		original += limitText(limit, &m.Text)
	case TurnResult:
		original += limitText(limit, &m.Result.Text)
		values := []json.RawMessage{m.Result.PermissionDenials}
		if size := len(values[0]); Limit(limit, values) {
			m.Result.PermissionDenials = values[0]
			original += size
		}
	}
	return original
}

func limitText(limit int, text *Text) (original int) {
	values := []json.RawMessage{json.RawMessage(*text)}
	if !Limit(limit, values) {
		return 0
	}
	original = len(*text)
	*text = Text(values[0])
	return original
}

// limitBlocks cuts the blocks that are told as they are. They may be told in one message, so they share the limit.
func (m *Message) limitBlocks(limit int) (original int) {
	var values []json.RawMessage
	for i := range m.Blocks {
		if m.Blocks[i].Type != "tool_use" {
			values = append(values, m.Blocks[i].Raw)
			original += len(m.Blocks[i].Raw)
		}
	}
	if !Limit(limit, values) {
		return 0
	}
	next := 0
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Type == "tool_use" {
			continue
		}
		b.Raw = values[next]
		next++
		if text := member(b.Raw, b.Type); isString(text) {
			b.Text = Text(text)
		}
	}
	return original
}
