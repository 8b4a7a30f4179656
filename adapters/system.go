package adapters

// system reads a line of type system. Its subtypes are many and grow with every release; those that concern nobody are skipped by
// name, so that only new ones are counted as unknown.
func (b *baseline) system(l *line, m *Message) {
	switch str(l.subtype) {
	case "init":
		b.init(l, m)
	case "status":
		m.Kind, m.Status = StatusChange, &Status{}
		for o := object(l.span); o.next(); {
			switch string(o.key) {
			case "status":
				m.Status.Activity = str(o.val)
			case "permissionMode":
				m.Status.PermissionMode = str(o.val)
			case "user_message_uuids":
				b.named = true
			}
		}
	case "api_retry":
		m.Kind, m.Retry = APIRetry, &Retry{}
		for o := object(l.span); o.next(); {
			switch string(o.key) {
			case "attempt":
				m.Retry.Attempt = int(integer(o.val))
			case "max_retries":
				m.Retry.MaxAttempts = int(integer(o.val))
			case "retry_delay_ms": // a float in 2.1.112
				m.Retry.DelayMS = integer(o.val)
			case "error_status":
				m.Retry.HTTPStatus = int(integer(o.val))
			case "error":
				m.Retry.Error = str(o.val)
			}
		}
	case "compact_boundary":
		meta := member(l.span, "compact_metadata")
		m.Kind, m.Boundary = Compacted, &Boundary{Trigger: str(member(meta, "trigger")), PreTokens: int(integer(member(meta, "pre_tokens")))}
		b.summary = true
	case "task_started", "task_progress", "task_updated", "task_notification":
		b.taskLine(l, m)
	case "background_tasks_changed":
		b.liveTasks(l, m)
	case "permission_denied":
		m.Kind, m.Denial = ToolDenied, &Denial{}
		for o := object(l.span); o.next(); {
			switch string(o.key) {
			case "tool_use_id":
				m.Denial.ToolUseID = str(o.val)
			case "tool_name":
				m.Denial.Tool = str(o.val)
			case "message":
				m.Denial.Message = str(o.val)
			case "decision_reason":
				m.Denial.Reason = str(o.val)
			case "decision_reason_type":
				if m.Denial.Reason == "" {
					m.Denial.Reason = str(o.val)
				}
			}
		}
	case "session_title_changed":
		m.Kind, m.Title = TitleChanged, str(member(l.span, "title"))
	case "informational":
		b.notice(member(l.span, "content"), member(l.span, "level"), m)
	case "notification":
		b.notice(member(l.span, "text"), member(l.span, "level"), m)
	case "model_refusal_no_fallback":
		b.notice(member(l.span, "content"), []byte(`"warning"`), m)
	case "local_command_output":
		if content := member(l.span, "content"); isString(content) {
			m.Kind, m.Text = CommandOutput, Text(content)
			break
		}
		m.malformed("no content")
	case "session_writes_lost":
		m.Kind, m.Level = Notice, "error"
		m.Text = appendString(nil, "Claude could not write to the disk ("+str(member(l.span, "error_code"))+"): this conversation may not be there to resume")
	case "thinking_tokens", "control_request_progress", "commands_changed", "session_state_changed", "files_persisted",
		"hook_started", "hook_progress", "hook_response", "elicitation_complete", "memory_recall", "plugin_install",
		"model_refusal_fallback", "mirror_error", "worker_shutting_down":
		m.Kind = Skipped
	default:
		m.Kind = Unknown
	}
}

func (b *baseline) notice(text, level []byte, m *Message) {
	if !isString(text) {
		m.malformed("no text")
		return
	}
	m.Kind, m.Text, m.Level = Notice, Text(text), "info"
	if is(level, "warning") || is(level, "error") {
		m.Level = str(level)
	}
}

func (b *baseline) init(l *line, m *Message) {
	n := &Init{}
	m.Kind, m.Init = SystemInit, n
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "session_id":
			n.SessionID = str(o.val)
		case "cwd":
			n.CWD = str(o.val)
		case "model":
			n.Model = str(o.val)
		case "permissionMode":
			n.PermissionMode = str(o.val)
		case "claude_code_version":
			n.Version = str(o.val)
		case "apiKeySource":
			n.APIKeySource = str(o.val)
		case "tools":
			n.Tools = stringList(o.val)
		case "mcp_servers":
			n.MCPServers = mcpServers(o.val)
		case "slash_commands":
			n.SlashCommands = stringList(o.val)
		case "agents":
			n.Agents = stringList(o.val)
		case "user_message_uuids":
			n.UserMessages = stringList(o.val)
			b.named = true
		}
	}
	if b.sessionID != "" && n.SessionID != "" && n.SessionID != b.sessionID {
		m.Boundary = &Boundary{Trigger: "clear", SessionID: n.SessionID}
	}
	b.sessionID, b.model = n.SessionID, n.Model
}

func mcpServers(span []byte) []MCPServer {
	var list []MCPServer
	for e := array(span); e.next(); {
		var s MCPServer
		for o := object(e.val); o.next(); {
			switch string(o.key) {
			case "name":
				s.Name = str(o.val)
			case "status":
				s.Status = str(o.val)
			case "error":
				s.Error = str(o.val)
			}
		}
		list = append(list, s)
	}
	return list
}

// toolProgress reads a tool_progress line. That of a heartbeat has an id of its own (toolu_…-heartbeat-0); the tool's is in the
// place of the parent.
func (b *baseline) toolProgress(l *line, m *Message) {
	m.Kind, m.Progress = Progress, &ToolProgress{}
	heartbeat := false
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "tool_use_id":
			m.Progress.ToolUseID = str(o.val)
		case "elapsed_time_seconds":
			m.Progress.ElapsedMS = int64(number(o.val) * 1000)
		case "heartbeat":
			heartbeat = isTrue(o.val)
		}
	}
	if heartbeat && m.Parent != "" {
		m.Progress.ToolUseID, m.Parent = m.Parent, ""
		if use := b.uses[m.Progress.ToolUseID]; use != nil {
			m.Parent = use.parent
		}
	}
}
