package policy

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Call is a tool call and what is known of where it would run. Directories are absolute, as the CLI sees them.
type Call struct {
	Tool  string
	Input json.RawMessage // the tool's input as the CLI sent it

	Cwd         string   // the session's directory
	ProjectRoot string   // empty: Cwd
	Workspace   []string // more folders of the session (add_dirs)
	Home        string
	// ShellCwd is where the CLI's shell stands, from a hook's input; empty: not known, so that no relative path is allowed.
	ShellCwd string
	// Shell is the CLI's shell, a name or path; empty: not known, so that zsh is reckoned with.
	Shell string

	Mode string // permission mode: default, acceptEdits, plan, …
	// What the CLI says about its own question (can_use_tool).
	DecisionReasonType      string // decision_reason_type
	DecisionReason          string // decision_reason
	RequiresUserInteraction bool   // requires_user_interaction
	ServerPolicyAskOnly     bool   // server_policy_ask_only

	// MCPServer is the server's own name where known, and MCPServerSource where the CLI has it from (mcp_server.source): user,
	// local, project, …. An empty source counts as project, so that nothing is covered for want of knowing.
	MCPServer, MCPServerSource string

	Remote    bool     // the CLI runs on another machine: no path can be resolved, none is allowed
	Windows   bool     // paths are Windows paths
	Protected []string // more protected places: our own files and the CLI's
}

// Verdict is what the rules make of a call, and all of it a prompt shows that needs no file to be read.
type Verdict struct {
	Decision Decision `json:"verdict"`
	Rule     *RuleRef `json:"rule,omitempty"` // the rule that decided
	Reason   Reason   `json:"reason"`
	Parts    []Part   `json:"parts,omitempty"` // of a Bash command
	Flags    []string `json:"flags"`
	Risk     Risk     `json:"risk_level"`
	Display  string   `json:"display"` // what would run, every character visible
	Title    string   `json:"title"`   // the same in one line
	Proposed []string `json:"rules,omitempty"`
	// MustAsk says that our own rules want the question put even where the CLI would not ask: an ask rule, a command that could
	// be a denied one. A call that merely no rule covers is left to the CLI.
	MustAsk bool `json:"must_ask,omitempty"`
}

// Decision is one of allow, deny, ask.
type Decision string

// The three answers.
const (
	Allowed Decision = "allow"
	Denied  Decision = "deny"
	Asked   Decision = "ask"
)

// Reason says why. Source is deny_rule, ask_rule, allow_rule, default, unparsed, protected, plan_mode, claude or hook; Text is one
// clause to show as it is.
type Reason struct {
	Source string `json:"source"`
	Text   string `json:"text"`
	Rule   string `json:"rule,omitempty"`
	File   string `json:"file,omitempty"`
}

// Part is one simple command of a script, and what the rules say of it alone.
type Part struct {
	Display string   `json:"display"`
	Verdict Decision `json:"verdict"`
	Rule    string   `json:"rule,omitempty"`
}

// Risk is advice for the eye; no decision depends on it.
type Risk string

// The levels.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// readInput decodes the input's members. A map, not a struct: encoding/json would take "Command" for command in a struct.
func readInput(raw json.RawMessage) (map[string]any, bool) {
	var in map[string]any
	if !utf8.Valid(raw) || json.Unmarshal(bytes.TrimSpace(raw), &in) != nil || in == nil {
		return nil, false
	}
	return in, true
}

// bashKeys are the members of Bash's input that are understood. An unknown one can change what happens: on 2.1.17
// _simulatedSedEdit overwrites a file instead of running the command shown.
var bashKeys = nameSet{"command": true, "description": true, "timeout": true, "run_in_background": true, "dangerouslyDisableSandbox": true}
