package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/store"
)

// Past finds a conversation of before, and the options it is resumed with unless others are given: those it was last led with.
func (b *Bridge) Past(ctx context.Context, id string, defaults SessionOptions) (Entry, SessionOptions, error) {
	if b.library == nil {
		return Entry{}, defaults, conversationNotFound(id)
	}
	entry, err := b.library.Find(ctx, id)
	if err != nil {
		return Entry{}, defaults, err
	}
	o := defaults
	if b.library.Store != nil {
		if known, err := b.library.Store.Session(ctx, entry.ClaudeID); err == nil {
			_ = json.Unmarshal(known.Options, &o) // of an older version: what can be read counts
			if known.PermissionMode != "" && checkMode(known.PermissionMode, b.AllowBypass) == nil {
				o.PermissionMode = known.PermissionMode
			}
			if known.Model != "" {
				o.Model = known.Model
			}
		}
	}
	if entry.CWD != "" {
		o.CWD = entry.CWD
	}
	o.Trusted = defaults.Trusted // a session's trust is its editor's word, not the store's
	return entry, o, nil
}

// Newest is the last conversation of a directory.
func (b *Bridge) Newest(ctx context.Context, cwd string) (Entry, bool) {
	if b.library == nil {
		return Entry{}, false
	}
	page, _, err := b.library.List(ctx, ListQuery{CWD: cwd, Limit: 1})
	if err != nil || len(page) == 0 {
		return Entry{}, false
	}
	return page[0], true
}

// Resume makes a session that goes on with a conversation of before; with fork, under a new id, so that the old one stays as it is.
// A conversation that is open here already is not opened twice.
func (b *Bridge) Resume(e Entry, fork bool, o SessionOptions) (*Session, error) {
	if !fork {
		for _, s := range b.Sessions() {
			if s.conversation() == e.ClaudeID {
				return s, nil
			}
		}
	}
	s, err := b.Open(o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoken, s.fork = true, fork
	s.claude = e.ClaudeID
	s.known.ClaudeSessionID = &e.ClaudeID
	if e.Title != "" {
		s.known.Title = &e.Title
	}
	return s, nil
}

// conversation is Claude's id of what is led here; empty while nothing has been said.
func (s *Session) conversation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spoken || s.fork {
		return ""
	}
	return s.claude
}

// OpenAs is the handle under which a conversation is open here.
func (b *Bridge) OpenAs(claudeID string) string {
	for _, s := range b.Sessions() {
		if s.conversation() == claudeID {
			return s.id
		}
	}
	return ""
}

