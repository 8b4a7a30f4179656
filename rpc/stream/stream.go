package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Stream is a jsonrpc2.Stream over a pair of byte streams, usually stdin and
// stdout. One goroutine reads at a time; everything else is safe for concurrent
// use.
type Stream struct {
	opts Options
	out  output

	// The rest belongs to the reader.
	in       input
	framing  Framing
	scan     scanner
	queue    [][]byte // frames made of the last one read, to be returned next
	inputEnd error    // what Read returns for good

	closed      atomic.Bool
	closeReader sync.Once
}

var _ jsonrpc2.Stream = (*Stream)(nil)

// New returns a Stream that reads from r and writes to w. It starts the goroutine
// that writes, which ends after Close or a failed write, and then closes w if w
// is an io.Closer.
func New(r io.Reader, w io.Writer, opts Options) *Stream {
	if opts.MaxFrame <= 0 {
		opts.MaxFrame = DefaultMaxFrame
	}
	if opts.MaxPending <= 0 {
		opts.MaxPending = DefaultMaxPending
	}
	s := &Stream{
		opts:    opts,
		framing: opts.Framing,
		in:      input{r: r, limit: opts.MaxFrame},
		out: output{
			w:       w,
			max:     opts.MaxPending,
			trace:   opts.Trace,
			framing: opts.Framing,
			wake:    make(chan struct{}, 1),
			done:    make(chan struct{}),
			open:    make(map[int64]bool),
		},
	}
	s.out.onFail = func(err error) {
		s.interruptRead() // nobody can be answered any more
		if opts.OnFail != nil {
			opts.OnFail(err)
		}
	}
	go s.out.run()
	return s
}

// Read implements jsonrpc2.Stream. A jsonrpc2.Conn uses ReadFrame; Read, like
// that of jsonrpc2's own streams, refuses batches.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	frame, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	m, err := jsonrpc2.DecodeMessage(frame)
	return m, n, err
}

// ReadFrame returns the next frame that jsonrpc2 can read, and how many bytes it
// took on the wire (0 for parts of a batch that was divided). Bad frames before
// it have been answered. The frame is valid until the next call.
//
// The error is io.EOF at the end of the input, io.ErrUnexpectedEOF if that was
// inside a frame, ErrFraming if no further frame can be found, os.ErrClosed
// after Close, or why the output failed.
func (s *Stream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if len(s.queue) > 0 {
			frame := s.queue[0]
			s.queue = s.queue[1:]
			return frame, 0, nil
		}
		s.queue = nil
		if s.inputEnd != nil {
			return nil, 0, s.inputEnd
		}
		before := s.in.taken()
		frame, err := s.next()
		if len(frame) > 0 {
			if s.opts.Trace != nil {
				s.opts.Trace(In, frame)
			}
			if frame = s.admit(frame); frame != nil {
				return frame, s.in.taken() - before, nil
			}
		}
		if err != nil {
			s.endInput(err)
		}
	}
}

// next reads a frame, whatever is in it; nil if there was none worth a look.
func (s *Stream) next() (frame []byte, err error) {
	s.in.shrink()
	if s.framing == Auto {
		framing, decided, err := s.in.detect()
		if err != nil {
			return nil, err
		}
		if decided {
			s.framing = framing
			s.out.setFraming(framing)
		}
	}
	if s.framing == LSP {
		return s.nextBody()
	}
	line, err := s.in.line(s.in.limit)
	if err == errTooLong {
		e, err := s.in.skipLine()
		s.refuseTooLarge(e)
		return nil, err
	}
	return trim(line), err
}

