package chat

import (
	"slices"
	"strings"
	"unicode"
)

// line is a line of input that is being edited. It may hold line breaks, which are shown as ↵.
type line struct {
	text []rune
	at   int // the cursor is before text[at]
}

func newLine(text string) line {
	r := []rune(text)
	return line{r, len(r)}
}

func (l *line) String() string { return string(l.text) }

func (l *line) empty() bool { return len(l.text) == 0 }

func (l *line) insert(text string) {
	r := []rune(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	l.text = slices.Insert(l.text, l.at, r...)
	l.at += len(r)
}

// cut takes out what stands between two places and leaves the cursor there.
func (l *line) cut(from, to int) {
	from, to = max(from, 0), min(to, len(l.text))
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

// edit does what k does to a line, and says whether it does anything.
func (l *line) edit(k key) bool {
	if k.r != 0 {
		l.insert(string(k.r))
		return true
	}
	switch k.name {
	case "paste":
		l.insert(k.text)
	case "newline":
		l.insert("\n")
	case "tab":
		l.insert(" ")
	case "backspace", "ctrl-h":
		if l.at > 0 {
			l.cut(l.at-1, l.at)
		}
	case "delete", "ctrl-d":
		if l.at < len(l.text) {
			l.cut(l.at, l.at+1)
		}
	case "left", "ctrl-b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl-f":
		l.at = min(l.at+1, len(l.text))
	case "home", "ctrl-a":
		l.at = 0
	case "end", "ctrl-e":
		l.at = len(l.text)
	case "word-left":
		l.at = l.wordLeft()
	case "word-right":
		l.at = l.wordRight()
	case "ctrl-u":
		l.cut(0, l.at)
	case "ctrl-k":
		l.cut(l.at, len(l.text))
	case "ctrl-w":
		l.cut(l.wordLeft(), l.at)
	default:
		return false
	}
	return true
}

func (l *line) wordLeft() int {
	i := l.at
	for i > 0 && unicode.IsSpace(l.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(l.text[i-1]) {
		i--
	}
	return i
}

func (l *line) wordRight() int {
	i := l.at
	for i < len(l.text) && unicode.IsSpace(l.text[i]) {
		i++
	}
	for i < len(l.text) && !unicode.IsSpace(l.text[i]) {
		i++
	}
	return i
}

// view is the part of the line around the cursor that fits into n columns, and the column of the cursor in it.
func (l *line) view(n int) (text string, column int) {
	shown := func(r rune) string { return plain(strings.ReplaceAll(string(r), "\n", "↵")) }
	before := ""
	for _, r := range l.text[:l.at] {
		before += shown(r)
	}
	for runes := []rune(before); width(before) > n-1; before = string(runes) {
		runes = runes[1:]
	}
	text = before
	for _, r := range l.text[l.at:] {
		s := shown(r)
		if width(text)+width(s) > n {
			break
		}
		text += s
	}
	return text, width(before)
}

// history are the lines that were entered, for the keys up and down.
type history struct {
	past []string
	back int  // how far back we are; 0: at the draft
	kept line // the draft meanwhile
}

func (h *history) add(text string) {
	h.back = 0
	if n := len(h.past); n == 0 || h.past[n-1] != text {
		h.past = append(h.past, text)
	}
}

// move goes back into the past, or forth with a negative number, and puts what was entered there into l.
func (h *history) move(l *line, by int) {
	to := h.back + by
	if to < 0 || to > len(h.past) {
		return
	}
	if h.back == 0 {
		h.kept = *l
	}
	if h.back = to; to == 0 {
		*l = h.kept
		return
	}
	*l = newLine(h.past[len(h.past)-to])
}
