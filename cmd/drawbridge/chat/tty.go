package chat

import (
	"io"
	"os"
)

// console is a terminal that is read key by key.
type console struct {
	in, out *os.File
	restore func()
}

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// openConsole takes the terminal over, if in and out are one that can be drawn on; else it returns nil. close gives it back.
func openConsole(in io.Reader, out io.Writer) *console {
	i, ok := in.(*os.File)
	if !ok || !isTerminal(out) {
		return nil
	}
	o := out.(*os.File)
	restore, err := makeRaw(i, o)
	if err != nil {
		return nil
	}
	_, _ = io.WriteString(o, pasteOn)
	return &console{i, o, restore}
}

func (c *console) close() {
	_, _ = io.WriteString(c.out, pasteOff)
	c.restore()
}

func (c *console) size() (columns, rows int) { return terminalSize(c.out) }

// isTerminal says whether w is a terminal that understands sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	columns, rows := terminalSize(f)
	return columns > 0 && rows > 0
}

// wantsColor follows no-color.org.
func wantsColor() bool { return os.Getenv("NO_COLOR") == "" }
