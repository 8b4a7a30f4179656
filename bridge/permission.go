package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"

	"github.com/sourcegraph/conc/panics"
)

// prompt is an open question. Its entry in the session's table, under the CLI's request id, is the right to settle it: whoever
// takes it out of the table settles it, and nobody else does.
type prompt struct {
	*Prompt
	run      *Run
	hook     bool // asked by our hook, which wants a hook's answer
	asked    bool // put to the client
	verdict  policy.Verdict
	opened   time.Time
	withdraw context.CancelFunc
	returned chan struct{} // closed when the client is done with it
}

// What the model is told when the answer is not the user's own words.
const (
	saidNo        = "The user does not want this tool to run."
	saidNothing   = "No answer was given in time. This is not a refusal by the user."
	cannotAsk     = "The editor cannot ask the user for permission, so this tool may not run."
	cannotAnswer  = "The editor cannot ask the user questions. Go on without an answer, or ask in plain text."
	saidDecline   = "The user declined to answer the questions."
	askingFailed  = "The permission question failed in the editor, so this tool may not run."
	badAnswer     = "The editor's answer to the permission question was not valid, so this tool may not run."
	answersFailed = "The question failed in the editor."
)

const (
	askTool  = "AskUserQuestion"
	planTool = "ExitPlanMode"
)

// neverByRule are the tools that are a question to the user themselves.
var neverByRule = map[string]bool{askTool: true, planTool: true}

// permission deals with a question of the CLI: a rule decides, or the user is asked. Called with mu held, by the pump, which goes
// on at once.
func (s *Session) permission(r *Run, asked *adapters.Permission) {
	p := asked.Clone()
	if p.Announce {
		s.openTools[p.ToolUseID] = p.Tool
		s.tell(ToolAnnounced{ToolUse: adapters.ToolUse{ID: p.ToolUseID, Name: p.Tool, Input: p.Input}, Parent: p.Parent})
	}
	seen := s.hooked[p.ToolUseID]
	c := s.policyCall(p.Tool, p.Input)
	c.ShellCwd = seen.cwd
	c.DecisionReasonType, c.DecisionReason = p.DecisionReasonType, p.DecisionReason
	c.RequiresUserInteraction, c.ServerPolicyAskOnly = p.RequiresUserInteraction, p.ServerPolicyAskOnly
	c.MCPServer, c.MCPServerSource = p.MCPServer, p.MCPServerSource
	if seen.mustAsk && c.DecisionReasonType == "hook" {
		c.DecisionReasonType, c.DecisionReason = "", "" // the hook was ours: the rule behind it says more
	}
	v := s.judgeCall(c)
	pr := s.newPrompt(r, p, v)
	switch {
	case neverByRule[p.Tool]:
	case v.Decision == policy.Denied:
		s.used(v)
		s.settle(pr, verdict{outcome: "denied", by: "rule", rule: ruleText(v), message: "drawbridge: " + v.Reason.Text})
		return
	case seen.approved != nil && bytes.Equal(seen.approved, p.Input):
		s.settle(pr, verdict{outcome: "allowed", by: "user"}) // who has said yes to this very input in the hook
		return
	case v.Decision == policy.Allowed:
		allowed := verdict{outcome: "allowed", by: by(v), rule: ruleText(v)}
		if s.audit(pr, allowed) == nil {
			s.used(v)
			s.conclude(pr, allowed)
			return
		}
		pr.Reason = Reason{Source: "default", Text: "the audit file cannot be written, so no rule allows anything"}
	}
	ctx, withdraw := context.WithCancel(context.Background())
	if s.options.PermissionTimeout > 0 {
		ctx, withdraw = context.WithTimeout(ctx, s.options.PermissionTimeout)
	}
	s.open(ctx, withdraw, pr)
}

// by says in whose name a rule decided.
func by(v policy.Verdict) string {
	if v.Rule != nil && v.Rule.Scope == policy.ScopeSession {
		return "grant"
	}
	return "rule"
}

func ruleText(v policy.Verdict) string {
	if v.Rule == nil {
		return ""
	}
	return v.Rule.Rule
}

func ruleFile(v policy.Verdict) string {
	if v.Rule == nil {
		return ""
	}
	return v.Rule.File
}

