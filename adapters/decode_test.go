package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// line decodes one line with a fresh adapter of the newest version.
func decode(t *testing.T, lines ...string) *Message {
	t.Helper()
	a, m := For("2.1.329")(), &Message{}
	for _, l := range lines {
		a.Decode([]byte(l), m)
	}
	return m
}

const (
	start = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","content":[]}},"session_id":"s","parent_tool_use_id":null,"uuid":"u","api_message_id":"msg_1"}`
	open0 = `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null,"uuid":"u","api_message_id":"msg_1"}`
)

func delta(id string, index int, text string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}},"session_id":"fa058498-5737-419c-af0d-06faffaddc30","parent_tool_use_id":null,"uuid":"51712b79-48b8-462b-befc-207ce661d20f","api_message_id":%q}`, index, text, id)
}

func said(id, text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","content":[{"type":"text","text":%s}]},"parent_tool_use_id":null,"uuid":"u"}`, id, text)
}

func TestNoRecordedLineIsUnknownOrMalformedOrLog(t *testing.T) {
	for _, tr := range transcripts(t) {
		a, m := For(tr.version)(), Message{}
		for i, line := range tr.lines {
			a.Decode(line, &m)
			if m.Kind == Unknown || m.Kind == Malformed || m.Kind == Log {
				t.Errorf("%s line %d is %s (%s, %v)", tr.name, i+1, m.Kind, m.Wire, m.Err)
			}
			if !bytes.Equal(m.Raw, line) {
				t.Errorf("%s line %d: Raw is not the line", tr.name, i+1)
			}
		}
	}
}

// TestWhatAnEditorShowsEqualsTheConversation plays every transcript as an editor does: tokens are appended, discarded text is dropped, text
// that was not streamed is taken whole. In the end it has, for each message and block, the text of the assistant lines.
func TestWhatAnEditorShowsEqualsTheConversation(t *testing.T) {
	for _, tr := range transcripts(t) {
		t.Run(tr.name, func(t *testing.T) {
			type place struct {
				id    string
				block int
			}
			// As on the wire: half a surrogate pair may end one token and the other half begin the next.
			shown, want := map[place]string{}, map[place]string{}
			inner := func(text Text) string { return string(text[1 : len(text)-1]) }
			whole := func(inner string) string { return Text(`"` + inner + `"`).String() }
			unsettled := map[place]bool{} // shown, and neither confirmed nor discarded nor interrupted
			a, m := For(tr.version)(), Message{}
			for i, line := range tr.lines {
				a.Decode(line, &m)
				if d := m.Discarded; d != nil {
					for p := range shown {
						if p.id == d.MessageID && p.block >= d.FromBlock {
							delete(shown, p)
							delete(unsettled, p)
						}
					}
				}
				switch m.Kind {
				case Token, Thinking:
					p := place{m.MessageID, m.Block}
					shown[p] += inner(m.Text)
					unsettled[p] = true
				case Assistant:
					for _, b := range m.Blocks {
						if b.Text == nil || m.Parent != "" {
							continue
						}
						p := place{m.MessageID, b.Index}
						if !b.Streamed {
							shown[p] += inner(b.Text)
						}
						want[p] += inner(b.Text)
						delete(unsettled, p)
						if whole(shown[p]) != whole(want[p]) {
							t.Errorf("line %d: shown %q, the assistant said %q", i+1, whole(shown[p]), whole(want[p]))
						}
					}
				case TurnResult:
					if len(unsettled) > 0 && m.Result.Outcome != Cancelled {
						t.Errorf("line %d: the turn ended and %v is neither confirmed nor discarded", i+1, unsettled)
					}
					clear(unsettled)
				}
			}
		})
	}
}

func TestLinesThatAreNoObjectsAreLogs(t *testing.T) {
	for _, line := range []string{`null`, `[1,2]`, `"str"`, `42`, `true`, `Warning: something`, `{ braces } in text`, "\xff\xfe", `npm {`} {
		m := decode(t, line)
		if m.Kind != Log || string(m.Raw) != line {
			t.Errorf("%q is %s with raw %q", line, m.Kind, m.Raw)
		}
		if !json.Valid(m.Text) {
			t.Errorf("%q: text %s is no JSON", line, m.Text)
		}
	}
}

