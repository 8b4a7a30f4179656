package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
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
	v := s.judgeCall(s.callOf(p, p.Input))
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
