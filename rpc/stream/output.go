package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// ErrStalled says that the editor has left so many bytes unread that it is taken
// for dead.
var ErrStalled = errors.New("editor does not read")

// output is the write buffer. There are two, which swap: one takes frames while
// the other is being written.
type output struct {
	w      io.Writer
	max    int
	trace  func(Direction, []byte)
	onFail func(error)
	wake   chan struct{} // capacity 1: run has something to do
	done   chan struct{} // closed when nothing will be written any more

	mu       sync.Mutex // guards the rest; never held during I/O
	framing  Framing
	pending  []byte         // whole frames in their order on the wire
	spare    []byte         // the other buffer, empty; nil while it is being written
	inflight int            // bytes being written
	writing  bool           // somebody is in flush: at most one
	closing  bool           // nothing more is accepted
	err      error          // why the output failed
	eased    chan struct{}  // closed after a write; nil if nobody waits
	reported bool           // onFail has been called
	open     map[int64]bool // ids of our calls that have no answer yet
}

func (o *output) setFraming(f Framing) {
	o.mu.Lock()
	o.framing = f
	o.mu.Unlock()
}

// isOpen says whether our call id has no answer yet.
func (o *output) isOpen(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open[id]
}

// answered closes our call id and says whether it was open.
func (o *output) answered(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := o.open[id]
	delete(o.open, id)
	return open
}

// full says, with mu held, why nothing can be appended.
func (o *output) full() error {
	switch {
	case o.err != nil:
		return o.err
	case o.closing:
		return os.ErrClosed
	// One frame may be larger than max: only what was left unread counts.
	case len(o.pending)+o.inflight > o.max:
		o.fail(fmt.Errorf("%w: %d bytes are waiting", ErrStalled, len(o.pending)+o.inflight))
		return o.err
	}
	return nil
}

// fail ends the output, with mu held. Whoever calls it calls report, unlocked.
func (o *output) fail(err error) {
	if o.err == nil {
		o.err, o.pending, o.spare = err, nil, nil
		close(o.done)
		o.kick()
	}
}

// report calls onFail, once, if the output has failed.
func (o *output) report() {
	o.mu.Lock()
	first := o.err != nil && !o.reported
	o.reported = o.err != nil
	o.mu.Unlock()
	if first {
		o.onFail(o.err)
	}
}

// kick has run flush what is pending, soon.
func (o *output) kick() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// appendFrame appends the frame that encode appends, and has it written. It
// never waits. A ctx that has ended keeps back calls and notifications, not
// responses: a request that was read is answered.
func (o *output) appendFrame(ctx context.Context, encode func([]byte) []byte) (n int, err error) {
	o.mu.Lock()
	if err = o.full(); err == nil {
		start := len(o.pending)
		if err = o.encode(ctx, encode); err != nil {
			o.pending = o.pending[:start]
			o.mu.Unlock()
			return 0, err
		}
		n = len(o.pending) - start
		if !o.writing {
			o.kick()
		}
	}
	o.mu.Unlock()
	if err != nil {
		o.report()
	}
	return n, err
}

func (o *output) encode(ctx context.Context, encode func([]byte) []byte) error {
	start := len(o.pending)
	body := start
	if o.framing == LSP {
		o.pending = append(o.pending, headerRoom...)
		body = len(o.pending)
	}
	o.pending = encode(o.pending)
	frame := o.pending[body:]
	if !bytes.HasPrefix(frame, []byte(`{"jsonrpc":"2.0","id":`)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if id := trailingID(frame); id != nil {
			if n, ok := integer(id); ok {
				o.open[n] = true
			}
		}
	}
	if body > start {
		// Frames stand back to back, so the body moves up to its header.
		header := appendHeader(o.pending[:start], len(frame))
		o.pending = append(header, frame...)
		body = len(header)
	}
	o.seal(body)
	return nil
}

// appendNotification is the hot path: no allocation, no closure, no wake-up. The
// length is known beforehand, so nothing moves.
func (o *output) appendNotification(method string, params [][]byte) (pending int, err error) {
	const head, middle = `{"jsonrpc":"2.0","method":"`, `","params":`
	n := 0
	for _, p := range params {
		n += len(p)
	}
	o.mu.Lock()
	if err := o.full(); err != nil {
		o.mu.Unlock()
		o.report()
		return 0, err
	}
	b := o.pending
	if o.framing == LSP {
		b = appendHeader(b, len(head)+len(method)+len(middle)+n+1)
	}
	body := len(b)
	b = append(b, head...)
	b = append(b, method...)
	b = append(b, middle...)
	for _, p := range params {
		b = append(b, p...)
	}
	o.pending = append(b, '}')
	o.seal(body)
	pending = len(o.pending)
	o.mu.Unlock()
	return pending, nil
}

// seal ends the frame whose body begins at body, with mu held.
func (o *output) seal(body int) {
	if o.framing != LSP {
		// A line break inside JSON can only be white space between tokens.
		rest := o.pending[body:]
		for i := bytes.IndexByte(rest, '\n'); i >= 0; i = bytes.IndexByte(rest, '\n') {
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
	if o.trace != nil {
		o.trace(Out, o.pending[body:])
	}
	if o.framing != LSP {
		o.pending = append(o.pending, '\n')
	}
}
