package bridge

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"

	"go.uber.org/zap"
)

// Session is a conversation, as the editor sees it. It outlives its Runs: when the claude process ends, the next message starts
// another one that goes on with the same conversation.
type Session struct {
	b      *Bridge
	id     string // the handle; never changes, whatever Claude's own id does
	opened time.Time
	log    *zap.Logger

	// mu guards everything below, and the order in which the client is told of it.
	mu      sync.Mutex
	options SessionOptions // mode and model as they are now: what the next Run is started with
	closed  bool

	run        *Run        // the claude process; nil if there is none
	claude     string      // Claude's id of the conversation
	fork       bool        // the next run goes on with claude under a new id
	idle       *time.Timer // fires when the CLI has been idle for long
	spoken     bool        // the CLI has begun a turn of it, so that it can be resumed
	cost       float64     // of all runs, in USD
	context    int64       // tokens of the model's last request
	ranTasks   bool        // this run has had background tasks, so that it may begin turns by itself
	thinking   *int        // set_max_thinking_tokens
	noticed    map[string]bool
	without    []string // flags that this CLI does not know
	exited     *State   // how the last run ended, if not as it should
	known      Update
	state      State
	retry      *adapters.Retry
	compacting bool

	turn      *Turn   // that runs
	queue     []*Turn // that wait
	queueTold bool    // the editor has seen a queue that was not empty
	holding   *Turn   // over, but its answer is not out yet
	held      []Event // what is to be told after it

	prompts     map[string]*prompt    // open, by the CLI's request id
	order       []*prompt             // the same, in the order they were asked
	refused     map[string]bool       // tool uses that were denied here
	hooked      map[string]hookedTool // tool uses that our hook has seen
	edited      map[string]string     // what the model is told of an edited tool use
	diffs       map[string]*Diff      // what file tools are about to do
	root        string                // real path of the project: what its rules are stored under
	remote      bool                  // the CLI runs on another machine
	grants      []policy.Source       // what the user has allowed for this session
	granted     map[string]time.Time  // when, by rule id
	uses        map[string]ruleUse    // by rule id
	rulesPartly string                // why our rules do not hold everywhere; empty: they do
	openTools   map[string]string     // tool uses without a result: the tool
	tasks       map[string]*adapters.Task
	plan        string // of the last ExitPlanMode: 2.1.329 leaves it out of the question

	quiet      *time.Timer // fires while a turn runs
	quietTicks int         // since the last line
	heard      bool        // a line has come since the last tick
}

func newSession(b *Bridge, id string, o SessionOptions) *Session {
	s := &Session{b: b, id: id, claude: id, opened: time.Now(), options: o, log: b.Log.With(zap.String("session", id)),
		prompts: map[string]*prompt{}, refused: map[string]bool{}, openTools: map[string]string{}, hooked: map[string]hookedTool{}, edited: map[string]string{}, diffs: map[string]*Diff{},
		root: realPath(o.CWD), granted: map[string]time.Time{}, uses: map[string]ruleUse{}, tasks: map[string]*adapters.Task{},
		noticed: map[string]bool{}, state: State{State: "idle"}}
	claude := b.Claude()
	s.known = Update{ClaudeCode: &claude, ClaudeSessionID: &id, PermissionMode: &o.PermissionMode, CWD: &o.CWD,
		Modes: slices.Clone(modes), Trust: &Trust{Trusted: o.Trusted}}
	if b.AllowBypass {
		s.known.Modes = append(s.known.Modes, bypass)
	}
	if o.Model != "" {
		s.known.Model = &o.Model
	}
	if !o.Trusted {
		s.known.Trust.Off = projectFindings(o.CWD)
	}
	return s
}

// ID is the session's handle.
func (s *Session) ID() string { return s.id }

// CWD is the directory the session works in.
func (s *Session) CWD() string { return s.options.CWD }

// Start starts the CLI, without waiting for it.
func (s *Session) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil && !s.closed {
		s.startRun()
	}
}

// greet tells what was wrong before there was a session to tell it with.
func (s *Session) greet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.b.Notices {
		s.tell(n)
	}
	s.rules() // and what is wrong with the settings file
}

