// Package adapters knows the bytes of the claude CLI: what it prints line by line, what it reads, and in which flags and lines its
// versions differ. It starts no goroutine and does no I/O.
//
// An [Adapter] is made for a version by [For] and belongs to one run of the CLI. It decodes each line into a [Message], whose [Kind] is
// one of these, shown with a line that a real CLI printed (2.1.329 unless said otherwise, shortened by whole members):
//
//	Token            {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Echo: "}},"parent_tool_use_id":null,"api_message_id":"msg_000002"}
//	Thinking         {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"pondering "}},"parent_tool_use_id":null,"api_message_id":"msg_000134"}
//	BlockStop        {"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":null,"api_message_id":"msg_000002"}
//	Assistant        {"type":"assistant","message":{"id":"msg_000003","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_msg_000003_1","name":"Bash","input":{"command":"touch foo && echo made","description":"Run it"}}],"stop_reason":null},"parent_tool_use_id":null}
//	ToolResults      {"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_msg_000003_1","type":"tool_result","content":"made","is_error":false}]},"parent_tool_use_id":null,"tool_use_result":{"stdout":"made","stderr":"","interrupted":false},"tool_result_meta":[{"id":"toolu_msg_000003_1","permission_decision":{"decision":"accept","source":"user_temporary"}}]}
//	Echo             {"type":"user","message":{"role":"user","content":"hello there"},"parent_tool_use_id":null,"uuid":"00000000-0000-4000-8000-000000000001","isReplay":true}
//	CommandOutput    {"type":"user","message":{"role":"user","content":"<local-command-stdout>Compacted </local-command-stdout>"},"parent_tool_use_id":null,"isReplay":true}
//	Interrupted      {"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null}
//	SystemInit       {"type":"system","subtype":"init","cwd":"/home/user/project","session_id":"fa058498-5737-419c-af0d-06faffaddc30","tools":["Task","Bash"],"mcp_servers":[],"model":"claude-opus-5-5","permissionMode":"default","apiKeySource":"ANTHROPIC_API_KEY","claude_code_version":"2.1.329"}
//	StatusChange     {"type":"system","subtype":"status","status":null,"permissionMode":"plan"}
//	APIRetry         {"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":506,"error_status":401,"error":"authentication_failed"}
//	Compacted        {"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":30,"post_tokens":2543}}
//	Cleared          {"type":"conversation_reset","new_conversation_id":"65412231-d457-48ff-98d5-0595b1429a15","trigger":"clear"}
//	TaskUpdate       {"type":"system","subtype":"task_started","task_id":"a8e8a53063a2e056f","tool_use_id":"toolu_msg_000270_1","description":"Sub job","is_backgrounded":true,"task_type":"local_agent","prompt":"bash: touch sub1"}
//	Progress         {"type":"tool_progress","tool_use_id":"toolu_msg_000270_1-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"toolu_msg_000270_1","elapsed_time_seconds":30,"heartbeat":true}
//	ToolDenied       {"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"toolu_msg_000859_1","decision_reason_type":"subcommandResults","message":"Permission to use Bash with command touch m1 has been denied."}
//	TitleChanged     {"type":"system","subtype":"session_title_changed","title":"My title"}
//	Notice           {"type":"system","subtype":"informational","content":"Opus 5.5's safeguards stopped the response above · continuing once with that noted","level":"notice"}
//	PermissionAsked  {"type":"control_request","request_id":"f3216036-4850-4823-b979-c497ded360d8","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch foo && echo made","description":"Run it"},"description":"Run it","blocked_path":"/home/user/project/foo","tool_use_id":"toolu_msg_000003_1"}}
//	ControlRequest   {"type":"control_request","request_id":"67c6a1f3-f645-4d45-a341-29b3bdff6a85","request":{"subtype":"mcp_message","server_name":"editor","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}}
//	Cancel           {"type":"control_cancel_request","request_id":"b8d0d7ca-e75d-4877-93a0-be2c08086610"}
//	ControlResponse  {"type":"control_response","response":{"subtype":"success","request_id":"int-1","response":{"still_queued":[]}}}
//	TurnResult       {"duration_api_ms":29,"stop_reason":"end_turn","total_cost_usd":0.00044,"usage":{"input_tokens":10,"output_tokens":20},"terminal_reason":"completed","is_error":false,"num_turns":1,"subtype":"success","result":"Echo: hello there","type":"result","duration_ms":113}
//	Skipped          {"type":"command_lifecycle","command_uuid":"aaaaaaaa-0000-4000-8000-000000000001","state":"started"}
//	Unknown          {"type":"of_a_later_version"}
//	Malformed        {"type":"result","subtype":"succ
//	Log              (node:4711) Warning: text of something the CLI runs
//
// # Text that is told twice, or in vain
//
// The text of an answer comes as tokens and once more in the assistant line of its block ([Block].Streamed says so), which is what makes
// it part of the conversation. When a connection breaks, the answer is fetched again and the tokens were for nothing: [Message].Discarded
// says which, beside whatever line gives it away.
//
//	message_start msg_1        Skipped
//	text_delta "partial "      Token msg_1/0
//	assistant msg_2 "partial words here"
//	                           Discarded msg_1 from 0, then Assistant msg_2, its block not streamed
//
// # Versions
//
// baseline.go and the files of its topics read the newest version and whatever all have in common. A range of older versions is a line in
// range.go and a function in v2.go or v1.go that says what differs from the next newer range. testdata holds lines of real CLIs by version,
// with what they are read as in the .golden files (go test -run Golden -update).
package adapters
