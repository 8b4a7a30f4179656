package fakeapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// State is how far the answer to a request has come.
type State string

// The states of a request.
const (
	InFlight  State = "in_flight"
	Answered  State = "answered"  // the whole answer was sent, an error or a scripted cut being a whole answer too
	Abandoned State = "abandoned" // the CLI closed the connection first, as it does at an interrupt
)

// Request is one POST /v1/messages. What it says of the conversation concerns the part the model has not yet answered: the
// messages after the last one of role assistant.
type Request struct {
	Seq   int       `json:"seq"` // 1, 2, …: place in [Server.Requests]
	Time  time.Time `json:"time"`
	State State     `json:"state"`

	Path      string   `json:"path"`
	Model     string   `json:"model"`
	Stream    bool     `json:"stream"`
	MaxTokens int      `json:"max_tokens"`
	Roles     []string `json:"roles"` // of all messages, oldest first
	Tools     []string `json:"tools"` // names; empty for the CLI's housekeeping (titles, command prefixes)
	UserID    string   `json:"user_id,omitempty"`

	APIKey    string `json:"x_api_key,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
	Beta      string `json:"anthropic_beta,omitempty"`

	UserTexts     []string       `json:"user_texts,omitempty"`    // what the user typed, without what the CLI adds
	Folded        []string       `json:"folded,omitempty"`        // messages put into a running turn between two tool calls
	ToolResults   []ToolResult   `json:"tool_results,omitempty"`  //
	Notifications []Notification `json:"notifications,omitempty"` // background tasks that have ended

	Body json.RawMessage `json:"-"` // with [WithBodies]

	properties map[string]map[string]json.RawMessage // tool name → the properties of its input schema
}

// ToolResult is what the model was told about a tool it had called.
type ToolResult struct {
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content"` // texts joined by newlines, with whatever the CLI put into them
	IsError   bool   `json:"is_error"`
}

// Notification is the CLI's notice that a background task has ended.
type Notification struct {
	TaskID    string `json:"task_id"`
	ToolUseID string `json:"tool_use_id"`
	Status    string `json:"status"`
	Summary   string `json:"summary"`
}

// Text is the last thing the user typed; "" if this request answers no user but a tool or a notification.
func (r Request) Text() string {
	if len(r.UserTexts) == 0 {
		return ""
	}
	return r.UserTexts[len(r.UserTexts)-1]
}

// has tells whether the CLI offers the tool, and with property also whether the tool takes that input.
func (r Request) has(tool string, property ...string) bool {
	properties, ok := r.properties[tool]
	for _, p := range property {
		if _, there := properties[p]; !there {
			return false
		}
	}
	return ok
}

// wireRequest is the part of a request's body that matters here.
type wireRequest struct {
	Model     string        `json:"model"`
	Stream    bool          `json:"stream"`
	MaxTokens int           `json:"max_tokens"`
	Messages  []wireMessage `json:"messages"`
	Tools     []struct {
		Name   string `json:"name"`
		Schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"input_schema"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content wireContent `json:"content"`
}

// wireContent is a list of blocks; a bare string stands for one text block.
type wireContent []wireBlock

type wireBlock struct {
	Type      string      `json:"type"`
	Text      string      `json:"text"`
	ToolUseID string      `json:"tool_use_id"`
	IsError   bool        `json:"is_error"`
	Content   wireContent `json:"content"`
}

func (c *wireContent) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 0 && b[0] == '"':
		var text string
		err := json.Unmarshal(b, &text)
		*c = wireContent{{Type: "text", Text: text}}
		return err
	case len(b) > 0 && b[0] == '[':
		return json.Unmarshal(b, (*[]wireBlock)(c))
	}
	return nil // kinds of block we know nothing of carry other things here
}

// text joins the texts of the blocks by newlines; other blocks appear as their type in brackets.
func (c wireContent) text() string {
	parts := make([]string, len(c))
	for i, b := range c {
		if parts[i] = b.Text; b.Type != "text" {
			parts[i] = "[" + b.Type + "]"
		}
	}
	return strings.Join(parts, "\n")
}

// decode reads the body of a message request.
func decode(body []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("fakeapi: body: %w", err)
	}
	r := Request{Model: w.Model, Stream: w.Stream, MaxTokens: w.MaxTokens, UserID: w.Metadata.UserID, Time: time.Now(), State: InFlight}
	r.properties = make(map[string]map[string]json.RawMessage, len(w.Tools))
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name)
		r.properties[t.Name] = t.Schema.Properties
	}
	unanswered := 0
	for i, m := range w.Messages {
		r.Roles = append(r.Roles, m.Role)
		if m.Role == "assistant" {
			unanswered = i + 1
		}
	}
	for _, m := range w.Messages[unanswered:] {
		for _, b := range m.Content {
			r.take(m.Role, b)
		}
	}
	return r, nil
}

// take sorts one unanswered block into the request.
func (r *Request) take(role string, b wireBlock) {
	switch b.Type {
	case "tool_result":
		content := b.Content.text()
		r.ToolResults = append(r.ToolResults, ToolResult{b.ToolUseID, content, b.IsError})
		r.takeAsides(content)
	case "text":
		r.takeAsides(b.Text)
		if role != "user" {
			return
		}
		switch text := typed(b.Text); {
		case strings.HasPrefix(text, "[Request interrupted"):
			r.UserTexts = nil // what was said before is no longer to be answered
		case text != "":
			r.UserTexts = append(r.UserTexts, text)
		}
	}
}

var (
	reminder     = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	wholeElement = regexp.MustCompile(`(?s)^<[a-z][a-z_-]*[ >].*>$`)

	// 2.1.112 and 2.1.329 first, then 2.0.0 and 2.1.17; each up to the sentence the CLI puts behind the message.
	folded = regexp.MustCompile(`(?s)The user sent (?:a new message while you were working|the following message):\n(.*?)\n\n` +
		`(?:This is how Claude Code surfaces|IMPORTANT: After completing|Please address this message)`)
	notification = regexp.MustCompile(`(?s)<task-notification>(.*?)</task-notification>`)
	element      = regexp.MustCompile(`(?s)<(task-id|tool-use-id|status|summary)>(.*?)</`)
)

// typed is what the user typed of a text: nothing if the CLI wrote it, which shows by the element around it.
func typed(text string) string {
	if strings.Contains(text, "<system-reminder>") {
		text = reminder.ReplaceAllString(text, "")
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") && wholeElement.MatchString(text) || strings.HasPrefix(text, "Caveat: ") {
		return ""
	}
	return text
}

// takeAsides finds what the CLI tells the model besides a tool's output or a user's message: in a reminder inside the tool
// result (up to 2.1.112) or in a message of role system (2.1.329).
func (r *Request) takeAsides(text string) {
	if strings.Contains(text, "The user sent ") {
		for _, m := range folded.FindAllStringSubmatch(text, -1) {
			r.Folded = append(r.Folded, strings.TrimSpace(m[1]))
		}
	}
	if strings.Contains(text, "<task-notification>") {
		for _, m := range notification.FindAllStringSubmatch(text, -1) {
			var n Notification
			fields := map[string]*string{"task-id": &n.TaskID, "tool-use-id": &n.ToolUseID, "status": &n.Status, "summary": &n.Summary}
			for _, e := range element.FindAllStringSubmatch(m[1], -1) {
				if f := fields[e[1]]; *f == "" {
					*f = e[2]
				}
			}
			r.Notifications = append(r.Notifications, n)
		}
	}
}
