package chat

import (
	"fmt"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge"
	"drawbridge/rpc"
)

func (t *transcript) status(p rpc.StatusChangeParams) {
	t.state = p.State
	switch p.State.State {
	case "retrying":
		t.section("notice")
		say(t, dim, "! ", fmt.Sprintf("trying again in %s (%d of %d): %s", seconds(time.Duration(p.DelayMS)*time.Millisecond),
			p.Attempt, p.MaxAttempts, oneLine(p.Error)))
	case "exited":
		if p.Message != "" {
			t.notice(rpc.NoticeParams{Level: "error", Message: p.Message, Remedy: p.Remedy})
		}
	}
}

// session shows what the user may have to know of a change.
func (t *transcript) session(p rpc.SessionUpdateParams) {
	if m := p.PermissionMode; m != nil {
		if *m != t.mode {
			t.section("notice")
			say(t, dim, "— ", "permission mode: "+oneLine(*m))
		}
		t.mode = *m
	}
	if m := p.Model; m != nil {
		if t.model != "" && *m != t.model {
			t.section("notice")
			say(t, dim, "— ", "model: "+oneLine(*m))
		}
		t.model = *m
	}
	if p.Trust != nil && !p.Trust.Trusted && len(p.Trust.Off) > 0 && !t.off {
		t.off = true
		t.section("notice")
		say(t, dim, "! ", "This folder is not trusted, so these stay off:")
		for _, off := range p.Trust.Off {
			say(t, dim, "    ", oneLine(off))
		}
	}
}

// notice shows a notice, but not the same one twice: what keeps claude from starting is told whenever it is tried.
func (t *transcript) notice(p rpc.NoticeParams) {
	if p.Message == t.noticed {
		return
	}
	t.noticed = p.Message
	s := dim
	switch p.Level {
	case "error":
		s = bad
	case "warning":
		s = ask
	}
	t.section("notice")
	say(t, s, "! ", oneLine(p.Message))
	if p.Remedy != "" {
		say(t, dim, "  → ", oneLine(p.Remedy))
	}
}

// answered shows how the turn of a user message ended.
func (t *transcript) answered(r bridge.TurnResult) {
	if text, waiting := t.takeSent(r.UserMessageID); waiting { // it never had a turn
		t.section("turn")
		say(t, dim, "✗ ", "not sent: "+oneLine(text))
		return
	}
	t.section("turn")
	if r.Error != nil {
		t.failed(r.Error)
	}
	text := oneLine(r.Status)
	if r.StopReason != "" && r.StopReason != "end_turn" && r.StopReason != r.Status && r.StopReason != "error" {
		text += " (" + oneLine(r.StopReason) + ")"
	}
	if u := r.Usage; u != nil && *u != (adapters.Usage{}) {
		text += fmt.Sprintf(" · %s in, %s out", tokens(u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens), tokens(u.OutputTokens))
	}
	if r.CostUSD != nil {
		text += fmt.Sprintf(" · $%.4f", *r.CostUSD)
	}
	if w := t.usage.ContextWindow; w != nil && w.Size > 0 {
		text += fmt.Sprintf(" · context %d %%", 100*w.Used/w.Size)
	}
	if r.DurationMS > 0 {
		text += " · " + seconds(time.Duration(r.DurationMS)*time.Millisecond)
	}
	say(t, dim, "— ", text)
}

func (t *transcript) failed(e *bridge.Error) {
	say(t, bad, "✗ ", plain(e.Message))
	if e.Remedy != "" {
		say(t, normal, "  → ", plain(e.Remedy))
	}
	if e.StderrTail != "" {
		for _, l := range lines(plain(e.StderrTail)) {
			say(t, dim, "    ", l)
		}
	}
}

// tokens is a number of tokens, shortened as people say it.
func tokens(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
