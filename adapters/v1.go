package adapters

// The differences of the 1.x versions. Only samples between 1.0.22 and 1.0.128 were measured, and of most of them only that they
// stream, ask and answer (testdata/1.0.60 and 1.0.128, permission.jsonl): what was not seen to work is taken for missing.

// upTo1_0_x: from 1.0.110. Unknown flags for the session's id, settings sources and forks.
func upTo1_0_x() traits {
	t := upTo2_0_0()
	t.Restricted, t.KeepsSessionID, t.ContentBlocks, t.Hooks = false, false, false, false
	t.Controls = names("initialize", "interrupt", "set_permission_mode", "set_model")
	t.flags = without(t.flags, "--session-id", "--fork-session", "--setting-sources", "--strict-mcp-config")
	return t
}

// upTo1_0_109: no stream events, no echo.
func upTo1_0_109() traits {
	t := upTo1_0_x()
	t.Streaming, t.Echo = false, false
	t.Controls = names("initialize", "interrupt", "set_permission_mode")
	t.flags = without(t.flags, "--include-partial-messages", "--replay-user-messages")
	return t
}

// upTo1_0_89: from 1.0.60; initialize is answered only from 1.0.70 on.
func upTo1_0_89() traits {
	t := upTo1_0_109()
	t.Initialize = false
	t.Controls = names("interrupt")
	return t
}

// upTo1_0_59: no control protocol: a control request ends the process, and nobody is asked for permission.
func upTo1_0_59() traits {
	t := upTo1_0_89()
	t.Prompts = false
	t.Controls = names()
	t.flags = without(t.flags, "--permission-prompt-tool")
	return t
}
