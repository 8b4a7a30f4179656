package adapters

import "encoding/json"

// Message is one line of the CLI in canonical form, whatever the version that printed it. It is what Decode fills.
//
// Everything in it is borrowed: byte slices point into the line, and the slices of blocks and results are reused for the next
// line. Whoever keeps a part of it longer than the call it was handed to takes a Clone of that part.
type Message struct {
	Kind Kind
	// Wire is the line's own name, "type" or "type/subtype" ("system/init"): for counters and logs.
	Wire string
	// Raw is the line without its newline.
	Raw []byte
	// Parent is the tool use of the agent tool whose subagent speaks, empty for the main agent.
	Parent string

	// MessageID and Block place Token, Thinking and BlockStop; MessageID also names an Assistant line.
	MessageID string
	Block     int
	// Text is the piece of a Token or Thinking, and the text of a CommandOutput, Notice or Log line.
	Text Text
	// Level of a Notice: info, warning or error.
	Level string

	Blocks  []Block      // Assistant
	Results []ToolResult // ToolResults
	// Tasks stand beside an Assistant or ToolResults line where the CLI has no lines of its own about tasks (before 2.1.112): what
	// the agent tool's start and result tell. Their ID is the tool use.
	Tasks []Task
	// Context is how many tokens of the model's window an Assistant line of the main agent leaves in use; 0 if not told. It is as of
	// the beginning of the answer, whose own tokens are not counted yet.
	Context int64
	// Origin of an Assistant line: OriginModel, OriginCommand or OriginError.
	Origin Origin

	// Discarded is set beside any kind when this line proves that text streamed before it was abandoned and will not be part
	// of the conversation. It is reported before the line itself.
	Discarded *Discard

	UUID string // Echo: the uuid of the user message that the CLI has taken up

	Init       *Init // SystemInit; Boundary stands beside it if the conversation was cleared and no line said so (before 2.1.329)
	Status     *Status
	Retry      *Retry
	Boundary   *Boundary
	Task       *Task
	Progress   *ToolProgress
	Denial     *Denial
	Title      string
	Permission *Permission
	Request    *Request
	Response   *Response
	Result     *Result

	// CancelID is the control request that the CLI takes back (Cancel).
	CancelID string
	// Err says why a line of a known type could not be read (Malformed), or beside a TurnResult, which ends the turn all the same,
	// what it lacks.
	Err error
}

// Kind says what a Message is, and so which of its fields are set.
type Kind uint8

const (
	Unknown         Kind = iota // a JSON object of no known type; counted by Wire, never an error
	Log                         // a line that is not a JSON object: text of the CLI or of something it runs
	Malformed                   // a known type whose content cannot be read; Err says why
	Skipped                     // known, and nothing in it concerns anybody
	Token                       // a piece of the answer
	Thinking                    // a piece of the model's thinking
	BlockStop                   // a content block has ended
	Assistant                   // complete content blocks, one line a block on all versions
	ToolResults                 // what tools returned
	Echo                        // the CLI has taken up the user message UUID
	CommandOutput               // what a slash command printed, or set_model in place of one
	Interrupted                 // the CLI's mark that the turn was interrupted
	SystemInit                  // a turn begins; Init
	StatusChange                // Status
	APIRetry                    // Retry
	Compacted                   // the conversation was compacted; Boundary
	Cleared                     // the conversation was cleared; Boundary
	TaskUpdate                  // Task
	Progress                    // ToolProgress
	ToolDenied                  // the CLI denied a tool by itself; Denial
	TitleChanged                // Title
	Notice                      // something the CLI wants the user to know; Text
	PermissionAsked             // can_use_tool; Permission
	ControlRequest              // any other control request of the CLI; Request
	Cancel                      // the CLI takes a control request back; CancelID
	// ControlResponse is the answer to a request of ours; Response. One with an id nobody waits for means nothing: set_permission_mode
	// is answered twice before 2.1.112, and our own answers come back with --replay-user-messages from there on.
	ControlResponse
	TurnResult // a turn is over; Result
)

