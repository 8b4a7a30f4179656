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

	"drawbridge/adapters"
)

// prompt is an open question. Its entry in the session's table, under the CLI's request id, is the right to settle it: whoever
// takes it out of the table settles it, and nobody else does.
type prompt struct {
	*Prompt
	run      *Run
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

// permission opens the question that the CLI has asked. Called with mu held, by the pump, which goes on at once.
func (s *Session) permission(r *Run, asked *adapters.Permission) {
	p := *asked
	p.Input = bytes.Clone(p.Input)
	if p.Announce {
		s.openTools[p.ToolUseID] = true
		s.tell(ToolAnnounced{ToolUse: adapters.ToolUse{ID: p.ToolUseID, Name: p.Tool, Input: p.Input}, Parent: p.Parent})
	}
	pr := &prompt{run: r, returned: make(chan struct{}), Prompt: &Prompt{
		ID:         newPromptID(),
		Permission: &p,
		View:       adapters.Describe(p.Tool, p.Input, s.options.CWD),
		Editable:   adapters.Editable(p.Tool, p.Input),
		Scopes:     []string{"once"},
		Modes:      slices.DeleteFunc(slices.Clone(p.Modes), func(mode string) bool { return !slices.Contains(modes, mode) }),
		Reason:     reason(&p),
	}}
	ctx, withdraw := context.WithCancel(context.Background())
	if s.options.PermissionTimeout > 0 {
		ctx, withdraw = context.WithTimeout(ctx, s.options.PermissionTimeout)
	}
	pr.withdraw = withdraw

	ask := s.ask
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
			s.log.Warn("questions that cannot be read")
			break // shown as a permission question, with the input as it is
		}
		pr.Questions = questions
		ask = s.question
	}
	s.prompts[p.RequestID] = pr
	s.order = append(s.order, pr)
	switch {
	case pr.Questions != nil && !s.options.CanAnswer:
		s.noticeOnce("warning", "cannot_answer", "Claude asked a question, but this editor cannot show questions; it was declined.", "Use an editor plugin with the capability questions.")
		s.settle(pr, verdict{outcome: "declined", by: "error", message: cannotAnswer})
	case pr.Questions == nil && !s.options.CanAsk:
		s.noticeOnce("warning", "cannot_ask", "Claude asked for permission, but this editor cannot ask you; it was denied.", "Use an editor plugin with the capability permissions.")
		s.settle(pr, verdict{outcome: "denied", by: "error", message: cannotAsk})
	default:
		s.tellState()
		s.b.group.Go(func() { ask(ctx, pr) })
		return
	}
	withdraw()
}

// reason says why the user is asked, as far as the CLI tells.
func reason(p *adapters.Permission) Reason {
	switch {
	case p.DecisionReason != "":
		return Reason{Source: "claude", Text: p.DecisionReason}
	case p.BlockedPath != "":
		return Reason{Source: "claude", Text: "Claude Code asks before it touches " + p.BlockedPath}
	}
	return Reason{Source: "default", Text: "no rule allows " + p.Tool}
}

func newPromptID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "p_" + hex.EncodeToString(b[:])
}

// ask puts a permission prompt to the client and settles it with the answer. It has a goroutine of its own.
func (s *Session) ask(ctx context.Context, pr *prompt) {
	defer pr.withdraw()
	d, err := s.b.Client.Permission(ctx, s, pr.Prompt)
	close(pr.returned)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompts[pr.RequestID] != pr {
		return // withdrawn meanwhile
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.settle(pr, verdict{outcome: "denied", by: "timeout", message: saidNothing})
	case err != nil:
		s.notice("warning", "prompt_failed", fmt.Sprintf("The permission question for %s failed in the editor and was denied: %v", pr.Tool, err), "")
		s.settle(pr, verdict{outcome: "denied", by: "error", message: askingFailed})
	default:
		v, err := s.judge(pr, d)
		if err != nil {
			s.notice("warning", "answer_refused", "The answer to the permission question for "+pr.Tool+" was taken as a no: "+err.Error()+".", "Report it to the author of the editor plugin.")
			v = verdict{outcome: "denied", by: "error", message: badAnswer}
		}
		s.settle(pr, v)
	}
}

