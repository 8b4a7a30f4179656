package chat

import (
	"fmt"
	"strings"
	"testing"
)

func keyNames(keys []key) string {
	var names []string
	for _, k := range keys {
		switch {
		case k.r != 0:
			names = append(names, string(k.r))
		case k.name == "paste":
			names = append(names, fmt.Sprintf("paste(%q)", k.text))
		case k.name == "":
			names = append(names, "?")
		default:
			names = append(names, k.name)
		}
	}
	return strings.Join(names, " ")
}

func TestKeys(t *testing.T) {
	for input, want := range map[string]string{
		"aé漢\r":                            "a é 漢 enter",
		"\x03\x04\x7f\t":                   "ctrl-c ctrl-d backspace tab",
		"\x1b[A\x1bOB\x1b[3~\x1b[1;5C":     "up down delete word-right",
		"\x1b":                             "escape",
		"\x1b\x1b[A":                       "escape up",
		"\x1b\r":                           "newline",
		"\x1b[200~y\nn\x1b[A\x1b[201~y":    `paste("y\nn\x1b[A") y`,
		"\x1b[38;5y\x1bOy\x1b[<0;1;1M\xff": "? ? ? ?", // no last letter of a sequence is a key
	} {
		keys, rest := decodeKeys([]byte(input))
		if got := keyNames(keys); got != want || len(rest) > 0 {
			t.Errorf("%q is %s, and %q is left; want %s", input, got, rest, want)
		}
	}
}

func TestAKeyMayComeInPieces(t *testing.T) {
	for _, input := range []string{"漢", "\x1b[1;5C", "\x1bOA", "\x1b[200~pasted\x1b[201~"} {
		whole, _ := decodeKeys([]byte(input))
		for cut := 2; cut < len(input); cut++ { // a lone escape is a key
			keys, rest := decodeKeys([]byte(input[:cut]))
			if len(keys) > 0 {
				t.Fatalf("%q cut at %d begins with %s", input, cut, keyNames(keys))
			}
			keys, _ = decodeKeys(append(rest, input[cut:]...))
			if keyNames(keys) != keyNames(whole) {
				t.Errorf("%q cut at %d is %s, want %s", input, cut, keyNames(keys), keyNames(whole))
			}
		}
	}
}

func TestAKeyThatComesWithOthersIsNotAlone(t *testing.T) {
	for input, want := range map[string]bool{"y": true, "y\r": true, "ye": false, "\ry": false, "y\x1b[": false} {
		keys := make(chan key, 10)
		readKeys(strings.NewReader(input), keys)
		for k := range keys {
			if k.r == 'y' && k.alone != want {
				t.Errorf("y in %q: alone is %v", input, k.alone)
			}
			if k.at.IsZero() {
				t.Error("a key has no time")
			}
		}
	}
}

func TestEditing(t *testing.T) {
	for keys, want := range map[string]string{
		"abc":                           "abc|",
		"abc\x1b[D\x1b[DX":              "aX|bc",
		"abc\x01X\x05Y":                 "XabcY|",
		"one two\x17":                   "one |",
		"one two\x1bb\x15":              "|two",
		"one two\x1bb\x0b":              "one |",
		"abc\x7f\x1b[D\x1b[3~":          "a|",
		"a\x1b[200~b\r\nc\rd\x1b[201~e": "ab\nc\nde|",
		"a\x1b\rb":                      "a\nb|",
		"é漢\x7f":                        "é|",
		"\x7f\x1b[3~\x1b[D\x1b[C\x17":   "|",
	} {
		var l line
		list, _ := decodeKeys([]byte(keys))
		for _, k := range list {
			l.edit(k)
		}
		if got := string(l.text[:l.at]) + "|" + string(l.text[l.at:]); got != want {
			t.Errorf("%q makes %q, want %q", keys, got, want)
		}
	}
}

func TestTheViewOfALineHoldsTheCursorAndFits(t *testing.T) {
	l := newLine("rm -rf \u202e漢字\nabcdefghij")
	for l.at = 0; l.at <= len(l.text); l.at++ {
		text, column := l.view(12)
		if width(text) > 12 || column > width(text) || column > 11 {
			t.Errorf("cursor at %d: %q, column %d", l.at, text, column)
		}
		if plain(text) != text || strings.Contains(text, "\n") {
			t.Errorf("%q is not plain", text)
		}
	}
}

func TestTheHistoryKeepsTheDraft(t *testing.T) {
	var h history
	for _, s := range []string{"one", "two", "two"} {
		h.add(s)
	}
	l := newLine("draft")
	for i, want := range []string{"two", "one", "one", "two", "draft", "draft"} {
		h.move(&l, []int{1, 1, 1, -1, -1, -1}[i])
		if l.String() != want {
			t.Fatalf("after move %d the line is %q, want %q", i+1, l.String(), want)
		}
	}
}
