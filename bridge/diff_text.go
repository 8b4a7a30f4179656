package bridge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// fileText is a file as the tools see it.
type fileText struct {
	exists bool
	link   bool   // the path itself is a symbolic link
	text   string // with its byte order mark as U+FEFF
	utf16  bool   // little-endian
}

const bom = "\ufeff"

func (f fileText) encoding() string {
	if f.utf16 {
		return "utf-16le"
	}
	return "utf-8"
}

// decodeFile reads text. The tools know UTF-8 and, by its mark, UTF-16 little-endian. Of anything else the older ones make U+FFFD and
// the newer ones refuse it.
func decodeFile(exists bool, content []byte) (fileText, error) {
	f := fileText{exists: exists}
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) {
		f.utf16 = true
		units := make([]uint16, len(content)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(content[2*i:])
		}
		runes := utf16.Decode(units)
		f.text = string(runes)
		if again := utf16.Encode([]rune(f.text)); len(content)%2 != 0 || !slices.Equal(units, again) {
			return f, errors.New("the file is no valid UTF-16")
		}
	} else {
		if !utf8.Valid(content) {
			return f, errors.New("the file is not UTF-8: it may be binary, or text in a legacy encoding")
		}
		f.text = string(content)
	}
	if strings.ContainsRune(f.text, 0) {
		return f, errors.New("the file holds NUL characters: it is binary")
	}
	return f, nil
}

// sampleLength is how much of a file the tools look at to tell its line ends: bytes up to 2.1.17, UTF-16 units later.
const sampleLength = 4096

// crlf reports that the tools take the file for one with CRLF line ends: most of those in its beginning are.
func (g generation) crlf(f fileText) bool {
	var sample string
	switch {
	case g != to2_1_17:
		sample = f.text
		units := 0
		for i, r := range f.text {
			if units += utf16.RuneLen(r); units > sampleLength {
				sample = f.text[:i]
				break
			}
		}
	case f.utf16: // the bytes of CR and LF have a NUL between them
		return false
	default:
		sample = f.text[:min(len(f.text), sampleLength)]
	}
	crlf := strings.Count(sample, "\r\n")
	return crlf > strings.Count(sample, "\n")-crlf
}

var straight = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'")

// quotedOtherwise is what stands in the text where old would, but for straight and typographic quotes; empty if it is not there.
func quotedOtherwise(text, old string) string {
	old = straight.Replace(old)
	at := strings.Index(straight.Replace(text), old)
	if at < 0 {
		return ""
	}
	// Each typographic quote has two bytes more than the straight one: find the same place in the text with them.
	from, to := 0, len(text)
	pos := 0 // in the text with straight quotes
	for i, r := range text {
		if pos == at {
			from = i
		}
		if pos == at+len(old) {
			to = i
			break
		}
		if pos++; !strings.ContainsRune("“”‘’", r) {
			pos += utf8.RuneLen(r) - 1
		}
	}
	return text[from:to]
}

// quotedLike gives text the kinds of typographic quotes that like has. A quote at the beginning, or behind a blank, an opening bracket
// or a dash opens; every other one closes.
func quotedLike(text, like string) string {
	double, single := strings.ContainsAny(like, "“”"), strings.ContainsAny(like, "‘’")
	if !double && !single {
		return text
	}
	var b strings.Builder
	opens := true
	for _, r := range text {
		out := r
		switch {
		case r == '"' && double && opens:
			out = '“'
		case r == '"' && double:
			out = '”'
		case r == '\'' && single && opens:
			out = '‘'
		case r == '\'' && single:
			out = '’'
		}
		b.WriteRune(out)
		opens = strings.ContainsRune(" \t\n\r([{–—", r)
	}
	return b.String()
}

// blankInJS is what String.prototype.trim takes away.
func blankInJS(r rune) bool { return r == 0xfeff || unicode.IsSpace(r) && r != 0x85 }

// halfPair reports that a JSON text has an escape of one half of a surrogate pair: JavaScript keeps it, Go cannot.
func halfPair(text []byte) bool {
	unit := func(at int) (uint64, bool) {
		if at+6 > len(text) || text[at] != '\\' || text[at+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		return u, err == nil
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		u, ok := unit(i)
		switch {
		case !ok:
			i++ // the escaped character
		case u < 0xd800 || u > 0xdfff:
			i += 5
		default:
			if next, ok := unit(i + 6); u > 0xdbff || !ok || next < 0xdc00 || next > 0xdfff {
				return true
			}
			i += 11
		}
	}
	return false
}
