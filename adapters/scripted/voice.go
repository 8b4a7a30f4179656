package scripted

import (
	"regexp"
	"strings"
	"time"
)

// voice is who carries out steps: the main conversation, whose messages are streamed, or a subagent, whose
// messages come as whole blocks marked with the tool use that began it.
type voice struct {
	process *process
	turn    *turn // nil before the first message and for background agents
	agent   *task // the subagent that speaks; nil for the main conversation
	stop    chan struct{}
	vars    map[string]string // what $NAME stands for
	tempo   *time.Duration    // between words, if not the script's
	message *message          // the open API message
	uses    []*toolUse        // without a result yet, in the order of the message
	owed    bool              // a tool result has not been answered by a message yet
}

// step is one directive of a script.
type step interface {
	run(v *voice) error
}

func (v *voice) run(steps []step) error {
	for _, s := range steps {
		if err := s.run(v); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, unless the turn is interrupted or the process ends first.
func (v *voice) pause(d time.Duration) error {
	if d <= 0 {
		return v.halted()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-v.stop:
		return errInterrupted
	case <-v.process.ctx.Done():
		return errGone
	}
}

// halted says why nothing may be said any more.
func (v *voice) halted() error {
	if v.process.ctx.Err() != nil {
		return errGone
	}
	select {
	case <-v.stop:
		return errInterrupted
	default:
		return nil
	}
}

// saying runs write under the lock if there is still something to say. An interrupt that was answered before is
// never followed by a line of the turn's ordinary course.
func (v *voice) saying(write func()) error {
	v.process.lock()
	defer v.process.unlock()
	if err := v.halted(); err != nil {
		return err
	}
	write()
	return nil
}

var variable = regexp.MustCompile(`\$(\$|[A-Z]+(?:\.\w+)?|[1-9])`)

// expand replaces $NAME; quote is applied to each value (JSON text needs its values escaped).
func (v *voice) expand(text string, quote func(string) string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if name == "$$" {
			return "$"
		}
		return quote(v.value(name[1:]))
	})
}

func (v *voice) value(name string) string {
	p := v.process
	switch name {
	case "CWD":
		return p.cwd()
	case "MODE", "MODEL", "SESSION":
		p.lock()
		defer p.unlock()
		return map[string]string{"MODE": p.mode, "MODEL": p.model, "SESSION": p.session}[name]
	}
	head, member, dotted := strings.Cut(name, ".")
	if dotted && head == "INPUT" {
		return field([]byte(v.vars["INPUT"]), member)
	}
	return v.vars[name]
}

// set remembers what a later $NAME stands for.
func (v *voice) set(name, value string) {
	if v.vars == nil {
		v.vars = map[string]string{}
	}
	v.vars[name] = value
}

func same(s string) string { return s }

// text expands $NAME in plain text.
func (v *voice) text(template string) string { return v.expand(template, same) }
