package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A word of a command after quote removal, with ⍰ where only the shell knows the text.
type word struct {
	text  []rune
	tilde bool // begins with an unquoted ~, which the shell expands
}

// known returns the word's text if nothing in it is ⍰.
func (w word) known() (string, bool) {
	for _, r := range w.text {
		if r < 0 {
			return "", false
		}
	}
	return string(w.text), true
}

// shellSyntax are the characters that make a word of a part's text stand in quotes, so that the program "git status"
// is never taken for the program git with an argument.
const shellSyntax = " \t\n'\"|&;<>()"

func (w word) needsQuotes() bool {
	return len(w.text) == 0 || slices.ContainsFunc(w.text, func(r rune) bool { return strings.ContainsRune(shellSyntax, r) })
}

// joinWords gives the text that patterns are compared with: the words joined by one blank.
func joinWords(words []word, quote bool) []rune {
	var out []rune
	for i, w := range words {
		if len(w.text) == 1 && w.text[0] == anyText && i > 0 {
			out = append(out, anyWord)
			continue
		}
		if i > 0 {
			out = append(out, ' ')
		}
		if !quote || !w.needsQuotes() {
			out = append(out, w.text...)
			continue
		}
		out = append(out, '\'')
		for _, r := range w.text {
			if r == '\'' {
				out = append(out, []rune(`'\''`)...)
			} else {
				out = append(out, r)
			}
		}
		out = append(out, '\'')
	}
	return out
}

// showText writes a text with ⍰ for people and for rules that are proposed.
func showText(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		switch r {
		case anyWord:
			b.WriteString(" ⍰")
		case anyText, anyName:
			b.WriteString("⍰")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// wordBuilder collects the runes of a word and which of them were quoted.
type wordBuilder struct {
	text   []rune
	quoted []bool
}

func (b *wordBuilder) put(s string, quoted bool) {
	for _, r := range s {
		b.text, b.quoted = append(b.text, r), append(b.quoted, quoted)
	}
}

func (b *wordBuilder) unknown() {
	b.text, b.quoted = append(b.text, anyText), append(b.quoted, true)
}

// resolveWord does what the shell does to a word before it runs a command, as far as that can be known. It goes by the
// parts' own values: Word.Lit is empty for any quoted word, Lit.Value keeps backslashes and the Value of $'…' is raw.
func resolveWord(w *syntax.Word) word {
	var b wordBuilder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.unescape(part.Value, "")
		case *syntax.SglQuoted:
			if part.Dollar {
				b.ansiC(part.Value)
			} else {
				b.put(part.Value, true)
			}
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.unescape(lit.Value, "$`\"\\")
				} else {
					b.unknown()
				}
			}
		default:
			b.unknown()
		}
	}
	out := word{tilde: len(b.text) > 0 && b.text[0] == '~' && !b.quoted[0]}
	for _, r := range b.expandable() {
		if r != anyText || len(out.text) == 0 || out.text[len(out.text)-1] != anyText {
			out.text = append(out.text, r)
		}
	}
	return out
}

// unescape removes backslashes: all of them outside quotes, inside only before the runes of special.
func (b *wordBuilder) unescape(s, special string) {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if r != '\\' || s == "" {
			b.put(string(r), special != "")
			continue
		}
		next, n := utf8.DecodeRuneInString(s)
		switch {
		case next == '\n': // a line continuation is nothing
			s = s[n:]
		case special == "" || strings.ContainsRune(special, next):
			b.put(string(next), true)
			s = s[n:]
		default:
			b.put(`\`, true)
		}
	}
}

// expandable puts ⍰ where unquoted characters make the shell expand the word: file names, brace lists, zsh's =name.
func (b *wordBuilder) expandable() []rune {
	if string(b.text) == "[" {
		return b.text // the program
	}
	for i, r := range b.text {
		if b.quoted[i] {
			continue
		}
		switch {
		case r == '=' && i == 0, strings.ContainsRune("*?^", r):
			b.text[i] = anyText
		case r == '[' || r == '(', r == '{' && b.braceList(i):
			// what follows is part of the pattern, and ⍰ stands for it too
			return append(b.text[:i:i], anyText)
		}
	}
	return b.text
}

// braceList reports whether the brace at i begins a list {a,b} or a sequence {a..b}. It may say so of braces that are
// neither, like {a},b}: ⍰ is never wrong.
func (b *wordBuilder) braceList(i int) bool {
	separated := false
	for j := i + 1; j < len(b.text); j++ {
		if b.quoted[j] {
			continue
		}
		switch b.text[j] {
		case ',':
			separated = true
		case '.':
			separated = separated || b.text[j-1] == '.'
		case '}':
			if separated {
				return true
			}
		}
	}
	return false
}

var ansiEscapes = map[byte]string{'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
	'v': "\v", '\\': `\`, '\'': `'`, '"': `"`, '?': "?"}

// ansiC decodes the inside of $'…'. Escapes on which bash and zsh differ, NUL and bytes that are no UTF-8 become ⍰.
func (b *wordBuilder) ansiC(s string) {
	var out []byte
	flush := func() {
		if !utf8.Valid(out) {
			b.unknown()
		} else {
			b.put(string(out), true)
		}
		out = nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if lit, ok := ansiEscapes[s[i]]; ok {
			out = append(out, lit...)
			continue
		}
		digits, base, first := 0, 16, i+1
		switch {
		case s[i] == 'x':
			digits = 2
		case s[i] == 'u':
			digits = 4
		case s[i] == 'U':
			digits = 8
		case s[i] >= '0' && s[i] <= '7':
			digits, base, first = 3, 8, i
		}
		end := first
		for end < len(s) && end < first+digits && strings.IndexByte("0123456789abcdefABCDEF"[:base+base/16*6], s[end]) >= 0 {
			end++
		}
		code, err := strconv.ParseUint(s[min(first, end):end], base, 32)
		if err != nil || code == 0 || code > utf8.MaxRune {
			flush()
			b.unknown() // also for NUL, which ends the string in bash and does not in zsh
			return
		}
		if s[i] == 'u' || s[i] == 'U' {
			out = utf8.AppendRune(out, rune(code))
		} else {
			out = append(out, byte(code))
		}
		i = end - 1
	}
	flush()
}
