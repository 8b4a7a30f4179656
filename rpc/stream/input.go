package stream

import (
	"bytes"
	"errors"
	"io"
)

const (
	baseBuffer = 64 << 10  // what a Linux pipe holds
	keepBuffer = 256 << 10 // a larger buffer is given back after the frame it was needed for
)

// errTooLong is returned by input.line for a line that it left unread.
var errTooLong = errors.New("line too long")

// input is the read buffer. What its methods return is borrowed from it and
// valid until the next call.
type input struct {
	r     io.Reader
	limit int // no frame is longer, so the buffer need not be

	buf      []byte
	pos, end int // buf[pos:end] is read and not yet taken
	read     int64
	err      error
}

// taken is how many bytes have been taken or skipped so far.
func (in *input) taken() int64 { return in.read - int64(in.end-in.pos) }

// more reads once, after making room for need bytes from pos on.
func (in *input) more(need int) error {
	if in.err != nil {
		return in.err
	}
	if in.end == len(in.buf) || len(in.buf)-in.pos < need {
		in.makeRoom(need)
	}
	for range 100 {
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		in.read += int64(n)
		in.err = err
		if n > 0 {
			return nil // an error that came with bytes is met next time
		}
		if err != nil {
			return err
		}
	}
	in.err = io.ErrNoProgress
	return in.err
}

func (in *input) makeRoom(need int) {
	have, size := in.end-in.pos, len(in.buf)
	into := in.buf
	if have > size/2 || need > size || size == 0 {
		size = max(need, baseBuffer, min(2*size, in.limit+baseBuffer))
		into = make([]byte, size)
	}
	copy(into, in.buf[in.pos:in.end])
	in.buf, in.pos, in.end = into, 0, have
}

// shrink gives a large buffer back once it is not needed any more.
func (in *input) shrink() {
	if len(in.buf) > keepBuffer && in.end-in.pos <= baseBuffer {
		small := make([]byte, baseBuffer)
		in.end = copy(small, in.buf[in.pos:in.end])
		in.buf, in.pos = small, 0
	}
}

// line takes the next line, without its LF. A last line may lack the LF. A line
// longer than limit is left where it is and reported as errTooLong.
func (in *input) line(limit int) ([]byte, error) {
	seen := 0
	for {
		i := bytes.IndexByte(in.buf[in.pos+seen:in.end], '\n')
		if i >= 0 {
			seen += i
		} else {
			seen = in.end - in.pos
		}
		if seen > limit {
			return nil, errTooLong
		}
		if i < 0 {
			err := in.more(0)
			if err == nil {
				continue
			}
			if seen == 0 || err != io.EOF {
				return nil, err
			}
		}
		line := in.buf[in.pos : in.pos+seen]
		in.pos = min(in.pos+seen+1, in.end)
		return line, nil
	}
}

// take takes the next n bytes.
func (in *input) take(n int) ([]byte, error) {
	for in.end-in.pos < n {
		if err := in.more(n); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	b := in.buf[in.pos : in.pos+n]
	in.pos += n
	return b, nil
}

// skipBlank skips white space and byte order marks, up to a byte that is
// neither.
func (in *input) skipBlank() error {
	for {
		rest := trimBlank(in.buf[in.pos:in.end])
		in.pos = in.end - len(rest)
		if len(rest) > 0 && (rest[0] != bom[0] || len(rest) >= len(bom)) {
			return nil
		}
		if err := in.more(0); err != nil {
			if len(rest) > 0 {
				return nil // the first bytes of a mark, and no more
			}
			return err
		}
	}
}

// bom is U+FEFF, the byte order mark some Windows programs begin UTF-8 with.
const bom = "\uFEFF"

// trimBlank removes white space and byte order marks from the front.
func trimBlank(b []byte) []byte {
	for len(b) > 0 {
		switch {
		case isSpace(b[0]):
			b = b[1:]
		case b[0] == bom[0] && len(b) >= len(bom) && string(b[:len(bom)]) == bom:
			b = b[len(bom):]
		default:
			return b
		}
	}
	return b
}

// trim removes white space at both ends, and byte order marks in front.
func trim(b []byte) []byte {
	b = trimBlank(b)
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// excerpt keeps the two ends of a frame that is too large to be held: enough to
// see what it was and whose id it carried.
type excerpt struct{ head, tail []byte }

func (e *excerpt) add(b []byte) {
	const head, tail = 4 << 10, 64
	e.head = append(e.head, b[:min(len(b), head-len(e.head))]...)
	e.tail = append(e.tail, b[max(0, len(b)-tail):]...)
	e.tail = e.tail[max(0, len(e.tail)-tail):]
}

// skipLine drops the rest of the line. An error means that the input ended.
func (in *input) skipLine() (e excerpt, err error) {
	for {
		chunk := in.buf[in.pos:in.end]
		i := bytes.IndexByte(chunk, '\n')
		if i >= 0 {
			e.add(chunk[:i])
			in.pos += i + 1
			return e, nil
		}
		e.add(chunk)
		in.pos = in.end
		in.shrink()
		if err := in.more(0); err != nil {
			return e, err
		}
	}
}

// skip drops n bytes. An error means that the input ended.
func (in *input) skip(n int) (e excerpt, err error) {
	for {
		chunk := in.buf[in.pos:min(in.end, in.pos+n)]
		e.add(chunk)
		in.pos += len(chunk)
		if n -= len(chunk); n == 0 {
			return e, nil
		}
		in.shrink()
		if err := in.more(0); err != nil {
			return e, err
		}
	}
}
