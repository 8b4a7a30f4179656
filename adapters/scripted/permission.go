package scripted

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// verdict says whether a tool may run.
type verdict struct {
	allow     bool
	message   string // with a denial: the tool's result
	interrupt bool   // denied, and the turn with it
	prompted  bool   // the host was asked
	source    string // user_temporary, user_reject, config, hook: as in tool_result_meta
	reason    string // its reason_type
}

// rule is a permission rule the host has added with updatedPermissions.
type rule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent"`
}

func (r rule) covers(u *toolUse) bool {
	if r.Tool != u.step.name {
		return false
	}
	subject := field(u.final, "command")
	if u.step.name != "Bash" {
		subject = filePath(u.final)
	}
	for _, end := range []string{":*", " *", "*"} {
		if prefix, cut := strings.CutSuffix(r.Content, end); cut {
			return subject == prefix || strings.HasPrefix(subject, prefix)
		}
	}
	return r.Content == "" || r.Content == subject
}

// updates are the updatedPermissions of an allow. Malformed ones are ignored.
type update struct {
	Type     string `json:"type"`
	Rules    []rule `json:"rules"`
	Behavior string `json:"behavior"`
	Mode     string `json:"mode"`
}

// apply: the caller holds the lock.
func (p *process) apply(updates []update) {
	for _, u := range updates {
		switch {
		case u.Type == "setMode" && slices.Contains(modes, u.Mode):
			p.changeMode(u.Mode)
		case u.Type == "addRules" && u.Behavior == "allow":
			p.rules = append(p.rules, u.Rules...)
		case u.Type == "removeRules":
			p.rules = slices.DeleteFunc(p.rules, func(r rule) bool { return slices.Contains(u.Rules, r) })
		}
	}
}

const (
	dontAsk = "Permission to use %s has been denied because Claude Code is running in don't ask mode."
	invalid = "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or " +
		"{behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all."
)

// settled decides what can be decided without the host. The caller holds the lock.
func (v *voice) settled(u *toolUse, hook hookAnswer) (verdict, bool) {
	p, s := v.process, u.step
	switch {
	case hook.decision == "deny":
		message := "PreToolUse:" + s.name + " hook error: " + hook.reason
		if hook.timedOut {
			message = hook.reason
		}
		return verdict{message: message, source: "hook", reason: "hook"}, true
	case s.forbid != "":
		return v.denied(u, s.forbid, "rule"), true
	case hook.decision == "allow":
		return verdict{allow: true, source: "hook", reason: "hook"}, true
	case hook.decision == "ask" || s.interactive():
		return verdict{}, false
	case s.policy == policyRun || s.policy == policyTool && harmless[s.name]:
		return verdict{allow: true, source: "config", reason: "mode"}, true
	case p.mode == "bypassPermissions", p.mode == "acceptEdits" && edits[s.name]:
		return verdict{allow: true, source: "config", reason: "mode"}, true
	case slices.ContainsFunc(p.rules, func(r rule) bool { return r.covers(u) }):
		return verdict{allow: true, source: "config", reason: "rule"}, true
	case p.mode == "dontAsk":
		return v.denied(u, strings.Replace(dontAsk, "%s", s.name, 1), "mode"), true
	}
	return verdict{}, false
}

// denied is a denial by the CLI itself, which it announces.
func (v *voice) denied(u *toolUse, message, reason string) verdict {
	v.process.put(event("system").str("subtype", "permission_denied").str("tool_name", u.step.name).str("tool_use_id", u.id).
		str("decision_reason_type", reason).str("message", message).str("uuid", v.process.ids.uuid()).str("session_id", v.process.session).end())
	return verdict{message: message, source: "config", reason: reason}
}

