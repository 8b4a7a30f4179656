package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters"
	"drawbridge/adapters/scripted"

	"github.com/google/uuid"
)

// The fault suite: random scripts of what a user, an editor and a CLI can do to a session, in-process and on a synthetic clock, with
// the laws of the protocol checked at every event. A script is made from its seed; what fails is printed with it:
//
//	go test ./bridge -run TestChaos -chaos.seed 4711
//	go test ./bridge -run TestChaos -chaos.time 10m
var (
	chaosSeed = flag.Uint64("chaos.seed", 0, "play the one script of this seed")
	chaosTime = flag.Duration("chaos.time", 3*time.Second, "play random scripts for so long")
)

// hangLimit is real time: a script takes milliseconds. A lock that is never released stops the synthetic clock, too.
const hangLimit = time.Minute

func TestChaos(t *testing.T) {
	script, err := scripted.Parse([]byte(chaosScenes))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if *chaosSeed != 0 {
		new(chaosCount).play(t, *chaosSeed, script, dir)
		return
	}
	first := rand.Uint64() >> 16
	var count chaosCount
	var next atomic.Uint64
	deadline := time.Now().Add(*chaosTime)
	t.Run("scripts", func(t *testing.T) {
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for time.Now().Before(deadline) && !t.Failed() {
					count.play(t, first+next.Add(1), script, dir)
				}
			})
		}
	})
	t.Logf("%d scripts, %d steps, %d faults, %d messages, %d prompts", count.scripts.Load(), count.steps.Load(), count.faults.Load(),
		count.messages.Load(), count.prompts.Load())
}

// chaosCount says how much was tried.
type chaosCount struct{ scripts, steps, faults, messages, prompts atomic.Int64 }

// play plays one script.
func (n *chaosCount) play(t *testing.T, seed uint64, script *scripted.Script, dir string) {
	hang := time.AfterFunc(hangLimit, func() {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", buf[:runtime.Stack(buf, true)])
		panic(fmt.Sprintf("chaos: the script of seed %d hangs", seed))
	})
	defer hang.Stop()
	defer func() {
		if t.Failed() {
			t.Logf("chaos: replay with -run TestChaos -chaos.seed %d", seed)
		}
		if p := recover(); p != nil {
			panic(fmt.Sprintf("chaos: seed %d: %v", seed, p))
		}
	}()
	n.scripts.Add(1)
	synctest.Test(t, func(t *testing.T) {
		c := &chaos{T: t, n: n, seed: seed, dice: dice{Rand: rand.New(rand.NewPCG(seed, 0))}, views: map[*Session]*chaosView{},
			prompts: map[string]*chaosPrompt{}, allowed: map[string]int{}}
		c.cli = &chaosCLI{chaos: c, script: script, version: "2.1.329"}
		if c.chance(20) {
			c.cli.version = []string{"2.1.112", "2.1.17", "2.0.0"}[c.IntN(3)]
		}
		c.run(dir)
		if t.Failed() {
			t.Logf("seed %d, version %s:\n%s", seed, c.cli.version, c.story())
		}
	})
}

// dice is a source of randomness that several goroutines may use.
type dice struct {
	*rand.Rand
	mu sync.Mutex
}

func (d *dice) IntN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Rand.IntN(n)
}

func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

// pause is nothing, or up to some seconds, mostly short. There are few lengths, so that things often happen at the same moment.
func (d *dice) pause() time.Duration {
	return []time.Duration{0, 0, 0, time.Millisecond, 2 * time.Millisecond, 21 * time.Millisecond, 100 * time.Millisecond,
		time.Second, 2 * time.Second, 7 * time.Second}[d.IntN(10)]
}

