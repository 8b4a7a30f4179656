package scripted

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// control answers a control request of the host, in the shapes of 2.1.329. The caller holds the lock.
func (p *process) control(id string, raw json.RawMessage) {
	var r struct {
		Subtype      string                     `json:"subtype"`
		Mode         string                     `json:"mode"`
		Model        string                     `json:"model"`
		CancelQueued bool                       `json:"cancel_queued"`
		ServerName   string                     `json:"serverName"`
		Enabled      bool                       `json:"enabled"`
		Servers      map[string]json.RawMessage `json:"servers"`
		TaskID       string                     `json:"task_id"`
		MessageUUID  string                     `json:"message_uuid"`
		Title        string                     `json:"title"`
		DryRun       bool                       `json:"dry_run"`
		Hooks        map[string][]hook          `json:"hooks"`
	}
	_ = json.Unmarshal(raw, &r)
	switch r.Subtype {
	case "initialize":
		p.initialize(id, r.Hooks)
	case "interrupt":
		p.interrupt(id, r.CancelQueued)
	case "set_permission_mode":
		p.setMode(id, r.Mode)
	case "set_model":
		p.setModel(id, r.Model)
	case "set_max_thinking_tokens":
		p.respond(id, nil)
	case "mcp_status":
		p.respond(id, newObject().raw("mcpServers", p.serverList()))
	case "mcp_reconnect", "mcp_toggle":
		p.changeServer(id, r.ServerName, r.Subtype == "mcp_reconnect" || r.Enabled)
	case "mcp_set_servers":
		p.setServers(id, r.Servers)
	case "get_context_usage":
		p.respond(id, p.contextUsage())
	case "get_session_cost":
		p.respond(id, newObject().str("text", p.costText()))
	case "rewind_files":
		p.rewind(id, r.DryRun)
	case "stop_task":
		p.stopTask(r.TaskID)
		p.respond(id, newObject())
	case "background_tasks", "update_settings":
		p.respond(id, newObject())
	case "apply_flag_settings", "set_has_subscribers":
		p.respond(id, nil)
	case "cancel_async_message":
		n := len(p.queue)
		p.queue = slices.DeleteFunc(p.queue, func(m userMessage) bool { return m.uuid == r.MessageUUID && m.uuid != "" })
		if len(p.queue) < n {
			p.lifecycle(r.MessageUUID, "cancelled")
		}
		p.respond(id, newObject().bool("cancelled", len(p.queue) < n))
	case "rename_session":
		p.put(event("system").str("subtype", "session_title_changed").str("title", r.Title).
			str("uuid", p.ids.uuid()).str("session_id", p.session).end())
		p.respond(id, nil)
	case "end_session":
		p.respond(id, nil)
		p.leave(0)
	default:
		name := r.Subtype
		if name == "" {
			name = "undefined"
		}
		p.refuse(id, "Unsupported control request subtype: "+name, "unsupported_request")
	}
}

// respond answers with success; without a payload there is no inner "response" at all.
func (p *process) respond(id string, payload *object) {
	o := newObject().str("subtype", "success").str("request_id", id)
	if payload != nil {
		o.bytes("response", payload.end())
	}
	p.put(event("control_response").bytes("response", o.end()).end())
}

func (p *process) refuse(id, message, code string) {
	o := newObject().str("subtype", "error").str("request_id", id).str("error", message)
	if code != "" {
		o.str("error_code", code)
	}
	p.put(event("control_response").bytes("response", o.end()).end())
}

// interrupt ends the turn. Its prompts are withdrawn before it is answered, and what is queued survives unless
// the host says cancel_queued. A message that came a moment ago is named in still_queued and cancelled all the same.
func (p *process) interrupt(id string, cancelQueued bool) {
	if p.ignoring["interrupt"] {
		return
	}
	t := p.turn
	if t != nil {
		for _, q := range p.openPrompts(func(q *prompt) bool { return q.turn == t }) {
			p.withdraw(q)
		}
	}
	queued := []string{}
	if t != nil && t.fresh {
		queued = t.uuids()
	}
	var cancelled []string
	for _, m := range p.queue {
		switch {
		case m.uuid == "":
		case cancelQueued:
			p.lifecycle(m.uuid, "cancelled")
			cancelled = append(cancelled, m.uuid)
		default:
			queued = append(queued, m.uuid)
		}
	}
	payload := newObject().strings("still_queued", queued)
	if cancelQueued {
		p.queue = nil
		payload.strings("cancelled", cancelled)
	}
	p.respond(id, payload)
	p.stopTurn()
}

// stopTurn makes the turn say nothing more but its own end. The caller holds the lock.
func (p *process) stopTurn() {
	if t := p.turn; t != nil && !t.stopped {
		t.stopped = true
		close(t.stop)
	}
}

