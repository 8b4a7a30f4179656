package bridge

import (
	"context"
	"io"
	"time"
)

// How long each chance lasts that a CLI gets to end by itself.
const (
	interruptGrace = time.Second     // for the running turn, after an interrupt
	inputGrace     = time.Second     // after the end of its input
	termGrace      = time.Second     // after SIGTERM
	outputGrace    = 2 * time.Second // between the end of its output and its own, either way round
)

// hangUp closes the outputs of a process that is gone, when they do not end by themselves: something that got away from the guard
// holds them open. What was in them has been read by then, unless it is the editor that the pump waits for.
func (r *Run) hangUp(proc Process, read <-chan struct{}) {
	for !wait(context.Background(), read, outputGrace) {
		if r.waiting.Load() {
			continue
		}
		for _, out := range []io.Reader{proc.Stdout(), proc.Stderr()} {
			if c, ok := out.(io.Closer); ok {
				_ = c.Close()
			}
		}
		return
	}
}

// shutdown ends the run in the order that loses least: interrupt the turn, end the input, TERM, KILL.
func (r *Run) shutdown(ctx context.Context) {
	s := r.s
	s.mu.Lock()
	r.stopping = true
	r.halt()
	proc, t := r.proc, s.turn
	interrupted := proc != nil && r.ready && t != nil && r.adapter.Features().Controls["interrupt"]
	if interrupted {
		r.interrupt(nil)
	}
	s.mu.Unlock()
	if proc == nil {
		<-r.done
		return
	}
	if interrupted {
		r.waitTurn(ctx, t, interruptGrace)
	}
	r.in.close()
	if wait(ctx, r.done, inputGrace) {
		return
	}
	_ = proc.Terminate()
	if wait(ctx, r.done, termGrace) {
		return
	}
	_ = proc.Kill()
	<-r.done
}

// waitTurn waits until t has ended, the run has, or the time is up.
func (r *Run) waitTurn(ctx context.Context, t *Turn, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.over:
	case <-r.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func wait(ctx context.Context, done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