const chaosScenes = `
latency 1ms
-- bash * --
match bash *
bash $1
takes 20ms
on deny {
	text Not run: $REASON
}
text Ran it.
-- three --
match three
text Looking.
parallel {
	tool Read {"file_path":"/etc/a"}
	ask
	tool Read {"file_path":"/etc/b"}
	ask
	tool Read {"file_path":"/etc/c"}
	ask
}
text All read.
-- long --
match long
tokens 100 every 10ms
-- flood --
match flood
tokens 300
-- sleep --
match sleep
tool Bash {"command":"sleep 10"}
run
takes 10s
-- question --
match question
question [DB] Which database? | PostgreSQL: server | SQLite: embedded
text You said: $ANSWER
-- plan --
match plan
mode plan
plan 1. do it
text Planned.
-- agent --
match agent
subagent general-purpose Look around {
	read /etc/hosts
	bash touch inside
}
text It is done.
-- background --
match background
subagent background general-purpose Look around {
	bash touch inside
	delay 300ms
} then {
	text The agent is back.
	bash touch after
}
text Started.
-- fail * --
match fail *
text Half of
fail 529 scripted failure
-- retry --
match retry
retry 529 3 every 1s
text Through.
-- abandon --
match abandon
text One two three
abandon
text Again.
-- halves --
match halves
token "\ud83d"
token "\ude00 and \ud83d"
token "\ude00"
-- whole --
match whole
whole All at once.
-- die --
match die
text Some words
die
-- exit --
match exit
stderr the disk is gone
exit 3
-- quit --
match quit
text Nearly
half
exit 0
-- deaf --
match deaf
ignore interrupt
ignore term
tokens 100 every 100ms
-- odd --
match odd
raw null
raw [1,2]
raw "text"
raw {"type":"brand_new","x":1}
raw this is no JSON
raw {"type":"control_request","request_id":"odd-1","request":{"subtype":"never_heard_of"}}
raw {"type":"control_cancel_request","request_id":"never-asked"}
raw {"type":"control_response","response":{"subtype":"success","request_id":"drawbridge-99999"}}
line bytes 200KB
text Still here.
-- compact --
match compact
text Before.
compact
text After.
-- limit --
match limit
text So far.
limit turns
`

// chaosWords are what the user says.
var chaosWords = []string{"hello there", "bash touch a", "bash touch a", "bash touch b", "three", "three", "three", "agent", "background", "long", "flood", "sleep", "question", "plan", "agent",
	"background", "fail 529", "retry", "abandon", "halves", "whole", "die", "exit", "quit", "deaf", "odd", "compact", "limit", "/clear", "/cost"}

// chaos is one script being played: a Bridge, its Client, and the laws.
type chaos struct {
	*testing.T
	dice
	n        *chaosCount
	seed     uint64
	bridge   *Bridge
	cli      *chaosCLI
	sessions []*Session
	closed   map[*Session]bool
	work     sync.WaitGroup // requests of the editor under way
	calm     atomic.Bool    // no more faults; every question is allowed
	granted  atomic.Bool    // something is allowed for a session, so that not every allow is an answer

	mu        sync.Mutex
	lines     []string
	views     map[*Session]*chaosView
	prompts   map[string]*chaosPrompt // by prompt id
	allowed   map[string]int          // allows that the user has given, by the CLI's request id
	stall     chan struct{}           // not nil: the editor does not read until it is closed
	readAgain time.Time               // when it last began to
	cancels   []context.CancelFunc    // of the user messages under way
	ids       []string                // user message ids given
}

// chaosView is what the editor knows of a session.
type chaosView struct {
	turn     string            // that runs
	awaiting string            // turn_complete came, its answer did not
	complete map[string]bool   // turns
	tools    map[string]bool   // announced
	blocks   map[string]string // raw text of tokens in this turn, by message and block
	order    []string
	whole    bool // the turn had text that was not streamed
}

type chaosPrompt struct {
	p        *Prompt
	session  *Session
	asked    bool
	returned bool // the client is done with it
	resolved int
}

func (c *chaos) log(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf("%9.3f ", float64(time.Now().UnixMicro()%1e9)/1e6)+fmt.Sprintf(format, args...))
}

func (c *chaos) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log(format, args...)
}

func (c *chaos) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines[max(0, len(c.lines)-400):], "\n")
}

// broken reports a law that does not hold. Called with mu held.
func (c *chaos) broken(format string, args ...any) {
	c.log("LAW BROKEN: "+format, args...)
	c.Errorf("seed %d: "+format, append([]any{c.seed}, args...)...)
}

func (c *chaos) run(dir string) {
	c.closed = map[*Session]bool{}
	c.bridge = New(Options{Client: c, CLI: c.cli, Version: "test"})
	c.open(dir)
	for range 3 + c.IntN(25) {
		c.n.steps.Add(1)
		c.step(dir)
		time.Sleep(c.pause())
	}
	c.settleDown()
	c.end()
}

