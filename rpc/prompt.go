package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/adapters"
	"drawbridge/bridge"
	"drawbridge/bridge/policy"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// PermissionParams are the params of permission_request. What is to be shown (title, display, reason.text) is plain text in which
// nothing is invisible; command and input are verbatim, for editing.
type PermissionParams struct {
	SessionID       string          `json:"session_id"`
	PromptID        string          `json:"prompt_id"`
	ToolUseID       string          `json:"tool_use_id"`
	Tool            string          `json:"tool"`
	Kind            string          `json:"kind"` // as in tool_use_start
	Title           string          `json:"title"`
	Input           json.RawMessage `json:"input"`
	Command         string          `json:"command,omitempty"` // of a shell tool
	Display         string          `json:"display"`
	Description     string          `json:"description,omitempty"` // the model's claim
	Parts           []policy.Part   `json:"parts,omitempty"`       // of a command, each with its verdict: allow, ask
	Flags           []string        `json:"flags"`                 // what to look at twice
	RiskLevel       string          `json:"risk_level,omitempty"`  // low, medium, high: advice, no decision depends on it
	Editable        []string        `json:"editable"`              // members of input that updated_input may exchange
	Reason          bridge.Reason   `json:"reason"`
	Scopes          []string        `json:"scopes"`
	Rules           []string        `json:"rules,omitempty"`    // what a scope beyond once allows, as proposed
	SavedTo         *SavedTo        `json:"saved_to,omitempty"` // where the scopes project and user are saved
	Diff            *bridge.Diff    `json:"diff,omitempty"`     // for a client with diffs
	Base            *bridge.Base    `json:"base,omitempty"`     // the file that the diff was made from
	Modes           []string        `json:"modes"`
	Plan            string          `json:"plan,omitempty"` // ExitPlanMode
	BlockedPath     string          `json:"blocked_path,omitempty"`
	ParentToolUseID string          `json:"parent_tool_use_id,omitempty"`
	Again           string          `json:"again,omitempty"`
}

// SavedTo names the files that rules are saved in, as a person would.
type SavedTo struct {
	Project string `json:"project"`
	User    string `json:"user"`
}

// QuestionParams are the params of ask_user_question.
type QuestionParams struct {
	SessionID       string              `json:"session_id"`
	PromptID        string              `json:"prompt_id"`
	ToolUseID       string              `json:"tool_use_id"`
	ParentToolUseID string              `json:"parent_tool_use_id,omitempty"`
	Questions       []adapters.Question `json:"questions"`
}

// promptParams are the params of a prompt, whichever it is.
func (s *Server) promptParams(session string, p *bridge.Prompt) any {
	if p.Questions != nil {
		return QuestionParams{session, p.ID, p.ToolUseID, p.Parent, p.Questions}
	}
	reason := p.Reason
	reason.Text = policy.Visible(reason.Text)
	params := PermissionParams{
		SessionID: session, PromptID: p.ID, ToolUseID: p.ToolUseID, Tool: p.Tool, Kind: p.View.Kind, Title: policy.Visible(p.View.Title),
		Input: object(p.Input), Command: p.View.Command, Display: p.Display, Description: policy.Visible(p.Description),
		Editable: list(p.Editable), Reason: reason, Scopes: list(p.Scopes), Modes: list(p.Modes), Plan: p.Plan,
		BlockedPath: p.BlockedPath, ParentToolUseID: p.Parent, Again: p.Again,
		Parts: p.Parts, Flags: list(p.Flags), RiskLevel: p.Risk, Rules: p.Rules,
	}
	if s.client.Diffs {
		params.Diff, params.Base = p.Diff, p.Base
	}
	if file := s.bridge.SettingsFile; file != "" && slices.Contains(p.Scopes, "user") {
		params.SavedTo = &SavedTo{Project: tilde(file), User: tilde(file)}
	}
	return params
}

// tilde writes a path below the user's home as people do.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if rel, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil {
		return filepath.Join("~", rel)
	}
	return path
}

