package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"drawbridge/adapters"
)

// controls are the requests of our protocol that are control requests of the CLI, under the CLI's names.
var controls = map[string]string{
	"interrupt": "interrupt", "set_permission_mode": "set_permission_mode", "set_model": "set_model",
	"set_max_thinking_tokens": "set_max_thinking_tokens", "mcp_status": "mcp_status", "mcp_reconnect": "mcp_reconnect",
	"mcp_toggle": "mcp_toggle", "mcp_set_servers": "mcp_set_servers", "mcp_authenticate": "mcp_authenticate",
	"rewind_files": "rewind_files", "context_usage": "get_context_usage", "task_stop": "stop_task",
}

// offered lists those that work with this CLI, under our names. A turn can always be interrupted: where there is no request for it,
// by the end of the process.
func offered(f adapters.Features) []string {
	list := make([]string, 0, len(controls))
	for ours, theirs := range controls {
		if f.Controls[theirs] || ours == "interrupt" {
			list = append(list, ours)
		}
	}
	slices.Sort(list)
	return list
}

// control sends a control request to the CLI, which is started if it is not there. A CLI that never answers is not waited for: 2.0.0
// and 2.1.17 are silent about requests they do not know.
func (s *Session) control(ctx context.Context, subtype string, members any) (json.RawMessage, error) {
	run, err := s.awaitRun(ctx)
	if err != nil {
		return nil, err
	}
	if !run.adapter.Features().Controls[subtype] {
		return nil, unsupported(subtype)
	}
	c := adapters.Control{Subtype: subtype}
	if members != nil {
		if c.Members, err = json.Marshal(members); err != nil {
			return nil, fail(KindInvalidParams, "%s: %v", subtype, err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, controlLimit)
	defer cancel()
	answer, err := run.call(limited, c)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &Error{Kind: KindTimeout, Message: fmt.Sprintf("Claude Code did not answer %s within %d s.", subtype, int(controlLimit.Seconds())),
			Remedy: "Try again, or interrupt the turn."}
	}
	return nil, err
}

// awaitRun waits until the CLI takes requests, and starts it if need be.
func (s *Session) awaitRun(ctx context.Context) (*Run, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fail(KindSessionNotFound, "session %s is closed", s.id)
	}
	if s.run == nil {
		s.startRun()
	}
	run := s.run
	s.mu.Unlock()
	select {
	case <-run.up:
		return run, nil
	case <-run.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		e := fail(KindClaudeExited, "Claude Code is not running")
		if s.exited != nil {
			e.Message, e.ExitCode = s.exited.Message, s.exited.ExitCode
		}
		return nil, e
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// live is the run if the CLI takes requests now, else nil.
func (s *Session) live() *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && s.run.ready && !s.run.stopping {
		return s.run
	}
	return nil
}

// SetPermissionMode changes the mode, and returns it as in force. Without a process it is the mode the next one is started with.
func (s *Session) SetPermissionMode(ctx context.Context, mode string) (string, error) {
	if err := checkMode(mode, s.b.AllowBypass); err != nil {
		return "", err
	}
	if s.live() != nil {
		answer, err := s.control(ctx, "set_permission_mode", map[string]string{"mode": mode})
		if err != nil {
			return "", err
		}
		var a struct {
			Mode string `json:"mode"`
		}
		if json.Unmarshal(answer, &a) == nil && a.Mode != "" {
			mode = a.Mode
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modeIs(mode)
	s.options.PermissionMode = *s.known.PermissionMode
	return *s.known.PermissionMode, nil
}

// SetModel changes the model, and returns it as in force. The CLI takes any name and finds out with the next message.
func (s *Session) SetModel(ctx context.Context, model string) (string, error) {
	if s.live() != nil {
		answer, err := s.control(ctx, "set_model", map[string]string{"model": model})
		if err != nil {
			return "", err
		}
		var a struct {
			Model string `json:"model"`
		}
		if json.Unmarshal(answer, &a) == nil && a.Model != "" {
			model = a.Model
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Model = model
	if s.known.Model == nil || *s.known.Model != model {
		s.known.Model = &model
		s.tell(SessionChanged{Update{Model: &model}})
	}
	return model, nil
}

// SetMaxThinkingTokens limits the model's thinking, in tokens.
func (s *Session) SetMaxThinkingTokens(ctx context.Context, n int) (int, error) {
	if s.live() != nil {
		if _, err := s.control(ctx, "set_max_thinking_tokens", map[string]int{"max_thinking_tokens": n}); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thinking = &n
	return n, nil
}

// MCPStatus asks for the state of the MCP servers.
func (s *Session) MCPStatus(ctx context.Context) ([]MCPServer, error) {
	answer, err := s.control(ctx, "mcp_status", nil)
	if err != nil {
		return nil, err
	}
	var a struct {
		Servers []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
			Error  string `json:"error"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, fail(KindOther, "Claude Code's answer to mcp_status cannot be read: %v", err)
	}
	servers := make([]MCPServer, 0, len(a.Servers))
	for _, m := range a.Servers {
		servers = append(servers, MCPServer{Name: m.Name, Status: serverStatus(m.Status), Error: m.Error})
	}
	return servers, nil
}

// MCPReconnect connects an MCP server again.
func (s *Session) MCPReconnect(ctx context.Context, server string) error {
	_, err := s.control(ctx, "mcp_reconnect", map[string]string{"serverName": server})
	return err
}

// MCPToggle switches an MCP server on or off.
func (s *Session) MCPToggle(ctx context.Context, server string, enabled bool) error {
	_, err := s.control(ctx, "mcp_toggle", map[string]any{"serverName": server, "enabled": enabled})
	return err
}

// MCPSetServers exchanges the servers that were set by the host; the answer is the CLI's: {added, removed, errors}.
func (s *Session) MCPSetServers(ctx context.Context, servers json.RawMessage) (json.RawMessage, error) {
	return s.control(ctx, "mcp_set_servers", map[string]json.RawMessage{"servers": servers})
}

// MCPAuthenticate begins the login to a server; the URL, if there is one, is where the user goes on.
func (s *Session) MCPAuthenticate(ctx context.Context, server string) (string, error) {
	answer, err := s.control(ctx, "mcp_authenticate", map[string]string{"serverName": server})
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Kind == KindUnsupportedByCLI {
			e.Remedy = "Run claude in a terminal and use /mcp."
		}
		return "", err
	}
	var a struct {
		AuthURL string `json:"authUrl"`
	}
	_ = json.Unmarshal(answer, &a) // a server that needs no login has no URL
	return a.AuthURL, nil
}

// Rewind is what rewinding the files to a user message does, or would do.
type Rewind struct {
	CanRewind    bool     `json:"can_rewind"`
	FilesChanged []string `json:"files_changed,omitempty"`
	Insertions   *int     `json:"insertions,omitempty"`
	Deletions    *int     `json:"deletions,omitempty"`
	Error        string   `json:"error,omitempty"`
}

// RewindFiles puts the files back to what they were at a user message. dryRun only says what that would change.
func (s *Session) RewindFiles(ctx context.Context, userMessageID string, dryRun bool) (Rewind, error) {
	answer, err := s.control(ctx, "rewind_files", map[string]any{"user_message_id": userMessageID, "dry_run": dryRun})
	if err != nil {
		return Rewind{}, err
	}
	var a struct {
		CanRewind    bool     `json:"canRewind"`
		FilesChanged []string `json:"filesChanged"`
		Insertions   *int     `json:"insertions"`
		Deletions    *int     `json:"deletions"`
		Error        string   `json:"error"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return Rewind{}, fail(KindOther, "Claude Code's answer to rewind_files cannot be read: %v", err)
	}
	return Rewind(a), nil
}

// ContextUsage says what fills the model's window: {categories:[{name, tokens}], …}, as the CLI says it.
func (s *Session) ContextUsage(ctx context.Context) (json.RawMessage, error) {
	answer, err := s.control(ctx, "get_context_usage", nil)
	return bytes.TrimSpace(answer), err
}

// StopTask ends a background task.
func (s *Session) StopTask(ctx context.Context, taskID string) error {
	_, err := s.control(ctx, "stop_task", map[string]string{"task_id": taskID})
	return err
}