// save remembers a turn that has ended, and the session it belongs to. Nothing of it waits for the disk. Called with mu held.
func (s *Session) save(t *Turn, r *adapters.Result, res TurnResult) {
	if s.b.store == nil {
		return
	}
	model, mode, title := deref(s.known.Model), deref(s.known.PermissionMode), deref(s.known.Title)
	options, _ := json.Marshal(s.options)
	now := time.Now()
	s.b.store.SaveSession(store.Session{ID: s.id, ClaudeID: s.claude, CWD: s.options.CWD, Title: title, Model: s.options.Model,
		PermissionMode: mode, Options: options, Source: fromDrawbridge, Created: s.opened, Updated: now})
	saved := store.Turn{ID: t.id, SessionID: s.id, ClaudeID: s.claude, UserMessageID: t.message, CWD: s.options.CWD, Model: model,
		Origin: t.origin, Status: res.Status, StopReason: res.StopReason, Started: t.began, Ended: now, NumTurns: res.NumTurns,
		DurationMS: now.Sub(t.began).Milliseconds()}
	if res.Error != nil {
		saved.ErrorKind = res.Error.Kind
	}
	if r != nil {
		used := store.ModelUsages(r.ModelUsage)
		saved.Models = store.Used(used, s.run.models)
		s.run.models = used
		saved.Usage = r.Usage
	}
	if res.CostUSD != nil {
		saved.CostUSD = *res.CostUSD
	}
	s.b.store.SaveTurn(saved)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// List is a page of the conversations of before; without a library there are none.
func (b *Bridge) List(ctx context.Context, q ListQuery) ([]Entry, string, error) {
	if b.library == nil {
		return nil, "", nil
	}
	return b.library.List(ctx, q)
}

// Conversation is what is led under an id, which is a session's handle or Claude's own.
func (b *Bridge) Conversation(id string) (claudeID string, running bool, cwd string) {
	s, err := b.Session(id)
	if err != nil || id == "" && s == nil {
		return id, false, ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claude, s.turn != nil, s.options.CWD
}

// History replays a page of a conversation.
func (b *Bridge) History(ctx context.Context, q HistoryQuery, yield func(HistoryItem) error) (string, error) {
	if b.library == nil {
		return "", conversationNotFound(q.ID)
	}
	return b.library.History(ctx, q, yield)
}

// Rename gives a conversation the title the user wants.
func (b *Bridge) Rename(ctx context.Context, id, title string) error {
	claude, _, _ := b.Conversation(id)
	if b.library == nil {
		return conversationNotFound(id)
	}
	if err := b.library.Rename(ctx, claude, title); err != nil {
		return err
	}
	if s, err := b.Session(b.OpenAs(claude)); err == nil && s.conversation() == claude {
		s.mu.Lock()
		s.known.Title = &title
		s.tell(SessionChanged{Update{Title: &title}})
		s.mu.Unlock()
	}
	return nil
}

// Delete forgets a conversation for good, Claude's own transcript included. One that is open here is closed first.
func (b *Bridge) Delete(ctx context.Context, id string) error {
	claude, _, _ := b.Conversation(id)
	if b.library == nil {
		return conversationNotFound(id)
	}
	if handle := b.OpenAs(claude); handle != "" {
		if s, err := b.Session(handle); err == nil {
			if err := s.Close(ctx); err != nil {
				return err
			}
		}
	}
	return b.library.Delete(ctx, claude)
}

// UsageSum is what was used of one day, session, model or directory, or in all.
type UsageSum struct {
	Key     string         `json:"key,omitempty"` // the day, the session's handle, the model or the directory
	Title   string         `json:"title,omitempty"`
	Turns   int            `json:"turns"`
	Usage   adapters.Usage `json:"usage"`
	CostUSD float64        `json:"cost_usd"`
}

// Usage sums up what was used since a time (RFC 3339) or day; empty is from the beginning.
func (b *Bridge) Usage(ctx context.Context, since, groupBy string) ([]UsageSum, error) {
	if groupBy != "" && !slices.Contains(store.Groupings(), groupBy) {
		return nil, fail(KindInvalidParams, "group_by cannot be %q", groupBy)
	}
	var from time.Time
	if since != "" {
		var err error
		if from, err = time.Parse(time.RFC3339, since); err != nil {
			if from, err = time.ParseInLocation(time.DateOnly, since, time.Local); err != nil {
				return nil, fail(KindInvalidParams, "since is %q, which is neither a time (RFC 3339) nor a day", since)
			}
		}
	}
	if b.store == nil {
		return nil, nil
	}
	rows, err := b.store.Usage(ctx, from, groupBy)
	if err != nil {
		return nil, fail(KindStore, "the store cannot be read: %v", err)
	}
	sums := make([]UsageSum, 0, len(rows))
	for _, r := range rows {
		sums = append(sums, UsageSum{Key: r.Key, Title: r.Title, Turns: r.Turns, Usage: r.Usage, CostUSD: usd(r.CostUSD)})
	}
	return sums, nil
}

// HasPast says whether conversations of before can be listed and resumed.
func (b *Bridge) HasPast() bool { return b.library != nil }

// LastSeen is what the last session in a directory had: the names of its tools, and how many MCP servers.
func (b *Bridge) LastSeen(cwd string) (tools []string, mcpServers int) {
	if b.store == nil {
		return nil, 0
	}
	return b.store.LastSeen(cwd)
}
