package scripted

import (
	"bytes"
	"fmt"
	"strings"
)

// longText is the inside of a JSON string that may hold stretches of filler, which are written without ever being held:
// a line of 50 MB costs its reader memory, not us.
type longText struct{ parts []stretch }

type stretch struct {
	text []byte
	fill int // this many 'x' after text
}

func (l *longText) add(text string) {
	if n := len(l.parts); n == 0 || l.parts[n-1].fill > 0 {
		l.parts = append(l.parts, stretch{})
	}
	last := &l.parts[len(l.parts)-1]
	last.text = append(last.text, text...)
}

func (l *longText) pad(n int) { l.parts = append(l.parts, stretch{fill: n}) }

func (l *longText) empty() bool { return len(l.parts) == 0 }

var filler = bytes.Repeat([]byte{'x'}, 64<<10)

// putLong writes the line prefix + text + suffix, in one Write if there is no filler. The caller holds the lock.
func (p *process) putLong(prefix []byte, text *longText, suffix []byte) {
	line := append([]byte{}, prefix...)
	for _, part := range text.parts {
		line = append(line, part.text...)
		if part.fill == 0 {
			continue
		}
		p.write(line)
		line = nil
		for n := part.fill; n > 0; n -= len(filler) {
			p.write(filler[:min(n, len(filler))])
		}
	}
	p.put(append(line, suffix...))
}

func (p *process) write(b []byte) {
	if p.ctx.Err() == nil {
		_, _ = p.out.Write(b)
	}
}

// String is the text for a reader: filler is only counted.
func (l *longText) String() string {
	var b strings.Builder
	for _, part := range l.parts {
		b.Write(part.text)
		if part.fill > 0 {
			fmt.Fprintf(&b, "(%d bytes)", part.fill)
		}
	}
	return unescaped(b.String())
}
