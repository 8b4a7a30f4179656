package bridge

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"drawbridge/adapters"
	"drawbridge/bridge/store"
)

// summary is what both ends of a transcript tell.
type summary struct {
	size    int64 // of the file when it was read
	updated time.Time

	empty     bool // nothing was said in it
	cwd       string
	model     string
	prompt    string // the user's first words
	title     string // given by the user in Claude
	generated string // given by the model
	turns     int    // 0: unknown
	cost      float64
}

// What is read of a transcript for the list: both ends, and more of the beginning where that holds no message of the user.
const (
	endBytes   = 64 << 10
	beginBytes = 1 << 20
	summaryMax = 1000 // summaries that are kept in memory
	titleRunes = 120
)

// fits reports whether the file is still as it was summed up.
func (s *summary) fits(c candidate) bool { return s.size == c.size && s.updated.Equal(c.updated) }

// summary sums a transcript up, or takes what it knows from before.
func (l *Library) summary(root *os.Root, c candidate) (summary, error) {
	l.mu.Lock()
	s, ok := l.summaries[c.path]
	l.mu.Unlock()
	if ok && s.fits(c) {
		return s, nil
	}
	f, _, err := openTranscript(root, c.path)
	if err != nil {
		return summary{}, err
	}
	defer f.Close()
	s, err = summarize(f, c.size)
	if err != nil {
		return summary{}, err
	}
	s.size, s.updated = c.size, c.updated
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.summaries == nil || len(l.summaries) >= summaryMax {
		l.summaries = map[string]summary{}
	}
	l.summaries[c.path] = s
	return s, nil
}

func summarize(f io.ReaderAt, size int64) (summary, error) {
	var r summaryReader
	whole := size <= 2*endBytes
	begin := min(size, endBytes)
	if whole {
		begin = size
	}
	head, err := readAt(f, 0, begin)
	if err != nil {
		return summary{}, err
	}
	r.read(head, !whole)
	if r.prompt == "" && !whole { // before the first message, or around an image in it, there may be much else
		if head, err = readAt(f, 0, min(size, beginBytes)); err != nil {
			return summary{}, err
		}
		r = summaryReader{}
		r.read(head, true)
	}
	if !whole {
		tail, err := readAt(f, size-endBytes, endBytes)
		if err != nil {
			return summary{}, err
		}
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
		r.turns, r.counted = 0, false // of the first ones; how many follow, only the last one can tell
		r.read(tail, false)
		if !r.counted {
			r.turns = 0
		}
		r.said = true
	}
	r.empty = !r.said && r.prompt == ""
	return r.summary, nil
}

func readAt(f io.ReaderAt, from, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, from)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}

// summaryReader gathers a summary from lines.
type summaryReader struct {
	summary
	line    adapters.TranscriptLine
	said    bool            // there is an answer
	counted bool            // the version counts turns
	command bool            // the prompt is a command, which makes a poor title
	lines   map[string]bool // ids of the lines, for a summary that may be another conversation's
}

// read takes in lines; cut says that the last one is not whole.
func (r *summaryReader) read(data []byte, cut bool) {
	if r.lines == nil {
		r.lines = map[string]bool{}
	}
	for len(data) > 0 {
		raw, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended && cut {
			return
		}
		data = rest
		r.take(raw)
	}
}

func (r *summaryReader) take(raw []byte) {
	l := &r.line
	l.Decode(raw)
	if l.UUID != "" {
		r.lines[l.UUID] = true
	}
	if l.Sidechain {
		return
	}
	r.cwd = cmp.Or(r.cwd, l.CWD)
	switch l.Kind {
	case adapters.Asked:
		if r.prompt == "" || r.command && !l.Command {
			r.prompt, r.command = adapters.FirstText(l.Content), l.Command
		}
		if l.Turns > 0 {
			r.turns, r.counted = l.Turns, true
		} else if !r.counted {
			r.turns++
		}
	case adapters.Said:
		r.said = true
		r.model = cmp.Or(l.Model, r.model)
	case adapters.Counted:
		r.cost = l.CostUSD
	case adapters.Titled:
		switch l.Title {
		case adapters.UserTitle:
			r.title = l.Text.String()
		case adapters.ModelTitle:
			r.generated = l.Text.String()
		case adapters.SummaryTitle:
			if r.generated == "" && r.lines[l.Parent] {
				r.generated = l.Text.String()
			}
		}
	}
}

// entry makes the row of the list from the transcript and from what the store knows.
func (s *summary) entry(c candidate, known store.Session) Entry {
	e := Entry{ClaudeID: c.id, Handle: known.ID, CWD: cmp.Or(s.cwd, known.CWD), Model: cmp.Or(s.model, known.Model), Updated: c.updated,
		Turns: s.turns, CostUSD: s.cost, Source: fromClaude, Transcript: c.path}
	e.Title = oneLine(cmp.Or(s.title, known.Title, s.generated, s.prompt))
	if known.ID != "" {
		e.Source = fromDrawbridge
		e.Turns, e.CostUSD = max(e.Turns, known.Turns), max(e.CostUSD, known.CostUSD)
	}
	return e
}

// oneLine makes a title of any text.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= titleRunes {
		return text
	}
	return string([]rune(text)[:titleRunes-1]) + "…"
}
