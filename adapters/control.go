package adapters

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// controlRequest reads a question of the CLI.
func (b *baseline) controlRequest(l *line, m *Message) {
	subtype := str(member(l.request, "subtype"))
	m.Wire = "control_request/" + subtype
	id := str(l.requestID)
	if id == "" || subtype == "" {
		m.malformed("no request_id or subtype")
		return
	}
	if subtype == "can_use_tool" {
		b.permission(id, l.request, m)
		return
	}
	m.Kind, m.Request = ControlRequest, &Request{RequestID: id, Subtype: subtype, Body: l.request}
	if subtype == "hook_callback" {
		m.Request.Hook = hook(l.request)
	}
}

// hook reads a hook_callback. The tool use is in both places from 2.1.17 on, before beside the input alone.
func hook(request []byte) *Hook {
	h := &Hook{}
	var input []byte
	for o := object(request); o.next(); {
		switch string(o.key) {
		case "callback_id":
			h.CallbackID = str(o.val)
		case "tool_use_id":
			h.ToolUseID = str(o.val)
		case "input":
			input = o.val
		}
	}
	for o := object(input); o.next(); {
		switch string(o.key) {
		case "hook_event_name":
			h.Event = str(o.val)
		case "tool_name":
			h.Tool = str(o.val)
		case "tool_input":
			h.Input = o.val
		case "tool_use_id":
			if isString(o.val) {
				h.ToolUseID = str(o.val)
			}
		case "cwd":
			h.CWD = str(o.val)
		case "permission_mode":
			h.Mode = str(o.val)
		case "agent_id":
			h.AgentID = str(o.val)
		}
	}
	return h
}

func (b *baseline) permission(id string, request []byte, m *Message) {
	p := &Permission{RequestID: id}
	for o := object(request); o.next(); {
		switch string(o.key) {
		case "tool_use_id":
			p.ToolUseID = str(o.val)
		case "tool_name":
			p.Tool = str(o.val)
		case "input":
			p.Input = o.val
		case "agent_id":
			p.AgentID = str(o.val)
		case "description":
			p.Description = str(o.val)
		case "blocked_path":
			p.BlockedPath = str(o.val)
		case "decision_reason":
			p.DecisionReason = str(o.val)
		case "decision_reason_type":
			p.DecisionReasonType = str(o.val)
		case "mcp_server":
			p.MCPServer, p.MCPServerSource = str(member(o.val, "name")), str(member(o.val, "source"))
		case "requires_user_interaction":
			p.RequiresUserInteraction = isTrue(o.val)
		case "server_policy_ask_only":
			p.ServerPolicyAskOnly = isTrue(o.val)
		}
	}
	if p.Tool == "" || !isObject(p.Input) {
		m.malformed("no tool_name or input")
		// It has to be answered all the same, or the CLI waits for ever.
		m.Request = &Request{RequestID: id, Subtype: "can_use_tool", Body: request}
		return
	}
	if p.Description == "" {
		p.Description = str(member(p.Input, "description"))
	}
	if p.MCPServer == "" {
		if name, ok := strings.CutPrefix(p.Tool, "mcp__"); ok {
			p.MCPServer, _, _ = strings.Cut(name, "__")
		}
	}
	if p.ToolUseID == "" {
		p.ToolUseID = b.asked(p)
	}
	if use := b.uses[p.ToolUseID]; use != nil {
		use.asked = true
		p.Parent = use.parent
	} else {
		p.Announce = true
	}
	if p.Parent == "" && p.AgentID != "" {
		p.Parent = b.agents[p.AgentID]
	}
	m.Kind, m.Permission, m.Parent = PermissionAsked, p, p.Parent
}

// asked finds the tool use that a request without tool_use_id is about: the oldest announced one with that name and input that no
// request was taken for, else the oldest one with that name, else one that is made up.
func (b *baseline) asked(p *Permission) string {
	var exact, named string
	for id, use := range b.uses {
		if use.asked || use.name != p.Tool {
			continue
		}
		if named == "" || use.seq < b.uses[named].seq {
			named = id
		}
		if sameJSON(use.input, p.Input) && (exact == "" || use.seq < b.uses[exact].seq) {
			exact = id
		}
	}
	switch {
	case exact != "":
		return exact
	case named != "":
		return named
	}
	return "toolu_unannounced_" + p.RequestID
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// controlResponse reads the answer to a request of ours. Before 2.1.112 the CLI answers set_permission_mode twice: the second
// answer is one to a request nobody waits for.
func controlResponse(l *line, m *Message) {
	m.Wire = "control_response"
	r := &Response{}
	var subtype, code []byte
	o := object(l.response)
	for o.next() {
		switch string(o.key) {
		case "request_id":
			r.RequestID = str(o.val)
		case "subtype":
			subtype = o.val
		case "response":
			if present(o.val) {
				r.Body = o.val
			}
		case "error":
			r.Error = str(o.val)
		case "error_code":
			code = o.val
		}
	}
	if r.RequestID == "" {
		m.malformed("no request_id")
		return
	}
	if is(subtype, "error") {
		if r.Error == "" {
			r.Error = "no reason given"
		}
		r.Unsupported = is(code, "unsupported_request") || strings.HasPrefix(r.Error, "Unsupported control request subtype")
	} else {
		r.Error = ""
	}
	m.Kind, m.Response = ControlResponse, r
}
