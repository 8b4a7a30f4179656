package rpc

import (
	"encoding/json"
	"strconv"

	"drawbridge/adapters"
	"drawbridge/bridge"
	"drawbridge/bridge/policy"
)

// view is what the server remembers of a session in order to tell the editor of it. The session's lock, under which Message and
// Event are called, guards it.
type view struct {
	s        *Server
	id       string // of the session
	cwd      string
	tokens   tokens
	todos    adapters.TodoList
	progress progress
	sink     func(method string, params any) // of the past: takes what would be told live
	settings turnstile                       // of set_ requests; the reader's own
	claude   string                          // Claude's id of the conversation
	told     string                          // the state the editor knows
	outputs  int                             // of slash commands so far: the CLI gives them no message id
	decided  map[string]*Permission          // tool uses about which nobody was asked, until their results
	done     map[string]*bridge.Diff         // what file tools have done, until their results
}

// view finds or makes the view of a session.
func (s *Server) view(session *bridge.Session) *view {
	if v, ok := s.views.Load(session); ok {
		return v.(*view)
	}
	made := &view{s: s, id: session.ID(), cwd: session.CWD(), tokens: tokens{out: s.stream}, progress: progress{s: s, session: session.ID()}}
	v, _ := s.views.LoadOrStore(session, made) // the reader and the session's pump may both be the first
	return v.(*view)
}

// Message implements bridge.Client.
func (s *Server) Message(session *bridge.Session, m *adapters.Message) error {
	v := s.view(session)
	if s.client.RawEvents {
		if err := v.raw(m); err != nil {
			return err
		}
	}
	if s.trace.on() {
		s.traceLine(m)
	}
	if m.Discarded != nil {
		v.tokens.drop()
		v.tell(messageDiscarded, MessageDiscardedParams{v.id, m.Discarded.MessageID, m.Discarded.FromBlock})
	}
	switch m.Kind {
	case adapters.Token:
		if m.Parent == "" && s.client.Streaming {
			return v.tokens.append(v.id, m)
		}
	case adapters.Thinking:
		if m.Parent == "" && s.client.Streaming && s.client.Thinking {
			return v.tokens.append(v.id, m)
		}
	case adapters.BlockStop:
		return v.flush(m)
	case adapters.Assistant:
		if err := v.flush(m); err != nil {
			return err
		}
		v.assistant(m)
	case adapters.ToolResults:
		if err := v.flush(m); err != nil {
			return err
		}
		for i := range m.Results {
			v.toolResult(m, &m.Results[i])
		}
		v.tasks(m)
	case adapters.PermissionAsked, adapters.Interrupted, adapters.TurnResult:
		if err := v.flush(m); err != nil {
			return err
		}
	default:
		v.line(m)
	}
	if v.todos.Apply(m) {
		v.tell(todoUpdate, TodoUpdateParams{v.id, v.todos.Items()})
	}
	return nil
}

// Flush implements bridge.Client. It waits for an editor that reads too slowly, which slows the CLI down, and nobody else.
func (s *Server) Flush(*bridge.Session) error {
	if err := s.stream.Flush(); err != nil {
		return err
	}
	return s.stream.Pace(s.pace)
}

// flush sends the half character that waits, if the main agent has gone on to something else.
func (v *view) flush(m *adapters.Message) error {
	if m.Parent != "" {
		return nil // a subagent speaks beside it
	}
	return v.tokens.flush()
}

// tell sends a notification about the session. Nothing here waits: the frame goes into the stream's buffer.
func (v *view) tell(method string, params any) {
	if v.sink != nil {
		v.sink(method, params)
		return
	}
	v.s.greeting.after(func() { v.s.notify(method, params) })
}

func (s *Server) notify(method string, params any) {
	if err := s.conn.Notify(s.ctx, method, params); err != nil {
		s.log.Debug("the editor was not told: " + method + ": " + err.Error())
	}
}

// raw passes a line on as it is.
func (v *view) raw(m *adapters.Message) error {
	line := m.Raw
	if !json.Valid(line) {
		line = appendString(nil, string(line))
	}
	if long := []json.RawMessage{line}; adapters.Limit(v.s.bridge.MaxPayload(), long) {
		line = long[0]
	}
	prefix := append(appendString([]byte(`{"session_id":`), v.id), `,"event":`...)
	_, err := v.s.stream.AppendNotification(claudeEvent, prefix, wholePairs(line), closeParams)
	return err
}

// assistant tells of complete blocks: tool uses, and text that was not streamed. Text that the CLI makes up for a failed turn is not
// told, it is the turn's error.
func (v *view) assistant(m *adapters.Message) {
	if m.Origin == adapters.OriginError {
		return
	}
	var content []json.RawMessage
	say := func() {
		if len(content) > 0 {
			v.say(m, content)
			content = nil
		}
	}
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Type {
		case "tool_use":
			say()
			v.toolUse(m.MessageID, b.Index, &b.ToolUse, m.Parent)
		case "thinking", "redacted_thinking":
			if v.s.client.Thinking && !v.streamed(m, b) {
				content = append(content, b.Raw)
			}
		default:
			if !v.streamed(m, b) {
				content = append(content, b.Raw)
			}
		}
	}
	say()
	v.tasks(m)
}

