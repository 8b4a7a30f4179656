package bridge

import (
	"context"
	"encoding/json"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
)

// Client is the editor side of a session, as the core sees it. It is implemented by rpc for our own protocol, by other fronts, and
// by tests.
//
// Message, Event and Announce are called with the session locked: one at a time, in the order in which things happened. They must
// not block on the editor nor call back into the session; what they say is buffered, and Flush, called without the lock, is where a
// slow editor slows the session down.
type Client interface {
	// Message reports one line of the CLI. m is borrowed and valid until Message returns.
	Message(s *Session, m *adapters.Message) error
	// Event reports what the bridge knows and the CLI did not say. e is owned by the callee.
	Event(s *Session, e Event) error
	// Flush is called by the session's pump when it has nothing more to read, or has read a good deal: what was reported is to be
	// on its way to the editor. It blocks while the editor is far behind: that is the back-pressure.
	Flush(s *Session) error
	// Permission asks the user and blocks until there is an answer, or ctx ends because the CLI, the turn or the session withdrew
	// the question. An error denies.
	Permission(ctx context.Context, s *Session, p *Prompt) (Decision, error)
	// Question likewise, for AskUserQuestion.
	Question(ctx context.Context, s *Session, q *Prompt) (Answers, error)
}

// Prompt is a question to the user, about one tool use. It ends with exactly one PromptResolved.
type Prompt struct {
	ID string // prompt_id: random, so that an answer cannot be meant for another prompt
	*adapters.Permission
	View      adapters.ToolView   // title, kind, command: made from the input, never from the model's words
	Plan      string              // ExitPlanMode
	Questions []adapters.Question // AskUserQuestion
	Editable  []string            // members of the input that the user may exchange
	Scopes    []string            // how long an allow may last
	Modes     []string            // permission modes that may be chosen with the answer
	Display   string              // what would run, every character visible
	Parts     []policy.Part       // of a command, each with its verdict
	Flags     []string            // what to look at twice
	Risk      string              // low, medium, high: advice
	Rules     []string            // what a scope beyond once would allow, as proposed
	Diff      *Diff               // what a file tool would do
	Base      *Base               // the file that the diff was made from
	Reason    Reason              // why the user is asked
	Again     string              // why the user is asked anew: too_early, changed, denied_by_rule
}

// Reason says why the user is asked.
type Reason struct {
	Source string `json:"source"` // ask_rule, default, unparsed, protected, plan_mode, claude, hook, mode
	Text   string `json:"text"`
	Rule   string `json:"rule,omitempty"`
	File   string `json:"file,omitempty"`
}

// Decision is the answer to a permission prompt. The zero Decision denies.
type Decision struct {
	PromptID       string          `json:"prompt_id"`
	Decision       string          `json:"decision"` // allow, deny
	Scope          string          `json:"scope"`
	Rules          []string        `json:"rules"`
	PermissionMode string          `json:"permission_mode"`
	UpdatedInput   json.RawMessage `json:"updated_input"`
	UpdatedText    *string         `json:"updated_text"`
	Message        string          `json:"message"`
	Interrupt      bool            `json:"interrupt"`
}

// Answers are the user's answers to AskUserQuestion, by the text of the question; a value is a JSON string or a list of strings.
type Answers struct {
	Answers  map[string]json.RawMessage `json:"answers"`
	Declined bool                       `json:"declined"`
	Message  string                     `json:"message"`
}

// Event is something the bridge knows and the CLI did not say.
type Event interface{ event() }

// TurnStarted: a turn has begun. Told again with Origin "user" when the CLI has taken a user message into a turn of its own.
type TurnStarted struct {
	TurnID        string
	Origin        string // user, background
	UserMessageID string
}

// TurnCompleted is the last event of a turn; the answer to its user message follows with nothing of the session between.
type TurnCompleted struct {
	TurnID        string
	Origin        string
	Status        string // completed, cancelled, failed
	StopReason    string
	UserMessageID string
}

// UsageReported tells what a turn has used.
type UsageReported struct {
	Usage         adapters.Usage
	CostUSD       float64 // of the turn
	TotalCostUSD  float64 // of the session
	ContextUsed   int64   // tokens; 0 if unknown
	ContextWindow int     // tokens; 0 if unknown
	ModelUsage    json.RawMessage
}

