package scripted

import (
	"errors"
	"strings"
	"time"
)

// turn is one answer to the user, from system/init to its result line.
type turn struct {
	voice
	messages []userMessage // those it answers
	own      int           // how many it began with; the others were folded in later
	origin   *task         // the finished background agent it speaks of, if the CLI began it by itself
	done     chan struct{} // closed when the result is out

	// Guarded by the process's lock.
	fresh   bool // announced but not begun: an interrupt now still names it in still_queued
	stopped bool // interrupted: nothing but the end may be said

	began     time.Time
	first     time.Time // when the first content came
	requested bool      // system/status "requesting" is out for the next API call
	echoed    bool
	announced bool // the first assistant line has carried the message's uuid
	spent     ledger
	tools     int // tool results
	denials   []string
	text      longText // of the last text block: the result
	ending    ending
}

// ending is how a turn ended, if not by an answer.
type ending struct {
	subtype, terminal string
	apiStatus         int
	apiType           string
	errors            []string
	stopReason        string
	local             string // the slash command
	isError           bool
}

var (
	errInterrupted = errors.New("interrupted")
	errEnded       = errors.New("the turn has ended")    // its ending is set
	errGone        = errors.New("the process has ended") // exit, die, kill
)

// newTurn: the caller holds the lock.
func (p *process) newTurn(messages []userMessage) *turn {
	t := &turn{messages: messages, own: len(messages), done: make(chan struct{}), began: time.Now()}
	t.voice = voice{process: p, turn: t, stop: make(chan struct{}), vars: map[string]string{}}
	return t
}

func (t *turn) uuids() []string {
	uuids := []string{}
	for _, m := range t.messages {
		if m.uuid != "" {
			uuids = append(uuids, m.uuid)
		}
	}
	return uuids
}

// mainUUID is the uuid a joined turn is known by: that of the last message it began with.
func (t *turn) mainUUID() string {
	for i := t.own - 1; i >= 0; i-- {
		if u := t.messages[i].uuid; u != "" {
			return u
		}
	}
	return t.uuids()[0]
}

func (t *turn) prompt() string { return texts(t.messages[:t.own]) }

func texts(messages []userMessage) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.text)
	}
	return strings.Join(all, "\n")
}

// play runs the turn. A fresh one begins a moment after its message, as with the real CLI, so that an interrupt sent
// right behind the message finds it not begun.
func (t *turn) play() {
	p := t.process
	defer close(t.done)
	if t.fresh {
		t.pause(p.script.latency) // an interrupt shows below
		if p.ctx.Err() != nil {
			return
		}
	}
	prompt := t.prompt()
	t.vars["PROMPT"] = prompt
	command, argument, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	scene := p.script.find(prompt, t.vars)

	p.lock()
	t.fresh = false
	t.began = time.Now()
	if n := len(t.messages); n > 1 && p.args.replay {
		for _, m := range t.messages[:n-1] { // the joined echo carries the last one's uuid
			p.echo(m, m.message)
		}
	}
	for _, m := range t.messages {
		p.lifecycle(m.uuid, "started")
	}
	p.unlock()

	var err error
	switch {
	case scene == nil && p.isLocal(command):
		err = t.localCommand(command, argument)
	default:
		if err = t.submitHooks(prompt); err == nil {
			p.lock() // the mode and the model may be changing
			p.put(p.initLine(t))
			p.unlock()
			t.requesting()
			err = t.answerWith(scene)
		}
	}
	if errors.Is(err, errInterrupted) {
		t.abort()
		err = nil
	}
	if err == nil || errors.Is(err, errEnded) {
		t.finish()
	}
}

func (p *process) initLine(t *turn) []byte { return p.init(t.uuids()) }

func (t *turn) answerWith(scene *scene) error {
	steps := t.process.script.fallback(t.origin)
	if scene != nil && t.origin == nil {
		steps = scene.steps
	}
	if err := t.run(steps); err != nil {
		return err
	}
	if t.owed { // a model answers the result of its last tool
		if err := t.speak("Done."); err != nil {
			return err
		}
	}
	if err := t.closeMessage("end_turn"); err != nil {
		return err
	}
	return t.stopHooks()
}

// requesting announces the next API call, once.
func (t *turn) requesting() {
	if t.requested {
		return
	}
	t.requested = true
	p := t.process
	p.lock()
	defer p.unlock()
	o := p.status().str("status", "requesting").str("session_id", p.session).str("uuid", p.ids.uuid())
	if u := t.uuids(); len(u) > 0 {
		o.strings("user_message_uuids", u)
	}
	p.put(o.end())
}

// echo repeats a user message, as --replay-user-messages asks. The caller holds the lock.
func (p *process) echo(m userMessage, message []byte) {
	uuid := m.uuid
	if uuid == "" {
		uuid = p.ids.uuid()
	}
	p.put(event("user").bytes("message", message).str("session_id", p.session).null("parent_tool_use_id").
		str("uuid", uuid).str("timestamp", timestamp()).bool("isReplay", true).end())
}

// replay echoes what the turn answers, just before the first content of its answer. The caller holds the lock.
func (t *turn) replay() {
	if t.echoed || t.own == 0 || !t.process.args.replay {
		return
	}
	t.echoed = true
	last := t.messages[t.own-1]
	message := []byte(last.message)
	if t.own > 1 {
		message = newObject().str("role", "user").str("content", t.prompt()).end()
	}
	t.process.echo(last, message)
}

// fold takes what was queued while tools ran into the running turn, as every 2.x does. It gets no result of its own.
func (t *turn) fold() {
	p := t.process
	p.lock()
	defer p.unlock()
	if t.stopped || len(p.queue) == 0 {
		return
	}
	if p.args.replay {
		for _, m := range p.queue {
			p.echo(m, m.message)
		}
	}
	for _, m := range p.queue {
		p.lifecycle(m.uuid, "started")
	}
	t.vars["FOLDED"] = texts(p.queue)
	t.messages = append(t.messages, p.queue...)
	p.queue = nil
}

// abort says what an interrupted turn says last. Where it was in a message, that message's text is reported whole and its stream
// closed; where it was in tools, each of them is rejected.
func (t *turn) abort() {
	p := t.process
	p.lock()
	defer p.unlock()
	t.replay()
	note := "[Request interrupted by user]"
	t.ending = ending{subtype: "error_during_execution", isError: true, terminal: "aborted_streaming",
		errors: []string{"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"}}
	if len(t.uses) > 0 {
		note = "[Request interrupted by user for tool use]"
		t.ending.terminal, t.ending.stopReason = "aborted_tools", "tool_use"
		t.ending.errors[0] = "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"
		t.cutMessage(nil)
		for _, u := range t.uses {
			p.put(u.rejectedLine())
			t.tools++
		}
	}
	t.tools++
	said := t.userLine(newObject().str("role", "user").raw("content", array([]string{textBlock(quoted(note))})).end(), nil)
	if len(t.uses) > 0 {
		p.put(said)
	} else {
		t.cutMessage(said)
	}
	t.uses = nil
}

// finish prints the result and tells what became of the messages; the process is idle from then on.
func (t *turn) finish() {
	p := t.process
	p.lock()
	defer p.unlock()
	p.failed = t.ending.isError
	last := "completed"
	if t.ending.isError {
		last = "cancelled"
	}
	for _, m := range t.messages[t.own:] {
		p.lifecycle(m.uuid, last)
	}
	prefix, suffix := t.resultLine()
	p.putLong(prefix, &t.text, suffix)
	p.results++
	for _, m := range t.messages[:t.own] {
		p.lifecycle(m.uuid, last)
	}
	p.turn = nil
}
