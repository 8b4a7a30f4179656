package scripted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// recorded are the members of each kind of line in recorded conversations with 2.1.329; a ? marks one that is not in every line
// of its kind. They are hard-coded here because the recordings are too large to be kept with the tests.
var recorded = map[string]string{
	"assistant": "aborted? agent_id? api_error_status? api_error_type? error? is_api_error_message? local_command_run? local_command_source? " +
		"message parent_tool_use_id request_id? session_id subagent_type? task_description? thinking_display? thinking_duration_ms? timestamp " +
		"type user_message_uuid? user_message_uuids? uuid",
	"assistant.message":      "container? content context_management diagnostics? id model role stop_details? stop_reason stop_sequence type usage",
	"command_lifecycle":      "command_uuid session_id state type uuid",
	"control_cancel_request": "request_id type",
	"control_request:can_use_tool": "agent_id? blocked_path? decision_reason? decision_reason_hook_event? decision_reason_hook_source? " +
		"decision_reason_type? description? display_name input mcp_server? permission_suggestions? requires_user_interaction? subtype tool_name tool_use_id",
	"control_request:hook_callback": "callback_id input subtype tool_use_id",
	"control_response:error":        "error error_code? request_id subtype",
	"control_response:success":      "pending_permission_requests? pending_user_dialog_requests? request_id response? subtype",
	"conversation_reset":            "new_conversation_id session_id timestamp trigger type user_message_uuid uuid",
	"result/error_during_execution": resultCommon + " errors terminal_reason user_message_uuid? user_message_uuids?",
	"result/error_max_budget_usd":   resultCommon + " errors terminal_reason user_message_uuid? user_message_uuids?",
	"result/error_max_turns":        resultCommon + " errors terminal_reason user_message_uuid? user_message_uuids?",
	"result/success": resultCommon + " api_error_status? api_error_type? first_content_frame_ms? first_request_cache_read_input_tokens? " +
		"first_request_input_tokens? local_command? origin? request_sent_wall_ms? result terminal_reason? time_to_request_ms? ttft_ms? " +
		"ttft_stream_ms? user_message_uuid? user_message_uuids?",
	"stream_event:content_block_delta:input_json_delta": streamCommon,
	"stream_event:content_block_delta:signature_delta":  streamCommon,
	"stream_event:content_block_delta:text_delta":       streamCommon,
	"stream_event:content_block_delta:thinking_delta":   streamCommon + " thinking_display",
	"stream_event:content_block_start":                  streamCommon + " thinking_display?",
	"stream_event:content_block_stop":                   streamCommon,
	"stream_event:message_delta":                        streamCommon,
	"stream_event:message_start":                        streamCommon + " owed_rows? thinking_display ttft_ms user_message_uuid? user_message_uuids?",
	"stream_event:message_stop":                         streamCommon + " abandoned_blocks?",
	"system/api_retry":                                  "attempt error error_status max_retries retry_delay_ms " + systemCommon,
	"system/background_tasks_changed":                   "tasks " + systemCommon,
	"system/compact_boundary":                           "compact_metadata logical_parent_uuid " + systemCommon,
	"system/informational":                              "content level " + systemCommon,
	"system/init": "additional_directories agents analytics_disabled apiKeySource capabilities claude_code_version cwd fast_mode_disabled_reason " +
		"fast_mode_state mcp_servers memory_paths messaging_socket_path model original_cwd output_style per_turn_effort_active permissionMode plugins " +
		"product_feedback_disabled served_by_anthropic skills slash_commands terminal_slash_commands tools ultrathink_available " +
		"ultrathink_typed_raises user_message_uuids? view_mode " + systemCommon,
	"system/permission_denied":     "decision_reason? decision_reason_code? decision_reason_type? message tool_name tool_use_id " + systemCommon,
	"system/session_title_changed": "title " + systemCommon,
	"system/status":                "compact_result? permissionMode? status user_message_uuids? " + systemCommon,
	"system/task_notification":     "output_file run_id status summary summary_is_report? task_id tool_use_id usage? " + systemCommon,
	"system/task_progress":         "description last_tool_name run_id subagent_type task_id tool_use_id usage " + systemCommon,
	"system/task_started":          "description is_backgrounded prompt? run_id spawn_depth? subagent_type? task_id task_type tool_use_id " + systemCommon,
	"system/task_updated":          "patch run_id task_id " + systemCommon,
	"system/thinking_tokens":       "estimated_tokens estimated_tokens_delta " + systemCommon,
	"user": "agent_id? isReplay? isSynthetic? message parent_tool_use_id refused_message_id? session_id subagent_type? task_description? timestamp? " +
		"tool_result_meta? tool_use_result? type uuid",
}

