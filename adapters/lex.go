package adapters

import (
	"encoding/binary"
	"math/bits"
)

// The functions below step over a piece of JSON: given where it begins, they return the index after it, or -1 if there is none.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the value that begins at b[i], or -1 if there is none or it nests deeper than limit.
func skipValue(b []byte, i, limit int) int {
	var (
		depth int
		kinds uint64   // the innermost 64 levels, lowest bit innermost: 1 an object, 0 an array
		outer []uint64 // the levels above them, 64 each
	)
	for {
		// A value begins here.
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; c {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			if depth == limit {
				return -1
			}
			if depth > 0 && depth%64 == 0 {
				outer = append(outer, kinds)
			}
			depth++
			kinds <<= 1
			i = skipSpace(b, i+1)
			if i >= len(b) {
				return -1
			}
			if c == '[' {
				if b[i] != ']' {
					continue
				}
				break // the empty array is closed below
			}
			kinds |= 1
			if b[i] == '}' {
				break
			}
			if i = skipKey(b, i); i < 0 {
				return -1
			}
			continue
		case 't':
			i = skipWord(b, i, "true")
		case 'f':
			i = skipWord(b, i, "false")
		case 'n':
			i = skipWord(b, i, "null")
		default:
			i = skipNumber(b, i)
		}
		if i < 0 {
			return -1
		}
		// A value has ended here: close what it closes, then go on behind the comma.
		for {
			if depth == 0 {
				return i
			}
			i = skipSpace(b, i)
			if i >= len(b) {
				return -1
			}
			inObject := kinds&1 == 1
			if c := b[i]; c == ',' {
				i = skipSpace(b, i+1)
				if inObject {
					if i = skipKey(b, i); i < 0 {
						return -1
					}
				}
				break
			} else if !(inObject && c == '}' || !inObject && c == ']') {
				return -1
			}
			i++
			depth--
			kinds >>= 1
			if depth > 0 && depth%64 == 0 {
				kinds, outer = outer[len(outer)-1], outer[:len(outer)-1]
			}
		}
	}
}

// skipKey steps over a member's name and colon, to where its value begins.
func skipKey(b []byte, i int) int {
	if i = skipString(b, i); i < 0 {
		return -1
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	return skipSpace(b, i+1)
}

// skipString returns the index after the string that begins at b[i], or -1.
func skipString(b []byte, i int) int {
	i, _ = scanString(b, i)
	return i
}

// scanString does so too, and tells whether there are escapes in the string.
func scanString(b []byte, i int) (end int, escaped bool) {
	if i >= len(b) || b[i] != '"' {
		return -1, false
	}
	i++
	for {
		// Eight bytes at a time to the next quote, backslash or control character.
		for len(b)-i >= 8 {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = skipEscape(b, i); i < 0 {
				return -1, false
			}
		case c < 0x20:
			return -1, false
		default:
			i++
		}
	}
}

// special marks, in the high bit of each byte, the first byte of x that ends a plain run of a string. Marks above the first one
// may be wrong: a borrow runs upwards.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := x ^ '"'*ones
	slash := x ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-0x20*ones)&^x) & highs
}

func skipEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(b) {
			return -1
		}
		for _, c := range b[i+2 : i+6] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

func skipWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = skipDigits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = skipDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return skipDigits(b, i)
	}
	return i
}

func skipDigits(b []byte, i int) int {
	begin := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}
