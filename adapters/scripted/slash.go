package scripted

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// isLocal says whether a message is a command the CLI carries out without the model. A scene of that name comes first.
func (p *process) isLocal(command string) bool {
	switch command {
	case "/clear", "/compact", "/cost", "/usage":
		return true
	}
	return false
}

func (t *turn) localCommand(command, argument string) error {
	t.ending.local = strings.TrimPrefix(command, "/")
	switch command {
	case "/clear":
		return t.clear()
	case "/compact":
		return t.compact()
	}
	return t.saying(func() {
		p := t.process
		p.put(p.initLine(t))
		cost := p.costText()
		t.text.add(escaped(cost))
		t.putMadeUp(cost, "end_turn", func(o *object) {
			o.str("local_command_source", "<local-command-stdout>"+cost+"</local-command-stdout>").
				raw("local_command_run", newObject().str("command", "usage").str("args", argument).String())
		})
		t.replayCommand("usage", argument)
	})
}

// replayCommand echoes a command in the words the CLI keeps it in. The caller holds the lock.
func (t *turn) replayCommand(name, argument string) {
	if !t.process.args.replay || t.echoed || t.own == 0 {
		return
	}
	t.echoed = true
	text := "<command-name>/" + name + "</command-name>\n            <command-message>" + name +
		"</command-message>\n            <command-args>" + argument + "</command-args>"
	t.process.echo(t.messages[t.own-1], newObject().str("role", "user").str("content", text).end())
}

// clear begins a new conversation: the session id changes in the middle of the process, and the cost starts again.
func (t *turn) clear() error {
	return t.saying(func() {
		p := t.process
		next := p.ids.uuid()
		o := event("conversation_reset").str("new_conversation_id", next).str("uuid", next).str("trigger", "clear")
		if u := t.uuids(); len(u) > 0 {
			o.str("user_message_uuid", t.mainUUID())
		} else {
			o.str("user_message_uuid", p.ids.uuid())
		}
		p.put(o.str("timestamp", timestamp()).str("session_id", p.session).end())
		p.session, p.spent, p.reported = next, ledger{}, ledger{}
		p.put(p.backgroundTasks())
		p.put(p.initLine(t))
		t.replayCommand("clear", "")
	})
}

// compact is /compact; the directive of the same name is what happens by itself in a long conversation.
func (t *turn) compact() error {
	p := t.process
	if err := t.compacting(); err != nil {
		return err
	}
	return t.saying(func() {
		p.put(p.status().null("status").str("compact_result", "success").str("session_id", p.session).str("uuid", p.ids.uuid()).end())
		p.put(p.initLine(t))
		t.putBoundary("manual")
		p.put(event("user").raw("message", newObject().str("role", "user").
			str("content", "<local-command-stdout>Compacted </local-command-stdout>").String()).
			str("session_id", p.session).null("parent_tool_use_id").str("uuid", p.ids.uuid()).str("timestamp", timestamp()).bool("isReplay", true).end())
		t.replayCommand("compact", "")
	})
}

func (v *voice) compacting() error {
	if err := v.saying(func() {
		p := v.process
		p.put(p.status().str("status", "compacting").str("session_id", p.session).str("uuid", p.ids.uuid()).end())
	}); err != nil {
		return err
	}
	return v.pause(v.process.script.latency)
}

// putBoundary marks where the conversation was cut. The caller holds the lock.
func (v *voice) putBoundary(trigger string) {
	p := v.process
	p.put(event("system").str("subtype", "compact_boundary").str("session_id", p.session).str("uuid", p.ids.uuid()).
		raw("compact_metadata", newObject().str("trigger", trigger).int("pre_tokens", p.spent.input+p.spent.output).int("post_tokens", 2500).
			int("cumulative_dropped_tokens", 0).int("duration_ms", 70).String()).str("logical_parent_uuid", p.ids.uuid()).end())
	p.put(event("user").raw("message", newObject().str("role", "user").
		str("content", "This session is being continued from a previous conversation that ran out of context. The full transcript is at: "+
			filepath.Join(p.projectDir(), p.session+".jsonl")).String()).
		str("session_id", p.session).null("parent_tool_use_id").str("uuid", p.ids.uuid()).str("timestamp", timestamp()).
		bool("isReplay", false).bool("isSynthetic", true).end())
}

// compactStep is a compaction in the middle of a turn.
type compactStep struct{}

func (compactStep) run(v *voice) error {
	if err := v.closeMessage("end_turn"); err != nil {
		return err
	}
	if err := v.compacting(); err != nil {
		return err
	}
	return v.saying(func() {
		p := v.process
		p.put(p.status().null("status").str("compact_result", "success").str("session_id", p.session).str("uuid", p.ids.uuid()).end())
		v.putBoundary("auto")
	})
}

func (p *process) costText() string {
	return fmt.Sprintf("Estimated cost:        $%.4f\nTotal duration (API):  0s\nTotal duration (wall): %ds\n"+
		"Total code changes:    0 lines added, 0 lines removed\nUsage:                 %d input, %d output, 0 cache read, 0 cache write",
		p.spent.usd(), int(time.Since(p.began)/time.Second), p.spent.input, p.spent.output)
}
