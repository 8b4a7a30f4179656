package adapters

// The differences of the 2.x versions, each from the next newer range. Measured were 2.0.0, 2.1.17, 2.1.112 and 2.1.329; in between, a
// range leans to the older side where the older way does no harm on the newer.

// upTo2_1_112: results do not name the messages they answer (testdata/2.1.112/basic.jsonl), and there are fewer control requests.
func upTo2_1_112() traits {
	t := newest()
	t.ResultNames = false
	t.HookAsk = false
	t.Controls = names("initialize", "interrupt", "set_permission_mode", "set_model", "set_max_thinking_tokens", "mcp_status",
		"mcp_reconnect", "mcp_toggle", "mcp_set_servers", "mcp_message", "mcp_authenticate", "get_context_usage", "get_settings",
		"reload_plugins", "seed_read_state", "rewind_files", "cancel_async_message", "stop_task", "apply_flag_settings",
		"generate_session_title", "side_question", "channel_enable", "end_session")
	return t
}

// upTo2_1_17: no turns of its own and no lines about tasks (testdata/2.1.17/subagent.jsonl); a control request it does not know is never
// answered. When the following came is not known: 2.0.0 lacks them, 2.1.17 has them, and to expect nothing works with both. 2.0.0 echoes
// user messages without a mark (replay.jsonl), does not say which tool use a permission request is about (perm_deny.jsonl), does not
// mark the text of an error (err_400.jsonl) and refuses --session-id with --fork-session.
func upTo2_1_17() traits {
	t := upTo2_1_112()
	t.OwnTurns = false
	t.silentTasks = true
	t.plainEcho, t.guessesToolUse, t.namesNoError = true, true, true
	t.forksToID = false
	t.Controls = names("initialize", "interrupt", "set_permission_mode", "set_model", "set_max_thinking_tokens", "mcp_status",
		"mcp_reconnect", "mcp_toggle", "mcp_set_servers", "mcp_message", "rewind_files")
	t.flags = without(t.flags, "--effort")
	return t
}

// upTo2_0_0: flags that are missing, and control requests that are never answered (testdata/2.0.0/ctl.jsonl).
func upTo2_0_0() traits {
	t := upTo2_1_17()
	t.HookWaits = false // 60 s, whatever its timeout says
	t.Controls = names("initialize", "interrupt", "set_permission_mode", "set_model", "mcp_status")
	t.flags = without(t.flags, "--max-budget-usd", "--max-thinking-tokens", "--allow-dangerously-skip-permissions")
	return t
}
