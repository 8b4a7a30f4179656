package scripted

import (
	"fmt"
	"time"
)

// apiError is how the CLI names an HTTP status of the API.
type apiError struct{ name, kind string }

var apiErrors = map[int]apiError{
	0:   {"unknown", ""},
	400: {"unknown", "invalid_request_error"},
	401: {"authentication_failed", "authentication_error"},
	403: {"authentication_failed", "permission_error"},
	404: {"model_not_found", "not_found_error"},
	413: {"invalid_request", "request_too_large"},
	429: {"rate_limit", "rate_limit_error"},
	500: {"server_error", "api_error"},
	529: {"overloaded", "overloaded_error"},
}

// backoff is the CLI's schedule of retries, in milliseconds.
var backoff = []int{500, 1000, 2000, 4000, 9000, 17000, 35000, 37000, 37000, 37000}

// retryStep says that the API failed and is tried again, n times, and waits as long as it says.
type retryStep struct {
	status, n int
	every     time.Duration // instead of the schedule
}

func (s retryStep) run(v *voice) error {
	for i := range s.n {
		delay := time.Duration(backoff[min(i, len(backoff)-1)]) * time.Millisecond
		if s.every > 0 {
			delay = s.every
		}
		if err := v.sayRetry(i+1, s.status, delay); err != nil {
			return err
		}
		if err := v.pause(delay); err != nil {
			return err
		}
	}
	return nil
}

func (v *voice) sayRetry(attempt, status int, delay time.Duration) error {
	return v.saying(func() {
		p := v.process
		p.put(event("system").str("subtype", "api_retry").int("attempt", attempt).int("max_retries", len(backoff)).
			int("retry_delay_ms", int(delay/time.Millisecond)).raw("error_status", number(status)).str("error", apiErrors[status].name).
			str("session_id", p.session).str("uuid", p.ids.uuid()).end())
	})
}

// failStep ends the turn with an API error: a message the CLI makes up, and a result "success" that is an error.
type failStep struct {
	status  int
	message string
}

func (s failStep) run(v *voice) error {
	message := v.text(s.message)
	if message == "" {
		message = fmt.Sprintf("API Error: %d", s.status)
		if s.status == 0 {
			message = "API Error: Connection refused"
		}
	}
	e := apiErrors[s.status]
	name := e.name
	if s.status == 529 {
		name = "server_error" // named so in the message, and overloaded in the retries
	}
	if err := v.saying(func() {
		if v.message != nil {
			v.abandon()
		}
		if v.turn != nil {
			v.turn.replay()
			v.turn.text = longText{}
			v.turn.text.add(escaped(message))
			terminal := "api_error"
			if s.status == 413 {
				terminal = "image_error"
			}
			v.turn.ending = ending{terminal: terminal, isError: true, apiStatus: s.status, apiType: e.kind, stopReason: "stop_sequence"}
		}
		v.putMadeUp(message, "stop_sequence", func(o *object) {
			o.str("error", name)
			if s.status != 0 {
				o.str("request_id", "req_scripted")
			}
			o.bool("is_api_error_message", true)
			if s.status != 0 {
				o.int("api_error_status", s.status).str("api_error_type", e.kind)
			}
		})
	}); err != nil {
		return err
	}
	return errEnded
}

// putMadeUp prints an assistant line that no model wrote. The caller holds the lock.
func (v *voice) putMadeUp(text, stopReason string, extra func(*object)) {
	m := newObject().null("diagnostics").str("id", v.process.ids.uuid()).null("container").str("model", "<synthetic>").str("role", "assistant").
		null("stop_details").str("stop_reason", stopReason)
	if stopReason == "stop_sequence" {
		m.str("stop_sequence", "")
	} else {
		m.null("stop_sequence")
	}
	m.str("type", "message").raw("usage", `{"output_tokens_details":null,"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,`+
		`"cache_read_input_tokens":0,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":null,`+
		`"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":null,"iterations":null,"speed":null,"fallback_credit":null}`).
		raw("content", array([]string{textBlock(quoted(text))})).null("context_management")
	o := event("assistant").bytes("message", m.end())
	v.sign(o)
	extra(o)
	if t := v.turn; t != nil && v.agent == nil {
		if u := t.uuids(); len(u) > 0 && t.ending.local == "" {
			o.str("user_message_uuid", t.mainUUID()).strings("user_message_uuids", u)
		}
	}
	v.process.put(o.end())
}

// abandonStep cuts the message under way: its stream is closed without a complete message and taken back, the API is tried again,
// and what the script says next is a new message.
type abandonStep struct{ quiet bool }

func (s abandonStep) run(v *voice) error {
	if v.message == nil {
		return v.halted()
	}
	if err := v.saying(v.abandon); err != nil || s.quiet {
		return err
	}
	const delay = 500 * time.Millisecond
	if err := v.sayRetry(1, 0, delay); err != nil {
		return err
	}
	if v.turn != nil {
		v.turn.requested = true // the retry is no new request
	}
	return v.pause(delay)
}

// abandon: the caller holds the lock.
func (v *voice) abandon() {
	if v.message.kind != "" {
		v.stopBlock()
	}
	v.abandoned(0)
	v.spend()
	v.message = nil
}

// refuseStep is a message a safety classifier stopped; the CLI tries once more by itself.
type refuseStep struct{}

func (refuseStep) run(v *voice) error {
	if err := v.startMessage(); err != nil {
		return err
	}
	id := v.message.id
	if err := v.closeMessage("refusal"); err != nil {
		return err
	}
	return v.saying(func() {
		p := v.process
		p.refusals++
		p.put(event("system").str("subtype", "informational").str("content", "The model's safeguards stopped the response above · continuing once with that noted").
			str("level", "notice").str("uuid", p.ids.uuid()).str("session_id", p.session).end())
		v.putNote("Your response above was stopped by a safety classifier — this is not a tool or API error.", func(o *object) {
			o.bool("isSynthetic", true).str("refused_message_id", id)
		})
	})
}

// cutoffStep is a message that met the limit of output tokens; the CLI lets the model go on in another.
type cutoffStep struct{}

func (cutoffStep) run(v *voice) error {
	if err := v.closeMessage("max_tokens"); err != nil {
		return err
	}
	return v.saying(func() {
		v.putNote("Output token limit hit. Resume directly — no apology, no recap of what you were doing.", func(o *object) {
			o.bool("isSynthetic", true)
		})
	})
}

// putNote is a user line the CLI writes by itself. The caller holds the lock.
func (v *voice) putNote(text string, extra func(*object)) {
	if v.turn != nil {
		v.turn.tools++ // it counts in num_turns as a tool result does
	}
	v.process.put(v.userLine(newObject().str("role", "user").raw("content", array([]string{textBlock(quoted(text))})).end(), extra))
}

// limitStep ends the turn because a limit is reached.
type limitStep struct{ budget bool }

func (s limitStep) run(v *voice) error {
	if err := v.closeMessage("tool_use"); err != nil {
		return err
	}
	if t := v.turn; t != nil {
		t.ending = ending{subtype: "error_max_turns", terminal: "max_turns", isError: true, stopReason: "tool_use",
			errors: []string{"Reached maximum number of turns (2)"}}
		if s.budget {
			t.ending = ending{subtype: "error_max_budget_usd", terminal: "budget_exhausted", isError: true, stopReason: "tool_use",
				errors: []string{"Reached maximum budget ($0.0001)"}}
		}
	}
	return errEnded
}
