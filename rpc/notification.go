package rpc

import (
	"encoding/json"

	"drawbridge/adapters"
	"drawbridge/bridge"
)

// TurnStartParams are the params of turn_start.
type TurnStartParams struct {
	SessionID     string `json:"session_id"`
	TurnID        string `json:"turn_id"`
	Origin        string `json:"origin"` // user, background
	UserMessageID string `json:"user_message_id,omitempty"`
}

// TurnCompleteParams are the params of turn_complete.
type TurnCompleteParams struct {
	SessionID     string `json:"session_id"`
	TurnID        string `json:"turn_id"`
	Origin        string `json:"origin"`
	Status        string `json:"status"` // completed, cancelled, failed
	StopReason    string `json:"stop_reason"`
	UserMessageID string `json:"user_message_id,omitempty"`
	// Error is why a turn of the past has failed; a live one's is in the answer to its user_message.
	Error *bridge.Error `json:"error,omitempty"`
}

// TokenParams are the params of assistant_token and thinking_token. The server never builds them: see tokens.
type TokenParams struct {
	SessionID string `json:"session_id"`
	MessageID string `json:"message_id"`
	Block     int    `json:"block"`
	Token     string `json:"token"`
}

// AssistantMessageParams are the params of assistant_message: text that was not streamed.
type AssistantMessageParams struct {
	SessionID       string            `json:"session_id"`
	MessageID       string            `json:"message_id"`
	Content         []json.RawMessage `json:"content"`
	Origin          string            `json:"origin"` // model, command
	ParentToolUseID string            `json:"parent_tool_use_id,omitempty"`
}

// MessageDiscardedParams are the params of message_discarded.
type MessageDiscardedParams struct {
	SessionID string `json:"session_id"`
	MessageID string `json:"message_id"`
	FromBlock int    `json:"from_block"`
}

// ToolUseStartParams are the params of tool_use_start.
type ToolUseStartParams struct {
	SessionID       string              `json:"session_id"`
	MessageID       string              `json:"message_id"`
	Block           int                 `json:"block"`
	ToolUseID       string              `json:"tool_use_id"`
	Name            string              `json:"name"`
	Input           json.RawMessage     `json:"input"`
	Title           string              `json:"title"` // plain text
	Kind            string              `json:"kind"`  // read, edit, execute, search, fetch, think, switch_mode, other
	Locations       []adapters.Location `json:"locations"`
	ParentToolUseID string              `json:"parent_tool_use_id,omitempty"`
}

// ToolProgressParams are the params of tool_progress.
type ToolProgressParams struct {
	SessionID       string `json:"session_id"`
	ToolUseID       string `json:"tool_use_id"`
	ElapsedMS       int64  `json:"elapsed_ms"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
}

// ToolResultParams are the params of tool_result.
type ToolResultParams struct {
	SessionID       string          `json:"session_id"`
	ToolUseID       string          `json:"tool_use_id"`
	Outcome         string          `json:"outcome"`           // ok, error, denied, interrupted, background
	Content         json.RawMessage `json:"content,omitempty"` // a string or content blocks
	IsError         bool            `json:"is_error"`
	Permission      *Permission     `json:"permission,omitempty"`
	Diff            *bridge.Diff    `json:"diff,omitempty"`       // what a file tool has done; for a client with diffs
	Structured      json.RawMessage `json:"structured,omitempty"` // the CLI's own record
	Truncated       *Truncated      `json:"truncated,omitempty"`  // content or structured was cut
	ParentToolUseID string          `json:"parent_tool_use_id,omitempty"`
}

// Truncated says that long strings were cut, and marked "[truncated: original_size=N bytes]".
type Truncated struct {
	OriginalBytes int `json:"original_bytes"` // of content and structured together, as Claude Code sent them
}

// Permission says who let a tool run or not, when nobody was asked.
type Permission struct {
	Decision string `json:"decision"` // allow, deny
	By       string `json:"by"`       // as in prompt_resolved
	Rule     string `json:"rule,omitempty"`
}

// PromptResolvedParams are the params of prompt_resolved.
type PromptResolvedParams struct {
	SessionID string          `json:"session_id"`
	PromptID  string          `json:"prompt_id"`
	ToolUseID string          `json:"tool_use_id"`
	Outcome   string          `json:"outcome"` // allowed, denied, answered, declined, withdrawn
	By        string          `json:"by"`      // user, rule, grant, timeout, interrupt, claude, session_closed, error
	Rule      string          `json:"rule,omitempty"`
	Message   string          `json:"message,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"` // what will run, if changed
}

// TaskUpdateParams are the params of task_update, and a row of the tasks of session_get.
type TaskUpdateParams struct {
	SessionID  string          `json:"session_id,omitempty"` // absent in session_get
	TaskID     string          `json:"task_id"`
	ToolUseID  string          `json:"tool_use_id,omitempty"`
	Kind       string          `json:"kind"`   // agent, command
	Status     string          `json:"status"` // running, completed, failed, stopped
	Title      string          `json:"title"`
	Background bool            `json:"background"`
	LastTool   string          `json:"last_tool,omitempty"`
	Summary    string          `json:"summary,omitempty"`
	Usage      json.RawMessage `json:"usage,omitempty"`
}

// TodoUpdateParams are the params of todo_update: the whole list.
type TodoUpdateParams struct {
	SessionID string          `json:"session_id"`
	Items     []adapters.Todo `json:"items"`
}

// UsageReportParams are the params of usage_report.
type UsageReportParams struct {
	SessionID     string          `json:"session_id"`
	Usage         adapters.Usage  `json:"usage"`
	CostUSD       float64         `json:"cost_usd"`
	TotalCostUSD  float64         `json:"total_cost_usd"`
	ContextWindow *ContextWindow  `json:"context_window,omitempty"`
	ModelUsage    json.RawMessage `json:"model_usage,omitempty"`
}

// ContextWindow says how full the model's window is, in tokens.
type ContextWindow struct {
	Used int64 `json:"used"`
	Size int64 `json:"size"`
}

// StatusChangeParams are the params of status_change.
type StatusChangeParams struct {
	SessionID string `json:"session_id"`
	bridge.State
}

// SessionUpdateParams are the params of session_update: what has changed.
type SessionUpdateParams struct {
	SessionID string `json:"session_id"`
	bridge.Update
}

// ConversationBoundaryParams are the params of conversation_boundary.
type ConversationBoundaryParams struct {
	SessionID       string `json:"session_id"`
	Kind            string `json:"kind"`    // cleared, compacted
	Trigger         string `json:"trigger"` // manual, auto
	PreTokens       int    `json:"pre_tokens,omitempty"`
	ClaudeSessionID string `json:"claude_session_id,omitempty"` // cleared: the old one
}

// NoticeParams are the params of notice.
type NoticeParams struct {
	SessionID string `json:"session_id"`
	Level     string `json:"level"` // info, warning, error
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Remedy    string `json:"remedy,omitempty"`
}

// ClaudeEventParams are the params of claude_event: a line of the CLI as it is, or a string if it is no JSON.
type ClaudeEventParams struct {
	SessionID string          `json:"session_id"`
	Event     json.RawMessage `json:"event"`
}
