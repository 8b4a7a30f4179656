package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
)

// Why a question is asked anew.
const (
	tooEarly     = "too_early"
	fileChanged  = "changed"
	deniedByRule = "denied_by_rule"
)

// judge makes a verdict of the client's answer, or says why the question is to be asked anew, or what is wrong with the answer.
// Whatever is not clearly an allow denies. Called without mu: saving a rule waits for the disk.
func (s *Session) judge(pr *prompt, d Decision, took time.Duration) (v verdict, again string, err error) {
	switch d.Decision {
	case "deny":
		message := d.Message
		if message == "" {
			message = saidNo
		}
		return verdict{outcome: "denied", by: "user", message: message, interrupt: d.Interrupt}, "", nil
	case "allow":
	case "":
		return v, "", errors.New("it has no decision")
	default:
		return v, "", fmt.Errorf("there is no decision %q", d.Decision)
	}
	v = verdict{outcome: "allowed", by: "user", mode: d.PermissionMode, scope: "once", message: d.Message}
	if d.Scope != "" {
		v.scope = d.Scope
	}
	switch {
	case d.PromptID != pr.ID:
		return v, "", errors.New("its prompt_id is not that of the question")
	case !slices.Contains(pr.Scopes, v.scope):
		return v, "", fmt.Errorf("the scope %q was not offered", v.scope)
	case d.PermissionMode != "" && !slices.Contains(pr.Modes, d.PermissionMode):
		return v, "", fmt.Errorf("the mode %q was not offered", d.PermissionMode)
	case len(d.Rules) > 0 && v.scope == "once":
		return v, "", errors.New("rules need a scope beyond once")
	case took < s.options.MinAnswer:
		return v, tooEarly, nil
	}
	if pr.Tool == planTool && v.mode == "" {
		v.mode = "default" // 2.0.0 would stay in plan mode
	}
	if v.input, err = editedInput(pr, d); err != nil {
		return v, "", err
	}
	if v.input != nil && s.rulesForbid(pr, v.input) {
		return v, deniedByRule, nil
	}
	if pr.Base != nil && pr.Base.changed() {
		return v, fileChanged, nil
	}
	if v.scope != "once" {
		if err := s.grantFor(pr, d, v); err != nil {
			return v, "", err
		}
	}
	return v, "", nil
}

// editedInput is the input as the user has edited it; nil if it is as it was.
func editedInput(pr *prompt, d Decision) (json.RawMessage, error) {
	switch {
	case d.UpdatedText != nil && len(d.UpdatedInput) > 0:
		return nil, errors.New("it has both updated_input and updated_text")
	case d.UpdatedText != nil:
		if pr.Diff == nil {
			return nil, errors.New("updated_text needs a diff")
		}
		input, err := applyText(pr.Tool, pr.Input, pr.Diff, *d.UpdatedText)
		if err != nil || bytes.Equal(input, pr.Input) {
			return nil, err
		}
		return input, nil
	case len(d.UpdatedInput) == 0:
		return nil, nil
	case len(pr.Editable) == 0:
		return nil, errors.New("nothing of the input is editable")
	}
	input, err := adapters.ApplyEdit(pr.Tool, pr.Input, d.UpdatedInput)
	if err != nil || bytes.Equal(input, pr.Input) {
		return nil, err
	}
	return input, nil
}

// rulesForbid says whether a deny rule forbids an edited input. The user wrote it, so what the rules would only ask about is
// answered already.
func (s *Session) rulesForbid(pr *prompt, input json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judgeCall(s.callOf(pr.Permission, input)).Decision == policy.Denied
}

// grantFor makes the rules allow from now on that the user chose with the answer. A rule that cannot be saved is told; the tool is
// let through all the same, this once, as the user wanted.
func (s *Session) grantFor(pr *prompt, d Decision, v verdict) error {
	rules := d.Rules
	if len(rules) == 0 {
		if v.input != nil {
			return errors.New("a scope beyond once needs rules when the input was edited")
		}
		rules = pr.Rules
	}
	input := pr.Input
	if v.input != nil {
		input = v.input
	}
	s.mu.Lock()
	c := s.callOf(pr.Permission, input)
	s.mu.Unlock()
	for _, rule := range rules {
		switch covers, err := policy.Covers(rule, policy.Scope(v.scope), c, realFS{}); {
		case err != nil:
			return fmt.Errorf("the rule %q cannot be read: %w", rule, err)
		case !covers:
			return fmt.Errorf("the rule %q does not cover the call", rule)
		}
	}
	if err := s.grant(v.scope, rules); err != nil {
		s.tellLocked(Notice{Level: "error", Kind: "rule_not_saved", Message: fmt.Sprintf("The rule was not saved: %v. The tool runs this once.", err),
			Remedy: "See drawbridge config for what is wrong with the settings file."})
		return nil
	}
	s.b.granted(s, pr)
	return nil
}

// granted lets a new grant settle the other questions it covers: of its own session, and of all where it was saved for good.
func (b *Bridge) granted(by *Session, but *prompt) {
	for _, s := range b.Sessions() {
		s.mu.Lock()
		s.settleCovered(but)
		s.mu.Unlock()
	}
}
