package rpc

import (
	"context"
	"encoding/json"
	"time"

	"drawbridge/bridge"
)

// SessionListParams are the params of session_list.
type SessionListParams struct {
	CWD    string `json:"cwd"`    // of this directory only
	Limit  int    `json:"limit"`  // rows a page
	Cursor string `json:"cursor"` // next_cursor of the page before
}

// SessionListResult is a page of conversations, the last used first.
type SessionListResult struct {
	Sessions   []SessionRow `json:"sessions"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// SessionRow is a conversation in the list. SessionID is Claude's id of it, OpenAs the session it is open in here.
type SessionRow struct {
	SessionID string    `json:"session_id"`
	OpenAs    string    `json:"open_as,omitempty"`
	Title     string    `json:"title"`
	CWD       string    `json:"cwd"`
	Model     string    `json:"model,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
	Turns     int       `json:"turns,omitempty"` // absent: unknown
	CostUSD   float64   `json:"cost_usd,omitempty"`
	Source    string    `json:"source"` // drawbridge, claude
}

// SessionResumeParams are the params of session_resume, beside every field of session_new.
type SessionResumeParams struct {
	SessionParams
	bridge.SessionOptions
	Fork bool `json:"fork"` // under a new id
}

// SessionHistoryParams are the params of session_history.
type SessionHistoryParams struct {
	SessionParams
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

// SessionHistoryResult is a page of the past, the newest page first and in order inside.
type SessionHistoryResult struct {
	Messages   []HistoryMessage `json:"messages"`
	NextCursor string           `json:"next_cursor,omitempty"`
}

// HistoryMessage has the shape of a live notification, or is a user_message.
type HistoryMessage struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// PastUserMessageParams are the params of a user_message of the past.
type PastUserMessageParams struct {
	SessionID     string          `json:"session_id"`
	UserMessageID string          `json:"user_message_id,omitempty"`
	Content       json.RawMessage `json:"content"`
	Timestamp     string          `json:"timestamp,omitempty"`
}

// SessionRenameParams are the params of session_rename.
type SessionRenameParams struct {
	SessionParams
	Title string `json:"title"`
}

// UsageParams are the params of usage.
type UsageParams struct {
	Since   string `json:"since"`    // a time (RFC 3339) or a day (2026-03-01)
	GroupBy string `json:"group_by"` // day, session, model, cwd; empty: one sum
}

// UsageResult is what was used.
type UsageResult struct {
	Rows []bridge.UsageSum `json:"rows"`
}

// sessionList is session_list.
func (s *Server) sessionList(c *call) (any, error) {
	var p SessionListParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	page, next, err := s.bridge.List(c.async(), bridge.ListQuery{CWD: p.CWD, Limit: p.Limit, Cursor: p.Cursor})
	if err != nil {
		return nil, err
	}
	result := SessionListResult{Sessions: []SessionRow{}, NextCursor: next}
	for _, e := range page {
		result.Sessions = append(result.Sessions, SessionRow{SessionID: e.ClaudeID, OpenAs: s.bridge.OpenAs(e.ClaudeID), Title: e.Title, CWD: e.CWD,
			Model: e.Model, UpdatedAt: e.Updated.UTC(), Turns: e.Turns, CostUSD: e.CostUSD, Source: e.Source})
	}
	return result, nil
}

// sessionResume is session_resume. What the params do not name is as the conversation was last led.
func (s *Server) sessionResume(c *call) (any, error) {
	var p SessionResumeParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	raw := append(json.RawMessage(nil), c.req.Params()...)
	entry, options, err := s.bridge.Past(c.async(), p.SessionID, cloneOptions(s.defaults.SessionOptions))
	if err != nil {
		return nil, err
	}
	if err := decodeParams(raw, &options); err != nil {
		return nil, err
	}
	session, err := s.bridge.Resume(entry, p.Fork, options)
	if err != nil {
		return nil, err
	}
	c.afterResponse(session.Start)
	return s.sessionState(session), nil
}

// begin makes the default session, which may go on with a conversation of before.
func (s *Server) begin(ctx context.Context, o SessionOptions) (*bridge.Session, error) {
	id := o.Resume
	if id == "" && o.Continue {
		if e, ok := s.bridge.Newest(ctx, o.CWD); ok {
			id = e.ClaudeID
		}
	}
	if id == "" {
		return s.bridge.Open(o.SessionOptions)
	}
	entry, options, err := s.bridge.Past(ctx, id, cloneOptions(o.SessionOptions))
	if err != nil {
		return nil, err
	}
	if o.Model != s.options.Session.Model { // the editor has asked for it
		options.Model = o.Model
	}
	if o.PermissionMode != s.options.Session.PermissionMode {
		options.PermissionMode = o.PermissionMode
	}
	return s.bridge.Resume(entry, false, options)
}

// sessionHistory is session_history. What is told is rendered as it would have been live, but for text, which comes whole.
func (s *Server) sessionHistory(c *call) (any, error) {
	var p SessionHistoryParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	result := SessionHistoryResult{Messages: []HistoryMessage{}}
	id, running, cwd := s.bridge.Conversation(p.SessionID)
	past := &view{s: s, id: p.SessionID, cwd: cwd, progress: progress{s: s, session: p.SessionID}}
	past.sink = func(method string, params any) {
		raw, err := json.Marshal(params)
		if err == nil {
			result.Messages = append(result.Messages, HistoryMessage{method, wholePairs(raw)})
		}
	}
	next, err := s.bridge.History(c.async(), bridge.HistoryQuery{ID: id, Limit: p.Limit, Cursor: p.Cursor, Running: running}, func(item bridge.HistoryItem) error {
		past.item(item)
		return nil
	})
	result.NextCursor = next
	return result, err
}

// item tells a piece of the past.
func (v *view) item(i bridge.HistoryItem) {
	switch {
	case i.User != nil:
		v.tell("user_message", PastUserMessageParams{v.id, i.User.ID, i.User.Content, i.User.Timestamp})
	case i.Turn != nil:
		v.tell(turnComplete, TurnCompleteParams{SessionID: v.id, TurnID: i.Turn.TurnID, Origin: i.Turn.Origin, Status: i.Turn.Status,
			StopReason: i.Turn.StopReason, UserMessageID: i.Turn.UserMessageID, Error: i.Error})
	case i.Line != nil && len(i.Line.Results) > 0:
		for n := range i.Line.Results {
			v.toolResult(i.Line, &i.Line.Results[n])
		}
	case i.Line != nil && len(i.Line.Blocks) > 0:
		v.assistant(i.Line)
	case i.Line != nil:
		v.line(i.Line)
	}
}

// sessionRename is session_rename, sessionDelete is session_delete: of any conversation, open or not.
func (s *Server) sessionRename(c *call) (any, error) {
	var p SessionRenameParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	return Nothing{}, s.bridge.Rename(c.async(), p.SessionID, p.Title)
}

func (s *Server) sessionDelete(c *call) (any, error) {
	var p SessionParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	return Nothing{}, s.bridge.Delete(c.async(), p.SessionID)
}

// usage is usage.
func (s *Server) usage(c *call) (any, error) {
	var p UsageParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	rows, err := s.bridge.Usage(c.async(), p.Since, p.GroupBy)
	return UsageResult{list(rows)}, err
}
