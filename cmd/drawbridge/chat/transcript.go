package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"drawbridge/bridge"
	"drawbridge/rpc"
)

// transcript shows what the bridge tells.
type transcript struct {
	paper
	now   func() time.Time
	last  string     // what was shown last, for the blank lines between different things
	open  string     // the message and block whose text goes on; "" if something else came between
	tools []*toolUse // that run, in the order in which they began
	card  *toolUse   // the one shown last, if nothing came after it
	sent  []said     // user messages whose turn has not begun
	began time.Time  // of the last turn
	state bridge.State
	usage rpc.UsageReportParams
	mode  string // the permission mode
	model string
	off   bool // what the folder brings along was said to be off
	asked map[string]rpc.PermissionParams
	// noticed is the last notice.
	noticed string
	// onToken is called before a piece of an answer is shown. The tour and nobody else needs it.
	onToken func()
}

func newTranscript(p paper) *transcript {
	return &transcript{paper: p, now: time.Now, mode: "default", asked: map[string]rpc.PermissionParams{}}
}

// said is a user message.
type said struct{ id, text string }

// takeSent takes a message off those that wait.
func (t *transcript) takeSent(id string) (text string, ok bool) {
	i := slices.IndexFunc(t.sent, func(s said) bool { return s.id == id })
	if i < 0 {
		return "", false
	}
	text = t.sent[i].text
	t.sent = slices.Delete(t.sent, i, i+1)
	return text, true
}

// notified shows a notification of the bridge. One that does not decode or is not known is ignored.
func (t *transcript) notified(method string, params json.RawMessage) {
	switch method {
	case "turn_start":
		with(params, t.turnStart)
	case "assistant_token":
		with(params, func(p rpc.TokenParams) { t.token("text", p) })
	case "thinking_token":
		with(params, func(p rpc.TokenParams) { t.token("thinking", p) })
	case "assistant_message":
		with(params, t.message)
	case "message_discarded":
		t.section("notice")
		say(t, dim, "~ ", "(the answer above was cut off; it begins anew)")
	case "tool_use_start":
		with(params, t.toolStart)
	case "tool_result":
		with(params, t.toolResult)
	case "prompt_resolved":
		with(params, t.promptResolved)
	case "task_update":
		with(params, t.task)
	case "todo_update":
		with(params, t.todos)
	case "turn_complete":
		with(params, t.turnComplete)
	case "usage_report":
		with(params, func(p rpc.UsageReportParams) { t.usage = p })
	case "status_change":
		with(params, t.status)
	case "session_update":
		with(params, t.session)
	case "conversation_boundary":
		with(params, func(p rpc.ConversationBoundaryParams) {
			t.section("notice")
			say(t, dim, "— ", "the conversation was "+oneLine(p.Kind))
		})
	case "notice":
		with(params, t.notice)
	}
}

func with[P any](params json.RawMessage, show func(P)) {
	var p P
	if json.Unmarshal(params, &p) == nil {
		show(p)
	}
}

// section begins something of another kind, with a blank line before it.
func (t *transcript) section(kind string) {
	t.end()
	if t.last != "" && (t.last != kind || kind == "user" || kind == "prompt" || kind == "todos") {
		say(t, normal, "", "")
	}
	t.last, t.open, t.card = kind, "", nil
}

func (t *transcript) turnStart(p rpc.TurnStartParams) {
	text, ours := t.takeSent(p.UserMessageID)
	t.began = t.now()
	switch {
	case ours:
		t.section("user")
		say(t, bold, "› ", plain(text))
	case p.Origin == "background":
		t.section("notice")
		say(t, dim, "— ", "Claude goes on by itself")
	}
}

func (t *transcript) token(kind string, p rpc.TokenParams) {
	if t.onToken != nil {
		t.onToken()
	}
	if key := fmt.Sprint(kind, p.MessageID, p.Block); key != t.open {
		t.section(kind)
		t.open = key
		t.begin(look[kind].s, look[kind].margin)
	}
	t.print(look[kind].s, plain(p.Token))
}

// look is how the model's own words are shown.
var look = map[string]struct {
	s      style
	margin string
}{"text": {normal, ""}, "thinking": {dim, "∴ "}}

func (t *transcript) message(p rpc.AssistantMessageParams) {
	for _, raw := range p.Content {
		var b struct{ Type, Text, Thinking string }
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch {
		case b.Type == "text" && b.Text == "": // of a command that has nothing to say
		case b.Type == "text" && p.Origin == "command":
			t.section("command")
			say(t, normal, "  ", plain(b.Text))
		case b.Type == "text":
			t.section("text")
			say(t, normal, t.indent(p.ParentToolUseID), plain(b.Text))
		case b.Type == "thinking":
			t.section("thinking")
			say(t, dim, t.indent(p.ParentToolUseID)+look["thinking"].margin, plain(b.Thinking))
		default:
			t.section("text")
			say(t, dim, t.indent(p.ParentToolUseID), "["+oneLine(b.Type)+"]")
		}
	}
}

// promptResolved ends the card of a question.
func (t *transcript) promptResolved(p rpc.PromptResolvedParams) {
	asked, ours := t.asked[p.PromptID]
	delete(t.asked, p.PromptID)
	if !ours {
		return
	}
	s := good
	text := oneLine(p.Outcome)
	switch p.Outcome {
	case "denied", "declined", "withdrawn":
		s = bad
	}
	switch p.By {
	case "user":
	case "timeout":
		text += ": there was no answer in time"
	default:
		text += " by " + oneLine(p.By)
	}
	if p.By == "user" && p.Message != "" && p.Message != p.Outcome {
		text += ": " + plain(p.Message)
	}
	t.open, t.card, t.last = "", nil, "prompt"
	t.end()
	field := editableField(asked)
	if len(p.Input) == 0 || field == "" {
		say(t, s, "└ ", text)
		return
	}
	say(t, s, "└ ", text+", as it was changed:")
	say(t, bold, "  ", plain(member(p.Input, field)))
}

func (t *transcript) turnComplete(p rpc.TurnCompleteParams) {
	t.tools = nil // whatever has no result will get none
	if p.Origin == "background" {
		t.section("turn")
		say(t, dim, "— ", oneLine(p.Status))
	}
}
