package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// projectFindings names what a project brings along that the CLI would run or obey as soon as it starts there, and that stays off
// while the folder is not trusted. It is for the user to read; nothing depends on it.
func projectFindings(cwd string) []string {
	var found []string
	for _, name := range []string{".claude/settings.json", ".claude/settings.local.json"} {
		var settings struct {
			Hooks       map[string]json.RawMessage `json:"hooks"`
			Helper      json.RawMessage            `json:"apiKeyHelper"`
			StatusLine  json.RawMessage            `json:"statusLine"`
			Env         map[string]json.RawMessage `json:"env"`
			Permissions map[string]json.RawMessage `json:"permissions"`
		}
		if !readProject(cwd, name, &settings) {
			continue
		}
		for _, event := range keys(settings.Hooks) {
			found = append(found, "hook "+event+" ("+name+")")
		}
		if settings.Helper != nil {
			found = append(found, "apiKeyHelper ("+name+")")
		}
		if settings.StatusLine != nil {
			found = append(found, "statusLine ("+name+")")
		}
		for _, key := range keys(settings.Env) {
			found = append(found, "env "+key+" ("+name+")")
		}
		for _, list := range keys(settings.Permissions) {
			found = append(found, "permissions."+list+" ("+name+")")
		}
	}
	var mcp struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if readProject(cwd, ".mcp.json", &mcp) {
		for _, server := range keys(mcp.Servers) {
			found = append(found, "MCP server "+server+" (.mcp.json)")
		}
	}
	return found
}

// readProject reads a small JSON file of the project. The project is not trusted: no link is followed out of it, and no more than
// 1 MiB is read.
func readProject(cwd, name string, into any) bool {
	root, err := os.OpenRoot(cwd)
	if err != nil {
		return false
	}
	defer root.Close()
	st, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return false
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	return err == nil && json.Unmarshal(data, into) == nil
}

func keys(m map[string]json.RawMessage) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// protectedVariable says whether an environment variable is one that a session may not set: with it, other programs or another API would
// answer than the user thinks.
func protectedVariable(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "PATH", "HOME", "NODE_OPTIONS", "BASH_ENV", "ENV", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL", ownerVariable:
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

const ownerVariable = "DRAWBRIDGE_OWNER"