// askHost sends can_use_tool. The caller holds the lock.
func (v *voice) askHost(u *toolUse, hook hookAnswer) *prompt {
	s := u.step
	o := newObject().str("subtype", "can_use_tool").str("tool_name", s.name).str("display_name", s.name).bytes("input", u.final)
	if d := v.process.describe(s.name, u.final); d != "" {
		o.str("description", d)
	}
	if hook.decision == "ask" {
		o.str("decision_reason", hook.reason).str("decision_reason_type", "hook").
			str("decision_reason_hook_event", "PreToolUse").str("decision_reason_hook_source", "settings")
	} else {
		v.process.suggest(o, s.name, u.final)
	}
	o.str("tool_use_id", u.id)
	if s.interactive() {
		o.bool("requires_user_interaction", true)
	}
	if v.agent != nil {
		o.str("agent_id", v.agent.id)
	}
	request := o.end()
	if len(s.with) > 0 {
		request = merge(request, s.with)
	}
	return v.ask(&object{buf: request[:len(request)-1]})
}

// hear waits for the host's answer and takes it as 2.1.329 does: what is malformed denies.
func (v *voice) hear(u *toolUse) (verdict, error) {
	a, err := v.await(u.prompt, 0)
	if err != nil {
		return verdict{}, err
	}
	fails := func(message string) verdict {
		return verdict{message: message, prompted: true, source: "config", reason: "other"}
	}
	if a.lost != "" {
		return fails("Tool permission request failed: AbortError: " + a.lost), nil
	}
	if a.err != "" {
		return fails("Tool permission request failed: Error: " + a.err), nil
	}
	var r struct {
		Behavior  string          `json:"behavior"`
		Message   *string         `json:"message"`
		Interrupt bool            `json:"interrupt"`
		Input     json.RawMessage `json:"updatedInput"`
		Updates   json.RawMessage `json:"updatedPermissions"`
	}
	_ = json.Unmarshal(a.response, &r)
	switch {
	case r.Behavior == "allow":
		if len(members(r.Input)) > 0 {
			u.final = r.Input
		}
		var updates []update
		_ = json.Unmarshal(r.Updates, &updates)
		return verdict{allow: true, prompted: true, source: "user_temporary"}, v.saying(func() {
			if u.step.kind == planTool && v.process.mode == "plan" && len(updates) == 0 {
				v.process.changeMode("default")
			}
			v.process.apply(updates)
		})
	case r.Behavior == "deny" && r.Message != nil:
		return verdict{message: *r.Message, prompted: true, interrupt: r.Interrupt, source: "user_reject"}, nil
	}
	return fails(invalid), nil
}

// describe is the can_use_tool description: what the model says a command does, or the path inside the workspace.
func (p *process) describe(tool string, input []byte) string {
	if tool == "Bash" {
		return field(input, "description")
	}
	path := filePath(input)
	if rel, err := filepath.Rel(p.cwd(), path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// suggest adds what the CLI proposes the user may grant, and why it asks. Tools that only have a name get neither.
func (p *process) suggest(o *object, tool string, input []byte) {
	rules := func(list ...rule) string {
		var all []string
		for _, r := range list {
			all = append(all, newObject().str("toolName", r.Tool).str("ruleContent", r.Content).String())
		}
		return array(all)
	}
	path := filePath(input)
	switch {
	case tool == "Bash":
		head := strings.Join(firstWords(field(input, "command"), 2), " ") + " *"
		o.raw("permission_suggestions", array([]string{newObject().str("type", "addRules").raw("rules", rules(rule{tool, head})).
			str("behavior", "allow").str("destination", "localSettings").String()}))
	case edits[tool]:
		o.raw("permission_suggestions", `[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`)
	case path != "":
		o.raw("permission_suggestions", array([]string{newObject().str("type", "addRules").
			raw("rules", rules(rule{tool, "/" + filepath.ToSlash(filepath.Dir(path)) + "/**"})).
			str("behavior", "allow").str("destination", "session").String()})).
			str("decision_reason", "Path is outside allowed working directories").str("decision_reason_type", "workingDir")
	case strings.HasPrefix(tool, "mcp__"):
		o.raw("permission_suggestions", array([]string{newObject().str("type", "addRules").
			raw("rules", array([]string{newObject().str("toolName", tool).String()})).
			str("behavior", "allow").str("destination", "localSettings").String()}))
	}
}

func firstWords(s string, n int) []string {
	w := strings.Fields(s)
	return w[:min(n, len(w))]
}

// filePath is the path a file tool works on.
func filePath(input []byte) string {
	if p := field(input, "file_path"); p != "" {
		return p
	}
	return field(input, "notebook_path")
}
