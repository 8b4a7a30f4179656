package adapters

import "encoding/json"

// Adapter reads and writes the bytes of one run of the CLI. It is a value of that run: it remembers the current message, the open
// content blocks and the tool uses it has seen, because older CLIs do not repeat them where they are needed. It does no I/O, starts
// no goroutine and is used by one goroutine at a time: Decode by the pump; the Append methods are pure and may be called by any.
type Adapter interface {
	// Features says what this version can do.
	Features() Features
	// Args is the argument list of the CLI, after the command itself. It is called once, before Features is read: a flag that the
	// CLI has rejected takes its feature along.
	Args(o Options) []string
	// Decode reads one line (without its newline) into m, which it resets. It never fails: what cannot be read is a Kind.
	Decode(line []byte, m *Message)

	// Takes says why this version cannot be sent the content of a user message; empty: it can.
	Takes(content json.RawMessage) (refusal string)
	// AppendUser appends the line of a user message.
	AppendUser(dst []byte, u UserMessage) []byte
	// AppendControl appends a control request of the host. Callers look at Features.Controls first.
	AppendControl(dst []byte, requestID string, c Control) []byte
	// AppendAllow lets the asked tool run with input, which is never omitted: before 2.1.329 an allow without it denies. mode, if
	// not empty, is the permission mode from then on. An input that is no JSON object denies.
	AppendAllow(dst []byte, p *Permission, input json.RawMessage, mode string) []byte
	// AppendDeny refuses it; message is what the model is told, and never empty on the wire.
	AppendDeny(dst []byte, p *Permission, message string, interrupt bool) []byte
	// AppendReply answers a Request of the CLI with body, AppendRefusal with an error.
	AppendReply(dst []byte, requestID string, body json.RawMessage) []byte
	AppendRefusal(dst []byte, requestID, message string) []byte
}

// Options are what a run of the CLI is started with.
type Options struct {
	SessionID          string // a new conversation's id
	Resume             string // or the conversation to go on with
	Fork               bool   // of Resume: under a new id
	Continue           bool   // the newest conversation of the directory
	Model              string
	Effort             string
	PermissionMode     string // always passed, so that no project decides it
	AddDirs            []string
	AppendSystemPrompt string
	MCPConfig          json.RawMessage // {"mcpServers":{…}}
	MaxTurns           int
	MaxBudgetUSD       float64
	MaxThinkingTokens  int
	// Restricted: the folder is not trusted, so its settings, hooks and servers stay off.
	Restricted bool
	// AllowBypass lets set_permission_mode reach bypassPermissions later.
	AllowBypass bool
	// Without lists flags that this CLI has rejected before.
	Without []string
}

// UserMessage is what the user says.
type UserMessage struct {
	UUID    string
	Content json.RawMessage // a JSON string or content blocks of the Messages API
}

// Control is a control request of the host: a subtype and its members in wire order.
type Control struct {
	Subtype string
	Members json.RawMessage // a JSON object whose members go beside "subtype"; nil for none
}

// Features is what a version of the CLI can do.
type Features struct {
	Streaming      bool // --include-partial-messages
	Prompts        bool // --permission-prompt-tool stdio
	Initialize     bool // answers the initialize request
	Echo           bool // --replay-user-messages
	ResultNames    bool // results name the user messages they answer
	OwnTurns       bool // starts turns by itself
	Restricted     bool // has --setting-sources and --strict-mcp-config
	ContentBlocks  bool // takes several content blocks in a user message, and images; where not, texts are joined
	KeepsSessionID bool // takes --session-id, and keeps the id on --resume
	Hooks          bool // calls hooks over the control channel
	HookAsk        bool // a PreToolUse hook's "ask" makes it ask; where not, the tool runs
	HookWaits      bool // a hook may take as long as its timeout says; where not, 60 s
	// Controls lists the control requests of the host that it answers.
	Controls map[string]bool
}
