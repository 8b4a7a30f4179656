package store

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// question is something to be read.
type question struct {
	ctx      context.Context
	ask      func(*connection) error // called by run; what it writes is read by nobody before answered is closed
	err      error
	answered chan struct{}
}

// How long the file stays open with nothing to do, and how long a store that failed waits before it is tried again.
const (
	idleLimit = 5 * time.Second
	retryMin  = time.Second
	retryMax  = time.Minute
)

// run is the goroutine that touches the file.
func (s *Store) run() {
	defer close(s.done)
	f := &file{path: s.path, log: s.log, notice: s.notice}
	defer f.disconnect()
	idle := time.NewTimer(idleLimit)
	defer idle.Stop()
	var retry <-chan time.Time
	wait := retryMin
	written := func(err error) {
		idle.Reset(idleLimit)
		if err == nil {
			retry, wait = nil, retryMin
			return
		}
		retry = time.After(wait)
		wait = min(2*wait, retryMax)
	}
	for {
		select {
		case <-s.wake:
			if retry == nil {
				written(s.flush(f))
			}
		case <-retry:
			written(s.flush(f))
		case q := <-s.asks:
			err := s.flush(f) // so that an answer holds what was saved before the question
			if q.err = q.ctx.Err(); q.err == nil && f.exists() {
				q.err = f.do(q.ask)
			}
			close(q.answered)
			written(err)
		case <-idle.C:
			f.disconnect()
		case <-s.quit:
			if err := s.flush(f); err != nil {
				s.log.Warn("what was left for the store is lost", zap.Error(err))
			}
			return
		}
	}
}

// flush writes all that is queued, or leaves it in the queue.
func (s *Store) flush(f *file) error {
	s.mu.Lock()
	batch := s.queue
	s.queue = queue{}
	s.mu.Unlock()
	if batch.empty() {
		return nil
	}
	err := f.do(func(c *connection) error { return c.write(&batch) })
	if err != nil {
		s.mu.Lock()
		s.dropped += int64(s.queue.putBack(&batch))
		s.mu.Unlock()
	}
	return err
}

// ask has run answer a question. Without a file the answer is the zero value.
func ask[T any](ctx context.Context, s *Store, read func(*connection, *T) error) (T, error) {
	var answer, nothing T
	q := &question{ctx: ctx, ask: func(c *connection) error {
		answer = nothing // of a first try, on a file that turned out to be damaged
		return read(c, &answer)
	}, answered: make(chan struct{})}
	select {
	case s.asks <- q:
	case <-s.done:
		return nothing, ErrClosed
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
	select {
	case <-q.answered:
		if q.err != nil {
			return nothing, q.err
		}
		return answer, nil
	case <-s.done:
		return nothing, ErrClosed
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
}