func TestHalfALineIsMalformedAndNamed(t *testing.T) {
	for _, tr := range transcripts(t) {
		for i, line := range tr.lines {
			if i%37 != 0 || len(line) < 20 {
				continue
			}
			a, m := For(tr.version)(), Message{}
			a.Decode(line[:len(line)*2/3], &m)
			if m.Kind != Malformed || m.Err == nil {
				t.Errorf("%s line %d, cut off, is %s", tr.name, i+1, m.Kind)
			}
		}
	}
	if m := decode(t, `{"type":"result","subtype":"succ`); m.Kind != Malformed || m.Wire != "result" {
		t.Errorf("half a result is %s %q", m.Kind, m.Wire)
	}
}

func TestUnknownTypesAndSubtypesAreCountedByName(t *testing.T) {
	for line, wire := range map[string]string{
		`{"type":"brand_new","x":1}`:                      "brand_new",
		`{"type":"system","subtype":"brand_new"}`:         "system/brand_new",
		`{"type":"brand_new","subtype":"one"}`:            "brand_new/one",
		`{"no":"type"}`:                                   "(no type)",
		`{"type":7}`:                                      "(odd type)",
		`{"type":null,"subtype":"x"}`:                     "(no type)",
		`{"type":"system"}`:                               "system",
		` {"type":"brand_new"}` + "\r":                    "brand_new",
		"\ufeff" + `{"type":"brand_new"}`:                 "brand_new",
		`{"type":"system","subtype":{"a":[]},"type":"z"}`: "z",
	} {
		if m := decode(t, line); m.Kind != Unknown || m.Wire != wire {
			t.Errorf("%s is %s %q, want %q", line, m.Kind, m.Wire, wire)
		}
	}
}

func TestKnownTypesThatCannotBeReadAreMalformed(t *testing.T) {
	for _, line := range []string{
		`{"type":"assistant"}`, `{"type":"assistant","message":7}`, `{"type":"assistant","message":{"content":"x"}}`,
		`{"type":"user","message":{}}`, `{"type":"stream_event"}`, `{"type":"stream_event","event":[]}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":7}}}`,
		`{"type":"control_request","request_id":"r"}`, `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}`,
		`{"type":"control_response"}`, `{"type":"system","subtype":"task_started"}`,
	} {
		if m := decode(t, line); m.Kind != Malformed || m.Err == nil {
			t.Errorf("%s is %s", line, m.Kind)
		}
	}
}

func TestAMalformedPermissionRequestCanStillBeAnswered(t *testing.T) {
	m := decode(t, `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}`)
	if m.Request == nil || m.Request.RequestID != "r1" {
		t.Errorf("request %+v", m.Request)
	}
}

func TestMembersMayComeInAnyOrder(t *testing.T) {
	m := decode(t, start,
		`{"api_message_id":"msg_1","uuid":"u","event":{"delta":{"text":"hi","type":"text_delta"},"index":0,"type":"content_block_delta"},"type":"stream_event"}`)
	if m.Kind != Token || string(m.Text) != `"hi"` || m.MessageID != "msg_1" {
		t.Errorf("%s %s %s", m.Kind, m.Text, m.MessageID)
	}
}

func TestATokenIsVerbatimHalfASurrogatePairIncluded(t *testing.T) {
	for _, text := range []string{`"\ud83d"`, `"a\/b\u0041"`, `"é\n"`, "\"\u2028\""} {
		if m := decode(t, start, open0, delta("msg_1", 0, text)); string(m.Text) != text || m.Kind != Token {
			t.Errorf("%s became %s (%s)", text, m.Text, m.Kind)
		}
	}
}

