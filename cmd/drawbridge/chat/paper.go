package chat

import (
	"io"
	"strings"
)

// paper is what the transcript is written on: a screen, or a plain stream of text. Text must have passed through plain.
type paper interface {
	// begin starts a line with a margin and ends the line before. Where the line is wrapped, only the bars of the margin are repeated.
	begin(s style, margin string)
	// print goes on on the line; a line break in text begins another one as a wrap does.
	print(s style, text string)
	// end ends the line, if one has begun.
	end()
}

// hanging is the margin of the rows after the first.
func hanging(margin string) string {
	return strings.Map(func(r rune) rune {
		if r == '│' {
			return r
		}
		return ' '
	}, margin)
}

// say writes whole lines.
func say(p paper, s style, margin, text string) {
	p.begin(s, margin)
	p.print(s, text)
	p.end()
}

// page is paper for a file or a pipe: nothing is wrapped, and what is printed is written at once.
type page struct {
	out    io.Writer
	color  bool
	margin string
	open   bool // a line has begun
}

func (p *page) begin(s style, margin string) {
	p.end()
	p.margin, p.open = hanging(margin), true
	p.write(s, margin)
}

func (p *page) print(s style, text string) {
	p.open = true
	p.write(s, strings.ReplaceAll(text, "\n", "\n"+p.margin))
}

func (p *page) end() {
	if p.open {
		p.write(normal, "\n")
	}
	p.open, p.margin = false, ""
}

// write ignores errors: a reader who has gone away is noticed by the signal or by the end of the input.
func (p *page) write(s style, text string) { _, _ = io.WriteString(p.out, paint(p.color, s, text)) }

// paint puts text between the sequences that switch its style on and off.
func paint(color bool, s style, text string) string {
	if !color || sgr[s] == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr[s] + "m" + text + "\x1b[0m"
}
