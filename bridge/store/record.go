package store

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"drawbridge/adapters"
)

// Session is what is remembered of a session. When one is saved, an empty field leaves what is known as it is.
type Session struct {
	ID       string // the bridge's handle
	ClaudeID string // Claude's id of the conversation now
	// ClaudeIDs are the ids it has had, oldest first: /clear begins a new one. Read only.
	ClaudeIDs      []string
	CWD            string
	Title          string
	Model          string
	PermissionMode string
	Options        json.RawMessage // what the session was opened with, in the bridge's own form
	Source         string          // where it was begun: drawbridge or claude
	Created        time.Time       // the first one saved stays
	Updated        time.Time

	Turns   int     // read only
	CostUSD float64 // read only
}

// take puts what is new over what was queued before.
func (s *Session) take(n Session) {
	set := func(old *string, now string) {
		if now != "" {
			*old = now
		}
	}
	set(&s.CWD, n.CWD)
	set(&s.Title, n.Title)
	set(&s.Model, n.Model)
	set(&s.PermissionMode, n.PermissionMode)
	set(&s.Source, n.Source)
	if n.ClaudeID != "" && n.ClaudeID != s.ClaudeID {
		if s.ClaudeID != "" {
			s.ClaudeIDs = append(s.ClaudeIDs, s.ClaudeID)
		}
		s.ClaudeID = n.ClaudeID
	}
	if n.Options != nil {
		s.Options = n.Options
	}
	if s.Created.IsZero() {
		s.Created = n.Created
	}
	if n.Updated.After(s.Updated) {
		s.Updated = n.Updated
	}
}

// Turn is one turn that has ended. It is saved once; another one with its ID replaces it.
type Turn struct {
	ID            string
	SessionID     string // the handle
	ClaudeID      string
	UserMessageID string // empty in the background
	CWD           string
	Model         string
	Origin        string // user, background
	Status        string // completed, cancelled, failed
	StopReason    string
	ErrorKind     string
	Started       time.Time
	Ended         time.Time
	Usage         adapters.Usage
	Models        []ModelUsage
	CostUSD       float64
	DurationMS    int64
	NumTurns      int
}

// ModelUsage is what one model has used.
type ModelUsage struct {
	Model string
	adapters.Usage
	CostUSD float64
}

// ModelUsages reads the modelUsage of a result, ordered by model. The CLI counts from the start of its process; Used makes a turn's
// share of it.
func ModelUsages(raw json.RawMessage) []ModelUsage {
	var models map[string]struct {
		InputTokens              float64 `json:"inputTokens"`
		OutputTokens             float64 `json:"outputTokens"`
		CacheReadInputTokens     float64 `json:"cacheReadInputTokens"`
		CacheCreationInputTokens float64 `json:"cacheCreationInputTokens"`
		CostUSD                  float64 `json:"costUSD"`
	}
	if json.Unmarshal(raw, &models) != nil {
		return nil
	}
	list := make([]ModelUsage, 0, len(models))
	for name, m := range models {
		list = append(list, ModelUsage{Model: name, CostUSD: m.CostUSD, Usage: adapters.Usage{InputTokens: int64(m.InputTokens),
			OutputTokens: int64(m.OutputTokens), CacheCreationInputTokens: int64(m.CacheCreationInputTokens),
			CacheReadInputTokens: int64(m.CacheReadInputTokens)}})
	}
	slices.SortFunc(list, func(a, b ModelUsage) int { return strings.Compare(a.Model, b.Model) })
	return list
}

// Used is now without before: what was used between two counts of the same process. Models that did nothing are left out.
func Used(now, before []ModelUsage) []ModelUsage {
	var list []ModelUsage
	for _, m := range now {
		for _, b := range before {
			if b.Model == m.Model {
				m.InputTokens = max(0, m.InputTokens-b.InputTokens)
				m.OutputTokens = max(0, m.OutputTokens-b.OutputTokens)
				m.CacheCreationInputTokens = max(0, m.CacheCreationInputTokens-b.CacheCreationInputTokens)
				m.CacheReadInputTokens = max(0, m.CacheReadInputTokens-b.CacheReadInputTokens)
				m.CostUSD = max(0, m.CostUSD-b.CostUSD)
			}
		}
		if m.Usage != (adapters.Usage{}) || m.CostUSD != 0 {
			list = append(list, m)
		}
	}
	return list
}

// Folder is what the last session in a directory had.
type Folder struct {
	CWD        string
	Tools      []string
	MCPServers int
}

// naming is a title that the user gave a conversation.
type naming struct {
	id, title string
	at        time.Time
}
