package bridge

import (
	"context"
	"time"
)

// An idle CLI takes some 200 MB. After a while without a turn, a prompt, a queue or a task it is stopped, by the end of its input and
// never by a kill, which could lose the last turn (2.1.112 writes it late); the next message starts it again with the same
// conversation, mode, model and grants, and the editor sees nothing of it but status_change.

// restIdle sets the clock anew. Called with mu held, whenever the state is told.
func (s *Session) restIdle() {
	if s.options.IdleStop <= 0 {
		return
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.resting() {
		s.idle = time.AfterFunc(s.options.IdleStop, s.stopIdle)
	}
}

// resting: nothing goes on that a stop could disturb.
func (s *Session) resting() bool {
	return s.run != nil && s.run.ready && !s.run.stopping && s.turn == nil && s.holding == nil && len(s.queue) == 0 &&
		len(s.order) == 0 && len(s.tasks) == 0 && !s.closed
}

func (s *Session) stopIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.resting() {
		return
	}
	run := s.run
	run.stopping = true
	s.log.Info("claude is idle and is stopped")
	run.in.close()
	s.b.group.Go(func() {
		// It ends within some 30 ms. One that does not has nothing left to lose after so long.
		if !wait(context.Background(), run.done, idleGrace) {
			run.end()
		}
	})
}

const idleGrace = 30 * time.Second