func (c *chaos) open(dir string) {
	o := SessionOptions{CWD: dir, Trusted: true, Streaming: true, CanAsk: !c.chance(5), CanAnswer: !c.chance(10)}
	if c.chance(15) {
		o.PermissionTimeout = 2 * time.Second
	}
	s, err := c.bridge.Open(o)
	if err != nil {
		c.Fatal(err)
	}
	c.sessions = append(c.sessions, s)
	if c.chance(30) {
		s.Start()
	}
}

func (c *chaos) session() *Session { return c.sessions[c.IntN(len(c.sessions))] }

// step is one thing that happens.
func (c *chaos) step(dir string) {
	s := c.session()
	switch dice := c.IntN(100); {
	case dice < 45:
		c.send(s, chaosWords[c.IntN(len(chaosWords))])
	case dice < 60:
		queued := c.chance(30)
		c.say("> interrupt %v", queued)
		c.async(func(ctx context.Context) { _ = s.Interrupt(ctx, queued) })
	case dice < 66:
		c.mu.Lock()
		if len(c.cancels) > 0 {
			c.log("> cancel")
			c.cancels[c.IntN(len(c.cancels))]()
		}
		c.mu.Unlock()
	case dice < 78:
		c.control(s)
	case dice < 82:
		c.say("> stall")
		c.mu.Lock()
		if c.stall == nil {
			c.stall = make(chan struct{})
		}
		c.mu.Unlock()
	case dice < 86:
		c.resume()
	case dice < 92:
		if c.cli.kill() {
			c.n.faults.Add(1)
			c.say("> kill")
		}
	case dice < 95 && len(c.sessions) < 3:
		c.open(dir)
	case dice < 97:
		c.say("> close")
		c.closed[s] = true
		c.async(func(ctx context.Context) { _ = s.Close(ctx) })
	default:
		c.async(func(ctx context.Context) { _ = s.Snapshot(); _ = c.bridge.Health() })
	}
}

// async does what blocks, as a request of the editor that may be cancelled.
func (c *chaos) async(do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	if c.chance(10) {
		time.AfterFunc(c.pause(), cancel)
	}
	c.work.Go(func() { defer cancel(); do(ctx) })
}

// control sends one of the timed requests.
func (c *chaos) control(s *Session) {
	dice := c.IntN(7)
	c.say("> control %d", dice)
	c.async(func(ctx context.Context) {
		began := time.Now()
		switch dice {
		case 0, 1:
			_, _ = s.SetPermissionMode(ctx, modes[c.IntN(len(modes))])
		case 2:
			_, _ = s.SetModel(ctx, "haiku")
		case 3:
			_, _ = s.SetMaxThinkingTokens(ctx, 1000)
		case 4:
			_, _ = s.MCPStatus(ctx)
		case 5:
			_, _ = s.ContextUsage(ctx)
		case 6:
			_, _ = s.RewindFiles(ctx, uuid.NewString(), true)
		}
		if took := time.Since(began); took > versionLimit+initializeLimit+controlLimit+3*time.Second && !c.stalledSince(began) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.broken("control request %d took %v", dice, took)
		}
	})
}

// stalledSince: the editor has not been reading, so that a CLI that ends may not be seen to end.
func (c *chaos) stalledSince(began time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stall != nil || c.readAgain.After(began) || !c.calm.Load()
}

func (c *chaos) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stall != nil {
		c.log("> read again")
		close(c.stall)
		c.stall, c.readAgain = nil, time.Now()
	}
}

// send says something to a session. The answer comes through the channel, which is nil if the message was not taken.
func (c *chaos) send(s *Session, text string) <-chan TurnResult {
	m := UserMessage{ID: uuid.NewString(), Content: quoted(text), Reject: c.chance(5)}
	if c.chance(10) && len(c.ids) > 0 {
		m.ID = c.ids[c.IntN(len(c.ids))] // of a message in the queue, or of one that is over
	}
	c.ids = append(c.ids, m.ID)
	c.say("> say %s (%.8s)", text, m.ID)
	turn, err := s.Begin(m)
	if err != nil {
		c.say("  refused: %v", err)
		return nil
	}
	c.n.messages.Add(1)
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	c.cancels = append(c.cancels, cancel)
	c.mu.Unlock()
	late := time.Duration(0)
	if c.chance(20) {
		late = time.Duration(c.IntN(300)) * time.Millisecond
	}
	answer := make(chan TurnResult, 1)
	c.work.Go(func() {
		r := turn.Wait(ctx)
		time.Sleep(late) // an answer takes its time to be written
		c.answered(s, m.ID, r)
		turn.Answered()
		answer <- r
	})
	return answer
}

