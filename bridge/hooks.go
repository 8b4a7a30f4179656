package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
)

// Our deny and ask rules have to hold where the CLI does not ask, too: a Read in the workspace, an edit in acceptEdits, a command
// that its own rules allow, the tools of subagents. So a PreToolUse hook over the control channel sees every tool before the CLI
// decides. It is answered by the pump, at once, and only ever forbids or asks: before 2.1.329 an "allow" of a hook would override
// the user's own deny rules.
const (
	preHook  = "drawbridge-pre"
	postHook = "drawbridge-post"
)

// A hook that asks the user itself, on CLIs whose hooks cannot make the CLI ask. The CLI lets the tool run when a hook is silent for
// too long (2.1.17), so we say no before it does.
const (
	hookTimeout      = 24 * time.Hour   // as we ask for it
	hookShortTimeout = 50 * time.Second // 2.0.0 gives 60 s, whatever it is asked for
)

// hookRegistration are the members of initialize that register our hooks.
func hookRegistration() json.RawMessage {
	seconds := int(hookTimeout.Seconds())
	return json.RawMessage(fmt.Sprintf(`{"hooks":{"PreToolUse":[{"matcher":null,"hookCallbackIds":[%q],"timeout":%d}],`+
		`"PostToolUse":[{"matcher":null,"hookCallbackIds":[%q],"timeout":60}]}}`, preHook, seconds, postHook))
}

// hook answers a hook_callback. Called with mu held, by the pump.
func (s *Session) hook(r *Run, q *adapters.Request) {
	switch {
	case q.Hook == nil:
		r.send(r.adapter.AppendReply(nil, q.RequestID, json.RawMessage(`{}`)))
	case q.Hook.CallbackID == postHook:
		s.afterTool(r, q.RequestID, q.Hook)
	default:
		s.beforeTool(r, q.RequestID, q.Hook)
	}
}

// beforeTool applies our deny and ask rules to a tool that is about to run.
func (s *Session) beforeTool(r *Run, requestID string, h *adapters.Hook) {
	s.hooked[h.ToolUseID] = hookedTool{cwd: h.CWD}
	s.foresee(h.ToolUseID, h.Tool, h.Input)
	c := s.policyCall(h.Tool, h.Input)
	c.ShellCwd = h.CWD
	if h.Mode != "" {
		c.Mode = h.Mode
	}
	v := s.judgeCall(c)
	switch {
	case v.Decision == policy.Denied:
		s.used(v)
		s.refused[h.ToolUseID] = true
		p := &adapters.Permission{ToolUseID: h.ToolUseID, Tool: h.Tool, Input: h.Input, AgentID: h.AgentID}
		denied := verdict{outcome: "denied", by: "rule", rule: ruleText(v)}
		_ = s.audit(&prompt{Prompt: &Prompt{Permission: p}, verdict: v, opened: time.Now()}, denied)
		s.tell(ToolDecided{ToolUseID: h.ToolUseID, Decision: denied.outcome, By: denied.by, Rule: denied.rule})
		r.send(r.adapter.AppendReply(nil, requestID, hookDecision("deny", "drawbridge: "+v.Reason.Text)))
	case v.MustAsk && neverByRule[h.Tool]:
		r.send(r.adapter.AppendReply(nil, requestID, json.RawMessage(`{}`))) // always asked by the CLI
	case v.MustAsk && r.adapter.Features().HookAsk:
		s.hooked[h.ToolUseID] = hookedTool{cwd: h.CWD, mustAsk: true}
		r.send(r.adapter.AppendReply(nil, requestID, hookDecision("ask", "drawbridge: "+v.Reason.Text)))
	case v.MustAsk:
		s.askInHook(r, requestID, h, v)
	default:
		r.send(r.adapter.AppendReply(nil, requestID, json.RawMessage(`{}`)))
	}
}

// askInHook asks the user while the CLI waits for the hook.
func (s *Session) askInHook(r *Run, requestID string, h *adapters.Hook, v policy.Verdict) {
	p := &adapters.Permission{RequestID: requestID, ToolUseID: h.ToolUseID, Tool: h.Tool, Input: append(json.RawMessage(nil), h.Input...), AgentID: h.AgentID}
	pr := s.newPrompt(r, p, v)
	pr.hook = true
	pr.Editable, pr.Modes = nil, nil // a hook can only say yes or no to what is there
	limit := hookTimeout - time.Minute
	if !r.adapter.Features().HookWaits {
		limit = hookShortTimeout
	}
	if s.options.PermissionTimeout > 0 {
		limit = min(limit, s.options.PermissionTimeout)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	s.open(ctx, cancel, pr)
}

// afterTool tells the model of an input that the user has edited: its history still shows what it wrote itself.
func (s *Session) afterTool(r *Run, requestID string, h *adapters.Hook) {
	told := s.edited[h.ToolUseID]
	if told == "" {
		r.send(r.adapter.AppendReply(nil, requestID, json.RawMessage(`{}`)))
		return
	}
	delete(s.edited, h.ToolUseID)
	body, _ := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "PostToolUse", "additionalContext": told}})
	r.send(r.adapter.AppendReply(nil, requestID, body))
}

func hookDecision(decision, reason string) json.RawMessage {
	body, _ := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}})
	return body
}

// hookedTool is what a PreToolUse hook has told of a tool use.
type hookedTool struct {
	cwd      string          // where the shell stands
	mustAsk  bool            // we made the CLI ask
	approved json.RawMessage // the user said yes to this input in the hook
}

// missedHook notes that a tool ran or asked without our hook having seen it: then hooks are switched off (disableAllHooks, which
// any project could set before 2.1.329 but for the restricted start), and our rules only hold where the CLI asks.
func (s *Session) missedHook(toolUseID string) {
	if _, seen := s.hooked[toolUseID]; seen || s.rulesPartly != "" || !s.run.hooks {
		return
	}
	s.rulesPartly = "Claude Code does not call hooks (disableAllHooks in its settings)."
	s.notice("warning", "rules_partly", "Your deny and ask rules hold only where Claude Code asks: its settings switch hooks off.", "Take disableAllHooks out of Claude Code's settings.")
}

// enforcement says where our rules hold with this CLI, before it has run anything.
func (s *Session) enforcement(f adapters.Features) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rulesPartly = ""
	if !f.Hooks {
		s.rulesPartly = "This version of Claude Code has no hooks over the control channel."
	}
}

// foresee keeps what a file tool is about to do, for its result: afterwards the file does not tell what it was before.
func (s *Session) foresee(toolUseID, tool string, input json.RawMessage) {
	if !s.options.Diffs || s.remote {
		return
	}
	if diff, _, err := proposeDiff(s.version(), tool, input, s.options.CWD); err == nil && diff != nil {
		s.diffs[toolUseID] = diff
	}
}
