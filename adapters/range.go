package adapters

// traits are what a range of versions does differently from the newest.
type traits struct {
	Features
	flags map[string]bool // the optional flags it has

	forksToID      bool // takes --session-id together with --fork-session
	plainEcho      bool // may echo user messages without the isReplay mark
	guessesToolUse bool // permission requests may not say which tool use they are about
	silentTasks    bool // no lines about tasks
	namesNoError   bool // the text of an error may not be marked as one
}

// ranges holds the versions from which a set of traits applies, newest first. A range is one line here and its differences are one
// function, each made from the next newer one.
var ranges = []struct {
	since  Version
	traits func() traits
}{
	{Version{Major: 2, Minor: 1, Patch: 113}, newest},
	{Version{Major: 2, Minor: 1, Patch: 18}, upTo2_1_112},
	{Version{Major: 2, Minor: 0, Patch: 1}, upTo2_1_17},
	{Version{Major: 2}, upTo2_0_0},
	{Version{Major: 1, Patch: 110}, upTo1_0_x},
	{Version{Major: 1, Patch: 90}, upTo1_0_109},
	{Version{Major: 1, Patch: 60}, upTo1_0_89},
	{Version{}, upTo1_0_59},
}

// For returns the constructor of the adapter for a version of the CLI ("2.1.329"). What is newer than every range, or not a version
// at all, is read as the newest.
func For(version string) func() Adapter {
	t := newest()
	if v, ok := ParseVersion(version); ok {
		for _, r := range ranges {
			if v.Compare(r.since) >= 0 {
				t = r.traits()
				break
			}
		}
	}
	return func() Adapter { return newBaseline(t) }
}

// newest is the CLI as of 2.1.329.
func newest() traits {
	return traits{
		Features: Features{
			Streaming: true, Prompts: true, Initialize: true, Echo: true, ResultNames: true, OwnTurns: true, Restricted: true,
			ContentBlocks: true, KeepsSessionID: true, Hooks: true,
			Controls: names("initialize", "interrupt", "set_permission_mode", "set_model", "set_max_thinking_tokens",
				"mcp_status", "mcp_reconnect", "mcp_toggle", "mcp_set_servers", "mcp_call", "mcp_read_resource", "mcp_message",
				"mcp_authenticate", "get_context_usage", "get_session_cost", "get_usage", "list_models", "get_binary_version",
				"get_settings", "get_hooks_listing", "list_permission_rules", "get_plan", "reload_skills", "reload_plugins",
				"reload_output_styles", "background_tasks", "stop_task", "get_task_output", "file_suggestions", "read_file",
				"seed_read_state", "rewind_files", "cancel_async_message", "rename_session", "set_has_subscribers",
				"apply_flag_settings", "update_settings", "register_repo_root", "end_session", "generate_session_title",
				"side_question", "channel_enable"),
		},
		forksToID: true,
		flags: names("--include-partial-messages", "--permission-prompt-tool", "--replay-user-messages", "--session-id",
			"--fork-session", "--effort", "--max-budget-usd", "--max-thinking-tokens", "--setting-sources", "--strict-mcp-config",
			"--allow-dangerously-skip-permissions"),
	}
}

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

func without(set map[string]bool, list ...string) map[string]bool {
	rest := make(map[string]bool, len(set))
	for name := range set {
		rest[name] = true
	}
	for _, name := range list {
		delete(rest, name)
	}
	return rest
}
