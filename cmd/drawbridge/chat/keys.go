package chat

import (
	"bytes"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// key is one key press, or one paste.
type key struct {
	r     rune   // a character; 0 if it is another key
	name  string // enter, escape, up, ctrl-c, …; "paste"; "" for a key not known here
	text  string // of a paste
	at    time.Time
	alone bool // nothing else came with it, but for enter behind it
}

const (
	pasteBegin = "\x1b[200~" // bracketed paste, as xterm brought it up
	pasteEnd   = "\x1b[201~"
)

// readKeys sends the keys of a terminal in raw mode until reading fails. A key's time is when it was read, so nobody may keep
// this from reading: keys has room.
func readKeys(in io.Reader, keys chan<- key) {
	var rest []byte
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		if err != nil {
			close(keys)
			return
		}
		now := time.Now()
		var got []key
		got, rest = decodeKeys(append(rest, buf[:n]...))
		for i, k := range got {
			k.at, k.alone = now, i == 0 && len(rest) == 0 && allEnter(got[1:])
			keys <- k
		}
	}
}

func allEnter(keys []key) bool {
	return !slices.ContainsFunc(keys, func(k key) bool { return k.name != "enter" })
}

// decodeKeys cuts input into keys. What may be the beginning of one is left over.
func decodeKeys(b []byte) (keys []key, rest []byte) {
	for len(b) > 0 {
		k, n := decodeKey(b)
		if n == 0 {
			return keys, b
		}
		keys = append(keys, k)
		b = b[n:]
	}
	return keys, nil
}

// decodeKey reads the first key of b, which is n bytes long; 0 if its end is missing.
func decodeKey(b []byte) (k key, n int) {
	switch c := b[0]; {
	case bytes.HasPrefix(b, []byte(pasteBegin)):
		text, _, whole := bytes.Cut(b[len(pasteBegin):], []byte(pasteEnd))
		if !whole {
			return key{}, 0
		}
		return key{name: "paste", text: string(text)}, len(pasteBegin) + len(text) + len(pasteEnd)
	case c == 0x1b:
		return decodeEscape(b)
	case c == '\r' || c == '\n':
		return key{name: "enter"}, 1
	case c == 0x7f || c == 0x08:
		return key{name: "backspace"}, 1
	case c == '\t':
		return key{name: "tab"}, 1
	case c < 0x20:
		return key{name: "ctrl-" + string(rune('a'+c-1))}, 1
	case c < utf8.RuneSelf:
		return key{r: rune(c)}, 1
	}
	if !utf8.FullRune(b) {
		return key{}, 0
	}
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError {
		return key{}, size
	}
	return key{r: r}, size
}

// named are the sequences of the keys that are used here, without the escape before them.
var named = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end",
	"OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
	"[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end", "[3~": "delete",
	"[1;5C": "word-right", "[1;5D": "word-left", "[1;3C": "word-right", "[1;3D": "word-left", "b": "word-left", "f": "word-right",
	"\r": "newline", "\n": "newline",
}

// decodeEscape reads an escape sequence, whole, so that its last letter is never taken for a key. An escape with nothing behind it is
// the key of that name: terminals write a sequence at once.
func decodeEscape(b []byte) (k key, n int) {
	if len(b) == 1 || b[1] == 0x1b {
		return key{name: "escape"}, 1
	}
	n = 2
	switch b[1] {
	case '[': // CSI: parameters, then one byte from @ to ~
		for n < len(b) && (b[n] < 0x40 || b[n] > 0x7e) {
			n++
		}
		n++
	case 'O': // SS3: one byte
		n++
	}
	if n > len(b) {
		return key{}, 0
	}
	return key{name: named[string(b[1:n])]}, n
}
