package bridge

import (
	"bytes"
	"io"
)

// backward reads the lines of a file from its end. It holds one line in memory, or one chunk of the file.
type backward struct {
	f   io.ReaderAt
	end int64 // of what has not been handed out yet
	buf []byte
	at  int64 // where buf begins in the file
}

const (
	chunkBytes = 128 << 10
	// lineMax is the longest line that is read; of a longer one only its length is told. The API takes images of 5 MB.
	lineMax = 16 << 20
)

func newBackward(f io.ReaderAt, end int64) *backward { return &backward{f: f, end: end, at: end} }

// next returns the line before and where it begins, without its newline; io.EOF before the first. The line is valid until the next
// call. Of one that is longer than lineMax it returns nil.
func (b *backward) next() (line []byte, at, length int64, err error) {
	if b.end <= 0 {
		return nil, 0, 0, io.EOF
	}
	stop := b.end // of the line, its newline included
	for size := int64(chunkBytes); ; size *= 2 {
		if window := b.buf[:max(0, min(int64(len(b.buf)), stop-b.at))]; len(window) > 0 {
			text := bytes.TrimSuffix(window, []byte("\n"))
			if i := bytes.LastIndexByte(text, '\n'); i >= 0 || b.at == 0 {
				b.end = b.at + int64(i) + 1
				return text[i+1:], b.end, stop - b.end, nil
			}
		}
		if size > lineMax {
			b.end, err = b.skip(b.at)
			return nil, b.end, stop - b.end, err
		}
		if err := b.fill(stop, min(size, stop)); err != nil {
			return nil, 0, 0, err
		}
	}
}

// fill reads the last n bytes before stop.
func (b *backward) fill(stop, n int64) error {
	if int64(cap(b.buf)) < n {
		b.buf = make([]byte, n)
	}
	b.buf, b.at = b.buf[:n], stop-n
	return readFull(b.f, b.buf, b.at)
}

// skip finds the beginning of the line that goes on at end, without keeping it.
func (b *backward) skip(end int64) (int64, error) {
	b.buf = nil
	for end > 0 {
		if err := b.fill(end, min(chunkBytes, end)); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b.buf, '\n'); i >= 0 {
			return b.at + int64(i) + 1, nil
		}
		end = b.at
	}
	return 0, nil
}

func readFull(f io.ReaderAt, buf []byte, at int64) error {
	n, err := f.ReadAt(buf, at)
	switch {
	case n == len(buf):
		return nil
	case err == nil || err == io.EOF: // the file has become shorter
		return io.ErrUnexpectedEOF
	}
	return err
}
