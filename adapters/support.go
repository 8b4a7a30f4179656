package adapters

// Oldest is the first version that drawbridge works with, and Tested the newest one it is tested with. What is newer is likely to
// work: readers are tolerant, and what is new is left out.
var (
	Oldest = Version{Major: 1, Minor: 0, Patch: 20}
	Tested = Version{Major: 2, Minor: 1, Patch: 329}
)

// Level says what is to be expected of a version of the CLI.
type Level string

// The levels, in the words of our protocol.
const (
	NotKnown     Level = "unknown"           // it does not tell its version
	Full         Level = "fully_compatible"  // in the tested range
	Likely       Level = "likely_compatible" // newer than the tested range
	Degraded     Level = "degraded"          // features are missing, and work-arounds stand in for them
	Incompatible Level = "incompatible"      // older than the oldest one; it is not started
)

// Support is the line of the compatibility table that a version falls into.
type Support struct {
	Level Level
	Lacks []string // what does not work with it, in words for the user
}

// SupportOf looks a version up in the compatibility table.
func SupportOf(version string) Support {
	v, ok := ParseVersion(version)
	switch {
	case !ok:
		return Support{Level: NotKnown}
	case v.Compare(Oldest) < 0:
		return Support{Level: Incompatible}
	case v.Compare(Tested) > 0:
		return Support{Level: Likely}
	}
	r := ranges[rangeOf(v)]
	return Support{Level: r.level, Lacks: lacks(r.traits().Features)}
}

// lacks names what users miss, and what happens instead.
func lacks(f Features) []string {
	var list []string
	for _, gap := range []struct {
		has  bool
		what string
	}{
		{f.Prompts, "permission prompts (what Claude Code's own rules do not allow is refused)"},
		{f.Streaming, "streaming (answers come in whole blocks)"},
		{f.Controls["interrupt"], "interrupt (the process is ended, and the next message resumes the conversation)"},
		{f.Controls["set_permission_mode"], "changing the permission mode of a running session"},
		{f.ContentBlocks, "images"},
		{f.Restricted, "working in a folder that is not trusted"},
		{f.Hooks, "deny and ask rules of drawbridge where Claude Code does not ask"},
	} {
		if !gap.has {
			list = append(list, gap.what)
		}
	}
	return list
}

// flagGaps says what is lost without a flag.
var flagGaps = map[string]string{
	"--include-partial-messages":           "answers come in whole blocks",
	"--permission-prompt-tool":             "nobody is asked for permission, and what Claude Code's own rules do not allow is refused",
	"--replay-user-messages":               "a message sent into a turn of Claude Code's own may be answered late",
	"--session-id":                         "the conversation has an id of Claude Code's choice",
	"--fork-session":                       "a fork goes on in the conversation it was made from",
	"--effort":                             "the effort cannot be chosen",
	"--max-budget-usd":                     "there is no limit of cost",
	"--max-turns":                          "there is no limit of turns",
	"--max-thinking-tokens":                "there is no limit of thinking",
	"--model":                              "the model cannot be chosen",
	"--add-dir":                            "the additional directories are not open",
	"--append-system-prompt":               "the system prompt is not added to",
	"--mcp-config":                         "the session's MCP servers are not started",
	"--resume":                             "the conversation begins anew",
	"--continue":                           "the conversation begins anew",
	"--allow-dangerously-skip-permissions": "the mode bypassPermissions cannot be chosen later",
}

// WithoutFlag says what is lost when the CLI has to be started without a flag, and false where it must not be: without it a
// project would decide what runs, or nothing would work.
func WithoutFlag(name string) (loses string, ok bool) {
	loses, ok = flagGaps[name]
	return loses, ok
}

// drop takes out of the traits what the flags in list are for.
func (t *traits) drop(list []string) {
	for _, name := range list {
		switch name {
		case "--include-partial-messages":
			t.Streaming = false
		case "--permission-prompt-tool":
			t.Prompts = false
		case "--replay-user-messages":
			t.Echo = false
		case "--session-id", "--resume":
			t.KeepsSessionID = false
		}
	}
}
