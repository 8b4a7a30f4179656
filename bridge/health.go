package bridge

import (
	"sync"
	"sync/atomic"
	"time"
)

// Counters count what was strange and was lived with.
type Counters struct {
	malformed atomic.Int64
	mu        sync.Mutex
	types     map[string]int64
}

func (c *Counters) unknown(wire string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.types == nil {
		c.types = map[string]int64{}
	}
	if len(wire) > 100 {
		wire = wire[:100]
	}
	if _, known := c.types[wire]; known || len(c.types) < 1000 { // a CLI that invents names does not fill the memory
		c.types[wire]++
	}
}

// Health is how the bridge is: the answer to health.
type Health struct {
	Version    string          `json:"version"`
	UptimeMS   int64           `json:"uptime_ms"`
	ClaudeCode ClaudeCode      `json:"claude_code"`
	Sessions   []SessionHealth `json:"sessions"`
	Counters   HealthCounters  `json:"counters"`
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
	ParseErrorsTolerated int64            `json:"parse_errors_tolerated"`
	OpenPrompts          int              `json:"open_prompts"`
}

// Health tells how the bridge is, now.
func (b *Bridge) Health() Health {
	h := Health{Version: b.Version, UptimeMS: time.Since(b.started).Milliseconds(), ClaudeCode: b.Claude(), Sessions: []SessionHealth{}}
	for _, s := range b.Sessions() {
		s.mu.Lock()
		one := SessionHealth{SessionID: s.id, State: s.state.State, CWD: s.options.CWD, Queued: len(s.queue)}
		if s.run != nil && s.run.proc != nil {
			one.Pid = s.run.proc.Pid()
		}
		h.Counters.OpenPrompts += len(s.order)
		s.mu.Unlock()
		h.Sessions = append(h.Sessions, one)
	}
	h.Counters.ParseErrorsTolerated = b.counters.malformed.Load()
	h.Counters.UnknownTypes = map[string]int64{}
	b.counters.mu.Lock()
	for k, v := range b.counters.types {
		h.Counters.UnknownTypes[k] = v
	}
	b.counters.mu.Unlock()
	return h
}