// newPrompt makes the question that v leads to. Called with mu held.
func (s *Session) newPrompt(r *Run, p *adapters.Permission, v policy.Verdict) *prompt {
	pr := &prompt{run: r, verdict: v, opened: time.Now(), returned: make(chan struct{}), Prompt: &Prompt{
		ID:         newPromptID(),
		Permission: p,
		View:       adapters.Describe(p.Tool, p.Input, s.options.CWD),
		Editable:   adapters.Editable(p.Tool, p.Input),
		Modes:      slices.DeleteFunc(slices.Clone(p.Modes), func(mode string) bool { return !slices.Contains(modes, mode) }),
	}}
	pr.show(v, s.b.SettingsFile != "")
	switch p.Tool {
	case planTool:
		if pr.Plan = adapters.Plan(p.Input); pr.Plan == "" {
			pr.Plan = s.plan
		}
		pr.Modes = []string{"default", "acceptEdits"}
		pr.Reason = Reason{Source: "plan_mode", Text: "Claude asks to leave plan mode"}
	case askTool:
		questions, err := adapters.ParseQuestions(p.Input)
		if err != nil {
			s.log.Warn("questions that cannot be read") // shown as a permission question, with the input as it is
			break
		}
		pr.Questions = questions
	}
	s.showDiff(pr)
	return pr
}

// show puts what the policy says into the prompt. A rule can only be saved for good where there is a settings file.
func (pr *prompt) show(v policy.Verdict, saves bool) {
	pr.verdict = v
	pr.Display, pr.Parts, pr.Flags, pr.Risk, pr.Rules = v.Display, v.Parts, v.Flags, string(v.Risk), v.Proposed
	pr.Reason = Reason(v.Reason)
	pr.Scopes = []string{"once"}
	if len(v.Proposed) > 0 {
		pr.Scopes = append(pr.Scopes, "session")
		if saves {
			pr.Scopes = append(pr.Scopes, "project", "user")
		}
	}
}

// showDiff adds what a file tool would do, where that can be known.
func (s *Session) showDiff(pr *prompt) {
	if s.remote {
		return
	}
	diff, base, err := proposeDiff(s.version(), pr.Tool, pr.Input, s.options.CWD)
	if err != nil {
		s.log.Debug("no diff for " + pr.Tool + ": " + err.Error())
	}
	pr.Diff, pr.Base = diff, base
}

// version is that of the CLI that runs; the zero Version if it is not known. Called with mu held.
func (s *Session) version() adapters.Version {
	if s.known.ClaudeCode == nil {
		return adapters.Version{}
	}
	v, _ := adapters.ParseVersion(s.known.ClaudeCode.Version)
	return v
}

func newPromptID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "p_" + hex.EncodeToString(b[:])
}

// open puts a question to the client, in a goroutine of its own. Called with mu held.
func (s *Session) open(ctx context.Context, withdraw context.CancelFunc, pr *prompt) {
	if s.prompts[pr.RequestID] != nil { // put twice: the answer to the first is the answer
		withdraw()
		return
	}
	pr.withdraw = withdraw
	s.prompts[pr.RequestID] = pr
	s.order = append(s.order, pr)
	switch {
	case pr.Questions != nil && !s.options.CanAnswer:
		s.noticeOnce("warning", "cannot_answer", "Claude asked a question, but this editor cannot show questions; it was declined.", "Use an editor plugin with the capability questions.")
		s.settle(pr, verdict{outcome: "declined", by: "error", message: cannotAnswer})
	case pr.Questions == nil && !s.options.CanAsk:
		s.noticeOnce("warning", "cannot_ask", "Claude asked for permission, but this editor cannot ask you; it was denied.", "Use an editor plugin with the capability permissions.")
		s.settle(pr, verdict{outcome: "denied", by: "error", message: cannotAsk})
	default:
		pr.asked = true
		s.tellState()
		ask := s.ask
		if pr.Questions != nil {
			ask = s.question
		}
		s.b.group.Go(func() {
			defer withdraw()
			v, ok := ask(ctx, pr)
			s.mu.Lock()
			defer s.mu.Unlock()
			if ok && s.prompts[pr.RequestID] == pr { // else withdrawn meanwhile
				s.settle(pr, v)
			}
		})
		return
	}
	withdraw()
}

