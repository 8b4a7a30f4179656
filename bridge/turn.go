package bridge

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"drawbridge/adapters"

	"github.com/google/uuid"
)

// Turn is one answer of the model: to a user message, or begun by the CLI itself (a background task has ended).
type Turn struct {
	s       *Session
	id      string
	origin  string // user, background
	message string // user message id; empty in the background
	content json.RawMessage
	text    json.RawMessage // as the editor sent it, for the queue it sees

	// The rest is guarded by the session's mu.
	echoed       bool // the CLI has taken the message up
	began        time.Time
	interrupted  bool          // the user ended it
	acknowledged chan struct{} // closed when the CLI has acknowledged the interrupt; nil before one
	messageID    string        // the model's last message
	result       TurnResult

	over     chan struct{} // closed by finish
	answered chan struct{} // closed by Answered; nil in the background
}

// TurnResult is the answer to a user message.
type TurnResult struct {
	Status            string          `json:"status"` // completed, cancelled, failed
	StopReason        string          `json:"stop_reason"`
	SessionID         string          `json:"session_id"`
	UserMessageID     string          `json:"user_message_id"`
	TurnID            string          `json:"turn_id,omitempty"`
	MessageID         string          `json:"message_id,omitempty"`
	Result            *string         `json:"result,omitempty"`
	Usage             *adapters.Usage `json:"usage,omitempty"`
	CostUSD           *float64        `json:"cost_usd,omitempty"`
	DurationMS        int64           `json:"duration_ms,omitempty"`
	NumTurns          int             `json:"num_turns,omitempty"`
	PermissionDenials json.RawMessage `json:"permission_denials,omitempty"`
	Error             *Error          `json:"error,omitempty"`
}

const (
	completed = "completed"
	cancelled = "cancelled"
	failed    = "failed"

	fromUser       = "user"
	fromBackground = "background"
)

// Begin takes a user message into the session's queue; the order of calls is the order of turns. It does not wait: not for the
// CLI, not for the turn before. The caller waits with Wait and calls Answered when it has told the result.
func (s *Session) Begin(m UserMessage) (*Turn, error) {
	content, err := m.render()
	if err != nil {
		return nil, err
	}
	if m.ID == "" {
		m.ID = uuid.NewString()
	} else if uuid.Validate(m.ID) != nil {
		e := fail(KindInvalidParams, "user_message_id %q is not a UUID", m.ID)
		e.Remedy = "Give a UUID, or leave it out."
		return nil, e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fail(KindSessionNotFound, "session %s is closed", s.id)
	}
	if m.Reject && (s.turn != nil || s.holding != nil || len(s.queue) > 0) {
		e := fail(KindTurnRunning, "a turn is running")
		e.Remedy = `Wait for it, interrupt it, or send the message with when_busy "queue".`
		return nil, e
	}
	t := &Turn{s: s, id: uuid.NewString(), origin: fromUser, message: m.ID, content: content, text: m.Content,
		over: make(chan struct{}), answered: make(chan struct{})}
	if i := slices.IndexFunc(s.queue, func(q *Turn) bool { return q.message == m.ID }); i >= 0 {
		old := s.queue[i]
		s.queue[i] = t
		s.drop(old)
		s.tellQueue()
	} else if s.turn != nil && s.turn.message == m.ID {
		e := fail(KindInvalidParams, "the user message %s is being answered already", m.ID)
		e.Remedy = "Give each message an id of its own."
		return nil, e
	} else {
		s.queue = append(s.queue, t)
		if len(s.queue) > 1 || s.turn != nil || s.holding != nil {
			s.tellQueue()
		}
	}
	s.next()
	return t, nil
}

// Wait blocks until the turn is over. The end of ctx cancels the turn; its result is returned all the same.
func (t *Turn) Wait(ctx context.Context) TurnResult {
	select {
	case <-t.over:
	case <-ctx.Done():
		t.s.cancel(t)
		<-t.over
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.result
}

// Answered says that the answer to the turn's message is on its way, or never will be. The session stands still between the end
// of a turn and this call, so that nothing of it comes between turn_complete and the answer.
func (t *Turn) Answered() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-t.answered:
		return
	default:
	}
	close(t.answered)
	if s.holding != t {
		return
	}
	s.holding = nil
	held := s.held
	s.held = nil
	for _, e := range held {
		s.tell(e)
	}
	s.next()
	s.restIdle()
}

// next hands the CLI the next message if it may have one. Called with mu held, whenever something it waits for has happened.
func (s *Session) next() {
	if s.turn != nil || s.holding != nil || len(s.queue) == 0 || s.closed {
		return
	}
	if s.run == nil {
		s.startRun()
	}
	if !s.run.ready || s.run.stopping {
		return
	}
	t := s.queue[0]
	s.queue = s.queue[1:]
	if s.queueTold {
		s.tellQueue()
	}
	if refusal := s.run.adapter.Takes(t.content); refusal != "" {
		s.begin(t)
		s.finish(t, nil, TurnResult{Status: failed, StopReason: "error", Error: untakable(s.known.ClaudeCode, refusal)})
		return
	}
	s.run.send(s.run.adapter.AppendUser(nil, adapters.UserMessage{UUID: t.message, Content: t.content}))
	s.begin(t) // its answer cannot be read before mu is free
}

// begin makes t the turn that runs. Called with mu held.
func (s *Session) begin(t *Turn) {
	s.turn = t
	t.began = time.Now()
	s.retry = nil
	s.tell(TurnStarted{TurnID: t.id, Origin: t.origin, UserMessageID: t.message})
	s.tellState()
	s.watchQuiet()
}

