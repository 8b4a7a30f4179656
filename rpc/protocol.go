package rpc

import (
	"encoding/json"

	"drawbridge/bridge"
)

// ProtocolVersion is the newest version spoken here. Versions agree when the majors do; the lower minor is spoken.
const ProtocolVersion = "1.0"

// method is a row of the method table.
type method struct {
	handle handler
	flags  flags
	params any // the zero params; nil for none
	result any // the zero result; nil for null
}

type flags uint8

const (
	async        flags = 1 << iota // leaves the reader before it waits; may be ended by $/cancelRequest
	ordered                        // goes on when those of its session before it are done
	notification                   // has no answer
	early                          // may come before initialize is answered, and after shutdown
	base                           // of the LSP base protocol, under its own names
)

// methods is everything an editor can send. docs/protocol.md has a section for each, and a test holds it to this table.
var methods = map[string]method{
	// lifecycle
	"initialize":                     {(*Server).initialize, async | early, InitializeParams{}, InitializeResult{}},
	"initialized":                    {ignored, notification | early | base, nil, nil},
	"shutdown":                       {(*Server).shutdown, async | base, nil, nil},
	"exit":                           {(*Server).exit, notification | early | base, nil, nil},
	"$/cancelRequest":                {(*Server).cancelRequest, notification | early | base, nil, nil},
	"$/setTrace":                     {(*Server).setTrace, notification | early | base, nil, nil},
	"window/workDoneProgress/cancel": {(*Server).cancelProgress, async | notification | base, nil, nil},

	// conversation
	"user_message": {(*Server).userMessage, async, UserMessageParams{}, bridge.TurnResult{}},
	"interrupt":    {inSession(interrupt), async, InterruptParams{}, Nothing{}},
	"rewind_files": {inSession(rewindFiles), async, RewindFilesParams{}, bridge.Rewind{}},
	"task_stop":    {inSession(taskStop), async, TaskStopParams{}, Nothing{}},

	// sessions
	"session_new":   {(*Server).sessionNew, async, bridge.SessionOptions{}, SessionState{}},
	"session_get":   {(*Server).sessionGet, 0, SessionParams{}, SessionState{}},
	"session_close": {(*Server).sessionClose, async, SessionParams{}, Nothing{}},

	// the past
	"session_list":    {(*Server).sessionList, async, SessionListParams{}, SessionListResult{}},
	"session_resume":  {(*Server).sessionResume, async, SessionResumeParams{}, SessionState{}},
	"session_history": {(*Server).sessionHistory, async, SessionHistoryParams{}, SessionHistoryResult{}},
	"session_rename":  {(*Server).sessionRename, async, SessionRenameParams{}, Nothing{}},
	"session_delete":  {(*Server).sessionDelete, async, SessionParams{}, Nothing{}},
	"usage":           {(*Server).usage, async, UsageParams{}, UsageResult{}},

	// settings of a session
	"set_permission_mode":     {inSession(setPermissionMode), async | ordered, SetPermissionModeParams{}, SetPermissionModeResult{}},
	"set_model":               {inSession(setModel), async | ordered, SetModelParams{}, SetModelResult{}},
	"set_max_thinking_tokens": {inSession(setMaxThinkingTokens), async | ordered, SetMaxThinkingTokensParams{}, SetMaxThinkingTokensResult{}},

	// MCP servers of a session
	"mcp_status":       {inSession(mcpStatus), async, SessionParams{}, MCPStatusResult{}},
	"mcp_reconnect":    {inSession(mcpReconnect), async, MCPServerParams{}, Nothing{}},
	"mcp_toggle":       {inSession(mcpToggle), async, MCPToggleParams{}, Nothing{}},
	"mcp_set_servers":  {inSession(mcpSetServers), async, MCPSetServersParams{}, json.RawMessage{}},
	"mcp_authenticate": {inSession(mcpAuthenticate), async, MCPServerParams{}, MCPAuthenticateResult{}},

	// permission
	"permission_rules":  {inSession(permissionRules), async, SessionParams{}, RulesResult{}},
	"permission_revoke": {inSession(permissionRevoke), async, RevokeParams{}, Nothing{}},

	// knowledge
	"context_usage": {inSession(contextUsage), async, SessionParams{}, json.RawMessage{}},
	"health":        {(*Server).health, 0, nil, bridge.Health{}},
}

// notifications is everything the editor is told, with the params of each.
var notifications = map[string]any{
	turnStart:            TurnStartParams{},
	assistantToken:       TokenParams{},
	thinkingToken:        TokenParams{},
	assistantMessage:     AssistantMessageParams{},
	messageDiscarded:     MessageDiscardedParams{},
	toolUseStart:         ToolUseStartParams{},
	toolProgress:         ToolProgressParams{},
	toolResult:           ToolResultParams{},
	promptResolved:       PromptResolvedParams{},
	taskUpdate:           TaskUpdateParams{},
	todoUpdate:           TodoUpdateParams{},
	turnComplete:         TurnCompleteParams{},
	usageReport:          UsageReportParams{},
	statusChange:         StatusChangeParams{},
	sessionUpdate:        SessionUpdateParams{},
	conversationBoundary: ConversationBoundaryParams{},
	notice:               NoticeParams{},
	claudeEvent:          ClaudeEventParams{},
}

// questions is everything the editor is asked, with the params of each.
var questions = map[string]any{
	permissionRequest: PermissionParams{},
	askUserQuestion:   QuestionParams{},
}

// Names of what is sent to the editor.
const (
	turnStart            = "turn_start"
	assistantToken       = "assistant_token"
	thinkingToken        = "thinking_token"
	assistantMessage     = "assistant_message"
	messageDiscarded     = "message_discarded"
	toolUseStart         = "tool_use_start"
	toolProgress         = "tool_progress"
	toolResult           = "tool_result"
	promptResolved       = "prompt_resolved"
	taskUpdate           = "task_update"
	todoUpdate           = "todo_update"
	turnComplete         = "turn_complete"
	usageReport          = "usage_report"
	statusChange         = "status_change"
	sessionUpdate        = "session_update"
	conversationBoundary = "conversation_boundary"
	notice               = "notice"
	claudeEvent          = "claude_event"

	permissionRequest = "permission_request"
	askUserQuestion   = "ask_user_question"
)