const (
	streamCommon = "api_message_id event parent_tool_use_id session_id type uuid"
	systemCommon = "session_id subtype type uuid"
	resultCommon = "duration_api_ms duration_ms fast_mode_disabled_reason fast_mode_state is_error modelUsage model_usage_since_last_result " +
		"num_turns permission_denials queued_turn_count result_index safety_stops session_id stop_reason subagent_stats subtype " +
		"total_cost_usd type usage uuid"
)

// kindOf names a line as the table does, and gives the object whose members the table lists.
func kindOf(line []byte) (string, []byte) {
	kind := field(line, "type")
	switch kind {
	case "control_request":
		request := []byte(field(line, "request"))
		return kind + ":" + field(request, "subtype"), request
	case "control_response":
		response := []byte(field(line, "response"))
		return kind + ":" + field(response, "subtype"), response
	case "stream_event":
		event := []byte(field(line, "event"))
		name := kind + ":" + field(event, "type")
		if delta := field(event, "delta"); field(event, "type") == "content_block_delta" {
			name += ":" + field([]byte(delta), "type")
		}
		return name, line
	case "system", "result":
		return kind + "/" + field(line, "subtype"), line
	}
	return kind, line
}

const everything = `
cwd /home/user/project
-- all --
think deeply
text Hello.
bash ls
run
tools {
	write a.txt hello
	bash touch x
}
question [DB] Which? | A | B
plan do it
todo [x] one
subagent Explore "Look" {
	read a.txt
}
subagent background Explore "Look" {
	text working
	read a.txt
} then {
	text $RESULT
}
title A title
retry 529 1
refuse
cutoff
abandon
text end
compact
-- forbidden --
bash rm
forbid no
-- cut --
text cut
abandon
text whole
-- broken --
fail 429
-- turns --
bash ls
run
limit turns
-- budget --
limit budget
-- slow --
text a word
hang
`

// TestLinesHaveTheMembersOfTheRecordedOnes runs a script that says everything and compares names only.
func TestLinesHaveTheMembersOfTheRecordedOnes(t *testing.T) {
	seen := map[string]bool{}
	check := func(line string) {
		kind, object := kindOf([]byte(line))
		compareMembers(t, kind, object)
		seen[kind] = true
		if kind == "assistant" {
			compareMembers(t, "assistant.message", []byte(field(object, "message")))
			seen["assistant.message"] = true
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := play(context.Background(), t, parse(t, everything), "--replay-user-messages")
		say := func(format string, args ...any) { fmt.Fprintf(h.stdin, format+"\n", args...) }
		message := 0
		user := func(text string) {
			message++
			say(`{"type":"user","message":{"role":"user","content":%q},"uuid":"aaaaaaaa-0000-4000-8000-%012d"}`, text, message)
		}
		settle := func() {
			for {
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(h.lines) == 0 {
					return
				}
				for len(h.lines) > 0 {
					line := <-h.lines
					check(line)
					if field([]byte(line), "type") == "control_request" {
						say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow","updatedInput":{}}}}`,
							field([]byte(line), "request_id"))
					}
				}
			}
		}
		say(`{"type":"control_request","request_id":"i","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Write","hookCallbackIds":["h"]}]}}}`)
		say(`{"type":"control_request","request_id":"m","request":{"subtype":"set_permission_mode","mode":"plan"}}`)
		say(`{"type":"control_request","request_id":"u","request":{"subtype":"unknown"}}`)
		for _, text := range []string{"all", "forbidden", "cut", "broken", "turns", "budget", "/cost", "/compact", "/clear"} {
			user(text)
			settle()
		}
		user("slow")
		settle()
		say(`{"type":"control_request","request_id":"x","request":{"subtype":"interrupt"}}`)
		settle()
		h.stdin.Close()
		<-h.exit
	})
	seen["control_cancel_request"] = true // in the conversations
	for kind := range recorded {
		if !seen[kind] {
			t.Errorf("the agent never says %s", kind)
		}
	}
}

func compareMembers(t *testing.T, kind string, object []byte) {
	t.Helper()
	want, known := recorded[kind]
	if !known {
		t.Errorf("no recording has a line like %s: %s", kind, object)
		return
	}
	var names []string
	for _, m := range members(object) {
		names = append(names, m.name)
	}
	listed := strings.Fields(want)
	for _, name := range names {
		if !slices.Contains(listed, name) && !slices.Contains(listed, name+"?") {
			t.Errorf("%s has %s, which no recorded one has", kind, name)
		}
	}
	for _, name := range listed {
		if !strings.HasSuffix(name, "?") && !slices.Contains(names, name) {
			t.Errorf("%s lacks %s, which all recorded ones have: %s", kind, name, object)
		}
	}
}
