package bridge

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Counters count what was strange and was lived with.
type Counters struct {
	malformed   atomic.Int64 // lines of a tested version that could not be read
	tolerated   atomic.Int64 // … of a newer one
	truncations atomic.Int64 // messages cut for the editor
	mu          sync.Mutex
	types       map[string]int64
	unknowns    int64    // the sum of types
	missing     []string // critical features
}

// unknown counts a message, and returns how many of unknown types there were.
func (c *Counters) unknown(wire string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknowns++
	if c.types == nil {
		c.types = map[string]int64{}
	}
	if len(wire) > 100 {
		wire = wire[:100]
	}
	if _, known := c.types[wire]; known || len(c.types) < 1000 { // a CLI that invents names does not fill the memory
		c.types[wire]++
	}
	return c.unknowns
}

func (c *Counters) unknownTypes() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	types := make(map[string]int64, len(c.types))
	maps.Copy(types, c.types)
	return types
}

// misses notes critical features that the CLI lacks.
func (c *Counters) misses(features []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range features {
		if !slices.Contains(c.missing, f) {
			c.missing = append(c.missing, f)
		}
	}
}

// Health is how the bridge is: the answer to health.
type Health struct {
	Version    string          `json:"version"`
	UptimeMS   int64           `json:"uptime_ms"`
	ClaudeCode ClaudeCode      `json:"claude_code"`
	Sessions   []SessionHealth `json:"sessions"`
	Counters   HealthCounters  `json:"counters"`
	// RulesEnforced is full, or partly where a session's CLI does not let our rules see every tool; RulesReason says why.
	RulesEnforced string `json:"rules_enforced"`
	RulesReason   string `json:"rules_reason,omitempty"`
}

// SessionHealth is how a session is.
type SessionHealth struct {
	SessionID string `json:"session_id"`
	State     string `json:"state"`
	CWD       string `json:"cwd"`
	Queued    int    `json:"queued"`
	Pid       int    `json:"pid,omitempty"` // of the CLI's guard
}

// HealthCounters are the Counters as they are told.
type HealthCounters struct {
	UnknownTypes         map[string]int64 `json:"unknown_types"`
	ParseErrors          int64            `json:"parse_errors"`           // lines of a tested version that could not be read
	ParseErrorsTolerated int64            `json:"parse_errors_tolerated"` // … of one that is newer than those tested
	Truncations          int64            `json:"truncations"`            // messages that were cut for the editor
	MissingFeatures      []string         `json:"missing_features,omitempty"`
	OpenPrompts          int              `json:"open_prompts"`
}

// Health tells how the bridge is, now.
func (b *Bridge) Health() Health {
	h := Health{Version: b.Version, UptimeMS: time.Since(b.started).Milliseconds(), ClaudeCode: b.Claude(), Sessions: []SessionHealth{}, RulesEnforced: "full"}
	for _, s := range b.Sessions() {
		s.mu.Lock()
		one := SessionHealth{SessionID: s.id, State: s.state.State, CWD: s.options.CWD, Queued: len(s.queue)}
		if s.run != nil && s.run.proc != nil {
			one.Pid = s.run.proc.Pid()
		}
		h.Counters.OpenPrompts += len(s.order)
		if s.rulesPartly != "" {
			h.RulesEnforced, h.RulesReason = "partly", s.rulesPartly
		}
		s.mu.Unlock()
		h.Sessions = append(h.Sessions, one)
	}
	h.Counters.ParseErrors, h.Counters.ParseErrorsTolerated = b.counters.malformed.Load(), b.counters.tolerated.Load()
	h.Counters.Truncations = b.counters.truncations.Load()
	h.Counters.UnknownTypes = b.counters.unknownTypes()
	b.counters.mu.Lock()
	h.Counters.MissingFeatures = slices.Clone(b.counters.missing)
	b.counters.mu.Unlock()
	return h
}