func TestARedoUnderAnotherIDDiscardsWhatWasStreamed(t *testing.T) {
	m := decode(t, start, open0, delta("msg_1", 0, `"partial "`), said("msg_2", `"whole"`))
	if m.Discarded == nil || *m.Discarded != (Discard{"msg_1", 0}) || m.Blocks[0].Streamed {
		t.Errorf("discarded %+v, streamed %t", m.Discarded, m.Blocks[0].Streamed)
	}
}

func TestOnlyUnconfirmedBlocksAreDiscarded(t *testing.T) {
	m := decode(t, start, open0, delta("msg_1", 0, `"first"`), said("msg_1", `"first"`),
		strings.Replace(open0, `"index":0`, `"index":1`, 1), delta("msg_1", 1, `"second"`),
		strings.ReplaceAll(start, "msg_1", "msg_2"))
	if m.Discarded == nil || *m.Discarded != (Discard{"msg_1", 1}) {
		t.Errorf("discarded %+v", m.Discarded)
	}
}

// A message that was given up and comes all the same must not lose text: what was dropped is told whole.
func TestAMessageThatComesBackAfterItsDiscardIsToldWhole(t *testing.T) {
	m := decode(t, start, open0, delta("msg_1", 0, `"par"`), said("msg_2", `"other"`), said("msg_1", `"partial"`))
	if m.Kind != Assistant || m.Blocks[0].Streamed || m.Blocks[0].Index != 0 {
		t.Errorf("%+v", m.Blocks[0])
	}
}

func TestSubagentLinesDoNotDisturbTheStream(t *testing.T) {
	sub := `{"type":"assistant","message":{"id":"msg_9","model":"m","content":[{"type":"text","text":"sub"}]},"parent_tool_use_id":"toolu_1"}`
	m := decode(t, start, open0, delta("msg_1", 0, `"a"`), sub)
	if m.Discarded != nil || m.Parent != "toolu_1" || m.Blocks[0].Streamed {
		t.Errorf("discarded %+v parent %q", m.Discarded, m.Parent)
	}
	m = decode(t, start, open0, delta("msg_1", 0, `"a"`), sub, said("msg_1", `"a"`))
	if !m.Blocks[0].Streamed {
		t.Error("the main agent's block is no longer taken for streamed")
	}
}

func TestAnInterruptedAnswerIsNotDiscarded(t *testing.T) {
	mark := `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null,"uuid":"u"}`
	end := `{"type":"result","subtype":"error_during_execution","is_error":false,"num_turns":0}`
	m := decode(t, start, open0, delta("msg_1", 0, `"a"`), mark, end)
	if m.Discarded != nil || m.Result.Outcome != Cancelled {
		t.Errorf("discarded %+v, outcome %d", m.Discarded, m.Result.Outcome)
	}
	m = decode(t, start, open0, delta("msg_1", 0, `"a"`), end)
	if m.Discarded == nil || m.Result.Outcome != Failed || m.Result.Failure.Message == "" {
		t.Errorf("without the mark: discarded %+v, outcome %d", m.Discarded, m.Result.Outcome)
	}
}

func TestTheDiagnosticStringIsNeverTheMessageOfAFailure(t *testing.T) {
	m := decode(t, `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] result_type=user","disk full"]}`)
	if m.Result.Failure.Message != "disk full" {
		t.Errorf("message %q", m.Result.Failure.Message)
	}
	m = decode(t, `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] result_type=user"]}`)
	if msg := m.Result.Failure.Message; msg == "" || strings.Contains(msg, "ede_diagnostic") {
		t.Errorf("message %q", msg)
	}
}