// Snapshot is all that is known of the session now.
func (s *Session) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{SessionID: s.id, Update: s.known, State: s.state, Queue: s.queued()}
	for _, p := range s.order {
		snap.Prompts = append(snap.Prompts, p.Prompt)
	}
	for _, t := range s.tasks {
		snap.Tasks = append(snap.Tasks, *t)
	}
	slices.SortFunc(snap.Tasks, func(a, b adapters.Task) int { return cmp.Compare(a.ID, b.ID) })
	return snap
}

// Close ends the session: its turns are answered as cancelled and its process is gone when Close returns.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.withdrawAll("session_closed")
	for _, t := range s.queue {
		s.drop(t)
	}
	s.queue = nil
	if s.idle != nil {
		s.idle.Stop()
	}
	run := s.run
	if s.turn != nil {
		s.turn.interrupted = true
	}
	s.mu.Unlock()
	if run != nil {
		run.shutdown(ctx)
	}
	s.b.forget(s)
	return nil
}

// Tell has the client told something about the session, in its place among what the session tells by itself.
func (s *Session) Tell(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(n)
}

// tell reports an event, or keeps it until the answer of a turn that is over is out. Called with mu held.
func (s *Session) tell(e Event) {
	if s.holding != nil {
		s.held = append(s.held, e)
		return
	}
	if err := s.b.Client.Event(s, e); err != nil {
		s.log.Debug("the editor was not told", zap.Error(err))
	}
}

// notice tells the user something. Called with mu held.
func (s *Session) notice(level, kind, message, remedy string) {
	s.tell(Notice{Level: level, Kind: kind, Message: message, Remedy: remedy})
}

// mostNotices bounds what noticeOnce remembers and so what it tells: a CLI that talks nonsense does not fill the memory, nor the
// editor.
const mostNotices = 100

// noticeOnce does so once in the life of the session.
func (s *Session) noticeOnce(level, kind, message, remedy string) {
	if !s.noticed[kind+message] && len(s.noticed) < mostNotices {
		s.noticed[kind+message] = true
		s.notice(level, kind, message, remedy)
	}
}

func (s *Session) queued() []QueuedItem {
	items := make([]QueuedItem, 0, len(s.queue))
	for _, t := range s.queue {
		items = append(items, QueuedItem{UserMessageID: t.message, Content: t.text})
	}
	return items
}

func (s *Session) tellQueue() {
	items := s.queued()
	s.queueTold = len(items) > 0
	s.known.Queue = &items
	s.tell(SessionChanged{Update{Queue: &items}})
}

// tellState derives what the session is at from everything else, and tells it if it has changed. Called with mu held.
func (s *Session) tellState() {
	now := State{State: "idle"}
	switch {
	case s.turn != nil && s.turn.interrupted:
		now.State = "interrupting"
	case len(s.order) > 0:
		now.State = "waiting_permission"
		if s.order[0].Questions != nil {
			now.State = "waiting_answer"
		}
	case s.turn != nil && s.retry != nil:
		now = State{State: "retrying", Attempt: s.retry.Attempt, MaxAttempts: s.retry.MaxAttempts, DelayMS: s.retry.DelayMS, Error: s.retry.Error}
	case s.compacting:
		now.State = "compacting"
	case s.turn != nil:
		now.State = "running"
		if s.quietTicks >= quietAfter && len(s.openTools) == 0 {
			now.QuietMS = int64(s.quietTicks) * quietTick.Milliseconds()
		}
	case s.run != nil && !s.run.ready && !s.run.stopping:
		now.State = "starting"
	case s.run == nil && s.exited != nil:
		now = *s.exited
	}
	s.setState(now)
}

func (s *Session) setState(now State) {
	s.restIdle()
	if now != s.state {
		s.state = now
		s.tell(StateChanged{now})
	}
}

// A CLI that is silent for long may be retrying: before 2.1.112 it does so for three minutes without a word. Counting ticks instead
// of taking the time of each line keeps the clock out of the hot path.
const (
	quietTick  = 5 * time.Second
	quietAfter = 4 // ticks
)

func (s *Session) watchQuiet() {
	s.quietTicks, s.heard = 0, false
	s.quiet = time.AfterFunc(quietTick, s.tickQuiet)
}

func (s *Session) stopQuiet() {
	if s.quiet != nil {
		s.quiet.Stop()
		s.quiet = nil
	}
}

func (s *Session) tickQuiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet == nil {
		return
	}
	s.quietTicks++
	if s.heard || len(s.order) > 0 {
		s.quietTicks, s.heard = 0, false
	}
	s.tellState()
	s.quiet.Reset(quietTick)
}
