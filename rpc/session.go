package rpc

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"

	"drawbridge/adapters"
	"drawbridge/bridge"

	"go.lsp.dev/jsonrpc2"
)

// userMessage is user_message. The session decides the order of messages here, on the reader; what follows async only waits.
func (s *Server) userMessage(c *call) (any, error) {
	var p UserMessageParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if err := oneOf("when_busy", p.WhenBusy, "queue", "reject"); err != nil {
		return nil, err
	}
	session, err := s.bridge.Session(p.SessionID)
	if err != nil {
		return nil, err
	}
	turn, err := session.Begin(bridge.UserMessage{ID: p.UserMessageID, Content: p.Content, Context: p.Context, Reject: p.WhenBusy == "reject"})
	if err != nil {
		return nil, err
	}
	ctx := c.async()
	// The session stands still until the answer is out, so it is told whatever happens here.
	defer c.afterResponse(turn.Answered)
	return turn.Wait(ctx), nil
}

func interrupt(ctx context.Context, s *bridge.Session, p InterruptParams) (any, error) {
	if err := oneOf("queued", p.Queued, "keep", "cancel"); err != nil {
		return nil, err
	}
	return Nothing{}, s.Interrupt(ctx, p.Queued == "cancel")
}

func rewindFiles(ctx context.Context, s *bridge.Session, p RewindFilesParams) (any, error) {
	return some(s.RewindFiles(ctx, p.UserMessageID, p.DryRun))
}

func taskStop(ctx context.Context, s *bridge.Session, p TaskStopParams) (any, error) {
	return Nothing{}, s.StopTask(ctx, p.TaskID)
}

// sessionNew is session_new. The CLI is started behind the answer, so that the editor knows the session it hears of.
func (s *Server) sessionNew(c *call) (any, error) {
	options := cloneOptions(s.defaults.SessionOptions)
	if err := c.decode(&options); err != nil {
		return nil, err
	}
	session, err := s.bridge.Open(options)
	if err != nil {
		return nil, err
	}
	c.async()
	c.afterResponse(session.Start)
	return s.sessionState(session), nil
}

// sessionGet is session_get.
func (s *Server) sessionGet(c *call) (any, error) {
	return inSession(func(_ context.Context, session *bridge.Session, _ SessionParams) (any, error) {
		return s.sessionState(session), nil
	})(s, c)
}

// sessionClose is session_close.
func (s *Server) sessionClose(c *call) (any, error) {
	return inSession(func(ctx context.Context, session *bridge.Session, _ SessionParams) (any, error) {
		defer s.views.Delete(session)
		return Nothing{}, session.Close(ctx)
	})(s, c)
}

func setPermissionMode(ctx context.Context, s *bridge.Session, p SetPermissionModeParams) (any, error) {
	mode, err := s.SetPermissionMode(ctx, p.Mode)
	return SetPermissionModeResult{mode}, err
}

func setModel(ctx context.Context, s *bridge.Session, p SetModelParams) (any, error) {
	model, err := s.SetModel(ctx, p.Model)
	return SetModelResult{model}, err
}

func setMaxThinkingTokens(ctx context.Context, s *bridge.Session, p SetMaxThinkingTokensParams) (any, error) {
	n, err := s.SetMaxThinkingTokens(ctx, p.MaxThinkingTokens)
	return SetMaxThinkingTokensResult{n}, err
}

func mcpStatus(ctx context.Context, s *bridge.Session, _ SessionParams) (any, error) {
	servers, err := s.MCPStatus(ctx)
	return MCPStatusResult{list(servers)}, err
}

func mcpReconnect(ctx context.Context, s *bridge.Session, p MCPServerParams) (any, error) {
	return Nothing{}, s.MCPReconnect(ctx, p.Server)
}

func mcpToggle(ctx context.Context, s *bridge.Session, p MCPToggleParams) (any, error) {
	return Nothing{}, s.MCPToggle(ctx, p.Server, p.Enabled)
}

func mcpSetServers(ctx context.Context, s *bridge.Session, p MCPSetServersParams) (any, error) {
	if swapped, ok := swapEmpty(p.Servers, 1); ok && string(swapped) == "{}" {
		p.Servers = swapped // an empty Lua table
	}
	return some(s.MCPSetServers(ctx, p.Servers))
}

func mcpAuthenticate(ctx context.Context, s *bridge.Session, p MCPServerParams) (any, error) {
	url, err := s.MCPAuthenticate(ctx, p.Server)
	return MCPAuthenticateResult{url}, err
}

func contextUsage(ctx context.Context, s *bridge.Session, _ SessionParams) (any, error) {
	return some(s.ContextUsage(ctx))
}

func (s *Server) health(*call) (any, error) { return s.bridge.Health(), nil }

func permissionRules(_ context.Context, s *bridge.Session, _ SessionParams) (any, error) {
	return RulesResult{s.Rules()}, nil
}

func permissionRevoke(_ context.Context, s *bridge.Session, p RevokeParams) (any, error) {
	return Nothing{}, s.Revoke(p.RuleID)
}

// some turns a typed pair into a handler's.
func some[T any](v T, err error) (any, error) { return v, err }

// sessionState is what session_get tells.
func (s *Server) sessionState(session *bridge.Session) SessionState {
	snap := session.Snapshot()
	state := SessionState{SessionID: snap.SessionID, Update: snap.Update, State: snap.State, Queue: list(snap.Queue),
		Prompts: []any{}, Tasks: []TaskUpdateParams{}}
	for _, p := range snap.Prompts {
		state.Prompts = append(state.Prompts, s.promptParams(snap.SessionID, p))
	}
	for i := range snap.Tasks {
		state.Tasks = append(state.Tasks, taskParams("", &snap.Tasks[i]))
	}
	return state
}

func taskParams(session string, t *adapters.Task) TaskUpdateParams {
	return TaskUpdateParams{SessionID: session, TaskID: t.ID, ToolUseID: t.ToolUseID, Kind: t.Kind, Status: t.Status, Title: t.Title,
		Background: t.Background, LastTool: t.LastTool, Summary: t.Summary, Usage: t.Usage}
}

// cloneOptions makes options that params can be decoded over: encoding/json writes into the lists and maps it finds.
func cloneOptions(o bridge.SessionOptions) bridge.SessionOptions {
	o.AddDirs, o.MCPServers, o.Env = slices.Clone(o.AddDirs), bytes.Clone(o.MCPServers), maps.Clone(o.Env)
	return o
}

// oneOf refuses a value that is neither empty nor one of those allowed.
func oneOf(field, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return failure(jsonrpc2.InvalidParams, kindInvalidParams, field+" cannot be "+strconv.Quote(value)+".",
		"Use "+allowed[0]+" or "+allowed[1]+".")
}