var kindNames = [...]string{
	"Unknown", "Log", "Malformed", "Skipped", "Token", "Thinking", "BlockStop", "Assistant", "ToolResults", "Echo", "CommandOutput",
	"Interrupted", "SystemInit", "StatusChange", "APIRetry", "Compacted", "Cleared", "TaskUpdate", "Progress", "ToolDenied",
	"TitleChanged", "Notice", "PermissionAsked", "ControlRequest", "Cancel", "ControlResponse", "TurnResult",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(?)"
}

// Text is a JSON string as it stands on the wire, quotes and escapes included. It is passed on verbatim, so that nothing is lost
// by decoding it: half a surrogate pair (`"\ud83d"`), which no Go string can hold, survives.
type Text []byte

// String decodes the text; a lone half of a surrogate pair becomes U+FFFD.
func (t Text) String() string {
	var s string
	if json.Unmarshal(t, &s) != nil {
		return ""
	}
	return s
}

// MarshalJSON is the text as it stands.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("null"), nil
	}
	return t, nil
}

// Origin says who wrote the text of an Assistant line.
type Origin uint8

const (
	OriginModel   Origin = iota
	OriginCommand        // output of a slash command such as /cost
	OriginError          // text the CLI makes up for a failed turn: it belongs into the turn's error
)

// Block is one content block of an Assistant line, in the shape of the Messages API.
type Block struct {
	Index    int    // place in the message, 0-based
	Type     string // text, thinking, redacted_thinking, tool_use, …
	Text     Text   // text and thinking
	Raw      []byte // the whole block
	Streamed bool   // its text has been told as tokens already
	ToolUse  ToolUse
}

// ToolUse is the model's wish to run a tool.
type ToolUse struct {
	ID    string // toolu_…
	Name  string // Bash, Read, mcp__server__tool, …
	Input json.RawMessage
}

// ToolResult is what a tool returned to the model.
type ToolResult struct {
	ToolUseID string
	Content   json.RawMessage // a string or content blocks
	IsError   bool
	// Structured is the CLI's own record of the result (tool_use_result), absent on subagents' results.
	Structured json.RawMessage
	// Original is the size in bytes of Content and Structured before Limit has cut them; 0 if they are whole.
	Original int
	// Interrupted: the user's interrupt ended it. Denied: the CLI says that permission was refused. Background: the tool goes on.
	Interrupted, Denied, Background bool
}

// Discard names text that was streamed and has become void: the blocks of MessageID from FromBlock on.
type Discard struct {
	MessageID string
	FromBlock int
}

// Init is system/init, which precedes every turn.
type Init struct {
	SessionID      string // Claude's own id of the conversation
	CWD            string
	Model          string
	PermissionMode string
	Version        string // claude_code_version, absent before 2.1.17
	APIKeySource   string
	Tools          []string
	MCPServers     []MCPServer
	SlashCommands  []string
	Agents         []string
	UserMessages   []string // uuids of the user messages this turn answers, as far as the CLI says (2.1.329)
}

// MCPServer is a server as system/init and mcp_status report it. Status is the CLI's own word.
type MCPServer struct {
	Name   string
	Status string
	Error  string
}

// Status is system/status: what the CLI is at, or its permission mode, or both.
type Status struct {
	Activity       string // requesting, compacting, or empty: nothing special
	PermissionMode string // empty: unchanged
}

// Retry is system/api_retry: the API failed and is asked again.
type Retry struct {
	Attempt, MaxAttempts int
	DelayMS              int64
	HTTPStatus           int // 0 for a connection error
	Error                string
}

// Boundary is where the conversation the model sees begins anew.
type Boundary struct {
	Trigger   string // manual, auto, clear
	PreTokens int    // tokens before compacting, 0 if not told
	SessionID string // Claude's id of the new conversation, if told; on Cleared it is not, the next SystemInit has it
}

