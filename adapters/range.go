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

// ranges holds the versions from which a set of traits applies, newest first, with what is to be expected of them. A range is one
// line here and its differences are one function, each made from the next newer one.
var ranges = []struct {
	since  Version
	traits func() traits
	level  Level
	notes  string // what is different, for docs/compatibility.md
}{
	{Version{Major: 2, Minor: 1, Patch: 113}, newest, Full, "Results name the messages they answer; agents run in the background."},
	{Version{Major: 2, Minor: 1, Patch: 18}, upTo2_1_112, Full, "Turns of the CLI's own are told by the echo of our messages; a hook cannot make it ask, so the bridge asks in the hook."},
	{Version{Major: 2, Minor: 0, Patch: 1}, upTo2_1_17, Full, "No lines about tasks, no turns of the CLI's own; it retries in silence; a control request it does not know is never answered."},
	{Version{Major: 1, Patch: 128}, upTo2_0_0, Full, "Permission requests do not say which tool use they are about; plan mode has to be left by the bridge; no AskUserQuestion, no rewinding of files."},
	{Version{Major: 1, Patch: 110}, upTo1_0_127, Degraded, "A folder's own settings cannot be kept off, so it has to be trusted. The conversation's id changes with each resume."},
	{Version{Major: 1, Patch: 90}, upTo1_0_109, Degraded, "No stream events; one block of text a message, into which the bridge joins several."},
	{Version{Major: 1, Patch: 60}, upTo1_0_89, Degraded, "The permission mode is the one it was started with."},
	{Oldest, upTo1_0_59, Degraded, "No control protocol: a control request would end it. It is interrupted by ending it, and resumed."},
}

// For returns the constructor of the adapter for a version of the CLI ("2.1.329"). What is newer than every range, or not a version
// at all, is read as the newest; what is older than every range, as the oldest.
func For(version string) func() Adapter {
	t := newest()
	if v, ok := ParseVersion(version); ok {
		t = ranges[rangeOf(v)].traits()
	}
	return func() Adapter { return newBaseline(t) }
}

// rangeOf is the index of the range of a version.
func rangeOf(v Version) int {
	for i, r := range ranges {
		if v.Compare(r.since) >= 0 {
			return i
		}
	}
	return len(ranges) - 1
}

// newest is the CLI as of 2.1.329.
func newest() traits {
	return traits{
		Features: Features{
			Streaming: true, Prompts: true, Initialize: true, Echo: true, ResultNames: true, OwnTurns: true, Restricted: true,
			ContentBlocks: true, KeepsSessionID: true, Hooks: true, HookAsk: true, HookWaits: true,
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