func TestNumbersAsStringsAreRead(t *testing.T) {
	m := decode(t, `{"type":"result","subtype":"success","is_error":"false","duration_ms":"1500","total_cost_usd":"0.5","usage":{"input_tokens":"7","output_tokens":1.0}}`)
	r := m.Result
	if r.Outcome != Completed || r.DurationMS != 1500 || r.TotalCostUSD != 0.5 || r.Usage.InputTokens != 7 || r.Usage.OutputTokens != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAUserLineWithSeveralResultsGivesEach(t *testing.T) {
	m := decode(t, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"b","content":[],"is_error":true}]},"tool_use_result":{"x":1}}`)
	if m.Kind != ToolResults || len(m.Results) != 2 || m.Results[1].ToolUseID != "b" || !m.Results[1].IsError || m.Results[0].Structured != nil {
		t.Errorf("%+v", m.Results)
	}
}

func TestMemoryOfToolUsesDoesNotOutliveTheTurn(t *testing.T) {
	for _, version := range []string{"2.0.0", "2.1.17", "2.1.112", "2.1.329"} {
		a := For(version)().(*baseline)
		var m Message
		for range 3 {
			for _, tr := range transcripts(t) {
				if tr.version != version {
					continue
				}
				for _, line := range tr.lines {
					a.Decode(line, &m)
				}
				a.Decode([]byte(`{"type":"system","subtype":"background_tasks_changed","tasks":[]}`), &m)
				a.Decode([]byte(`{"type":"result","subtype":"success","is_error":false}`), &m)
				if n := len(a.uses) + len(a.agents) + len(a.tasks); n > 0 || len(a.voices) > 1 {
					t.Fatalf("%s: after the turn %d uses, %d agents, %d tasks, %d voices are remembered",
						tr.name, len(a.uses), len(a.agents), len(a.tasks), len(a.voices))
				}
			}
		}
	}
}

func TestAnOldPermissionRequestIsMatchedByNameAndInput(t *testing.T) {
	use := func(id, command string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}`, id, command)
	}
	ask := func(r, command string) string {
		return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":"Bash","input":{ "command": %q }}}`, r, command)
	}
	a, m := For("2.0.0")(), &Message{}
	for _, l := range []string{use("t1", "x"), use("t2", "y"), use("t3", "y")} {
		a.Decode([]byte(l), m)
	}
	var got []string
	for i, command := range []string{"y", "y", "changed", "y"} {
		a.Decode([]byte(ask(fmt.Sprint("r", i), command)), m)
		got = append(got, fmt.Sprint(m.Permission.ToolUseID, m.Permission.Announce))
	}
	want := []string{"t2false", "t3false", "t1false", "toolu_unannounced_r3true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAHeartbeatNamesTheRealToolUse(t *testing.T) {
	m := decode(t, `{"type":"tool_progress","tool_use_id":"toolu_1-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"toolu_1","elapsed_time_seconds":30.5,"heartbeat":true}`)
	if m.Progress.ToolUseID != "toolu_1" || m.Progress.ElapsedMS != 30500 || m.Parent != "" {
		t.Errorf("%+v parent %q", m.Progress, m.Parent)
	}
}

func TestAChangedSessionIDMeansThatTheConversationWasCleared(t *testing.T) {
	line := func(id string) string { return `{"type":"system","subtype":"init","session_id":"` + id + `"}` }
	if m := decode(t, line("a"), line("a")); m.Boundary != nil {
		t.Errorf("same id: %+v", m.Boundary)
	}
	if m := decode(t, line("a"), line("b")); m.Boundary == nil || m.Boundary.SessionID != "b" {
		t.Errorf("another id: %+v", m.Boundary)
	}
	if m := decode(t, line("a"), `{"type":"conversation_reset","trigger":"clear"}`, line("b")); m.Boundary != nil {
		t.Errorf("told before: %+v", m.Boundary)
	}
}

func TestAnAssistantLineTellsHowFullTheWindowIs(t *testing.T) {
	m := decode(t, `{"type":"assistant","message":{"id":"msg_1","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":3000,"output_tokens":5}},"parent_tool_use_id":null}`)
	if m.Context != 3215 {
		t.Errorf("%d tokens", m.Context)
	}
	if m = decode(t, `{"type":"assistant","message":{"id":"msg_1","content":[],"usage":{"input_tokens":10}},"parent_tool_use_id":"toolu_1"}`); m.Context != 0 {
		t.Errorf("a subagent's window counts as the main agent's: %d", m.Context)
	}
}