// Task is a background agent or command, or a subagent in the foreground.
type Task struct {
	ID, ToolUseID string
	Kind          string // agent, command
	Status        string // running, completed, failed, stopped
	Title         string
	Background    bool
	LastTool      string
	Summary       string
	Usage         json.RawMessage
	// Live is set on a background_tasks_changed line, which names all tasks that still run and nothing else.
	Live    bool
	LiveIDs []string
}

// ToolProgress says that a tool still runs.
type ToolProgress struct {
	ToolUseID string
	ElapsedMS int64
}

// Denial is a tool call that the CLI refused by itself, by a rule or mode of its own.
type Denial struct {
	ToolUseID, Tool string
	Message, Reason string
}

// Permission is the CLI's question whether a tool may run (control_request can_use_tool).
type Permission struct {
	RequestID string // of the control request; the answer carries it
	// ToolUseID is the tool use it is about. 2.0.0 does not say: the adapter finds it by name and input among those announced,
	// else makes one up and sets Announce.
	ToolUseID string
	Announce  bool // no Assistant line has told of ToolUseID
	Tool      string
	Input     json.RawMessage
	Parent    string // tool use of the agent tool, if a subagent asks
	AgentID   string

	Description        string // the model's claim, never what is shown as the title
	BlockedPath        string
	DecisionReason     string
	DecisionReasonType string
	MCPServer          string   // server name, of an MCP tool
	MCPServerSource    string   // where the server was configured, if told
	Modes              []string // permission modes it suggests going to (suggestions of type setMode)
	// The CLI says that only a person may answer.
	RequiresUserInteraction, ServerPolicyAskOnly bool
}

// Request is a control request of the CLI other than can_use_tool. It must be answered, if only with an error.
type Request struct {
	RequestID string
	Subtype   string // hook_callback, mcp_message, elicitation, …
	Body      json.RawMessage
	Hook      *Hook // hook_callback
}

// Hook is a hook_callback: the CLI asks a hook that was registered at initialize.
type Hook struct {
	CallbackID string
	Event      string // PreToolUse, PostToolUse, …
	Tool       string
	ToolUseID  string
	Input      json.RawMessage // tool_input
	CWD        string          // the shell's directory, where the version tells it
	Mode       string
	AgentID    string
}

// Response answers a control request of ours.
type Response struct {
	RequestID string
	Body      json.RawMessage // nil: success without content
	Error     string          // not empty: it failed
	// Unsupported: the CLI does not know the request.
	Unsupported bool
}

// Result ends a turn.
type Result struct {
	SessionID string
	Outcome   Outcome
	// StopReason in the words of our protocol: end_turn, max_tokens, max_turns, max_budget, refusal, cancelled, error.
	StopReason string
	Text       Text     // the final text; nil if there is none
	Failure    *Failure // Outcome Failed
	// UserMessages are the uuids of the user messages this result answers; Answers says whether this CLI tells them at all
	// (2.1.329). Where it does, a result without our uuid ends a turn of the CLI's own.
	UserMessages []string
	Answers      bool
	Origin       string // "" or why the CLI ran a turn by itself (task-notification)

	Usage             Usage
	ModelUsage        json.RawMessage // cumulative for the process
	TotalCostUSD      float64         // cumulative for the process
	DurationMS        int64
	NumTurns          int
	PermissionDenials json.RawMessage
	// ContextWindow is the size of the model's window in tokens, 0 if not told.
	ContextWindow int
}

// Outcome of a turn.
type Outcome uint8

const (
	Completed Outcome = iota
	Cancelled
	Failed
)

// Failure is why a turn failed, in the kinds of our protocol.
type Failure struct {
	Kind      string // not_authenticated, rate_limited, overloaded, server_error, connection, invalid_request, too_large, other
	Message   string
	APIStatus int // 0 if none
}

// Usage counts the tokens of one turn.
type Usage struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
}