// answered checks the answer to a message.
func (c *chaos) answered(s *Session, id string, r TurnResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view(s)
	c.log("answer %.8s %s %s turn %.8s", id, r.Status, r.StopReason, r.TurnID)
	switch {
	case r.UserMessageID != id || r.SessionID != s.ID():
		c.broken("the answer to %s is for %s", id, r.UserMessageID)
	case r.TurnID == "" && r.Status != cancelled:
		c.broken("a message without a turn was answered %s", r.Status)
	case r.TurnID != "" && v.awaiting != r.TurnID:
		c.broken("the answer of turn %s came, but turn_complete was for %q", r.TurnID, v.awaiting)
	case r.Status == failed && (r.Error == nil || r.Error.Message == ""):
		c.broken("a failure does not say why")
	case r.Status != completed && r.Status != cancelled && r.Status != failed:
		c.broken("the status is %q", r.Status)
	}
	if r.TurnID != "" {
		if text := v.text(); r.Status == completed && r.Result != nil && !v.whole && !c.cli.garbles.Load() && !strings.HasSuffix(text, *r.Result) {
			c.broken("the tokens are %q, the result is %q", text, *r.Result)
		}
		v.awaiting = ""
	}
}

// settleDown ends all faults; after that every session that is open must work again.
func (c *chaos) settleDown() {
	c.say("> calm")
	c.calm.Store(true)
	c.resume()
	for _, s := range c.sessions {
		if c.closed[s] {
			continue
		}
		for tries := 0; ; tries++ {
			_ = s.Interrupt(context.Background(), true)
			answer := c.send(s, "hello there")
			if answer == nil {
				continue // the id was of a message under way, or the session was not idle
			}
			var r TurnResult
			select {
			case r = <-answer:
			case <-time.After(time.Minute):
			}
			if r.Status == completed && r.Result != nil && *r.Result == "Echo: hello there" {
				break
			}
			if tries == 5 {
				c.mu.Lock()
				c.broken("a session does not work any more: %+v %v", r, r.Error)
				c.mu.Unlock()
				break
			}
		}
	}
}

// end closes the bridge and looks what is left.
func (c *chaos) end() {
	if c.chance(10) {
		c.send(c.session(), "long")
	}
	c.say("> shutdown")
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c.bridge.Close(ctx)
	if took := time.Since(began); took > 5*time.Second {
		c.Errorf("seed %d: Close took %v", c.seed, took)
	}
	done := make(chan struct{})
	go func() { c.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		c.Errorf("seed %d: a request is not answered after Close", c.seed)
		<-done
	}
	c.cli.gone()
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.prompts {
		if p.resolved != 1 || p.asked != p.returned {
			c.broken("prompt %s was resolved %d times, returned %v", id, p.resolved, p.returned)
		}
	}
	for _, s := range c.sessions {
		if v := c.view(s); v.turn != "" || v.awaiting != "" {
			c.broken("turn %q has not ended, %q is not answered", v.turn, v.awaiting)
		}
		if n := len(s.prompts) + len(s.order) + len(s.queue) + len(s.held) + len(s.tasks) + len(s.openTools); n > 0 {
			c.broken("the session remembers %d things: %d prompts, %d in order, %d in the queue, %d held, %d tasks, %d tools", n,
				len(s.prompts), len(s.order), len(s.queue), len(s.held), len(s.tasks), len(s.openTools))
		}
		if len(s.noticed) > 100 || len(s.refused) > 20 {
			c.broken("the session remembers %d notices, %d refusals", len(s.noticed), len(s.refused))
		}
	}
}

func (c *chaos) view(s *Session) *chaosView {
	v := c.views[s]
	if v == nil {
		v = &chaosView{complete: map[string]bool{}, tools: map[string]bool{}, blocks: map[string]string{}}
		c.views[s] = v
	}
	return v
}

