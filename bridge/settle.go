package bridge

import (
	"encoding/json"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
)

// verdict is how a prompt ends.
type verdict struct {
	outcome   string // allowed, denied, answered, declined, withdrawn
	by        string
	rule      string
	scope     string
	message   string          // denied, declined: what the model is told; allowed with input: what it is told of the edit
	input     json.RawMessage // allowed, answered: what runs, if it is not what was asked
	mode      string          // allowed: the permission mode from then on
	interrupt bool            // denied: and the turn ends
}

// settle ends a prompt: it is told to the editor and to the CLI. The caller has found pr in the table, or never put it there. Called
// with mu held.
func (s *Session) settle(pr *prompt, v verdict) {
	s.close(pr)
	s.conclude(pr, v)
	_ = s.audit(pr, v) // the user has decided, whether it can be written down or not
	s.tellState()
}

// conclude answers the CLI, which waits, and tells the editor. Called with mu held: nothing of what follows from the answer is told
// before it.
func (s *Session) conclude(pr *prompt, v verdict) {
	allowed := v.outcome == "allowed" || v.outcome == "answered"
	s.answer(pr, v, allowed)
	if !allowed {
		s.refused[pr.ToolUseID] = true
		if v.interrupt && s.turn != nil {
			s.turn.interrupted = true
		}
	}
	if !pr.asked {
		s.tell(ToolDecided{ToolUseID: pr.ToolUseID, Decision: v.outcome, By: v.by, Rule: v.rule})
		return
	}
	told := v.message
	if allowed {
		told = "" // what the model is told of an edit
	}
	s.tell(PromptResolved{PromptID: pr.ID, ToolUseID: pr.ToolUseID, Outcome: v.outcome, By: v.by, Rule: v.rule, Message: told, Input: v.input})
	if allowed && v.mode != "" {
		s.modeIs(v.mode)
	}
}

// answer writes the line that the CLI, or our hook in it, waits for.
func (s *Session) answer(pr *prompt, v verdict, allowed bool) {
	a, input := pr.run.adapter, pr.Input
	if v.input != nil {
		input = v.input
	}
	var line []byte
	switch {
	case pr.hook && allowed:
		seen := s.hooked[pr.ToolUseID]
		seen.approved = pr.Input
		s.hooked[pr.ToolUseID] = seen
		line = a.AppendReply(nil, pr.RequestID, json.RawMessage(`{}`))
	case pr.hook:
		line = a.AppendReply(nil, pr.RequestID, hookDecision("deny", v.message))
	case allowed:
		line = a.AppendAllow(nil, pr.Permission, input, v.mode)
	default:
		line = a.AppendDeny(nil, pr.Permission, v.message, v.interrupt)
	}
	pr.run.send(line)
	if v.outcome == "allowed" && v.input != nil {
		delete(s.diffs, pr.ToolUseID)
		s.foresee(pr.ToolUseID, pr.Tool, v.input)
		s.edited[pr.ToolUseID] = editNote(pr.Tool, v)
	}
}

// editNote is what the model is told of an input that the user has edited.
func editNote(tool string, v verdict) string {
	note := "The user edited the input of this " + tool + " call before allowing it. What ran was: " + string(v.input)
	if v.message != "" {
		note += "\nThe user says: " + v.message
	}
	return note
}

// close takes pr out of the tables. Called with mu held.
func (s *Session) close(pr *prompt) {
	delete(s.prompts, pr.RequestID)
	s.order = slices.DeleteFunc(s.order, func(o *prompt) bool { return o == pr })
}

// takeBack has the client take its question back ($/cancelRequest), before the editor is told of its end. That takes it microseconds:
// it waits for nothing else. Called with mu held.
func (s *Session) takeBack(pr *prompt) {
	s.close(pr)
	pr.withdraw()
	<-pr.returned
}

// withdrawn ends a prompt that needs no answer any more. Called with mu held.
func (s *Session) withdrawn(pr *prompt, by string) {
	s.takeBack(pr)
	_ = s.audit(pr, verdict{outcome: "withdrawn", by: by})
	s.tell(PromptResolved{PromptID: pr.ID, ToolUseID: pr.ToolUseID, Outcome: "withdrawn", By: by})
}

// takenBack: the CLI does not want an answer any more. Called with mu held.
func (s *Session) takenBack(requestID string) {
	pr := s.prompts[requestID]
	if pr == nil {
		return
	}
	by := "claude"
	if s.turn != nil && s.turn.interrupted {
		by = "interrupt"
	}
	s.withdrawn(pr, by)
	s.tellState()
}

// withdrawTurn ends the prompts that the end of a turn leaves open: those of the main agent, and of subagents it waited for. A
// background agent goes on, and so do its questions. Called with mu held.
func (s *Session) withdrawTurn(by string) {
	for _, pr := range slices.Clone(s.order) {
		if _, waited := s.openTools[pr.Parent]; waited || pr.Parent == "" && pr.AgentID == "" {
			s.withdrawn(pr, by)
		}
	}
}

// withdrawAll ends every prompt. Called with mu held.
func (s *Session) withdrawAll(by string) {
	for _, pr := range slices.Clone(s.order) {
		s.withdrawn(pr, by)
	}
}

// settleCovered lets through the open prompts that a new grant covers, each by the whole policy with its own input; but is the one
// whose answer the grant came with. Called with mu held.
func (s *Session) settleCovered(but *prompt) {
	for _, pr := range slices.Clone(s.order) {
		if pr == but || neverByRule[pr.Tool] || pr.hook {
			continue
		}
		v := s.judgeCall(s.callOf(pr.Permission, pr.Input))
		if v.Decision != policy.Allowed {
			continue
		}
		done := verdict{outcome: "allowed", by: by(v), rule: ruleText(v)}
		if s.audit(pr, done) != nil {
			continue
		}
		s.used(v)
		s.takeBack(pr)
		s.conclude(pr, done)
	}
	s.tellState()
}

// callOf is the call that p asks about, with another input if the user has edited it. Called with mu held.
func (s *Session) callOf(p *adapters.Permission, input json.RawMessage) policy.Call {
	c := s.policyCall(p.Tool, input)
	seen := s.hooked[p.ToolUseID]
	c.ShellCwd = seen.cwd
	c.RequiresUserInteraction, c.ServerPolicyAskOnly = p.RequiresUserInteraction, p.ServerPolicyAskOnly
	c.MCPServer, c.MCPServerSource = p.MCPServer, p.MCPServerSource
	if !seen.mustAsk || p.DecisionReasonType != "hook" { // else the hook was ours: the rule behind it says more
		c.DecisionReasonType, c.DecisionReason = p.DecisionReasonType, p.DecisionReason
	}
	return c
}

// audit writes down how a question ended, or how it was decided without one. An error means that it is not written.
func (s *Session) audit(pr *prompt, v verdict) error {
	input := pr.Input
	if v.input != nil {
		input = v.input
	}
	err := s.b.Audit.Write(AuditRecord{Time: time.Now(), SessionID: s.id, PromptID: pr.ID, ToolUseID: pr.ToolUseID, Tool: pr.Tool, Input: input,
		Outcome: v.outcome, By: v.by, Rule: v.rule, File: ruleFile(pr.verdict), Scope: v.scope, OpenMS: time.Since(pr.opened).Milliseconds(),
		AgentID: pr.AgentID, CWD: s.options.CWD})
	if err != nil {
		s.noticeOnce("error", "audit", "Decisions about permission cannot be written down: "+err.Error()+". Until they can, no rule allows anything.",
			"Make room, or correct the rights of the state directory.")
	}
	return err
}