// openPrompts are the open prompts for which want holds, in the order in which they were asked.
func (p *process) openPrompts(want func(*prompt) bool) []*prompt {
	var open []*prompt
	for _, q := range p.prompts {
		if want(q) {
			open = append(open, q)
		}
	}
	slices.SortFunc(open, func(a, b *prompt) int { return strings.Compare(a.id, b.id) })
	return open
}

var modes = []string{"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"}

func (p *process) setMode(id, mode string) {
	if mode == "manual" {
		mode = "default"
	}
	switch {
	case mode == "bypassPermissions" && p.mode != mode && !slices.Contains(p.args.given, "--dangerously-skip-permissions"):
		p.refuse(id, "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions", "bypass_not_launched")
	case !slices.Contains(modes, mode):
		p.refuse(id, "Cannot set permission mode: must be one of "+strings.Join(modes, ", "), "invalid_mode")
	default:
		p.respond(id, newObject().str("mode", mode))
		p.changeMode(mode)
	}
}

// changeMode puts a mode in force and says so if it is another one. The caller holds the lock.
func (p *process) changeMode(mode string) {
	if p.mode != mode {
		p.mode = mode
		p.put(p.status().null("status").str("permissionMode", mode).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	}
}

func (p *process) status() *object { return event("system").str("subtype", "status") }

// setModel takes any name, as the CLI does; none means the default.
func (p *process) setModel(id, name string) {
	p.model = p.script.model
	for _, m := range models {
		if m.value == name && name != "" {
			name = m.resolved
		}
	}
	if name != "" {
		p.model = name
		if p.results > 0 { // before the first turn there is no conversation to note it in
			p.put(event("user").raw("message", newObject().str("role", "user").
				str("content", "<local-command-stdout>Set model to `"+name+"`</local-command-stdout>").String()).
				str("session_id", p.session).null("parent_tool_use_id").str("uuid", p.ids.uuid()).
				str("timestamp", timestamp()).bool("isReplay", true).end())
		}
	}
	p.respond(id, newObject().str("model", p.model))
}

// server is an MCP server of the script's setting `mcp`.
type server struct{ name, status string }

func (p *process) serverList() string {
	list := []byte{'['}
	for i, s := range p.servers {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, newObject().str("name", s.name).str("status", s.status).end()...)
	}
	return string(append(list, ']'))
}

func (p *process) changeServer(id, name string, on bool) {
	i := slices.IndexFunc(p.servers, func(s server) bool { return s.name == name })
	switch {
	case i < 0:
		p.refuse(id, "Server not found: "+name, "")
	case on:
		p.servers[i].status = "connected"
		p.respond(id, nil)
	default:
		p.servers[i].status = "disabled"
		p.respond(id, nil)
	}
}

func (p *process) setServers(id string, servers map[string]json.RawMessage) {
	var added, removed []string
	p.servers = slices.DeleteFunc(p.servers, func(s server) bool {
		_, stays := servers[s.name]
		if !stays {
			removed = append(removed, s.name)
		}
		return !stays
	})
	for name := range servers {
		if !slices.ContainsFunc(p.servers, func(s server) bool { return s.name == name }) {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	for _, name := range added {
		p.servers = append(p.servers, server{name, "connected"})
	}
	p.respond(id, newObject().strings("added", added).strings("removed", removed).raw("errors", "{}"))
}

func (p *process) contextUsage() *object {
	category := func(id, name string, tokens int, kind string) string {
		return newObject().str("id", id).str("name", name).int("tokens", tokens).str("color", "inactive").str("kind", kind).String()
	}
	used := 3067 + p.spent.input + p.spent.output
	return newObject().raw("categories", "["+
		category("system_prompt", "System prompt", 1000, "used")+","+
		category("skills", "Skills", 2067, "used")+","+
		category("messages", "Messages", p.spent.input+p.spent.output, "used")+","+
		category("autocompact_buffer", "Autocompact buffer", 33000, "buffer")+","+
		category("free_space", "Free space", contextWindow-33000-used, "free")+"]").
		int("totalTokens", used).int("maxTokens", contextWindow).int("rawMaxTokens", contextWindow).
		str("autocompactSource", "model-default").int("percentage", used*100/contextWindow)
}

func (p *process) rewind(id string, dryRun bool) {
	files := p.script.rewind
	switch {
	case files == nil:
		p.respond(id, newObject().bool("canRewind", false).str("error", "File rewinding is not enabled."))
	case dryRun:
		p.respond(id, newObject().bool("canRewind", true).strings("filesChanged", files).int("insertions", 1).int("deletions", 1))
	default:
		p.respond(id, newObject().bool("canRewind", true).int("skippedLinks", 0))
	}
}

// timestamp is the time as node prints it.
func timestamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
