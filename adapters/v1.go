package adapters

// The differences of the 1.x versions, each from the next newer range. Measured were 1.0.22, 1.0.60, 1.0.110 and 1.0.128 (their folders in
// testdata), and of some between them that they ask and answer. 1.0.128 does all that 2.0.0 does. What was not seen to work is taken for
// missing.

// upTo1_0_127: from 1.0.110. There is no --setting-sources, so a folder's own settings cannot be kept off; --resume goes on under a
// new id; set_model and mcp_status are never answered. Hooks over the control channel (testdata/1.0.110/a_deny_rule_holds_….jsonl) and content
// blocks (several_blocks_….jsonl) work as in 2.0.0.
func upTo1_0_127() traits {
	t := upTo2_0_0()
	t.Restricted, t.KeepsSessionID = false, false
	t.Controls = names("initialize", "interrupt", "set_permission_mode")
	t.flags = without(t.flags, "--fork-session", "--setting-sources")
	return t
}

// upTo1_0_109: no stream events, no echo. A user message has exactly one block, of text (1.0.60 exits on anything else), and hooks
// were not tried.
func upTo1_0_109() traits {
	t := upTo1_0_127()
	t.Streaming, t.Echo, t.ContentBlocks, t.Hooks = false, false, false, false
	t.flags = without(t.flags, "--include-partial-messages", "--replay-user-messages")
	return t
}

// upTo1_0_89: from 1.0.60. initialize is answered only from 1.0.70 on, set_permission_mode not at all, and the mode that comes with an
// allow is not taken. It asks and is interrupted as newer ones (testdata/1.0.60).
func upTo1_0_89() traits {
	t := upTo1_0_109()
	t.Initialize = false
	t.Controls = names("interrupt")
	return t
}

// upTo1_0_59: no control protocol. A control request ends the process, nobody is asked for permission (what the CLI's own rules do not
// allow it refuses), and to interrupt it is to end it (testdata/1.0.22, allowed_bash_runs.jsonl
// and interrupt_while_streaming.jsonl).
func upTo1_0_59() traits {
	t := upTo1_0_89()
	t.Prompts = false
	t.Controls = names()
	t.flags = without(t.flags, "--permission-prompt-tool", "--session-id", "--strict-mcp-config")
	return t
}
