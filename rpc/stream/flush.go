package stream

import (
	"context"
	"fmt"
	"io"
)

const (
	// FlushAt is how many pending bytes are worth a write of their own.
	FlushAt = 32 << 10
	// paceAt is how many pending bytes make Pace wait.
	paceAt = 256 << 10
	// keepPending is the largest write buffer kept for reuse.
	keepPending = 128 << 10
)

// flush writes until nothing is pending, unless somebody else is at it already.
func (o *output) flush() error {
	o.mu.Lock()
	if o.writing || len(o.pending) == 0 {
		err := o.err
		o.mu.Unlock()
		return err
	}
	o.writing = true
	for len(o.pending) > 0 {
		b := o.pending
		o.pending, o.spare, o.inflight = o.spare, nil, len(b)
		o.mu.Unlock()
		n, err := o.w.Write(b)
		o.mu.Lock()
		o.inflight = 0
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			o.fail(fmt.Errorf("write to the editor: %w", err))
		} else if cap(b) <= keepPending && o.err == nil {
			o.spare = b[:0]
		}
		if o.eased != nil {
			close(o.eased)
			o.eased = nil
		}
	}
	o.writing = false
	if o.closing {
		o.kick()
	}
	err := o.err
	o.mu.Unlock()
	if err != nil {
		o.report()
	}
	return err
}

// run writes for everybody who does not write himself. It ends when the output
// has failed, or is closed and everything is written; then the editor sees EOF.
func (o *output) run() {
	for range o.wake {
		_ = o.flush() // a failure is kept in err, and reported
		o.mu.Lock()
		over := o.closing && !o.writing && len(o.pending) == 0
		if over && o.err == nil {
			close(o.done)
		}
		over = over || o.err != nil
		o.mu.Unlock()
		if over {
			if c, ok := o.w.(io.Closer); ok {
				_ = c.Close()
			}
			return
		}
	}
}

// wait waits until fewer than below bytes are pending.
func (o *output) wait(ctx context.Context, below int) error {
	for {
		o.mu.Lock()
		pending, err := len(o.pending)+o.inflight, o.err
		if err != nil || pending < below {
			o.mu.Unlock()
			return err
		}
		if o.eased == nil {
			o.eased = make(chan struct{})
		}
		eased := o.eased
		o.mu.Unlock()
		o.kick()
		select {
		case <-eased:
		case <-o.done:
		case <-ctx.Done():
			return fmt.Errorf("%d bytes not written: %w", pending, context.Cause(ctx))
		}
	}
}
