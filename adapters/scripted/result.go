package scripted

import (
	"strconv"
	"time"
)

// ledger counts what the model's messages have used. The prices are made up but add up: 4 and 20 dollars
// a million tokens.
type ledger struct{ messages, input, output int }

func (l *ledger) add(input, output int) { l.messages++; l.input += input; l.output += output }

func (l ledger) minus(o ledger) ledger {
	return ledger{l.messages - o.messages, l.input - o.input, l.output - o.output}
}

func (l ledger) usd() float64 { return float64(l.input)*4e-6 + float64(l.output)*20e-6 }

// agentStats counts the subagents of a process.
type agentStats struct {
	background, foreground, completed, stopped int
	kinds                                      map[string]int
}

// turnUsage is the usage member of a result: that of one turn.
func turnUsage(l ledger) string {
	return newObject().int("input_tokens", l.input).int("cache_creation_input_tokens", 0).int("cache_read_input_tokens", 0).
		int("output_tokens", l.output).raw("output_tokens_details", `{"thinking_tokens":0}`).
		raw("server_tool_use", `{"web_search_requests":0,"web_fetch_requests":0}`).str("service_tier", "standard").
		raw("cache_creation", `{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}`).str("inference_geo", "").
		raw("iterations", "[]").str("speed", "standard").null("fallback_credit").String()
}

// modelUsage is by model, cumulative for the process.
func (p *process) modelUsage(l ledger) string {
	if l.messages == 0 {
		return "{}"
	}
	m := newObject().int("inputTokens", l.input).int("outputTokens", l.output).int("cacheReadInputTokens", 0).
		int("cacheCreationInputTokens", 0).int("webSearchRequests", 0).money("costUSD", l.usd()).int("contextWindow", contextWindow).
		int("maxOutputTokens", 128000).int("thinkingTokens", 0).int("cacheCreationEphemeral5mInputTokens", 0).
		int("cacheCreationEphemeral1hInputTokens", 0).str("canonicalModel", p.model).str("provider", "firstParty").str("costBasis", "list")
	return newObject().bytes(p.model, m.end()).String()
}

func (p *process) subagentStats() string {
	s := p.stats
	kinds := newObject()
	for _, a := range agents {
		if n := s.kinds[a.name]; n > 0 {
			kinds.int(a.name, n)
		}
	}
	depth := 0
	if s.background+s.foreground > 0 {
		depth = 1
	}
	return newObject().int("spawned", s.background+s.foreground).
		raw("requested", newObject().int("background", 0).int("foreground", s.foreground).int("unset", s.background).String()).
		int("started_in_background", s.background).int("max_depth", depth).int("spawned_by_subagents", 0).int("completed", s.completed).
		int("failed", 0).raw("killed", newObject().int("parent", 0).int("user", s.stopped).int("system", 0).String()).
		raw("refused", `{"depth_limit":0,"concurrency_limit":0,"budget":0}`).raw("by_type", kinds.String()).String()
}

// resultLine is the turn's last line, cut where the text of the answer belongs. Its members come in the order of 2.1.329, where "type"
// is not the first. The caller holds the lock.
func (t *turn) resultLine() (prefix, suffix []byte) {
	p, e := t.process, t.ending
	spent := t.spent
	if e.isError && e.terminal != "max_turns" {
		spent = ledger{} // the usage of a turn that was cut short is not counted
	}
	stop := "null"
	switch {
	case e.stopReason != "":
		stop = quoted(e.stopReason)
	case e.subtype == "" && e.local == "":
		stop = `"end_turn"`
	}
	subtype := e.subtype
	if subtype == "" {
		subtype = "success"
	}
	o := newObject()
	if e.local != "" {
		o.bool("is_error", false).int("duration_api_ms", 0).int("num_turns", 0)
	} else {
		o.int("duration_api_ms", t.apiTime())
	}
	o.raw("stop_reason", stop).str("session_id", p.session).money("total_cost_usd", p.spent.usd()).raw("usage", turnUsage(spent)).
		raw("modelUsage", p.modelUsage(p.spent)).raw("permission_denials", array(t.denials))
	if e.local == "" {
		terminal := e.terminal
		if terminal == "" {
			terminal = "completed"
		}
		o.str("terminal_reason", terminal)
	}
	o.str("fast_mode_state", "off").str("fast_mode_disabled_reason", fastMode)
	if t.origin != nil {
		o.raw("origin", newObject().str("kind", "task-notification").str("producer", "session-task").str("runId", t.origin.run).String())
	}
	o.raw("subagent_stats", p.subagentStats()).int("safety_stops", p.refusals)
	if e.local == "" {
		o.bool("is_error", e.isError).int("num_turns", 1+t.tools)
	}
	o.str("subtype", subtype)
	uuids := t.uuids()
	mark := func() {
		if len(uuids) > 0 {
			o.str("user_message_uuid", t.mainUUID())
		}
	}
	marks := func() {
		if len(uuids) > 0 {
			o.strings("user_message_uuids", uuids)
		}
	}
	switch {
	case subtype != "success":
		o.strings("errors", e.errors)
		mark()
		o.str("type", "result").int("duration_ms", t.elapsed()).str("uuid", p.ids.uuid())
		marks()
	case e.local != "":
		prefix = t.cutForResult(o)
		mark()
		marks()
		o.str("local_command", e.local).str("type", "result").int("duration_ms", t.elapsed()).str("uuid", p.ids.uuid())
	case e.isError:
		o.raw("api_error_status", number(e.apiStatus))
		if e.apiType != "" {
			o.str("api_error_type", e.apiType)
		}
		prefix = t.cutForResult(o)
		o.str("type", "result").int("duration_ms", t.elapsed()).str("uuid", p.ids.uuid())
		mark()
		marks()
	default:
		o.null("api_error_status")
		prefix = t.cutForResult(o)
		ttft := int(t.first.Sub(t.began) / time.Millisecond)
		o.int("ttft_ms", ttft).str("type", "result").int("duration_ms", t.elapsed()).str("uuid", p.ids.uuid()).
			int("ttft_stream_ms", ttft).int("time_to_request_ms", 0).int("first_content_frame_ms", ttft)
		mark()
		marks()
		if len(uuids) > 0 {
			o.int("request_sent_wall_ms", int(t.began.UnixMilli())).int("first_request_input_tokens", 10).
				int("first_request_cache_read_input_tokens", 0)
		}
	}
	o.int("queued_turn_count", 0).int("result_index", p.results).raw("model_usage_since_last_result", p.modelUsage(p.spent.minus(p.reported)))
	p.reported = p.spent
	if prefix == nil {
		t.text = longText{}
	}
	return prefix, o.end()
}

// cutForResult ends what comes before the answer's text and lets o go on behind it.
func (t *turn) cutForResult(o *object) []byte {
	prefix := append(o.key("result").buf, '"')
	o.buf = []byte{'"'}
	return prefix
}

func (t *turn) elapsed() int { return int(time.Since(t.began) / time.Millisecond) }

func (t *turn) apiTime() int {
	if t.spent.messages == 0 {
		return 0
	}
	return t.elapsed()
}

func number(n int) string {
	if n == 0 {
		return "null"
	}
	return strconv.Itoa(n)
}