// Permission implements bridge.Client. It is called by a goroutine of the prompt's own, never by the reader, which has to bring the
// answer.
func (s *Server) Permission(ctx context.Context, session *bridge.Session, p *bridge.Prompt) (bridge.Decision, error) {
	if !s.client.Permissions {
		return s.showMessage(ctx, p)
	}
	var d bridge.Decision
	if err := s.prompt(ctx, session, permissionRequest, p, &d); err != nil {
		return bridge.Decision{}, err
	}
	d.UpdatedInput = absentIfEmpty(d.UpdatedInput)
	return d, nil
}

// Question implements bridge.Client.
func (s *Server) Question(ctx context.Context, session *bridge.Session, p *bridge.Prompt) (bridge.Answers, error) {
	var a bridge.Answers
	if err := s.prompt(ctx, session, askUserQuestion, p, &a); err != nil {
		return bridge.Answers{}, err
	}
	if !a.Declined && a.Answers == nil {
		return bridge.Answers{}, errors.New("the answer holds neither answers nor declined")
	}
	return a, nil
}

// prompt asks the editor and reads its answer, which must be an object: whatever else it is, it is no yes.
func (s *Server) prompt(ctx context.Context, session *bridge.Session, method string, p *bridge.Prompt, answer any) error {
	var raw jsonrpc2.RawMessage
	id, err := s.ask(ctx, method, s.promptParams(session.ID(), p), &raw)
	s.prompts.add(id, session.ID())
	switch {
	case err != nil:
		return err
	case len(raw) == 0 || raw[0] != '{':
		return errors.New("the answer is not an object")
	}
	if err := unmarshal(raw, answer); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}

// ask sends a request to the editor and waits for the answer. When ctx ends first, it takes the request back before it returns;
// the library's own Call would only stop waiting.
func (s *Server) ask(ctx context.Context, method string, params, result any) (jsonrpc2.ID, error) {
	if err := ctx.Err(); err != nil {
		return jsonrpc2.ID{}, err
	}
	id, err := s.conn.Call(ctx, method, params, result)
	if n, ok := id.Number(); ok && err != nil && err == ctx.Err() { //nolint:errorlint // the very error: any other is the editor's answer
		_ = s.conn.Notify(context.WithoutCancel(ctx), protocol.MethodCancelRequest, map[string]int64{"id": n})
	}
	return id, err
}

// absentIfEmpty: null, {} and Lua's [] change nothing.
func absentIfEmpty(raw json.RawMessage) json.RawMessage {
	if _, object := swapEmpty(raw, 1); object || string(raw) == "null" {
		return nil
	}
	return raw
}

// longestMessage is how many characters a message box is trusted to show.
const longestMessage = 1000

const (
	denyButton  = "Deny"
	allowButton = "Allow once"
)

// errTooLong: what cannot be seen whole cannot be allowed.
var errTooLong = errors.New("too long to show in this editor")

// showMessage asks an LSP client that does not know permission_request by a message with two buttons. Deny comes first, because some
// editors make the first button the default; closing the message denies.
func (s *Server) showMessage(ctx context.Context, p *bridge.Prompt) (bridge.Decision, error) {
	text := messageText(p)
	if utf8.RuneCountInString(text) > longestMessage || policy.Visible(text) != text {
		return bridge.Decision{}, errTooLong
	}
	var chosen *protocol.MessageActionItem
	_, err := s.ask(ctx, protocol.MethodWindowShowMessageRequest, protocol.ShowMessageRequestParams{Type: protocol.MessageTypeWarning,
		Message: text, Actions: []protocol.MessageActionItem{{Title: denyButton}, {Title: allowButton}}}, &chosen)
	switch {
	case err != nil:
		return bridge.Decision{}, err
	case chosen != nil && chosen.Title == allowButton:
		return bridge.Decision{PromptID: p.ID, Decision: "allow", Scope: "once"}, nil
	}
	return bridge.Decision{PromptID: p.ID, Decision: "deny"}, nil
}

// messageText is all of what is asked: the command, or the whole input.
func messageText(p *bridge.Prompt) string {
	if p.View.Command != "" {
		return "Claude wants to run " + p.Tool + ":\n" + p.View.Command
	}
	text := "Claude wants to use " + p.Tool + ": " + p.View.Title
	if p.Plan != "" {
		return text + "\n" + p.Plan
	}
	return text + "\n" + string(p.Input)
}
