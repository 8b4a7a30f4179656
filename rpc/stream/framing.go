package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Framing is how frames are told apart on the wire.
type Framing uint8

const (
	// Auto takes the framing of the first message that arrives, and uses it in
	// both directions. Only the side that is spoken to first can use it.
	Auto Framing = iota
	// LSP is the base protocol of the Language Server Protocol: a header block
	// with Content-Length, then that many bytes of JSON.
	LSP
	// NDJSON is one JSON value per line.
	NDJSON
)

// ParseFraming reads the value of --framing.
func ParseFraming(s string) (Framing, error) {
	for f := Auto; f <= NDJSON; f++ {
		if s == f.String() {
			return f, nil
		}
	}
	return Auto, fmt.Errorf("unknown framing %q: want auto, lsp or ndjson", s)
}

func (f Framing) String() string {
	switch f {
	case LSP:
		return "lsp"
	case NDJSON:
		return "ndjson"
	default:
		return "auto"
	}
}

// ErrFraming says that the end of a frame cannot be found, and so the start of
// no later one: the input is over.
var ErrFraming = errors.New("framing lost")

const (
	contentLength = "Content-Length: "
	// headerRoom is as long as the longest header; see output.end.
	headerRoom = contentLength + "0000000000\r\n\r\n"

	maxHeader = 8 << 10 // bytes in a header line
	// absurdLength is a Content-Length taken for a mistake. A frame between
	// the limit and this one is skipped; waiting for the end of a larger one
	// would look like a hang.
	absurdLength = 1 << 30
)

func appendHeader(dst []byte, length int) []byte {
	dst = append(dst, contentLength...)
	dst = strconv.AppendInt(dst, int64(length), 10)
	return append(dst, "\r\n\r\n"...)
}

// parseLength reads the value of a Content-Length header.
func parseLength(value []byte) (n int, ok bool) {
	for _, c := range value {
		if !isDigit(c) || n > absurdLength/10 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(value) > 0
}

// detect decides the framing by the first message. A line that is neither the
// start of a JSON object or array nor that of a header ("Name:") decides
// nothing: decided is false, and the line can be refused as a bad NDJSON frame.
func (in *input) detect() (f Framing, decided bool, err error) {
	if err := in.skipBlank(); err != nil {
		return Auto, false, err
	}
	if c := in.buf[in.pos]; c == '{' || c == '[' {
		return NDJSON, true, nil
	}
	for i := 0; ; i++ {
		if in.pos+i == in.end {
			if err := in.more(0); err != nil {
				return Auto, false, nil // a last line without end: not a header
			}
		}
		c := in.buf[in.pos+i]
		if c == ':' && i > 0 {
			return LSP, true, nil
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-') || i == 64 {
			return Auto, false, nil
		}
	}
}

// header reads header blocks until one announces a body, and returns the body's
// length. Blank lines between frames and blocks without Content-Length are
// skipped; names may be in any case, lines may end in LF alone.
func (in *input) header() (length int, err error) {
	if err := in.skipBlank(); err != nil {
		return 0, err
	}
	for length = -1; ; {
		line, err := in.line(maxHeader)
		if err == errTooLong {
			return 0, fmt.Errorf("%w: header line longer than %d bytes", ErrFraming, maxHeader)
		}
		if err == io.EOF {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if length >= 0 {
				return length, nil
			}
			if err := in.skipBlank(); err != nil {
				return 0, err
			}
			continue
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || bytes.ContainsAny(name, "{[\"") {
			return 0, fmt.Errorf("%w: expected a Content-Length header, got %q", ErrFraming, clip(line))
		}
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("content-length")) {
			value = bytes.TrimSpace(value)
			var ok bool
			if length, ok = parseLength(value); !ok {
				return 0, fmt.Errorf("%w: bad Content-Length %q", ErrFraming, clip(value))
			}
		}
	}
}

// clip shortens what is quoted in an error message.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }
