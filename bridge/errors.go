package bridge

import "fmt"

// Error is a failure as the editor is told of it: what happened, and what to do about it, in one sentence each.
type Error struct {
	Kind       string `json:"kind"`
	Message    string `json:"message"`
	Remedy     string `json:"remedy,omitempty"`
	APIStatus  int    `json:"api_status,omitempty"`  // HTTP status of the model's API
	ExitCode   *int   `json:"exit_code,omitempty"`   // of the CLI
	StderrTail string `json:"stderr_tail,omitempty"` // the CLI's last words
}

func (e *Error) Error() string { return e.Message }

// The kinds of Error, as in docs/protocol.md.
const (
	KindNotAuthenticated = "not_authenticated"
	KindRateLimited      = "rate_limited"
	KindOverloaded       = "overloaded"
	KindServerError      = "server_error"
	KindConnection       = "connection"
	KindInvalidRequest   = "invalid_request"
	KindTooLarge         = "too_large"
	KindClaudeNotFound   = "claude_not_found"
	KindClaudeTooOld     = "claude_too_old"
	KindClaudeExited     = "claude_exited"
	KindInternal         = "internal"
	KindOther            = "other"
	KindSessionNotFound  = "session_not_found"
	KindTurnRunning      = "turn_running"
	KindNotPermitted     = "not_permitted"
	KindUnsupportedByCLI = "unsupported_by_claude"
	KindPayloadTooLarge  = "payload_too_large"
	KindInvalidCWD       = "invalid_cwd"
	KindInvalidParams    = "invalid_params"
	KindStore            = "store"
	KindTimeout          = "timeout"
)

// remedies is what the user can do about a failed turn.
var remedies = map[string]string{
	KindNotAuthenticated: "Log in: run `claude` in a terminal and follow /login, or set ANTHROPIC_API_KEY.",
	KindRateLimited:      "Wait for the limit to reset, or choose another model.",
	KindOverloaded:       "The API is overloaded: send the message again in a minute.",
	KindServerError:      "The API failed: send the message again.",
	KindConnection:       "Check the network and the proxy settings, then send the message again.",
	KindInvalidRequest:   "Change the message or the model and send it again.",
	KindTooLarge:         "Send less at once, or /compact the conversation.",
	KindClaudeNotFound:   "Install Claude Code (npm install -g @anthropic-ai/claude-code) or set claude.command in the settings.",
	KindClaudeTooOld:     "Update Claude Code: claude update.",
	KindClaudeExited:     "Send the message again: Claude Code is started anew.",
}

// fail makes an Error with the remedy that its kind has.
func fail(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Remedy: remedies[kind]}
}