// question puts questions to the client. It has a goroutine of its own.
func (s *Session) question(ctx context.Context, pr *prompt) {
	defer pr.withdraw()
	a, err := s.b.Client.Question(ctx, s, pr.Prompt)
	close(pr.returned)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompts[pr.RequestID] != pr {
		return
	}
	v := verdict{outcome: "declined", by: "user", message: a.Message}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		v = verdict{outcome: "declined", by: "timeout", message: saidNothing}
	case err != nil:
		s.notice("warning", "prompt_failed", fmt.Sprintf("The question failed in the editor and was declined: %v", err), "")
		v = verdict{outcome: "declined", by: "error", message: answersFailed}
	case a.Declined || a.Answers == nil:
	default:
		input, err := adapters.AnswerInput(pr.Input, a.Answers)
		if err != nil {
			s.notice("warning", "answer_refused", "The answers to the question were not taken: "+err.Error()+".", "Report it to the author of the editor plugin.")
			v = verdict{outcome: "declined", by: "error", message: answersFailed}
			break
		}
		v = verdict{outcome: "answered", by: "user", input: input}
	}
	if v.outcome == "declined" && v.message == "" {
		v.message = saidDecline
	}
	s.settle(pr, v)
}

// verdict is how a prompt ends.
type verdict struct {
	outcome   string // allowed, denied, answered, declined
	by        string
	message   string          // denied, declined: what the model is told
	input     json.RawMessage // allowed, answered: what runs, if it is not what was asked
	mode      string          // allowed: the permission mode from then on
	interrupt bool            // denied: and the turn ends
}

// judge makes a verdict of the client's answer, or says what is wrong with it. Whatever is not clearly an allow denies.
func (s *Session) judge(pr *prompt, d Decision) (verdict, error) {
	switch d.Decision {
	case "deny":
		message := d.Message
		if message == "" {
			message = saidNo
		}
		return verdict{outcome: "denied", by: "user", message: message, interrupt: d.Interrupt}, nil
	case "allow":
	case "":
		return verdict{}, errors.New("it has no decision")
	default:
		return verdict{}, fmt.Errorf("there is no decision %q", d.Decision)
	}
	v := verdict{outcome: "allowed", by: "user", mode: d.PermissionMode}
	switch {
	case d.PromptID != pr.ID:
		return v, errors.New("its prompt_id is not that of the question")
	case d.Scope != "" && !slices.Contains(pr.Scopes, d.Scope):
		return v, fmt.Errorf("the scope %q was not offered", d.Scope)
	case d.PermissionMode != "" && !slices.Contains(pr.Modes, d.PermissionMode):
		return v, fmt.Errorf("the mode %q was not offered", d.PermissionMode)
	case len(d.Rules) > 0:
		return v, errors.New("rules were not offered")
	case d.UpdatedText != nil:
		return v, errors.New("updated_text was not offered")
	}
	if pr.Tool == planTool && v.mode == "" {
		v.mode = "default" // 2.0.0 would stay in plan mode
	}
	if len(d.UpdatedInput) > 0 {
		input, err := adapters.ApplyEdit(pr.Tool, pr.Input, d.UpdatedInput)
		if err != nil {
			return v, err
		}
		if !bytes.Equal(input, pr.Input) {
			v.input = input
		}
	}
	return v, nil
}

// settle ends a prompt: it is told to the editor and to the CLI. The caller has found pr in the table. Called with mu held.
func (s *Session) settle(pr *prompt, v verdict) {
	s.close(pr)
	s.tell(PromptResolved{PromptID: pr.ID, ToolUseID: pr.ToolUseID, Outcome: v.outcome, By: v.by, Message: v.message, Input: v.input})
	switch v.outcome {
	case "allowed", "answered":
		input := pr.Input
		if v.input != nil {
			input = v.input
		}
		pr.run.send(pr.run.adapter.AppendAllow(nil, pr.Permission, input, v.mode))
		if v.mode != "" {
			s.modeIs(v.mode)
		}
	default:
		s.refused[pr.ToolUseID] = true
		if v.interrupt && s.turn != nil {
			s.turn.interrupted = true
		}
		pr.run.send(pr.run.adapter.AppendDeny(nil, pr.Permission, v.message, v.interrupt))
	}
	s.tellState()
}

// close takes pr out of the tables. Called with mu held.
func (s *Session) close(pr *prompt) {
	delete(s.prompts, pr.RequestID)
	s.order = slices.DeleteFunc(s.order, func(o *prompt) bool { return o == pr })
}

// withdrawn ends a prompt that needs no answer any more. The client takes its question back ($/cancelRequest) before the editor is
// told of the end, which takes it microseconds: it waits for nothing but this. Called with mu held.
func (s *Session) withdrawn(pr *prompt, by string) {
	s.close(pr)
	pr.withdraw()
	<-pr.returned
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
		if pr.Parent == "" || s.openTools[pr.Parent] {
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
