package settings

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxProblems is how many mistakes of one file are named; a hostile project's file could hold thousands.
const maxProblems = 20

// Problem is one mistake in a settings file, a flag or an option, told so that it can be shown as it is: what it quotes
// from a file has its control and invisible characters escaped.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1; 0 = the file as a whole
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Key     string `json:"key,omitempty"`    // dotted
	Message string `json:"message"`
}

// String is file:line:column: message, which editors and terminals make a link of.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(plain(p.File))
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// plain escapes what a terminal or an editor would not show as it is.
func plain(s string) string {
	clean := func(r rune) bool { return r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError }
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if clean(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// quoted is a name or value of a file within a message: escaped, and cut with a mark.
func quoted(s string) string { return strconv.Quote(shortened(s)) }

func shortened(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) > longest {
		return string([]rune(s)[:longest]) + "…"
	}
	return s
}

// found says what a value is, for "expected …, found …".
func found(n *node) string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the string " + quoted(n.text)
	case '0':
		number := n.text
		if len(number) > 24 {
			number = number[:24] + "…"
		}
		return "the number " + number
	default:
		return n.text
	}
}

// suggest returns the key of the table that name, seen in section, was most likely meant to be, or "".
func suggest(name, section string, table []key) string {
	best, nearest := "", 3
	consider := func(k key, seen, known string) {
		seen, known = squeeze(seen), squeeze(known)
		if d := distance(seen, known); d < nearest && d*3 <= len(known) {
			best, nearest = k.name, d
		}
	}
	for _, k := range table {
		if k.hidden {
			continue
		}
		for _, known := range append([]string{k.name}, k.aliases...) {
			consider(k, dotted(section, name), known)
			// The right name in the wrong section, or in none.
			if at := strings.LastIndexByte(known, '.'); at >= 0 {
				consider(k, name, known[at+1:])
			}
		}
	}
	return best
}

// squeeze makes permissionMode, permission-mode and Permission_Mode one name.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance is the number of letters to insert, drop, exchange or swap with their neighbour (Damerau–Levenshtein,
// optimal string alignment). Names longer than any key are no near-miss.
func distance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			exchange := last[j-1]
			if a[i-1] != b[j-1] {
				exchange++
			}
			row[j] = min(last[j]+1, row[j-1]+1, exchange)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func dotted(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}
