package chat

import (
	"fmt"
	"io"
	"strings"
)

// screen is paper on a terminal: finished rows go up into the terminal's own scrollback and are never touched again; below them stand
// a few live rows, which are drawn anew with each flush: the row that is still being written, what goes on, and the input.
type screen struct {
	out   io.Writer
	color bool
	size  func() (columns, rows int)

	margin []cell          // of the rows after the first
	row    []cell          // the row being written
	open   bool            // there is one
	done   strings.Builder // finished rows that are not on the terminal yet
	live   func(columns int) (rows []string, cursorRow, cursorColumn int)
	drawn  []int  // columns of each live row on the terminal
	cursor int    // the live row the cursor is on
	shown  string // the live rows as they were written
}

// cell is one character. A combining character is a cell of no width.
type cell struct {
	r rune
	s style
}

func cells(s style, text string) []cell {
	list := make([]cell, 0, len(text))
	for _, r := range text {
		list = append(list, cell{r, s})
	}
	return list
}

// usable is how many columns a row may fill: the last one stays free, since terminals differ in what they do there.
func (s *screen) usable() int {
	w, _ := s.size()
	return max(w-1, 20)
}

func (s *screen) begin(st style, margin string) {
	s.end()
	s.margin = cells(st, hanging(margin))
	s.row, s.open = append(s.row[:0], cells(st, margin)...), true
}

func (s *screen) print(st style, text string) {
	if text == "" {
		return
	}
	s.open = true
	limit := s.usable()
	for _, r := range text {
		if r == '\n' {
			s.finish(len(s.row), len(s.row))
			continue
		}
		s.row = append(s.row, cell{r, st})
		if rowWidth(s.row) > limit {
			s.wrap()
		}
	}
}

func (s *screen) end() {
	if s.open {
		s.finish(len(s.row), len(s.row))
	}
	s.row, s.margin, s.open = s.row[:0], nil, false
}

// wrap moves the last word to the next row, or breaks it if it fills the row.
func (s *screen) wrap() {
	last := len(s.row) - 1
	for i := last; i > len(s.margin); i-- {
		if s.row[i].r == ' ' {
			s.finish(i, i+1)
			return
		}
	}
	s.finish(last, last)
}

// finish ends the row before its cell at, and begins the next one with the margin and the cells from rest on.
func (s *screen) finish(at, rest int) {
	s.done.WriteString(s.paintRow(s.row[:at]))
	s.done.WriteString("\r\n")
	left := append([]cell(nil), s.row[rest:]...)
	s.row = append(append(s.row[:0], s.margin...), left...)
}

func rowWidth(row []cell) (n int) {
	for _, c := range row {
		n += columns(c.r)
	}
	return n
}

func (s *screen) paintRow(row []cell) string {
	var b strings.Builder
	for i := 0; i < len(row); {
		j := i
		var run strings.Builder
		for ; j < len(row) && row[j].s == row[i].s; j++ {
			run.WriteRune(row[j].r)
		}
		b.WriteString(paint(s.color, row[i].s, run.String()))
		i = j
	}
	return b.String()
}

// flush brings the terminal up to date with one write, or none if it is.
func (s *screen) flush() {
	w := s.usable()
	var b strings.Builder
	var drawn []int
	if s.open {
		b.WriteString(s.paintRow(s.row))
		b.WriteString("\r\n")
		drawn = append(drawn, rowWidth(s.row))
	}
	rows, row, column := s.live(w)
	cursor := len(drawn) + row
	for i, r := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(r)
		drawn = append(drawn, min(width(strip(r)), w))
	}
	if up := len(rows) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", column)
	}
	if s.done.Len() == 0 && b.String() == s.shown && len(s.drawn) > 0 {
		return
	}
	_, _ = io.WriteString(s.out, s.erase()+s.done.String()+b.String())
	s.done.Reset()
	s.drawn, s.cursor, s.shown = drawn, cursor, b.String()
}

// erase takes the live rows off the terminal. If it has become narrower since, they take more rows than they did.
func (s *screen) erase() string {
	if len(s.drawn) == 0 {
		return ""
	}
	now, _ := s.size()
	up := 0
	for _, n := range s.drawn[:s.cursor] {
		up += max(1, (n+now-1)/max(now, 1))
	}
	if up == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

// clear empties the terminal; the next flush draws the live rows at its top.
func (s *screen) clear() {
	s.done.WriteString("\x1b[H\x1b[2J")
}

// close leaves the terminal with everything written and no live rows.
func (s *screen) close() {
	s.end()
	_, _ = io.WriteString(s.out, s.erase()+s.done.String())
	s.done.Reset()
	s.drawn = nil
}

// strip takes the style sequences off a row of our own making.
func strip(row string) string {
	var b strings.Builder
	for {
		i := strings.Index(row, "\x1b[")
		if i < 0 {
			return b.String() + row
		}
		b.WriteString(row[:i])
		end := strings.IndexByte(row[i:], 'm')
		row = row[i+end+1:]
	}
}