// text is what the tokens of the turn say, joined.
func (v *chaosView) text() string {
	var b strings.Builder
	for _, key := range v.order {
		b.WriteString(v.blocks[key])
	}
	return adapters.Text(`"` + b.String() + `"`).String()
}

// still checks that nothing of the session comes between turn_complete and the answer.
func (c *chaos) still(v *chaosView, what string) {
	if v.awaiting != "" {
		c.broken("%s came between turn_complete and the answer", what)
	}
}

// Message implements Client.
func (c *chaos) Message(s *Session, m *adapters.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view(s)
	c.still(v, m.Kind.String())
	if m.Discarded != nil {
		c.log("discarded %s from %d", m.Discarded.MessageID, m.Discarded.FromBlock)
		v.order = slices.DeleteFunc(v.order, func(key string) bool {
			id, block, _ := strings.Cut(key, "/")
			n := 0
			_, _ = fmt.Sscan(block, &n)
			return id == m.Discarded.MessageID && n >= m.Discarded.FromBlock
		})
	}
	switch m.Kind {
	case adapters.Token, adapters.Thinking:
		if v.turn == "" {
			c.broken("a token without a turn")
		}
		key := fmt.Sprintf("%s/%d", m.MessageID, m.Block)
		if m.Parent == "" && m.Kind == adapters.Token {
			if !slices.Contains(v.order, key) {
				v.order = append(v.order, key)
				v.blocks[key] = ""
			}
			v.blocks[key] += string(m.Text[1 : len(m.Text)-1])
		}
	case adapters.Assistant:
		for i := range m.Blocks {
			b := &m.Blocks[i]
			if b.Type == "tool_use" {
				v.tools[b.ToolUse.ID] = true
				c.log("tool %s %s parent %q", b.ToolUse.Name, b.ToolUse.ID, m.Parent)
			} else if m.Parent == "" && !b.Streamed {
				v.whole = true
			}
		}
	case adapters.ToolResults:
		for i := range m.Results {
			id := m.Results[i].ToolUseID
			c.log("result %s", id)
			for _, p := range c.prompts {
				if p.p.ToolUseID == id && p.session == s && p.resolved == 0 && p.asked {
					c.broken("tool_result of %s before its prompt was resolved", id)
				}
			}
		}
	case adapters.BlockStop, adapters.Skipped:
	default:
		c.log("line %s", m.Wire)
	}
	return nil
}

// Event implements Client.
func (c *chaos) Event(s *Session, e Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view(s)
	c.still(v, fmt.Sprintf("%T", e))
	switch e := e.(type) {
	case TurnStarted:
		c.log("turn_start %.8s %s message %.8s", e.TurnID, e.Origin, e.UserMessageID)
		if v.turn != "" || v.complete[e.TurnID] || e.TurnID == "" {
			c.broken("turn %s starts while %q runs", e.TurnID, v.turn)
		}
		v.turn, v.order, v.whole = e.TurnID, nil, false
		clear(v.blocks)
	case TurnCompleted:
		c.log("turn_complete %.8s %s %s", e.TurnID, e.Origin, e.Status)
		if v.turn != e.TurnID {
			c.broken("turn %s is complete, but %q runs", e.TurnID, v.turn)
		}
		for id, p := range c.prompts {
			if p.session == s && p.p.Parent == "" && p.resolved == 0 {
				c.broken("turn %s ends with prompt %s open", e.TurnID, id)
			}
		}
		v.turn, v.complete[e.TurnID] = "", true
		if e.Origin == fromUser {
			v.awaiting = e.TurnID
		}
	case PromptResolved:
		c.log("prompt_resolved %s %s by %s", e.PromptID, e.Outcome, e.By)
		p := c.prompts[e.PromptID]
		if p == nil { // it never got to the editor
			p = &chaosPrompt{p: &Prompt{Permission: &adapters.Permission{ToolUseID: e.ToolUseID}}, session: s}
			c.prompts[e.PromptID] = p
		}
		if p.resolved++; p.resolved > 1 {
			c.broken("prompt %s is resolved again", e.PromptID)
		}
		if p.asked && !p.returned && (e.Outcome == "withdrawn" || e.By == "user") {
			c.broken("prompt %s is resolved before the editor's question was taken back", e.PromptID)
		}
	case StateChanged:
		c.log("state %s", e.State.State)
	case Notice:
		c.log("notice %s: %.200s", e.Kind, e.Message)
	}
	return nil
}