// ask puts a permission question to the client until it has an answer that counts. ok is false if there is nothing to settle any
// more. Called without mu.
func (s *Session) ask(ctx context.Context, pr *prompt) (v verdict, ok bool) {
	for {
		asked := time.Now()
		var d Decision
		err := pr.put(func() (err error) { d, err = s.b.Client.Permission(ctx, s, pr.Prompt); return })
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return verdict{outcome: "denied", by: "timeout", message: saidNothing}, true
		case ctx.Err() != nil:
			return verdict{}, false
		case err != nil:
			s.tellLocked(Notice{Level: "warning", Kind: "prompt_failed", Message: fmt.Sprintf("The permission question for %s failed in the editor and was denied: %v", pr.Tool, err)})
			return verdict{outcome: "denied", by: "error", message: askingFailed}, true
		}
		v, again, err := s.judge(pr, d, time.Since(asked))
		if err != nil {
			s.tellLocked(Notice{Level: "warning", Kind: "answer_refused", Message: "The answer to the permission question for " + pr.Tool + " was taken as a no: " + err.Error() + ".",
				Remedy: "Report it to the author of the editor plugin."})
			return verdict{outcome: "denied", by: "error", message: badAnswer}, true
		}
		if again == "" {
			return v, true
		}
		if !s.askAnew(pr, again) {
			return verdict{}, false
		}
	}
}

// put has the client ask. A withdrawal waits with mu held until the client is done, so nothing in here may wait for mu. A client that
// panics has not said yes.
func (pr *prompt) put(ask func() error) (err error) {
	defer close(pr.returned)
	if caught := panics.Try(func() { err = ask() }); caught != nil {
		return caught.AsError()
	}
	return err
}

// askAnew changes a prompt into the one that is asked next, unless it was withdrawn meanwhile. Whoever holds the old one keeps it as it
// was. Called without mu.
func (s *Session) askAnew(pr *prompt, again string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompts[pr.RequestID] != pr {
		return false
	}
	next := *pr.Prompt
	next.Again = again
	pr.Prompt, pr.returned = &next, make(chan struct{})
	if again == fileChanged {
		s.showDiff(pr)
	}
	return true
}

func (s *Session) tellLocked(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(n)
}

// question puts questions to the client. Called without mu.
func (s *Session) question(ctx context.Context, pr *prompt) (verdict, bool) {
	var a Answers
	err := pr.put(func() (err error) { a, err = s.b.Client.Question(ctx, s, pr.Prompt); return })
	v := verdict{outcome: "declined", by: "user", message: a.Message}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return verdict{outcome: "declined", by: "timeout", message: saidNothing}, true
	case ctx.Err() != nil:
		return verdict{}, false
	case err != nil:
		s.tellLocked(Notice{Level: "warning", Kind: "prompt_failed", Message: fmt.Sprintf("The question failed in the editor and was declined: %v", err)})
		return verdict{outcome: "declined", by: "error", message: answersFailed}, true
	case a.Declined || a.Answers == nil:
	default:
		input, err := adapters.AnswerInput(pr.Input, a.Answers)
		if err != nil {
			s.tellLocked(Notice{Level: "warning", Kind: "answer_refused", Message: "The answers to the question were not taken: " + err.Error() + ".",
				Remedy: "Report it to the author of the editor plugin."})
			return verdict{outcome: "declined", by: "error", message: answersFailed}, true
		}
		return verdict{outcome: "answered", by: "user", input: input}, true
	}
	if v.message == "" {
		v.message = saidDecline
	}
	return v, true
}

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
		v := s.judgeCall(s.callOf(pr, pr.Input))
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

// callOf is the call a prompt is about, with another input if the user has edited it. Called with mu held.
func (s *Session) callOf(pr *prompt, input json.RawMessage) policy.Call {
	c := s.policyCall(pr.Tool, input)
	seen := s.hooked[pr.ToolUseID]
	c.ShellCwd = seen.cwd
	c.RequiresUserInteraction, c.ServerPolicyAskOnly = pr.RequiresUserInteraction, pr.ServerPolicyAskOnly
	c.MCPServer, c.MCPServerSource = pr.MCPServer, pr.MCPServerSource
	if !seen.mustAsk || pr.DecisionReasonType != "hook" {
		c.DecisionReasonType, c.DecisionReason = pr.DecisionReasonType, pr.DecisionReason
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
