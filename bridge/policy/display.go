package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// longText is where a text no longer fits a small prompt, in characters; LSP clients without our own prompt stop there.
	longText = 1000
	// titleLength bounds the one-line title, in characters.
	titleLength = 200
)

// Visible writes s so that nothing in it hides, moves or passes for something else: control, invisible and bidirectional
// characters, blanks other than the space, and bytes that are no UTF-8 appear as ‹U+202E› and ‹0xFF›. Only newlines stay;
// a tab does not, because its width is the terminal's to choose.
func Visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "‹0x%02X›", s[0])
		case invisible(r) && r != '\n', r == '‹' && (strings.HasPrefix(s, "‹U+") || strings.HasPrefix(s, "‹0x")):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// blankGraphics are characters that count as letters, marks or symbols and yet show nothing.
var blankGraphics = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xfffc, Hi: 0xfffc, Stride: 1}, // object replacement
	},
	R32: []unicode.Range32{
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // null notehead
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}, // variation selectors
	},
}

func invisible(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) || unicode.Is(blankGraphics, r)
}

// lookalikes are scripts with letters that look Latin, and signs that look like those of ASCII.
var lookalikes = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, {
	R16: []unicode.Range16{
		{Lo: 0x00b4, Hi: 0x00b4, Stride: 1}, // ´
		{Lo: 0x0131, Hi: 0x0131, Stride: 1}, // dotless i
		{Lo: 0x01c3, Hi: 0x01c3, Stride: 1}, // ǃ, a letter that looks like !
		{Lo: 0x02b9, Hi: 0x02c8, Stride: 1}, // modifier letters that look like quotes
		{Lo: 0x037e, Hi: 0x037e, Stride: 1}, // Greek question mark, a semicolon to the eye
		{Lo: 0x2010, Hi: 0x2015, Stride: 1}, // hyphens and dashes
		{Lo: 0x2018, Hi: 0x201f, Stride: 1}, // quotation marks
		{Lo: 0x2024, Hi: 0x2024, Stride: 1}, // one dot leader
		{Lo: 0x2032, Hi: 0x2037, Stride: 1}, // primes
		{Lo: 0x2044, Hi: 0x2044, Stride: 1}, // fraction slash
		{Lo: 0x2212, Hi: 0x2212, Stride: 1}, // minus
		{Lo: 0x2215, Hi: 0x2216, Stride: 1}, // division slash, set minus
		{Lo: 0x2223, Hi: 0x2223, Stride: 1}, // divides
		{Lo: 0x2236, Hi: 0x2236, Stride: 1}, // ratio
		{Lo: 0x29f5, Hi: 0x29f8, Stride: 1}, // big solidus
		{Lo: 0xfe4f, Hi: 0xfe6b, Stride: 1}, // small forms
		{Lo: 0xff01, Hi: 0xff5e, Stride: 1}, // full-width ASCII
	},
	R32: []unicode.Range32{{Lo: 0x1d400, Hi: 0x1d7ff, Stride: 1}}, // mathematical letters
}}

// confusable reports a word that mixes ASCII with characters that pass for it.
func confusable(s string) bool {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false
	}
	for w := range strings.FieldsSeq(s) {
		ascii, like := false, false
		for _, r := range w {
			ascii = ascii || r <= unicode.MaxASCII
			like = like || r > unicode.MaxASCII && unicode.In(r, lookalikes...)
		}
		if like && (ascii || !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) && !unicode.In(r, lookalikes[len(lookalikes)-1]) })) {
			return true
		}
	}
	return false
}

// oneLine makes a title: newlines as ⏎, cut with a marker that says how much is missing.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	rest := ""
	if n := utf8.RuneCountInString(s); n > titleLength {
		cut := 0
		for range titleLength {
			_, size := utf8.DecodeRuneInString(s[cut:])
			cut += size
		}
		s, rest = s[:cut], fmt.Sprintf(" … (+%d characters)", n-titleLength)
	}
	return strings.ReplaceAll(Visible(s), "\n", " ⏎ ") + rest
}

// present fills in what a prompt shows.
func (s *subject) present(v *Verdict) {
	text, title := s.text()
	v.Display, v.Title = Visible(text), oneLine(title)
	v.Reason.Text = oneLine(v.Reason.Text)
	v.Risk = s.risk(v)
	v.Flags = []string{}
	flag := func(name string, on bool) {
		if on {
			v.Flags = append(v.Flags, name)
		}
	}
	outside, guarded := s.namedPlaces()
	flag("invisible_characters", strings.ContainsFunc(text, func(r rune) bool { return invisible(r) && r != '\n' }) || !utf8.ValidString(text))
	flag("confusable", confusable(text))
	flag("long", utf8.RuneCountInString(v.Display) > longText)
	flag("unparsed", v.Reason.Source == "unparsed")
	flag("outside_workspace", outside)
	flag("protected_path", guarded)
	flag("remote", s.call.Remote)
}

// text is what would happen, from the input alone; title the same with the tool's name where that is not plain.
func (s *subject) text() (text, title string) {
	str := func(key string) string { v, _ := s.input[key].(string); return v }
	switch tool := s.call.Tool; tool {
	case "Bash":
		return str("command"), str("command")
	case "Edit", "Write", "MultiEdit", "Read":
		return str("file_path"), tool + " " + str("file_path")
	case "NotebookEdit", "NotebookRead":
		return str("notebook_path"), tool + " " + str("notebook_path")
	case "WebFetch":
		return str("url"), tool + " " + str("url")
	case "WebSearch":
		return str("query"), tool + " " + str("query")
	case "ExitPlanMode":
		return str("plan"), "Leave plan mode"
	}
	if !s.valid {
		return string(s.call.Input), s.call.Tool
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s.input) != nil {
		return string(s.call.Input), s.call.Tool
	}
	text = strings.TrimSuffix(b.String(), "\n")
	return text, s.call.Tool + " " + text
}

// namedPlaces reports whether the call names a path outside the workspace, and whether a protected one.
func (s *subject) namedPlaces() (outside, guarded bool) {
	see := func(p place) {
		outside = outside || !s.inWorkspace(p)
		guarded = guarded || s.protects(p)
	}
	for _, use := range s.filePaths() {
		see(use.place)
	}
	if s.script == nil {
		return outside, guarded
	}
	for _, p := range s.script.parts {
		words := p.words[1:]
		for _, r := range p.redirs {
			words = append(words[:len(words):len(words)], resolveWord(r.Word))
		}
		for _, w := range words {
			text, known := w.known()
			if known && (w.tilde || strings.ContainsAny(text, "/.")) && text != "/dev/null" && !strings.Contains(text, "://") {
				see(s.place(text, s.call.Cwd, w.tilde))
			}
		}
	}
	for _, r := range s.script.groups {
		if w := resolveWord(r.Word); r.Hdoc == nil {
			if text, known := w.known(); known && text != "/dev/null" {
				see(s.place(text, s.call.Cwd, w.tilde))
			}
		}
	}
	return outside, guarded
}
