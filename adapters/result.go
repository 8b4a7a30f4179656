package adapters

import (
	"cmp"
	"strings"
)

// result reads the line that ends a turn.
//
// The outcome is told in many ways. is_error is false on the error subtypes of 2.0.0 and 2.1.17, and true on subtype success when the
// API failed; an interrupted turn is error_during_execution, and terminal_reason says aborted from 2.1.112 on; a refused or cut off
// answer is an error up to 2.1.112.
func (b *baseline) result(l *line, m *Message) {
	r := &Result{}
	m.Kind, m.Result = TurnResult, r
	if !isString(l.subtype) {
		m.Err = &MalformedError{Wire: m.Wire, Reason: "no subtype, so it does not tell how the turn ended"}
	}
	var isError, stop, terminal, errs, status, apiType []byte
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "is_error":
			isError = o.val
		case "stop_reason":
			stop = o.val
		case "terminal_reason":
			terminal = o.val
		case "errors":
			errs = o.val
		case "api_error_status":
			status = o.val
		case "api_error_type":
			apiType = o.val
		case "session_id":
			r.SessionID = str(o.val)
		case "result":
			if isString(o.val) {
				r.Text = Text(o.val)
			}
		case "user_message_uuids":
			r.UserMessages, b.named = stringList(o.val), true
		case "user_message_uuid":
			b.named = true
			if r.UserMessages == nil {
				r.UserMessages = stringList(o.val)
			}
		case "origin":
			r.Origin = cmp.Or(str(member(o.val, "kind")), str(o.val))
		case "usage":
			r.Usage = usage(o.val)
		case "modelUsage":
			if isObject(o.val) {
				r.ModelUsage, r.ContextWindow = o.val, b.contextWindow(o.val)
			}
		case "total_cost_usd":
			r.TotalCostUSD = number(o.val)
		case "duration_ms":
			r.DurationMS = integer(o.val)
		case "num_turns":
			r.NumTurns = int(integer(o.val))
		case "permission_denials":
			if isArray(o.val) {
				r.PermissionDenials = o.val
			}
		}
	}
	r.Answers = b.named || b.traits.ResultNames
	if reason := str(stop); reason != "" {
		b.turn.stopReason = reason
	}
	failed := isTrue(isError)
	switch subtype := str(l.subtype); {
	case strings.HasPrefix(str(terminal), "aborted"),
		b.turn.interrupted && (failed || subtype != "success"):
		r.Outcome, r.StopReason = Cancelled, "cancelled"
	case subtype == "error_max_turns":
		r.StopReason = "max_turns"
	case subtype == "error_max_budget_usd":
		r.StopReason = "max_budget"
	case failed && b.ranOut(int(integer(status)), r.Text.String()):
		r.StopReason = b.turn.stopReason
	case failed || subtype != "success" && subtype != "":
		r.Outcome, r.StopReason = Failed, "error"
		e := b.turn.apiError
		e.status = cmp.Or(int(integer(status)), e.status)
		e.apiType = cmp.Or(str(apiType), e.apiType)
		e.text = cmp.Or(r.Text.String(), readable(errs), e.text)
		e.terminal = str(terminal)
		r.Failure = e.failure(subtype)
	default:
		r.StopReason = stopReason(b.turn.stopReason)
	}
	if r.Outcome != Cancelled {
		b.discard(0, m)
	}
	b.stream.blocks = b.stream.blocks[:0]
	b.stream.id = ""
	b.turn = turn{}
	b.forget()
}

// ranOut: the model refused, or hit its limit of output tokens. Up to 2.1.112 that makes an error of the turn, whose text may come
// before the API's stop reason.
func (b *baseline) ranOut(status int, text string) bool {
	switch {
	case strings.Contains(text, "unable to respond to this request, which appears to violate our Usage Policy"):
		b.turn.stopReason = "refusal"
	case strings.Contains(text, "output token maximum"):
		b.turn.stopReason = "max_tokens"
	case status != 0 || statusIn(text) != 0:
		return false
	}
	return b.turn.stopReason == "refusal" || b.turn.stopReason == "max_tokens"
}

// stopReason keeps the API's words that our protocol knows.
func stopReason(s string) string {
	switch s {
	case "max_tokens", "refusal":
		return s
	case "model_context_window_exceeded":
		return "max_tokens"
	}
	return "end_turn"
}

// readable is the first error meant for people. "[ede_diagnostic] …" is a note of the CLI to itself.
func readable(errs []byte) string {
	for _, s := range stringList(errs) {
		if !strings.HasPrefix(s, "[ede_diagnostic]") {
			return s
		}
	}
	return ""
}

func usage(span []byte) (u Usage) {
	for o := object(span); o.next(); {
		switch string(o.key) {
		case "input_tokens":
			u.InputTokens = integer(o.val)
		case "output_tokens":
			u.OutputTokens = integer(o.val)
		case "cache_creation_input_tokens":
			u.CacheCreationInputTokens = integer(o.val)
		case "cache_read_input_tokens":
			u.CacheReadInputTokens = integer(o.val)
		}
	}
	return u
}

// contextWindow takes the window of the session's model from modelUsage, which has an entry for each model that was used (small ones
// write titles); if the model is not there by name, the largest.
func (b *baseline) contextWindow(modelUsage []byte) int {
	largest := 0
	for o := object(modelUsage); o.next(); {
		size := int(integer(member(o.val, "contextWindow")))
		if string(o.key) == b.model && size > 0 {
			return size
		}
		largest = max(largest, size)
	}
	return largest
}
