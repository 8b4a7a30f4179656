package chat

import (
	"fmt"
	"strings"
	"unicode"
)

// style is how text looks. Without colors they all look the same, so none of them alone says anything.
type style uint8

const (
	normal style = iota
	bold
	dim
	good
	bad
	ask
	accent
)

// sgr is ECMA-48's "select graphic rendition" of each style.
var sgr = [...]string{normal: "", bold: "1", dim: "2", good: "32", bad: "31", ask: "33;1", accent: "36"}

// plain is text as it may reach a terminal: line breaks stay, tabs become blanks, and a character that controls the terminal, hides
// or reorders others is written by its number, ‹U+001B›.
func plain(text string) string {
	if strings.IndexFunc(text, isUnsafe) < 0 {
		return text
	}
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\r' && i+1 < len(runes) && runes[i+1] == '\n':
		case isUnsafe(r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isUnsafe: the joiners are letters' business in many scripts and in emoji, and do nothing to a terminal.
func isUnsafe(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	if r == '\n' || r == zwnj || r == zwj {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// oneLine is plain text on a line of its own.
func oneLine(text string) string { return strings.Join(strings.Fields(plain(text)), " ") }

// wide are the ranges of characters that take two columns: Unicode's East Asian Width W and F, and emoji, roughly.
var wide = [...][2]rune{{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}}

// columns is how many columns a character takes.
func columns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

func width(s string) (n int) {
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// clip cuts s to n columns and marks that it did.
func clip(s string, n int) string {
	if width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += columns(r); used > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// lines cuts text into lines, without the empty ones at its end.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n \t"), "\n") }

// plural is "1 line", "2 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
