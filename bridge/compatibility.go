package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/adapters"

	"go.uber.org/zap"
)

// What is lived with: versions outside the tested range, lines that cannot be read, features that are missing. Each is told to the
// user once, and health counts it.

// noticeCompatibility tells, once, what is not to be expected of this version. Called with mu held.
func (s *Session) noticeCompatibility(c ClaudeCode) {
	switch adapters.Level(c.Level) {
	case adapters.Degraded:
		s.noticeOnce("warning", "claude_degraded", c.Message, c.Remedy)
	case adapters.Likely, adapters.NotKnown:
		s.noticeOnce("warning", "claude_untested", c.Message, c.Remedy)
	}
}

// versionTold takes in the version that system/init names (2.1.17 on), where the program itself did not tell one. Called with mu held.
func (s *Session) versionTold(version string) {
	known := s.known.ClaudeCode
	if version == "" || known == nil || known.Level != string(adapters.NotKnown) {
		return
	}
	c := describe([]string{known.Path}, version)
	if c.Level == string(adapters.NotKnown) {
		return
	}
	s.known.ClaudeCode = &c
	s.tell(SessionChanged{Update{ClaudeCode: &c}})
	s.b.sawClaude(c, nil)
}

// unknownLimit is how many messages of unknown types are counted before the user hears of them.
const unknownLimit = 10

// unknown counts a message of a type that is new to us. Called with mu held.
func (s *Session) unknown(wire string) {
	if s.b.counters.unknown(wire) != unknownLimit {
		return
	}
	types := s.b.counters.unknownTypes()
	names := slices.SortedFunc(maps.Keys(types), func(a, b string) int { return int(types[b] - types[a]) })
	more := ""
	if len(names) > 5 {
		names, more = names[:5], ", …"
	}
	s.noticeOnce("warning", "unknown_messages", fmt.Sprintf("Claude Code has sent %d messages of types that drawbridge does not know (%s%s); they are left out.",
		unknownLimit, strings.Join(names, ", "), more), "Update drawbridge.")
}

// malformed deals with a line of a known type that cannot be read. In the tested range that is an error, because something the
// user should see is missing; of a newer version it is left out and counted. A result that cannot be read ends its turn all the same: the
// user would wait for ever. Called with mu held.
func (s *Session) malformed(r *Run, m *adapters.Message) {
	if m.Request != nil { // without an answer the CLI would wait for ever
		r.send(r.adapter.AppendRefusal(nil, m.Request.RequestID, "the request could not be read"))
	}
	s.log.Warn("a line of claude cannot be read", zap.String("type", m.Wire), zap.Error(m.Err), zap.Bool("tolerated", r.tolerant))
	if r.tolerant {
		s.b.counters.tolerated.Add(1)
	} else {
		s.b.counters.malformed.Add(1)
		s.noticeOnce("error", "malformed_line", fmt.Sprintf("A message of Claude Code (%s) cannot be read; it is left out.", wireOrLine(m.Wire)),
			"Run drawbridge doctor, and report what it prints.")
	}
	result := m.Result
	switch {
	case m.Kind == adapters.TurnResult && !r.tolerant:
		result.Outcome, result.StopReason, result.Failure = adapters.Failed, "error", unreadable(m.Err)
	case m.Kind == adapters.Malformed && strings.HasPrefix(m.Wire, "result"):
		result = &adapters.Result{Outcome: adapters.Failed, StopReason: "error", Failure: unreadable(m.Err), TotalCostUSD: r.cost}
		defer s.ended(result)
	}
	if result != nil && s.turn != nil && result.Origin == "" && len(result.UserMessages) == 0 {
		result.UserMessages = []string{s.turn.message} // which one it answers cannot be read, either
	}
}

func wireOrLine(wire string) string {
	if wire == "" {
		return "a line that is not whole"
	}
	return wire
}

func unreadable(err error) *adapters.Failure {
	return &adapters.Failure{Kind: KindInternal, Message: fmt.Sprintf("Claude Code ended the turn with a message that cannot be read (%v).", err)}
}

// limit cuts what the editor is told of a long message. Called with mu held.
func (s *Session) limit(m *adapters.Message) {
	if cut := m.Limit(s.b.MaxPayload()); cut > 0 {
		s.b.counters.truncations.Add(1)
		s.log.Warn("a message of claude was cut for the editor", zap.String("type", m.Wire), zap.Int("original_bytes", cut), zap.Int("limit", s.b.MaxPayload()))
	}
}

// DefaultMaxPayload is the limit of a message to the editor, in bytes, unless the user has set another.
const DefaultMaxPayload = 10 << 20

// envelope is room for what stands around the strings in a message to the editor.
const envelope = 1 << 10

// MaxPayload is how long what is told of one line of the CLI may be, in bytes.
func (b *Bridge) MaxPayload() int {
	limit := int(b.MaxPayloadBytes)
	if limit <= 0 {
		limit = DefaultMaxPayload
	}
	return limit - min(envelope, limit/2)
}

// criticalTools are those without which Claude Code is no coding agent, and what may stand in for each.
var criticalTools = [][]string{{"Bash", "PowerShell"}, {"Read"}, {"Edit", "MultiEdit"}, {"Write"}}

// missingFeatures tells, once, what system/init shows to be missing. Called with mu held.
func (s *Session) missingFeatures(in *adapters.Init) {
	var missing []string
	if in.Tools == nil {
		missing = append(missing, "a list of tools")
	} else {
		for _, names := range criticalTools {
			if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(in.Tools, name) }) {
				missing = append(missing, "the tool "+names[0])
			}
		}
	}
	if in.SessionID == "" {
		missing = append(missing, "the id of the conversation, so that it cannot be resumed")
	}
	if len(missing) == 0 {
		return
	}
	s.b.counters.misses(missing)
	s.noticeOnce("warning", "missing_features", "This Claude Code lacks "+strings.Join(missing, ", ")+".", "Look into Claude Code's settings (permissions.deny, --disallowedTools), or run drawbridge doctor.")
}

// untakable is the error of a message that this version cannot be sent.
func untakable(c *ClaudeCode, refusal string) *Error {
	version := ""
	if c != nil {
		version = " " + c.Version
	}
	return &Error{Kind: KindUnsupportedByCLI, Message: "This message cannot be sent to Claude Code" + version + ": " + refusal + ".",
		Remedy: "Send the text alone, or update Claude Code."}
}
