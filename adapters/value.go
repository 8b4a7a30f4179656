package adapters

import (
	"bytes"
	"strconv"
)

// The readers below take what a field should be from what it is. Where a CLI prints a number as a string, a float for an integer
// or null for nothing, they do not mind; what makes no sense is zero.

func isString(span []byte) bool { return len(span) >= 2 && span[0] == '"' }
func isObject(span []byte) bool { return len(span) >= 2 && span[0] == '{' }
func isArray(span []byte) bool  { return len(span) >= 2 && span[0] == '[' }
func isTrue(span []byte) bool   { return string(span) == "true" || is(span, "true") }

// present reports whether a member is there and not null.
func present(span []byte) bool { return len(span) > 0 && span[0] != 'n' }

func number(span []byte) float64 {
	if isString(span) {
		span = span[1 : len(span)-1]
	}
	f, err := strconv.ParseFloat(string(span), 64)
	if err != nil || f != f || f > 1<<53 || f < -1<<53 {
		return 0
	}
	return f
}

func integer(span []byte) int64 { return int64(number(span)) }

// small reads a block index without allocating; -1 if it is none.
func small(span []byte) int {
	if isString(span) {
		span = span[1 : len(span)-1]
	}
	if len(span) == 0 || len(span) > 6 {
		return -1
	}
	n := 0
	for _, c := range span {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// stringList reads an array of strings, or one string.
func stringList(span []byte) []string {
	if isString(span) {
		return []string{str(span)}
	}
	var list []string
	for e := array(span); e.next(); {
		if isString(e.val) {
			list = append(list, str(e.val))
		}
	}
	return list
}

// member finds one member of an object, the last of that name as JavaScript does.
func member(span []byte, name string) (val []byte) {
	for m := object(span); m.next(); {
		if string(m.key) == name {
			val = m.val
		}
	}
	return val
}

// trim cuts blanks and a byte order mark off a line.
func trim(line []byte) []byte {
	return bytes.TrimPrefix(bytes.Trim(line, " \t\r\n"), []byte("\ufeff"))
}
