package settings

import "time"

// Settings are the values in force. They are shared and not to be changed.
type Settings struct {
	Claude struct {
		Command []string          // program and first arguments; empty: look for claude
		Env     map[string]string // set in claude's environment
	}
	Model             string // empty: claude's own choice
	PermissionMode    string
	PermissionTimeout time.Duration // 0: a prompt stays until it is answered
	MinAnswer         time.Duration // an allow that comes sooner is asked anew
	IdleStop          time.Duration // 0: claude is kept running
	Prewarm           bool
	MaxPayloadBytes   int64
	Log               struct {
		Level    string
		File     string // absolute; empty: LogFile()
		MaxBytes int64
	}
	AllowBypassPermissions bool
	AllowEnv               []string

	// Permissions and Projects come from the settings file alone.
	Permissions Rules
	Projects    map[string]Project // by the project root's real path

	origin map[string]string
}

// Rules are the permission rules of one place, in the order of the file and in the words of the user.
type Rules struct {
	Allow, Ask, Deny []Rule
	// Incomplete says that a deny or ask rule may stand in the file that could not be read. Then nothing is to be
	// allowed by these rules or by any others; what they deny stays denied.
	Incomplete bool
}

// Rule is one rule and where it stands.
type Rule struct {
	Text         string
	Line, Column int
}

// Project is what the user's file says of one project.
type Project struct {
	Permissions Rules
	Trusted     *bool // nil: the user has not said
}

// The sources a key may come from, beside its default and the file.
type sources struct {
	flag   string // the flag's name without dashes
	option bool   // a field of `options` in initialize
}

// key is one row of the table.
type key struct {
	name    string // dotted
	aliases []string
	shape   shape
	from    sources
	def     any // of the field's type; nil: the zero value
	doc     string
	hidden  bool
	// field points into Settings; nil for what has no single value there.
	field func(*Settings) any
}

// table is every key of the user's settings file, in the order of the documentation.
var table = []key{
	{name: "claude.command", shape: command, from: sources{flag: "claude"}, field: func(s *Settings) any { return &s.Claude.Command },
		doc: "How claude is started: the path of the program, or a list with its first arguments, as in `[\"ssh\", \"host\", \"claude\"]` or `[\"docker\", \"exec\", \"-i\", \"box\", \"claude\"]`. Absent: `claude` is looked for."},
	{name: "claude.env", shape: environment, field: func(s *Settings) any { return &s.Claude.Env },
		doc: "Environment variables that claude gets in addition."},
	{name: "model", shape: text, from: sources{"model", true}, field: func(s *Settings) any { return &s.Model },
		doc: "The model of new sessions. Absent: claude's own choice."},
	{name: "permission_mode", shape: oneOf("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"), def: "default",
		from: sources{"permission-mode", true}, field: func(s *Settings) any { return &s.PermissionMode },
		doc: "The permission mode of new sessions. `bypassPermissions` takes effect only with `allow_bypass_permissions`."},
	{name: "permission_timeout_s", shape: duration(time.Second, 0, 86_400), def: time.Duration(0), from: sources{"", true}, field: func(s *Settings) any { return &s.PermissionTimeout },
		doc: "After this many seconds without an answer a prompt is denied. 0: it stays."},
	{name: "min_answer_ms", shape: duration(time.Millisecond, 0, 10_000), def: time.Duration(0), from: sources{"", true}, field: func(s *Settings) any { return &s.MinAnswer },
		doc: "An allow that comes sooner than this many milliseconds after the prompt is taken for a slip of the keyboard and asked anew."},
	{name: "idle_stop_s", shape: duration(time.Second, 0, 604_800), def: 30 * time.Minute, from: sources{"", true}, field: func(s *Settings) any { return &s.IdleStop },
		doc: "After this many idle seconds the claude process is stopped; the next message resumes it. 0: it is kept."},
	{name: "prewarm", shape: boolean, def: false, from: sources{"prewarm", true}, field: func(s *Settings) any { return &s.Prewarm },
		doc: "Start claude with the editor instead of with the first message."},
	{name: "max_payload_bytes", aliases: []string{"daemon.max_payload_bytes"}, shape: whole("bytes", 1024, 64<<20), def: int64(10 << 20),
		from: sources{"max-payload-bytes", false}, field: func(s *Settings) any { return &s.MaxPayloadBytes },
		doc: "Longer strings in a message from claude are cut and marked. `daemon.max_payload_bytes` is the same key."},
	{name: "log.level", shape: oneOf("debug", "info", "warn", "error"), def: "info", from: sources{"log-level", false}, field: func(s *Settings) any { return &s.Log.Level },
		doc: "What is written to the log file."},
	{name: "log.file", shape: filePath, from: sources{"log-file", false}, field: func(s *Settings) any { return &s.Log.File },
		doc: "The log file, an absolute path. Absent: `drawbridge.log` in the state directory."},
	{name: "log.max_bytes", shape: whole("bytes", 64<<10, 1<<30), def: int64(10 << 20), field: func(s *Settings) any { return &s.Log.MaxBytes },
		doc: "The log file is turned over at this size."},
	{name: "permissions.deny", shape: rules, doc: "Rules that forbid, as in `[\"Read(./.env)\"]`."},
	{name: "permissions.ask", shape: rules, doc: "Rules that ask, also where another rule would allow."},
	{name: "permissions.allow", shape: rules, doc: "Rules that allow without asking, as in `[\"Bash(npm test *)\"]`."},
	{name: "projects", shape: projects,
		doc: "By the real path of a project's root: `permissions` as above for this project alone, and `trusted`, whether its own settings, hooks and servers may run."},
	{name: "allow_bypass_permissions", shape: boolean, def: false, field: func(s *Settings) any { return &s.AllowBypassPermissions },
		doc: "Whether a session may be put into the mode `bypassPermissions`, in which claude asks nobody."},
	{name: "allow_env", shape: names, field: func(s *Settings) any { return &s.AllowEnv },
		doc: "Names of environment variables that an editor may set for a session although they can redirect programs, as in `[\"PATH\"]`."},
	{name: "$schema", shape: text, hidden: true, doc: "The schema of this file, for editors that check against it."},
}

// projectTable is what stands below one path in projects.
var projectTable = []key{
	{name: "permissions.deny", shape: rules},
	{name: "permissions.ask", shape: rules},
	{name: "permissions.allow", shape: rules},
	{name: "trusted", shape: boolean},
}

// projectFileTable is what a project may say of itself in .drawbridge/settings.json.
var projectFileTable = []key{
	{name: "permissions.deny", shape: rules},
	{name: "permissions.ask", shape: rules},
	{name: "$schema", shape: text, hidden: true},
}

// restricts says whether the key can only make things stricter: to lose such a value is dangerous.
func (k key) restricts() bool { return k.name == "permissions.deny" || k.name == "permissions.ask" }

func lookUp(table []key, name string) (key, bool) {
	for _, k := range table {
		if k.name == name {
			return k, true
		}
		for _, alias := range k.aliases {
			if alias == name {
				return k, true
			}
		}
	}
	return key{}, false
}

// isSection says whether keys stand below name.
func isSection(table []key, name string) bool {
	prefix := name + "."
	for _, k := range table {
		for _, known := range append([]string{k.name}, k.aliases...) {
			if len(known) > len(prefix) && known[:len(prefix)] == prefix {
				return true
			}
		}
	}
	return false
}
