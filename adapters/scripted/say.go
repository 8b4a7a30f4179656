package scripted

import (
	"encoding/json"
	"regexp"
	"time"
)

// words cuts a text into the tokens of a model that speaks in words: each with the space before the next.
var words = regexp.MustCompile(`^\s+|\S+\s*`)

// textStep streams a line of text, word by word. Lines that follow each other are one block.
type textStep struct{ template string }

func (s textStep) run(v *voice) error { return v.speak(v.text(s.template)) }

func (v *voice) speak(text string) error {
	if err := v.openBlock("text", emptyText); err != nil {
		return err
	}
	return v.say("text_delta", "text", text)
}

// thinkStep is textStep for a thinking block.
type thinkStep struct{ template string }

func (s thinkStep) run(v *voice) error {
	if err := v.openBlock("thinking", emptyThinking); err != nil {
		return err
	}
	return v.say("thinking_delta", "thinking", v.text(s.template))
}

func (v *voice) say(kind, member, text string) error {
	pieces := words.FindAllString(text, -1)
	if v.message.lines {
		if len(pieces) == 0 {
			pieces = []string{""}
		}
		pieces[0] = "\n" + pieces[0]
	}
	v.message.lines = true
	for _, piece := range pieces {
		if err := v.delta(kind, member, escaped(piece)); err != nil {
			return err
		}
		if err := v.pause(v.pace()); err != nil {
			return err
		}
	}
	return nil
}

// tokenStep streams one token, verbatim: half a surrogate pair stays one.
type tokenStep struct {
	raw   string // the inside of a JSON string
	bytes int    // or so many bytes of filler
}

func (s tokenStep) run(v *voice) error {
	if err := v.openBlock("text", emptyText); err != nil {
		return err
	}
	v.message.lines = false
	if s.bytes == 0 {
		return v.delta("text_delta", "text", s.raw)
	}
	return v.saying(func() {
		m := v.message
		m.deltas++
		m.text.pad(s.bytes)
		if !v.streams() {
			return
		}
		head := event("stream_event").key("event")
		head.buf = append(head.buf, newObject().str("type", "content_block_delta").int("index", m.index).key("delta").buf...)
		head.buf = append(head.buf, newObject().str("type", "text_delta").key("text").buf...)
		tail := &object{buf: []byte(`"}}`)}
		tail.str("session_id", v.process.session).null("parent_tool_use_id").str("uuid", v.process.ids.uuid()).str("api_message_id", m.id)
		v.process.putLong(append(head.buf, '"'), &longText{parts: []stretch{{fill: s.bytes}}}, tail.end())
	})
}

// wholeStep is an answer that was not streamed, as after a stream that broke: one assistant line, no events.
type wholeStep struct{ template string }

func (s wholeStep) run(v *voice) error {
	if err := v.closeMessage("end_turn"); err != nil {
		return err
	}
	text := escaped(v.text(s.template))
	return v.saying(func() {
		if v.turn != nil {
			v.turn.replay()
		}
		v.message, v.owed = &message{id: v.process.ids.message(), kind: "text", whole: true}, false
		v.message.text.add(text)
		v.reportBlock(false)
		v.spend()
		v.message = nil
		if v.turn != nil {
			v.turn.requested = false
		}
	})
}

// paceStep sets how long a word takes from now on, in this answer.
type paceStep struct{ d time.Duration }

func (s paceStep) run(v *voice) error { v.tempo = &s.d; return nil }

func (v *voice) pace() time.Duration {
	if v.tempo != nil {
		return *v.tempo
	}
	return v.process.script.pace
}

type delayStep struct{ d time.Duration }

func (s delayStep) run(v *voice) error { return v.pause(s.d) }

// hangStep never ends by itself.
type hangStep struct{}

func (hangStep) run(v *voice) error {
	select {
	case <-v.stop:
		return errInterrupted
	case <-v.process.ctx.Done():
		return errGone
	}
}

type repeatStep struct {
	times int
	steps []step
}

func (s repeatStep) run(v *voice) error {
	for range s.times {
		if err := v.run(s.steps); err != nil {
			return err
		}
	}
	return nil
}

func unescaped(inside string) string {
	var s string
	if json.Unmarshal([]byte(`"`+inside+`"`), &s) != nil {
		return inside
	}
	return s
}
