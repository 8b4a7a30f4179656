package chat

import (
	"strings"
	"testing"
)

func TestNothingThatControlsATerminalIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[2Jb\x07":            "a‹U+001B›[2Jb‹U+0007›",
		"\x1b]52;c;cm0gLXJm\x1b\\": "‹U+001B›]52;c;cm0gLXJm‹U+001B›\\",
		"c1 \u009b31m":             "c1 ‹U+009B›31m",
		"over\rwritten\b":          "over‹U+000D›written‹U+0008›",
		"dos\r\nline":              "dos\nline",
		"tab\tstop":                "tab    stop",
		"rm \u202e/etc\u2066":      "rm ‹U+202E›/etc‹U+2066›",
		"soft\u00adhyphen\ufeff":   "soft‹U+00AD›hyphen‹U+FEFF›",
		"two\u2028lines":           "two‹U+2028›lines",
		"👩\u200d💻 नम\u200dस्ते é": "👩\u200d💻 नम\u200dस्ते é",
	} {
		if got := plain(text); got != want {
			t.Errorf("plain(%q) is %q, want %q", text, got, want)
		}
	}
	for r := rune(0); r < 0x20000; r++ {
		if got := plain(string(r)); r != '\n' && strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("U+%04X comes through as %q", r, got)
		}
	}
}

func TestOneLineIsOne(t *testing.T) {
	if got := oneLine(" a\n\n b\t\u2028c "); got != "a b ‹U+2028›c" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsClippedSaysSo(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字", 4, "漢字"}, {"漢字漢", 4, "漢…"}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"}} {
		if got := clip(c.text, c.n); got != c.want || width(got) > c.n {
			t.Errorf("clip(%q, %d) is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
