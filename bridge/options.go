package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// SessionOptions is what a session is opened with: the fields of session_new.
type SessionOptions struct {
	CWD                string            `json:"cwd"`
	Model              string            `json:"model"`
	Effort             string            `json:"effort"`
	PermissionMode     string            `json:"permission_mode"`
	AddDirs            []string          `json:"add_dirs"`
	AppendSystemPrompt string            `json:"append_system_prompt"`
	MCPServers         json.RawMessage   `json:"mcp_servers"` // as in .mcp.json: {"name":{"command":…}}
	Trusted            bool              `json:"trusted"`
	MaxTurns           int               `json:"max_turns"`
	MaxBudgetUSD       float64           `json:"max_budget_usd"`
	Env                map[string]string `json:"env"`

	PermissionTimeout time.Duration `json:"-"` // 0: a prompt waits for ever
	IdleStop          time.Duration `json:"-"` // an idle CLI is stopped after this; 0: never
	MinAnswer         time.Duration `json:"-"` // an allow that comes sooner is asked anew
	Streaming         bool          `json:"-"` // the editor takes tokens
	Diffs             bool          `json:"-"` // the editor is told what edits do
	CanAsk            bool          `json:"-"` // the editor can ask for permission; else every question is denied
	CanAnswer         bool          `json:"-"` // the editor can ask questions; else AskUserQuestion is declined
}

// modes are the permission modes a user may choose. dontAsk and auto decide without the user and are not offered.
var modes = []string{"default", "acceptEdits", "plan"}

const bypass = "bypassPermissions"

func checkMode(mode string, allowBypass bool) error {
	switch {
	case slices.Contains(modes, mode):
		return nil
	case mode == bypass && allowBypass:
		return nil
	case mode == bypass:
		e := fail(KindNotPermitted, "the mode %s is not permitted", mode)
		e.Remedy = "Set allow_bypass_permissions in your drawbridge settings, if you mean it."
		return e
	}
	e := fail(KindInvalidParams, "there is no permission mode %q", mode)
	e.Remedy = "Use default, acceptEdits or plan."
	return e
}

// check refuses what could only fail later, and worse.
func (o *SessionOptions) check(allowBypass bool, allowEnv []string) error {
	if o.PermissionMode == "" {
		o.PermissionMode = "default"
	}
	if err := checkMode(o.PermissionMode, allowBypass); err != nil {
		return err
	}
	if o.CWD == "" {
		wd, err := os.Getwd()
		if err != nil {
			return fail(KindInvalidCWD, "no cwd was given and the bridge's own is unknown: %v", err)
		}
		o.CWD = wd
	}
	for _, dir := range append([]string{o.CWD}, o.AddDirs...) {
		if err := checkDir(dir); err != nil {
			return err
		}
	}
	if string(o.MCPServers) == "null" {
		o.MCPServers = nil
	}
	if len(o.MCPServers) > 0 {
		var servers map[string]json.RawMessage
		if json.Unmarshal(o.MCPServers, &servers) != nil {
			return fail(KindInvalidParams, "mcp_servers is not an object of servers by name")
		}
	}
	for name := range o.Env {
		if protectedVariable(name) && !slices.Contains(allowEnv, name) {
			e := fail(KindNotPermitted, "env may not set %s", name)
			e.Remedy = "Set it in the environment of the editor, or name it in allow_env of your drawbridge settings."
			return e
		}
	}
	return nil
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		e := fail(KindInvalidCWD, "the directory %q is not absolute", dir)
		e.Remedy = "Give an absolute path."
		return e
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		e := fail(KindInvalidCWD, "there is no directory %q", dir)
		e.Remedy = "Give an existing directory."
		return e
	}
	return nil
}
