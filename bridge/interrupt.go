package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"drawbridge/adapters"
)

// A turn that does not end after an interrupt: it is asked again (before 2.1.162 an interrupt at the very start of a turn was
// dropped), and at last the process is stopped.
const (
	interruptAgain = time.Second
	interruptLimit = 5 * time.Second
	interruptTries = 20 // answers that say the message is still to come
)

// Interrupt ends the turn that runs, the user's or the CLI's own, and returns when the CLI has acknowledged it, or the turn is over.
// A message that waits for the CLI to start counts as running: it is what the user sees at work. With cancelQueued the messages
// that wait are answered as cancelled, too.
func (s *Session) Interrupt(ctx context.Context, cancelQueued bool) error {
	s.mu.Lock()
	t := s.turn
	if t == nil && s.holding == nil && len(s.queue) > 0 {
		s.drop(s.queue[0])
		s.queue = s.queue[1:]
		s.tellQueue()
	}
	if cancelQueued {
		for _, q := range s.queue {
			s.drop(q)
		}
		if len(s.queue) > 0 {
			s.queue = nil
			s.tellQueue()
		}
	}
	if t == nil || s.run == nil || !s.run.ready {
		s.mu.Unlock()
		return nil
	}
	s.interrupt(t)
	run := s.run
	s.mu.Unlock()
	select {
	case <-t.acknowledged:
	case <-t.over:
	case <-run.done:
	case <-ctx.Done():
	}
	return nil
}

// cancel ends one turn: the one that runs by interrupt; one that waits never reaches the CLI.
func (s *Session) cancel(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, t); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.drop(t)
		s.tellQueue()
		return
	}
	if s.turn == t && s.run != nil && s.run.ready {
		s.interrupt(t)
	}
}

// interrupt asks the CLI to end t, and sees to it that t ends. Called with mu held.
func (s *Session) interrupt(t *Turn) {
	if t.acknowledged != nil {
		return // on its way
	}
	t.interrupted = true
	t.acknowledged = make(chan struct{})
	s.tellState()
	if !s.run.adapter.Features().Controls["interrupt"] {
		// Before 1.0.60 a control request ends the CLI with an error. Ended in good order it can be resumed.
		s.run.stopping = true
		close(t.acknowledged)
		s.b.group.Go(s.run.end)
		return
	}
	run, answers := s.run, make(chan adapters.Response, interruptTries)
	run.interrupt(answers)
	s.b.group.Go(func() { s.insist(run, t, answers) })
}

// interrupt asks the CLI to end its turn. cancel_queued is for a message that it has not begun with: 2.1.329 would lose a plain
// interrupt that comes before; older ones ignore the member. Called with mu held.
func (r *Run) interrupt(answers chan<- adapters.Response) {
	r.ask(adapters.Control{Subtype: "interrupt", Members: json.RawMessage(`{"cancel_queued":true}`)}, answers)
}

// insist sees an interrupted turn to its end. Every receipt is read, however late it comes: the first one names the messages that
// were dropped, and none after it does. It has a goroutine of its own.
func (s *Session) insist(run *Run, t *Turn, answers chan adapters.Response) {
	limit := time.NewTimer(interruptLimit)
	defer limit.Stop()
	again := time.NewTicker(interruptAgain)
	defer again.Stop()
	for tries := 0; ; {
		select {
		case <-t.over:
			return
		case <-run.done:
			return
		case a := <-answers:
			if tries++; tries == 1 {
				close(t.acknowledged)
			}
			s.mu.Lock()
			if s.turn == t && s.run == run {
				switch dropped, queued := interruptReceipt(a); {
				case slices.Contains(dropped, t.message):
					s.finish(t, nil, TurnResult{Status: cancelled, StopReason: cancelled}) // no result will come
				case slices.Contains(queued, t.message) && tries < interruptTries:
					run.interrupt(answers)
				}
			}
			s.mu.Unlock()
		case <-again.C:
			s.mu.Lock()
			if s.turn == t && s.run == run && !run.waiting.Load() {
				run.interrupt(answers)
			}
			s.mu.Unlock()
		case <-limit.C:
			if run.waiting.Load() { // for the editor: the end of the turn may be there, unread
				limit.Reset(interruptLimit)
				continue
			}
			s.mu.Lock()
			still := s.turn == t && s.run == run
			if still {
				run.stopping = true
				s.notice("warning", "interrupt_forced", "Claude Code did not end the turn within 5 s and was stopped.", "The next message starts it again, with the same conversation.")
			}
			s.mu.Unlock()
			if still {
				run.end()
			}
			return
		}
	}
}

// interruptReceipt reads what 2.1.329 says of the messages it had not begun with: those it has dropped, for which no result will
// come, and those that are still to come although it was told to end.
func interruptReceipt(a adapters.Response) (dropped, queued []string) {
	var r struct {
		Cancelled   []string `json:"cancelled"`
		StillQueued []string `json:"still_queued"`
	}
	_ = json.Unmarshal(a.Body, &r) // older ones say nothing
	return r.Cancelled, r.StillQueued
}

// end stops a run that does not listen.
func (r *Run) end() {
	r.in.close()
	_ = r.proc.Terminate()
	if !wait(context.Background(), r.done, termGrace) {
		_ = r.proc.Kill()
	}
}