// State is what a session is at.
type State struct {
	State string `json:"state"` // starting, idle, running, waiting_permission, waiting_answer, retrying, interrupting, compacting, exited

	QuietMS     int64  `json:"quiet_ms,omitempty"` // running: this long without a line
	Attempt     int    `json:"attempt,omitempty"`  // retrying
	MaxAttempts int    `json:"max_attempts,omitempty"`
	DelayMS     int64  `json:"delay_ms,omitempty"`
	Error       string `json:"error,omitempty"`
	ExitCode    *int   `json:"exit_code,omitempty"` // exited
	Message     string `json:"message,omitempty"`
	Remedy      string `json:"remedy,omitempty"`
}

// StateChanged reports a new State.
type StateChanged struct{ State State }

// SessionChanged reports the fields of the session that have changed; the others are nil.
type SessionChanged struct{ Update Update }

// ToolAnnounced tells of a tool use that no line of the CLI has told of before its permission question (2.0.0).
type ToolAnnounced struct {
	MessageID string
	Block     int
	ToolUse   adapters.ToolUse
	Parent    string
}

// PromptResolved is the end of a Prompt.
type PromptResolved struct {
	PromptID  string
	ToolUseID string
	Outcome   string // allowed, denied, answered, declined, withdrawn
	By        string // user, rule, grant, timeout, interrupt, claude, session_closed, error
	Rule      string
	Message   string
	Input     json.RawMessage // what will run, if changed
}

// ToolDecided: nobody was asked about a tool use, because a rule or grant decided. Told before the tool's result.
type ToolDecided struct {
	ToolUseID string
	Decision  string // allowed, denied
	By        string // rule, grant
	Rule      string
}

// ToolDone tells what a file tool has done. Told before the tool's result.
type ToolDone struct {
	ToolUseID string
	Diff      *Diff
}

// Notice is something the user should know. Remedy says what to do about it.
type Notice struct {
	Level   string // info, warning, error
	Kind    string
	Message string
	Remedy  string
}

func (TurnStarted) event()    {}
func (TurnCompleted) event()  {}
func (UsageReported) event()  {}
func (StateChanged) event()   {}
func (SessionChanged) event() {}
func (ToolAnnounced) event()  {}
func (PromptResolved) event() {}
func (ToolDecided) event()    {}
func (ToolDone) event()       {}
func (Notice) event()         {}

// Update holds what is known of a session, in the names of session_update. A nil field is unknown, or unchanged in SessionChanged.
type Update struct {
	ClaudeCode      *ClaudeCode     `json:"claude_code,omitempty"`
	ClaudeSessionID *string         `json:"claude_session_id,omitempty"`
	Model           *string         `json:"model,omitempty"`
	PermissionMode  *string         `json:"permission_mode,omitempty"`
	Modes           []string        `json:"modes,omitempty"`
	Controls        []string        `json:"controls,omitempty"`
	Tools           []string        `json:"tools,omitempty"`
	MCPServers      []MCPServer     `json:"mcp_servers,omitempty"`
	Commands        []Command       `json:"commands,omitempty"`
	Models          []Model         `json:"models,omitempty"`
	Agents          []string        `json:"agents,omitempty"`
	Account         json.RawMessage `json:"account,omitempty"`
	Title           *string         `json:"title,omitempty"`
	CWD             *string         `json:"cwd,omitempty"`
	Trust           *Trust          `json:"trust,omitempty"`
	Queue           *[]QueuedItem   `json:"queue,omitempty"`
}

// ClaudeCode is the CLI as found. Level is one of unknown, fully_compatible, likely_compatible, degraded, incompatible, missing.
type ClaudeCode struct {
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// MCPServer is an MCP server of the session. Status is one of connected, pending, failed, needs_auth, disabled.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// Command is a slash command.
type Command struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	ArgumentHint string `json:"argument_hint,omitempty"`
}

// Model is a model the user may choose.
type Model struct {
	Value        string   `json:"value"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	EffortLevels []string `json:"effort_levels,omitempty"`
}

// Trust says whether the folder is trusted, and what stays off while it is not.
type Trust struct {
	Trusted bool     `json:"trusted"`
	Off     []string `json:"off,omitempty"` // what of the project is switched off
}

// QueuedItem is a user message that waits for its turn.
type QueuedItem struct {
	UserMessageID string          `json:"user_message_id"`
	Content       json.RawMessage `json:"content"`
}

// Snapshot is all that is known of a session: what a view redraws itself from.
type Snapshot struct {
	SessionID string
	Update    Update
	State     State
	Queue     []QueuedItem
	Prompts   []*Prompt // open ones, in the order they were asked
	Tasks     []adapters.Task
}