// beginBackground begins a turn of the CLI's own, when a line of one arrives. Called with mu held.
func (s *Session) beginBackground() {
	s.begin(&Turn{s: s, id: uuid.NewString(), origin: fromBackground, over: make(chan struct{})})
}

// ended deals with the result of the CLI. Called with mu held.
func (s *Session) ended(r *adapters.Result) {
	t := s.turn
	if t == nil {
		s.log.Debug("a result without a turn")
		return
	}
	res := s.resultOf(t, r)
	if t.origin == fromUser && !s.answers(t, r) {
		// A turn of the CLI's own began before it read our message: that one has ended, ours begins now.
		s.withdrawTurn(promptEnd(t))
		s.save(&Turn{id: t.id, origin: fromBackground, began: t.began}, r, res)
		clear(s.openTools)
		s.usage(r)
		s.tell(TurnCompleted{TurnID: t.id, Origin: fromBackground, Status: res.Status, StopReason: res.StopReason})
		t.id, t.messageID, t.echoed = uuid.NewString(), "", false
		s.tell(TurnStarted{TurnID: t.id, Origin: fromUser, UserMessageID: t.message})
		return
	}
	s.finish(t, r, res)
}

// answers says whether r is the answer to t's message, and not the end of a turn that the CLI ran by itself. Counting results does
// not work: CLIs fold a message into a running turn.
func (s *Session) answers(t *Turn, r *adapters.Result) bool {
	f := s.run.adapter.Features()
	switch {
	case t.interrupted && r.Outcome == adapters.Cancelled:
		return true
	case !f.OwnTurns:
		return true
	case slices.Contains(r.UserMessages, t.message):
		return true
	case r.Origin != "":
		return false
	case r.Answers:
		return false
	case f.Echo:
		return t.echoed || !s.ranTasks
	}
	return true
}

// finish ends a turn. It is the only place where one ends, except for a message that never left the queue. Called with mu held.
// The order of what is told is part of the protocol: withdrawals, usage, state, turn_complete, and then the answer.
func (s *Session) finish(t *Turn, r *adapters.Result, res TurnResult) {
	s.withdrawTurn(promptEnd(t))
	s.save(t, r, res)
	if r != nil {
		s.usage(r)
	}
	s.turn = nil
	s.retry = nil
	s.compacting = false
	clear(s.openTools)
	if len(s.tasks) == 0 { // or a background agent is still at it
		clear(s.hooked)
		clear(s.edited)
		clear(s.diffs)
		clear(s.refused)
	}
	s.stopQuiet()
	s.tellState()
	res.SessionID, res.UserMessageID, res.TurnID, res.MessageID = s.id, t.message, t.id, t.messageID
	s.tell(TurnCompleted{TurnID: t.id, Origin: t.origin, Status: res.Status, StopReason: res.StopReason, UserMessageID: t.message})
	t.result = res
	close(t.over)
	if t.origin == fromBackground {
		s.next()
		return
	}
	s.holding = t
}

// promptEnd says who ended the prompts that a turn leaves open; t is nil between turns.
func promptEnd(t *Turn) string {
	if t != nil && t.interrupted {
		return "interrupt"
	}
	return "claude"
}

// drop answers a message that never reached the CLI. Called with mu held.
func (s *Session) drop(t *Turn) {
	t.result = TurnResult{Status: cancelled, StopReason: cancelled, SessionID: s.id, UserMessageID: t.message}
	close(t.over)
}

// resultOf is the answer that r gives to t.
func (s *Session) resultOf(t *Turn, r *adapters.Result) TurnResult {
	cost := usd(r.TotalCostUSD - s.run.cost)
	res := TurnResult{StopReason: r.StopReason, Usage: &r.Usage, CostUSD: &cost, DurationMS: r.DurationMS, NumTurns: r.NumTurns,
		PermissionDenials: slices.Clone(r.PermissionDenials)}
	if r.Text != nil && r.Outcome == adapters.Completed {
		text := r.Text.String()
		res.Result = &text
	}
	switch {
	case t.interrupted && r.Outcome != adapters.Completed, r.Outcome == adapters.Cancelled:
		res.Status, res.StopReason = cancelled, cancelled
	case r.Outcome == adapters.Failed:
		res.Status, res.StopReason = failed, "error"
		f := r.Failure
		if f == nil {
			f = &adapters.Failure{Kind: KindOther, Message: "Claude Code reported an error without saying which."}
		}
		res.Error = fail(f.Kind, "%s", f.Message)
		res.Error.APIStatus = f.APIStatus
	default:
		res.Status = completed
	}
	return res
}

// usage reports what a turn has used. The CLI's totals are cumulative for the process. Called with mu held.
func (s *Session) usage(r *adapters.Result) {
	cost := usd(r.TotalCostUSD - s.run.cost)
	if cost < 0 { // /clear begins the CLI's total anew
		cost = usd(r.TotalCostUSD)
	}
	s.run.cost = r.TotalCostUSD
	s.cost = usd(s.cost + cost)
	s.tell(UsageReported{Usage: r.Usage, CostUSD: cost, TotalCostUSD: s.cost, ModelUsage: slices.Clone(r.ModelUsage),
		ContextUsed: s.context, ContextWindow: r.ContextWindow})
}

// usd rounds an amount to billionths: differences of totals are full of the noise of binary fractions.
func usd(amount float64) float64 { return math.Round(amount*1e9) / 1e9 }
