package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"drawbridge/adapters"
	"drawbridge/bridge/store"
)

// learn takes from a line what it tells of the session. Called with mu held, after the client has seen the line.
func (s *Session) learn(r *Run, m *adapters.Message) {
	switch m.Kind {
	case adapters.SystemInit:
		s.spoken = true
		s.learnInit(m.Init)
		s.versionTold(m.Init.Version)
		s.missingFeatures(m.Init)
	case adapters.Echo:
		if s.turn != nil && s.turn.message == m.UUID {
			s.turn.echoed = true
		}
	case adapters.StatusChange:
		s.retry = nil
		s.compacting = m.Status.Activity == "compacting"
		s.modeIs(m.Status.PermissionMode)
		s.tellState()
	case adapters.APIRetry:
		retry := *m.Retry
		s.retry = &retry
		s.tellState()
	case adapters.Compacted:
		s.compacting = false
		s.tellState()
	case adapters.Cleared:
		s.claudeIs(m.Boundary.SessionID)
	case adapters.TaskUpdate:
		s.learnTask(m.Task)
	case adapters.TitleChanged:
		title := m.Title
		s.known.Title = &title
		s.tell(SessionChanged{Update{Title: &title}})
	}
}

// initialized takes in the answer to initialize. Its members differ by version; what is missing stays unknown.
func (s *Session) initialized(r *Run, answer json.RawMessage) {
	var a struct {
		Commands []struct {
			Name, Description, ArgumentHint string
		} `json:"commands"`
		Models []struct {
			Value, DisplayName, Description string
			SupportedEffortLevels           []string
		} `json:"models"`
		Agents []struct {
			Name string `json:"name"`
		} `json:"agents"`
		Account json.RawMessage `json:"account"`
		Mode    string          `json:"current_permission_mode"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return
	}
	var u Update
	for _, c := range a.Commands {
		u.Commands = append(u.Commands, Command{Name: c.Name, Description: c.Description, ArgumentHint: c.ArgumentHint})
	}
	for _, m := range a.Models {
		u.Models = append(u.Models, Model{Value: m.Value, Name: m.DisplayName, Description: m.Description, EffortLevels: m.SupportedEffortLevels})
	}
	for _, g := range a.Agents {
		u.Agents = append(u.Agents, g.Name)
	}
	if len(a.Account) > 2 && a.Account[0] == '{' {
		u.Account = bytes.Clone(a.Account)
	}
	if u.Commands != nil {
		s.known.Commands = u.Commands
	}
	if u.Models != nil {
		s.known.Models = u.Models
	}
	if u.Agents != nil {
		s.known.Agents = u.Agents
	}
	if u.Account != nil {
		s.known.Account = u.Account
	}
	s.tell(SessionChanged{u})
	if !r.resumed && s.options.PermissionMode == r.started.PermissionMode { // else catchUp sees to it
		s.modeIs(a.Mode)
	}
}

// learnInit takes in system/init, which comes before every turn, and tells what of it is new.
func (s *Session) learnInit(in *adapters.Init) {
	s.claudeIs(in.SessionID)
	s.modeIs(in.PermissionMode)
	var u Update
	changed := false
	if in.Model != "" && (s.known.Model == nil || *s.known.Model != in.Model) {
		model := in.Model
		s.known.Model, u.Model, changed = &model, &model, true
	}
	if in.CWD != "" && (s.known.CWD == nil || *s.known.CWD != in.CWD) {
		cwd := in.CWD
		s.known.CWD, u.CWD, changed = &cwd, &cwd, true
	}
	if in.Tools != nil && !slices.Equal(in.Tools, s.known.Tools) {
		tools := slices.Clone(in.Tools)
		s.known.Tools, u.Tools, changed = tools, tools, true
	}
	if in.Agents != nil && !slices.Equal(in.Agents, s.known.Agents) {
		agents := slices.Clone(in.Agents)
		s.known.Agents, u.Agents, changed = agents, agents, true
	}
	servers := make([]MCPServer, 0, len(in.MCPServers))
	for _, m := range in.MCPServers {
		servers = append(servers, MCPServer{Name: m.Name, Status: serverStatus(m.Status), Error: m.Error})
	}
	if !slices.Equal(servers, s.known.MCPServers) {
		s.known.MCPServers, u.MCPServers, changed = servers, servers, true
	}
	if s.b.store != nil && (u.Tools != nil || u.MCPServers != nil) {
		s.b.store.SaveFolder(store.Folder{CWD: s.options.CWD, Tools: s.known.Tools, MCPServers: len(s.known.MCPServers)})
	}
	if s.known.Commands == nil && in.SlashCommands != nil {
		for _, name := range in.SlashCommands {
			u.Commands = append(u.Commands, Command{Name: name})
		}
		s.known.Commands, changed = u.Commands, true
	}
	if changed {
		s.tell(SessionChanged{u})
	}
}

// claudeIs follows Claude's own id of the conversation, which changes with /clear and, on 1.0.x, with each resume.
func (s *Session) claudeIs(id string) {
	if id == "" || id == s.claude {
		return
	}
	s.claude = id
	s.fork = false // what was to be forked has been
	s.known.ClaudeSessionID = &id
	s.tell(SessionChanged{Update{ClaudeSessionID: &id}})
}

// modeIs follows the permission mode. It is what the next run is started with, too.
func (s *Session) modeIs(mode string) {
	if mode == "manual" { // 2.1.329's name for default
		mode = "default"
	}
	if mode == "" || (s.known.PermissionMode != nil && *s.known.PermissionMode == mode) {
		return
	}
	s.options.PermissionMode = mode
	s.known.PermissionMode = &mode
	s.tell(SessionChanged{Update{PermissionMode: &mode}})
}

// learnTask keeps the list of tasks that run.
func (s *Session) learnTask(t *adapters.Task) {
	s.ranTasks = true
	if t.Live {
		for id, known := range s.tasks {
			if known.Background && !slices.Contains(t.LiveIDs, id) {
				delete(s.tasks, id)
			}
		}
		return
	}
	if t.Status != "" && t.Status != "running" {
		delete(s.tasks, t.ID)
		return
	}
	known := s.tasks[t.ID]
	if known == nil {
		known = &adapters.Task{ID: t.ID, Status: "running"}
		s.tasks[t.ID] = known
	}
	set := func(old *string, now string) {
		if now != "" {
			*old = strings.Clone(now)
		}
	}
	set(&known.ToolUseID, t.ToolUseID)
	set(&known.Kind, t.Kind)
	set(&known.Title, t.Title)
	set(&known.LastTool, t.LastTool)
	set(&known.Summary, t.Summary)
	known.Background = known.Background || t.Background
	if t.Usage != nil {
		known.Usage = bytes.Clone(t.Usage)
	}
}

// serverStatus is the CLI's word for the state of an MCP server, in ours.
func serverStatus(word string) string {
	switch word {
	case "needs-auth":
		return "needs_auth"
	case "connected", "pending", "failed", "disabled":
		return word
	}
	return "pending"
}