// Flush implements Client: an editor that does not read stops the pump here.
func (c *chaos) Flush(*Session) error {
	c.mu.Lock()
	stall := c.stall
	c.mu.Unlock()
	if stall != nil {
		<-stall
	}
	return nil
}

var errEditor = errors.New("the editor failed")

// Permission implements Client: a user of every kind.
func (c *chaos) Permission(ctx context.Context, s *Session, p *Prompt) (Decision, error) {
	c.asked(ctx, s, p)
	d, err := c.decide(ctx, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompts[p.ID].returned = true
	if err == nil && d.Decision == "allow" && d.PromptID == p.ID && d.Scope != "galaxy" {
		c.allowed[p.RequestID]++
	}
	c.log("user says %s %q %v", p.ID, d.Decision, err)
	return d, err
}

func (c *chaos) asked(ctx context.Context, s *Session, p *Prompt) {
	c.n.prompts.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log("asked %s for %s %s", p.ID, p.Tool, p.ToolUseID)
	known := c.prompts[p.ID]
	if known == nil {
		known = &chaosPrompt{p: p, session: s}
		c.prompts[p.ID] = known
	}
	known.asked = true
	if known.resolved > 0 && ctx.Err() == nil {
		c.broken("prompt %s is asked after it was resolved", p.ID)
	}
	if !c.view(s).tools[p.ToolUseID] && c.cli.version == "2.1.329" && !c.cli.garbles.Load() {
		c.broken("prompt %s is for tool use %s, which nobody has told of", p.ID, p.ToolUseID)
	}
}

func (c *chaos) decide(ctx context.Context, p *Prompt) (Decision, error) {
	wait := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	yes := Decision{PromptID: p.ID, Decision: "allow"}
	if c.calm.Load() {
		return yes, nil
	}
	switch c.IntN(20) {
	case 0, 1, 2, 3, 4:
		return yes, nil
	case 5, 6, 7:
		if !wait(c.pause()) && c.chance(50) {
			return Decision{}, ctx.Err()
		}
		return yes, nil // also when it is too late
	case 8, 9:
		return Decision{PromptID: p.ID, Decision: "deny", Message: "no"}, nil
	case 10:
		return Decision{PromptID: p.ID, Decision: "deny", Interrupt: true}, nil
	case 11:
		yes.PromptID = "p_0123456789abcdef"
	case 12:
		c.mu.Lock()
		for id := range c.prompts {
			if id != p.ID {
				yes.PromptID = id
			}
		}
		c.mu.Unlock()
	case 13:
		yes.Scope = "galaxy"
	case 18:
		if slices.Contains(p.Scopes, "session") {
			yes.Scope = "session"
			c.granted.Store(true)
		}
	case 14:
		yes.Decision = "yes"
	case 15:
		return Decision{}, errEditor
	case 16:
		yes.UpdatedInput = json.RawMessage(`{"command":"touch c"}`)
		if p.Tool != "Bash" {
			yes.Scope = "galaxy"
		}
	default:
		<-ctx.Done()
		return Decision{}, ctx.Err()
	}
	return yes, nil
}

// Question implements Client.
func (c *chaos) Question(ctx context.Context, s *Session, p *Prompt) (Answers, error) {
	c.asked(ctx, s, p)
	a, err := Answers{Answers: map[string]json.RawMessage{p.Questions[0].Question: json.RawMessage(`"SQLite"`)}}, error(nil)
	switch dice := c.IntN(5); {
	case c.calm.Load():
	case dice == 0:
		a = Answers{Declined: true}
	case dice == 1:
		a, err = Answers{}, errEditor
	case dice == 2:
		<-ctx.Done()
		a, err = Answers{}, ctx.Err()
	case dice == 3:
		a = Answers{Answers: map[string]json.RawMessage{"what?": json.RawMessage(`{`)}}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompts[p.ID].returned = true
	c.allowed[p.RequestID]++
	c.log("user answers %s %v", p.ID, err)
	return a, err
}

// chaosCLI starts scripted agents behind faults.
type chaosCLI struct {
	chaos   *chaos
	script  *scripted.Script
	version string
	garbles atomic.Bool // lines have been spoiled, so the order of what remains of them says nothing

	mu    sync.Mutex
	procs []*chaosProcess
}

func (l *chaosCLI) Known() ClaudeCode { return ClaudeCode{Level: "unknown"} }

// fault says whether something goes wrong now.
func (l *chaosCLI) fault(percent int) bool {
	if l.chaos.calm.Load() || !l.chaos.chance(percent) {
		return false
	}
	l.chaos.n.faults.Add(1)
	return true
}

func (l *chaosCLI) Find(ctx context.Context, _ string) (Found, *Error) {
	if l.fault(10) {
		select {
		case <-ctx.Done():
		case <-time.After(l.chaos.pause()):
		}
	}
	if l.fault(5) {
		return Found{ClaudeCode: ClaudeCode{Level: "missing"}}, fail(KindClaudeNotFound, "there is none")
	}
	return Found{ClaudeCode: ClaudeCode{Version: l.version, Level: "fully_compatible"}, Argv: []string{"claude"}}, nil
}

func (l *chaosCLI) Start(launch Launch) (Process, error) {
	if l.fault(3) {
		return nil, errors.New("no more processes")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &chaosProcess{chaos: l.chaos, cut: -1, signals: make(chan os.Signal, 1), done: make(chan struct{}), answers: map[string]int{}}
	if l.fault(35) {
		p.cut = l.chaos.IntN([]int{200, 3000, 20000}[l.chaos.IntN(3)])
		p.after = []string{"die", "exit 0", "hang", "mute", "spoil"}[l.chaos.IntN(5)]
		if p.after == "spoil" {
			l.garbles.Store(true)
		}
		l.chaos.say("  fault: %s after %d bytes", p.after, p.cut)
	}
	if l.fault(3) {
		p.deafAfter = 1 + l.chaos.IntN(2000)
		l.chaos.say("  fault: no input after %d bytes", p.deafAfter)
	}
	var theirIn, theirOut, theirErr *io.PipeReader
	var agentIn, agentOut, agentErr *io.PipeWriter
	theirIn, agentIn = io.Pipe()
	theirOut, agentOut = io.Pipe()
	theirErr, agentErr = io.Pipe()
	p.in, p.stderr = agentIn, theirErr
	var out *io.PipeWriter
	p.stdout, out = io.Pipe()
	ctx, kill := context.WithCancel(context.Background())
	p.killAgent = kill
	agent := scripted.Agent{Script: l.script, Args: launch.Argv[1:], Dir: launch.Dir, Signals: p.signals, Kill: kill, Number: len(l.procs) + 1}
	exited := make(chan int, 1)
	go func() { exited <- agent.Run(ctx, theirIn, agentOut, agentErr) }()
	go func() {
		defer close(p.done)
		copied := make(chan struct{})
		go func() { defer close(copied); p.copy(out, theirOut) }()
		code := <-exited
		<-copied
		if !p.lied {
			p.code = code
		}
	}()
	l.procs = append(l.procs, p)
	return p, nil
}

// kill kills one that lives.
func (l *chaosCLI) kill() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.procs {
		select {
		case <-p.done:
		default:
			p.killAgent()
			return true
		}
	}
	return false
}

func (l *chaosCLI) gone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range l.procs {
		select {
		case <-p.done:
		default:
			l.chaos.Errorf("seed %d: process %d is left", l.chaos.seed, i+1)
			p.killAgent()
		}
	}
}

// chaosProcess is a scripted agent whose pipes are faulty.
type chaosProcess struct {
	chaos          *chaos
	in             *io.PipeWriter
	stdout, stderr *io.PipeReader
	signals        chan os.Signal
	killAgent      func()
	done           chan struct{}
	code           int
	lied           bool // code is not the agent's own

	cut       int    // bytes of output before the fault; -1: none
	after     string // die, exit 0, hang, mute (the output ends, the process does not), spoil
	deafAfter int    // bytes of input before it reads no more; 0: never

	taken   int
	partial []byte
	answers map[string]int // to its requests, by id
}

// copy passes the agent's output on, up to the fault.
func (p *chaosProcess) copy(to *io.PipeWriter, from *io.PipeReader) {
	defer to.Close()
	buf := make([]byte, 8<<10)
	n := 0
	for {
		k, err := from.Read(buf)
		b := buf[:k]
		if p.cut >= 0 && n+k > p.cut && !p.chaos.calm.Load() {
			at := p.cut - n
			p.cut = -1
			if p.after == "spoil" && p.chaos.chance(70) {
				p.cut = n + k + p.chaos.IntN(5000) // once more, later
			}
			switch p.after {
			case "spoil":
				b = append(bytes.Clone(b[:at]), p.garbage(b[at:])...)
			default:
				_, _ = to.Write(b[:at])
				p.fail(to, from)
				return
			}
		}
		n += k
		if _, werr := to.Write(b); werr != nil {
			b = nil // nobody reads: the agent is not told
		}
		if err != nil {
			return
		}
	}
}

func (p *chaosProcess) fail(to *io.PipeWriter, from *io.PipeReader) {
	switch p.after {
	case "die":
		p.killAgent()
	case "exit 0":
		p.lied = true // 0
		p.killAgent()
	case "mute":
		_ = to.Close()
	}
	_, _ = io.Copy(io.Discard, from)
}

// garbage spoils what follows: something is lost, changed or put in between.
func (p *chaosProcess) garbage(rest []byte) []byte {
	switch p.chaos.IntN(5) {
	case 0:
		return append([]byte("\x00\xff garbage\n"), rest...)
	case 1:
		return append([]byte("{\"type\":\"assistant\",\"message\":\n"), rest...)
	case 2:
		if len(rest) > 3 {
			return rest[2:]
		}
	case 3:
		rest = bytes.Clone(rest)
		if len(rest) > 0 {
			rest[0] ^= 0x20
		}
	case 4:
		return append([]byte("\nnull\n{}\n\n[]\n\"\n"), rest...)
	}
	return rest
}

// Write takes the bridge's lines for the agent, and holds them to the laws: one answer to each question, and no allow that the
// user has not given.
func (p *chaosProcess) Write(b []byte) (int, error) {
	p.partial = append(p.partial, b...)
	for {
		line, rest, found := bytes.Cut(p.partial, []byte("\n"))
		if !found {
			break
		}
		p.line(line)
		p.partial = bytes.Clone(rest)
	}
	if p.taken += len(b); p.deafAfter > 0 && p.taken > p.deafAfter && !p.chaos.calm.Load() {
		<-p.done
		return 0, io.ErrClosedPipe
	}
	return p.in.Write(b)
}

func (p *chaosProcess) Close() error { return p.in.Close() }

func (p *chaosProcess) line(line []byte) {
	c := p.chaos
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log("< %.300s", line)
	var l struct {
		Type     string `json:"type"`
		Response struct {
			RequestID string `json:"request_id"`
			Response  struct {
				Behavior string `json:"behavior"`
			} `json:"response"`
		} `json:"response"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		c.broken("the CLI is sent %q: %v", line, err)
	}
	if l.Type != "control_response" {
		return
	}
	id := l.Response.RequestID
	if p.answers[id]++; p.answers[id] > 1 && !strings.HasPrefix(id, "odd") {
		c.broken("request %s is answered %d times", id, p.answers[id])
	}
	if l.Response.Response.Behavior == "allow" {
		if c.allowed[id]--; c.allowed[id] < 0 && !c.granted.Load() {
			c.broken("request %s is allowed, but nobody said so", id)
		}
	}
}

func (p *chaosProcess) Stdin() io.WriteCloser { return p }
func (p *chaosProcess) Stdout() io.Reader     { return p.stdout }
func (p *chaosProcess) Stderr() io.Reader     { return p.stderr }
func (p *chaosProcess) Kill() error           { p.killAgent(); return nil }
func (p *chaosProcess) Pid() int              { return 1 }

func (p *chaosProcess) Terminate() error {
	select {
	case p.signals <- syscall.SIGTERM:
	default:
	}
	return nil
}

func (p *chaosProcess) Wait() Exit {
	<-p.done
	if p.code == 137 {
		return Exit{Code: 137, Signal: "killed"}
	}
	return Exit{Code: p.code}
}