func (s *Stream) nextBody() (frame []byte, err error) {
	length, err := s.in.header()
	if errors.Is(err, ErrFraming) {
		s.refuse(nil, jsonrpc2.ParseError, err.Error())
	}
	if err != nil {
		return nil, err
	}
	if length > s.in.limit {
		e, err := s.in.skip(length)
		s.refuseTooLarge(e)
		return nil, err
	}
	body, err := s.in.take(length)
	if err != nil {
		if err == io.ErrUnexpectedEOF {
			s.refuse(nil, jsonrpc2.ParseError, fmt.Sprintf("input ended inside a frame of %d bytes", length))
		}
		return nil, err
	}
	if frame = trim(body); len(frame) == 0 {
		s.refuse(nil, jsonrpc2.ParseError, "not JSON: the frame is empty")
	}
	return frame, nil
}

// endInput settles what Read returns from now on.
func (s *Stream) endInput(err error) {
	if s.opts.OnEOF != nil {
		s.opts.OnEOF()
	}
	switch outErr := s.Err(); {
	case s.closed.Load():
		err = os.ErrClosed
	case outErr != nil:
		err = outErr
	}
	s.inputEnd = err
}

// Write implements jsonrpc2.Stream. It queues m and does not wait for it to be
// written; a write that fails later is seen by Done, OnFail and later calls.
// Responses are queued even if ctx has ended.
func (s *Stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	n, err := s.out.appendFrame(ctx, func(dst []byte) []byte { return jsonrpc2.AppendMessage(dst, m) })
	return int64(n), err
}

// WriteFrame queues an encoded message or batch, as Write does.
func (s *Stream) WriteFrame(ctx context.Context, frame []byte) (int64, error) {
	n, err := s.out.appendFrame(ctx, func(dst []byte) []byte { return append(dst, frame...) })
	return int64(n), err
}

// AppendNotification queues a notification for a caller who will Flush. method
// needs no JSON escapes; params are the pieces of one JSON value, which the
// caller so need not join. It returns how many bytes are pending: from FlushAt
// on, Flush is due.
//
// Nothing else writes what is queued here until somebody uses Write: a caller
// who forgets to Flush keeps the editor waiting.
func (s *Stream) AppendNotification(method string, params ...[]byte) (pending int, err error) {
	return s.out.appendNotification(method, params)
}

// Flush writes all that is queued, by whomever, and returns when it is written
// or when another writer is at it. It waits for the editor as long as a write to
// it does, and nothing but the editor or closing w ends that.
func (s *Stream) Flush() error { return s.out.flush() }

// Pace waits while the editor lags behind. Only a caller of AppendNotification
// has to: whoever can be made to wait and yet holds up no one else.
func (s *Stream) Pace(ctx context.Context) error { return s.out.wait(ctx, paceAt) }

// Drain waits until all that is queued is written: the last thing before the
// process exits, before or after Close.
func (s *Stream) Drain(ctx context.Context) error { return s.out.wait(ctx, 1) }

// Close refuses further writes and ends a pending Read where the system can. It
// does not wait: what is queued is still written, see Drain.
//
// A blocking stdin cannot be interrupted; a goroutine that reads it stays there
// until the process exits. Therefore never wait for it.
func (s *Stream) Close() error {
	s.closed.Store(true)
	s.out.mu.Lock()
	s.out.closing = true
	s.out.mu.Unlock()
	s.out.kick()
	s.interruptRead()
	return nil
}

// interruptRead ends a Read in progress.
func (s *Stream) interruptRead() {
	s.closeReader.Do(func() {
		// r may be w too, as a socket is, and w may still be written.
		d, ok := s.in.r.(interface{ SetReadDeadline(time.Time) error })
		if ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
			return
		}
		if _, file := s.in.r.(*os.File); file {
			return // no deadline: Close might wait for the very Read it should end
		}
		if c, ok := s.in.r.(io.Closer); ok {
			_ = c.Close()
		}
	})
}

// Done is closed when nothing will be written any more: the output failed, or
// everything was written after Close.
func (s *Stream) Done() <-chan struct{} { return s.out.done }

// Err says why the output failed; nil if it did not.
func (s *Stream) Err() error {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	return s.out.err
}
