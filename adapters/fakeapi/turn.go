package fakeapi

import "strings"

// answer decides what the model says to r: what the test's own function says, else what the user's words script, else what
// follows from tools and background tasks.
func (s *Server) answer(r Request) Answer {
	s.mu.Lock()
	override := s.override
	s.mu.Unlock()
	if override != nil {
		if a, ok := override(r); ok {
			return a
		}
	}
	if len(r.Tools) == 0 {
		return housekeeping(r)
	}
	if text := r.Text(); text != "" {
		for _, words := range urgings {
			if strings.HasPrefix(text, words) {
				return say(Text("The rest."))
			}
		}
		return script(text, r) // a new prompt; results of tools that were interrupted before it need no comment
	}
	parts := s.toolsDone(r)
	for _, text := range r.Folded {
		parts = append(parts, script(text, r))
	}
	for _, n := range r.Notifications {
		parts = append(parts, s.backgroundDone(n, r))
	}
	if len(parts) == 0 {
		return script("", r)
	}
	return join(parts)
}

// urgings begin what the CLI itself says, as if the user did, when the model stopped for max_tokens or refusal.
var urgings = []string{
	"Output token limit hit.",                                // 2.1.112, 2.1.329
	"Your response was cut off",                              // 2.1.17
	"Your response above was stopped by a safety classifier", // 2.1.329
}

// toolsDone answers the results of tools: with what the script that called them goes on with, else by saying them.
func (s *Server) toolsDone(r Request) []Answer {
	if len(r.ToolResults) == 0 {
		return nil
	}
	var next []Answer
	said := make([]string, len(r.ToolResults))
	for i, t := range r.ToolResults {
		s.mu.Lock()
		then := s.then[t.ToolUseID]
		s.mu.Unlock()
		if then != "" {
			next = append(next, script(then, r))
		}
		said[i] = shorten(strings.TrimSpace(reminder.ReplaceAllString(t.Content, "")))
	}
	if next != nil {
		return next
	}
	return []Answer{say(Text("Tool said: " + strings.Join(said, " | ")))}
}

// backgroundDone answers the notice that a background task has ended.
func (s *Server) backgroundDone(n Notification, r Request) Answer {
	s.mu.Lock()
	after := s.after[n.ToolUseID]
	s.mu.Unlock()
	if after != "" {
		return script(after, r)
	}
	return say(Text("Background done."))
}

// housekeeping answers the questions a CLI asks a small model on the side, so that nothing comes of them: no command has a
// prefix worth a rule and none shows files (asked by 2.0.0 and 2.1.17), every session has the same title.
func housekeeping(r Request) Answer {
	switch text := r.Text(); {
	case strings.HasPrefix(text, "<policy_spec>"):
		return say(Text("none"))
	case strings.HasPrefix(text, "Command: "):
		return say(Text("<is_displaying_contents>\nfalse\n</is_displaying_contents>\n\n<filepaths>\n</filepaths>"))
	}
	return say(Text(`{"title":"Scripted session","isNewTopic":true}`))
}
