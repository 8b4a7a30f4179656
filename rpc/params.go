package rpc

import (
	"encoding/json"

	"drawbridge/bridge"
)

// Capabilities are what a client can do, and in the answer to initialize what is in force. One that is not named is off.
type Capabilities struct {
	Streaming   bool `json:"streaming"`   // takes assistant_token and thinking_token
	Permissions bool `json:"permissions"` // answers permission_request
	Progress    bool `json:"progress"`    // takes tool_progress and the details of status_change
	Thinking    bool `json:"thinking"`    // takes the model's thinking
	Questions   bool `json:"questions"`   // answers ask_user_question
	Diffs       bool `json:"diffs"`       // takes diffs; none are sent yet
	RawEvents   bool `json:"raw_events"`  // takes claude_event
}

// SessionOptions are the options of initialize: the defaults of all sessions of the connection.
type SessionOptions struct {
	bridge.SessionOptions
	Prewarm            bool    `json:"prewarm"`              // start the CLI of the default session at once
	PermissionTimeoutS float64 `json:"permission_timeout_s"` // 0: a prompt waits for ever
	Resume             string  `json:"resume"`               // the default session goes on with this conversation
	Continue           bool    `json:"continue"`             // or with the newest of the directory
	IdleStopS          float64 `json:"idle_stop_s"`          // an idle CLI is stopped after this; 0: never
	MinAnswerMS        float64 `json:"min_answer_ms"`        // an allow that comes sooner is asked anew
}

// InitializeParams are the params of initialize in our own form. The LSP form is protocol.InitializeParams.
type InitializeParams struct {
	ProtocolVersion string         `json:"protocol_version"`
	ClientInfo      Peer           `json:"client_info"`
	ProcessID       int            `json:"process_id"`
	CWD             string         `json:"cwd"`
	Capabilities    Capabilities   `json:"capabilities"`
	Options         SessionOptions `json:"options"`
}

// Peer names one end of the connection.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// InitializeResult is the answer to initialize in our own form.
type InitializeResult struct {
	ProtocolVersion string            `json:"protocol_version"`
	ServerInfo      Peer              `json:"server_info"`
	SessionID       string            `json:"session_id"`
	Capabilities    ServerCapability  `json:"capabilities"`
	ClaudeCode      bridge.ClaudeCode `json:"claude_code"`
}

// ServerCapability is what is in force of the client's capabilities, and what the bridge can do.
type ServerCapability struct {
	Capabilities
	Tools      []string `json:"tools"`       // as the last session here has reported, or empty
	MCPServers int      `json:"mcp_servers"` // how many, likewise
	Modes      []string `json:"modes"`
	Sessions   []string `json:"sessions"` // what can be done with conversations of before: list, resume, fork, history
	Controls   []string `json:"controls"`
	// MaxPayloadBytes is how long a message of Claude Code may be before its strings are cut.
	MaxPayloadBytes int64 `json:"max_payload_bytes"`
}

// Nothing is the empty object.
type Nothing struct{}

// SessionParams name a session; the default session if they do not.
type SessionParams struct {
	SessionID string `json:"session_id,omitempty"`
}

func (p SessionParams) session() string { return p.SessionID }

// UserMessageParams are the params of user_message.
type UserMessageParams struct {
	SessionParams
	Content       json.RawMessage      `json:"content"`
	UserMessageID string               `json:"user_message_id"`
	Context       []bridge.ContextItem `json:"context"`
	WhenBusy      string               `json:"when_busy"` // queue (default), reject
}

// InterruptParams are the params of interrupt.
type InterruptParams struct {
	SessionParams
	Queued string `json:"queued"` // keep (default), cancel
}

// RewindFilesParams are the params of rewind_files.
type RewindFilesParams struct {
	SessionParams
	UserMessageID string `json:"user_message_id"`
	DryRun        bool   `json:"dry_run"`
}

// TaskStopParams are the params of task_stop.
type TaskStopParams struct {
	SessionParams
	TaskID string `json:"task_id"`
}

// SetPermissionModeParams are the params of set_permission_mode; the result tells the mode in force.
type SetPermissionModeParams struct {
	SessionParams
	Mode string `json:"mode"`
}

// SetPermissionModeResult is the result of set_permission_mode.
type SetPermissionModeResult struct {
	Mode string `json:"mode"`
}

// SetModelParams are the params of set_model; the result tells the model in force.
type SetModelParams struct {
	SessionParams
	Model string `json:"model"`
}

// SetModelResult is the result of set_model.
type SetModelResult struct {
	Model string `json:"model"`
}

// SetMaxThinkingTokensParams are the params of set_max_thinking_tokens; the result tells the number in force.
type SetMaxThinkingTokensParams struct {
	SessionParams
	MaxThinkingTokens int `json:"max_thinking_tokens"`
}

// SetMaxThinkingTokensResult is the result of set_max_thinking_tokens.
type SetMaxThinkingTokensResult struct {
	MaxThinkingTokens int `json:"max_thinking_tokens"`
}

// MCPServerParams name an MCP server of a session.
type MCPServerParams struct {
	SessionParams
	Server string `json:"server"`
}

// MCPToggleParams are the params of mcp_toggle.
type MCPToggleParams struct {
	MCPServerParams
	Enabled bool `json:"enabled"`
}

// MCPSetServersParams are the params of mcp_set_servers.
type MCPSetServersParams struct {
	SessionParams
	Servers json.RawMessage `json:"servers"` // as in .mcp.json
}

// MCPStatusResult is the result of mcp_status.
type MCPStatusResult struct {
	Servers []bridge.MCPServer `json:"servers"`
}

// MCPAuthenticateResult is the result of mcp_authenticate.
type MCPAuthenticateResult struct {
	AuthURL string `json:"auth_url,omitempty"`
}

// SessionState is all that is known of a session: the result of session_new and session_get.
type SessionState struct {
	SessionID string `json:"session_id"`
	bridge.Update
	State   bridge.State        `json:"state"`
	Queue   []bridge.QueuedItem `json:"queue"`
	Prompts []any               `json:"prompts"` // PermissionParams and QuestionParams
	Tasks   []TaskUpdateParams  `json:"tasks"`
}

// RulesResult is the answer to permission_rules: the rules in force, those of the user's file first, grants last.
type RulesResult struct {
	Rules []bridge.RuleInfo `json:"rules"`
}

// RevokeParams are the params of permission_revoke.
type RevokeParams struct {
	SessionParams
	RuleID string `json:"rule_id"`
}