// streamed: the editor has had the text of the block as tokens.
func (v *view) streamed(m *adapters.Message, b *adapters.Block) bool {
	return b.Streamed && m.Parent == "" && v.s.client.Streaming
}

func (v *view) say(m *adapters.Message, content []json.RawMessage) {
	origin := "model"
	if m.Origin == adapters.OriginCommand {
		origin = "command"
	}
	v.tell(assistantMessage, AssistantMessageParams{SessionID: v.id, MessageID: m.MessageID, Content: content, Origin: origin, ParentToolUseID: m.Parent})
}

func (v *view) toolUse(message string, block int, t *adapters.ToolUse, parent string) {
	about := adapters.Describe(t.Name, t.Input, v.cwd)
	p := ToolUseStartParams{SessionID: v.id, MessageID: message, Block: block, ToolUseID: t.ID, Name: t.Name, Input: object(t.Input),
		Title: policy.Visible(about.Title), Kind: about.Kind, Locations: list(about.Locations), ParentToolUseID: parent}
	v.tell(toolUseStart, p)
	if parent == "" {
		v.progress.report(p.Title)
	}
}

func (v *view) toolResult(m *adapters.Message, r *adapters.ToolResult) {
	p := ToolResultParams{SessionID: v.id, ToolUseID: r.ToolUseID, Outcome: outcome(r), Content: r.Content, IsError: r.IsError,
		Structured: r.Structured, ParentToolUseID: m.Parent}
	p.Diff = v.done[r.ToolUseID]
	delete(v.done, r.ToolUseID)
	if r.Original > 0 {
		p.Truncated = &Truncated{r.Original}
	}
	if p.Permission = v.decided[r.ToolUseID]; p.Permission != nil {
		delete(v.decided, r.ToolUseID)
		if p.Permission.Decision == "deny" {
			p.Outcome = "denied"
		}
	}
	v.tell(toolResult, p)
}

// outcome is how a tool use ended. A denied or interrupted one is an error, too, on the wire of the CLI.
func outcome(r *adapters.ToolResult) string {
	switch {
	case r.Interrupted:
		return "interrupted"
	case r.Denied:
		return "denied"
	case r.IsError:
		return "error"
	case r.Background:
		return "background"
	}
	return "ok"
}

func (v *view) tasks(m *adapters.Message) {
	for i := range m.Tasks {
		v.tell(taskUpdate, taskParams(v.id, &m.Tasks[i]))
	}
}

// line tells of the lines that come now and then.
func (v *view) line(m *adapters.Message) {
	switch m.Kind {
	case adapters.CommandOutput:
		v.outputs++
		block := append(append([]byte(`{"type":"text","text":`), m.Text...), '}')
		v.tell(assistantMessage, AssistantMessageParams{SessionID: v.id, MessageID: "local_" + strconv.Itoa(v.outputs),
			Content: []json.RawMessage{block}, Origin: "command"})
	case adapters.SystemInit:
		if m.Boundary != nil {
			v.boundary("cleared", m.Boundary)
		}
	case adapters.Cleared:
		v.boundary("cleared", m.Boundary)
	case adapters.Compacted:
		v.boundary("compacted", m.Boundary)
	case adapters.TaskUpdate:
		if m.Task != nil && !m.Task.Live {
			v.tell(taskUpdate, taskParams(v.id, m.Task))
		}
	case adapters.Progress:
		if v.s.client.Progress {
			v.tell(toolProgress, ToolProgressParams{v.id, m.Progress.ToolUseID, m.Progress.ElapsedMS, m.Parent})
		}
	case adapters.ToolDenied:
		v.decide(m.Denial.ToolUseID, &Permission{Decision: "deny", By: "claude"})
	case adapters.Notice:
		v.notice(bridge.Notice{Level: m.Level, Kind: "claude", Message: m.Text.String()})
	case adapters.Log:
		v.s.logMessage("log", m.Text.String())
	}
}

func (v *view) boundary(kind string, b *adapters.Boundary) {
	p := ConversationBoundaryParams{SessionID: v.id, Kind: kind, Trigger: b.Trigger, PreTokens: b.PreTokens}
	if kind == "cleared" {
		p.Trigger, p.ClaudeSessionID = "manual", v.claude
	}
	v.tell(conversationBoundary, p)
}

// object is a raw object, {} if there is none: no member is null on the wire.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// decide keeps who decided about a tool use for its result.
func (v *view) decide(toolUseID string, p *Permission) {
	if v.decided == nil {
		v.decided = map[string]*Permission{}
	}
	v.decided[toolUseID] = p
}
