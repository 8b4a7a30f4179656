package stream

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// maxDepth is how deep a frame may nest. encoding/json and json/v2 stop at the
// same depth, so a handler never fails for what passed here.
const maxDepth = 10000

// scanner checks that a frame is JSON in valid UTF-8, in one pass and without
// allocating. It accepts what encoding/json accepts, invalid UTF-8 excepted:
// json/v2, which decodes the params later, rejects that.
//
// Its methods take the index where something begins in data and return the
// index after it, or -1; then at and why tell what is wrong.
type scanner struct {
	data   []byte
	object [maxDepth/64 + 1]uint64 // bit d: the container at depth d is an object
	at     int
	why    string
}

func (s *scanner) fail(at int, why string) int {
	s.at, s.why = at, why
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// value checks the value at i, which lies inside depth containers.
func (s *scanner) value(i, depth int) int {
	b, outer := s.data, depth
value:
	i = skipSpace(b, i)
	if i == len(b) {
		return s.fail(i, "a value is missing")
	}
	switch c := b[i]; c {
	case '{', '[':
		if depth == maxDepth {
			return s.fail(i, "nested too deep")
		}
		depth++
		if c == '{' {
			s.object[depth>>6] |= 1 << (depth & 63)
		} else {
			s.object[depth>>6] &^= 1 << (depth & 63)
		}
		i = skipSpace(b, i+1)
		if i < len(b) && b[i] == c+2 { // in ASCII, '}' is '{'+2 and ']' is '['+2
			i++
			depth--
			break
		}
		if c == '{' {
			if i = s.key(i); i < 0 {
				return -1
			}
		}
		goto value
	case '"':
		i = s.string(i)
	case 't':
		i = s.literal(i, "true")
	case 'f':
		i = s.literal(i, "false")
	case 'n':
		i = s.literal(i, "null")
	default:
		i = s.number(i)
	}
	if i < 0 {
		return -1
	}
	for depth > outer { // a value has ended: go on with the container around it
		i = skipSpace(b, i)
		if i == len(b) {
			return s.fail(i, "an object or array is not closed")
		}
		object := s.object[depth>>6]&(1<<(depth&63)) != 0
		switch {
		case b[i] == ',':
			i++
			if object {
				if i = s.key(skipSpace(b, i)); i < 0 {
					return -1
				}
			}
			goto value
		case b[i] == '}' && object, b[i] == ']' && !object:
			i++
			depth--
		default:
			return s.fail(i, "expected a comma or a closing bracket")
		}
	}
	return i
}

// members checks the object at i and calls each for its members in turn; key
// includes the quotes. If a member's value is cut off by the end of data, each
// sees what there is of it.
func (s *scanner) members(i, depth int, each func(key, value []byte)) int {
	b := s.data
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		keyStart := skipSpace(b, i)
		if i = s.key(keyStart); i < 0 {
			return -1
		}
		keyEnd := keyStart + 1
		for b[keyEnd] != '"' {
			if b[keyEnd] == '\\' {
				keyEnd++
			}
			keyEnd++
		}
		start := skipSpace(b, i)
		end := s.value(start, depth+1)
		if end < 0 {
			each(b[keyStart:keyEnd+1], b[start:])
			return -1
		}
		i = skipSpace(b, end)
		if i == len(b) || b[i] != ',' && b[i] != '}' {
			return s.fail(i, "expected a comma or a closing bracket")
		}
		each(b[keyStart:keyEnd+1], b[start:end])
		if i++; b[i-1] == '}' {
			return i
		}
	}
}

// key checks an object's key and the colon after it.
func (s *scanner) key(i int) int {
	if i == len(s.data) || s.data[i] != '"' {
		return s.fail(i, "expected a member name in quotes")
	}
	if i = s.string(i); i < 0 {
		return -1
	}
	if i = skipSpace(s.data, i); i == len(s.data) || s.data[i] != ':' {
		return s.fail(i, "expected a colon after a member name")
	}
	return i + 1
}

func (s *scanner) string(i int) int {
	b := s.data
	i++
	for {
		for i+8 <= len(b) {
			m := notPlain(binary.LittleEndian.Uint64(b[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i >= len(b) {
			return s.fail(i, "a string is not closed")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return s.fail(i, "bad escape in a string")
			}
			i += n
		case c < ' ':
			return s.fail(i, "control character in a string")
		case c >= utf8.RuneSelf:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n == 1 {
					return s.fail(i, "invalid UTF-8 in a string")
				}
				i += n
			}
		default:
			i++
		}
	}
}

// notPlain marks, in the high bit of each byte, the bytes of w that need a look:
// quotes, backslashes, control characters, non-ASCII. Bytes above the lowest
// mark may be marked wrongly (the subtractions borrow); the lowest is right.
func notPlain(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w | w) & highs
}

// escapeLen is the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (s *scanner) literal(i int, want string) int {
	if len(s.data)-i < len(want) || string(s.data[i:i+len(want)]) != want {
		return s.fail(i, "unknown word")
	}
	return i + len(want)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) number(i int) int {
	b := s.data
	digits := func() bool {
		from := i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++ // and no digit after it
	} else if !digits() {
		return s.fail(i, "expected a value")
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return s.fail(i, "expected a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return s.fail(i, "expected a digit")
		}
	}
	return i
}
