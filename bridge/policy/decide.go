package policy

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A subject is one call being decided: the rules, the call, and what was worked out about it.
type subject struct {
	rules *Rules
	call  Call
	fs    FS
	// budget is the work left; when it is spent nothing is allowed.
	budget int

	input map[string]any
	valid bool
	// Directories in both forms, as written and resolved.
	workspace, home, root, cwd []string
	protected                  []*pathSpec

	script *script // of a Bash command that parses
	nested []*script
}

func newSubject(r *Rules, c Call, files FS) *subject {
	if c.ProjectRoot == "" {
		c.ProjectRoot = c.Cwd
	}
	s := &subject{rules: r, call: c, fs: files, budget: maxWork, protected: protected()}
	s.input, s.valid = readInput(c.Input)
	s.home, s.root, s.cwd = s.bothForms(c.Home), s.bothForms(c.ProjectRoot), s.bothForms(c.Cwd)
	s.workspace = append(append(s.workspace, s.root...), s.cwd...)
	for _, dir := range c.Workspace {
		s.workspace = append(s.workspace, s.bothForms(dir)...)
	}
	for _, dir := range c.Protected {
		s.protected = append(s.protected[:len(s.protected):len(s.protected)], literalSpec(s.clean(dir)))
	}
	return s
}

// Decide says what the rules make of the call. It never fails: what cannot be understood is asked.
func (r *Rules) Decide(c Call, files FS) Verdict {
	s := newSubject(r, c, files)
	v := s.decide()
	s.present(&v)
	if v.Decision == Asked {
		v.Proposed = s.propose(v)
	}
	return v
}

// An opinion is what the rules say before it is known whether they may decide at all.
type opinion struct {
	finding
	allow    *rule
	why      string // why nothing allows it
	source   string // of why: default, unparsed, protected
	parts    []Part
	unparsed bool
}

func (s *subject) decide() Verdict {
	o := s.opinion()
	for _, r := range s.rules.rules { // rules for the whole tool
		if r.List == Allow || r.kind != bare && r.kind != broken || !r.governs(s.call.Tool, &s.budget) {
			continue
		}
		if r.List == Deny && r.kind == bare {
			o.merge(finding{deny: r})
		} else {
			o.merge(finding{ask: r})
		}
	}
	source, text := s.never()
	v := Verdict{Decision: Asked, Parts: o.parts}
	decided := func(d Decision, source string, r *rule, text string) Verdict {
		v.Decision, v.Rule, v.Reason = d, r.ref(), Reason{Source: source, Text: text}
		if r != nil {
			v.Reason.Rule, v.Reason.File = r.Text, r.File
		}
		return v
	}
	v.MustAsk = o.ask != nil || o.maybe != nil || o.doubt != "" || o.unparsed && s.guards(s.call.Tool)
	switch {
	case o.deny != nil:
		v.MustAsk = false
		return decided(Denied, "deny_rule", o.deny, "the deny rule "+o.deny.Text+" matches")
	case o.ask != nil:
		return decided(Asked, "ask_rule", o.ask, "the "+string(o.ask.List)+" rule "+o.ask.Text+readable(o.ask))
	case o.maybe != nil:
		return decided(Asked, "ask_rule", o.maybe, fmt.Sprintf("this could be what the %s rule %s means", o.maybe.List, o.maybe.Text))
	case o.doubt != "":
		return decided(Asked, "unparsed", nil, o.doubt)
	case source != "":
		return decided(Asked, source, nil, text)
	case o.allow == nil || s.budget < 0:
		if s.budget < 0 {
			o.source, o.why = "unparsed", "the command is too complex"
		}
		return decided(Asked, o.source, nil, o.why)
	}
	return decided(Allowed, "allow_rule", o.allow, "the allow rule "+o.allow.Text+" covers it")
}

func readable(r *rule) string {
	if r.kind == broken {
		return " cannot be read, so every call of the tool is asked"
	}
	return " matches"
}

// guards reports whether a deny or ask rule speaks of some calls of the tool, so that one not understood has to be asked.
func (s *subject) guards(tool string) bool {
	for _, r := range s.rules.rules {
		if r.List != Allow && (r.governs(tool, &s.budget) || tool == "Bash" && r.kind == pathRule) {
			return true
		}
	}
	return false
}

// planTools are what plan mode leaves to rules.
var planTools = nameSet{"Read": true, "Grep": true, "Glob": true, "LS": true, "WebFetch": true, "WebSearch": true}

// never says why no allow rule, grant or mode may answer this call, with the source of the reason.
func (s *subject) never() (source, text string) {
	c := s.call
	sandbox, _ := s.input["dangerouslyDisableSandbox"].(bool)
	if v, given := s.input["dangerouslyDisableSandbox"]; given && v != false && v != nil {
		sandbox = true
	}
	switch {
	case c.Tool == "AskUserQuestion" || c.Tool == "ExitPlanMode" || strings.EqualFold(c.Tool, "elicitation"):
		return "claude", c.Tool + " is always answered by you"
	case c.RequiresUserInteraction:
		return "claude", "the tool needs your answer"
	case c.ServerPolicyAskOnly:
		return "claude", "the server of this tool wants every call asked"
	case c.DecisionReasonType == "hook":
		return "hook", "a hook wants this asked" + because(c.DecisionReason)
	case c.DecisionReasonType == "rule", c.DecisionReasonType == "safetyCheck", c.DecisionReasonType == "sandboxOverride":
		return "claude", "Claude Code wants this asked (" + c.DecisionReasonType + ")" + because(c.DecisionReason)
	case sandbox:
		return "claude", "the command would run outside the sandbox"
	case c.Mode == "plan" && !planTools[c.Tool]:
		return "plan_mode", "in plan mode only reading is decided by rules"
	}
	return "", ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (s *subject) opinion() opinion {
	if !s.valid {
		return opinion{why: "the input cannot be read", source: "unparsed", unparsed: true}
	}
	for key := range s.input {
		if strings.HasPrefix(key, "_") || s.call.Tool == "Bash" && !bashKeys[key] {
			o := s.byTool()
			o.allow, o.why, o.source = nil, "the input has a member that is not understood: "+key, "unparsed"
			return o
		}
	}
	return s.byTool()
}

func (s *subject) byTool() opinion {
	switch tool := s.call.Tool; {
	case tool == "Bash":
		return s.bash()
	case tool == "WebFetch":
		return s.web()
	case strings.HasPrefix(tool, "mcp__"):
		return s.mcp()
	case s.filePaths() != nil:
		return s.files()
	case tool == "Agent" || tool == "Task" || tool == "Skill":
		return s.named()
	}
	return s.bareAllow()
}

// bareAllow covers a call by a rule that is the tool's name alone.
func (s *subject) bareAllow() opinion {
	for _, r := range s.rules.rules {
		if r.List == Allow && r.kind == bare && r.governs(s.call.Tool, &s.budget) {
			return opinion{allow: r}
		}
	}
	return opinion{why: "no rule covers " + s.call.Tool, source: "default"}
}

// bash decides a command line: suspicion on every part, then proof.
func (s *subject) bash() opinion {
	command, ok := s.input["command"].(string)
	if !ok {
		return opinion{why: "the input has no command", source: "unparsed", unparsed: true}
	}
	sc, err := readScript(command, syntax.LangBash)
	if err != nil {
		return opinion{why: err.Error(), source: "unparsed", unparsed: true}
	}
	s.script = sc
	doubt := &suspicion{s: s}
	var allow []*rule
	var bareRule *rule
	for _, r := range s.rules.rules {
		switch {
		case r.kind == bashRule && r.List != Allow:
			doubt.rules = append(doubt.rules, r)
		case r.kind == bashRule:
			allow = append(allow, r)
		case r.kind == bare && r.List == Allow && r.tool == "Bash" && bareRule == nil:
			bareRule = r
		}
	}
	o := opinion{source: "default"}
	scripts := []*script{sc}
	if name := strings.ToLower(path.Base(s.call.Shell)); name == "" || name == "." || strings.Contains(name, "zsh") {
		zsh, err := readScript(command, syntax.LangZsh)
		if err != nil {
			o.why, o.source, o.unparsed = "the command does not parse as zsh, which may be the shell", "unparsed", true
		} else if zsh.signature() != sc.signature() {
			o.why, o.source, o.unparsed = "bash and zsh read the command differently", "unparsed", true
			scripts = append(scripts, zsh)
		}
	}
	proving := newProof(s, allow, bareRule, sc)
	if why := proving.whole(); why != "" && o.why == "" {
		o.why = why
	}
	for _, p := range sc.parts {
		f := doubt.part(p, sc)
		for _, r := range p.redirs {
			g, _ := s.redirection(r, false)
			f.merge(g)
		}
		c := proving.part(p)
		o.merge(f)
		o.parts = append(o.parts, showPart(p, f, c))
		if c.rule != nil && o.allow == nil {
			o.allow = c.rule
		}
		if c.why != "" && o.why == "" {
			o.why = c.why
		}
	}
	for _, text := range sc.loose {
		o.parts = append(o.parts, Part{Display: Visible(undisguise.Replace(text)), Verdict: Asked})
	}
	for _, other := range scripts[1:] {
		for _, p := range other.parts {
			o.merge(doubt.part(p, other))
		}
	}
	for _, each := range scripts {
		o.merge(doubt.rest(each, 0))
	}
	s.redirections(&o, proving, append(scripts, doubt.nested...))
	s.nested = doubt.nested
	if o.why != "" {
		o.allow = nil
	} else if o.allow == nil {
		o.why = "no rule covers " + command
	}
	return o
}

// redirections looks at those that belong to no part of the command line: of groups, and of scripts inside it.
func (s *subject) redirections(o *opinion, proving *proof, scripts []*script) {
	if why := proving.groups(); why != "" && o.why == "" {
		o.why = why
	}
	for i, sc := range scripts {
		list := sc.groups
		if i > 0 {
			for _, p := range sc.parts {
				list = append(list[:len(list):len(list)], p.redirs...)
			}
		}
		for _, r := range list {
			f, why := s.redirection(r, i > 0)
			if o.merge(f); i > 0 && why != "" && o.why == "" {
				o.why = "a script in the command has " + why
			}
		}
	}
}

func showPart(p *part, f finding, c covering) Part {
	out := Part{Display: Visible(undisguise.Replace(p.source)), Verdict: Asked}
	switch {
	case f.deny != nil:
		out.Verdict, out.Rule = Denied, f.deny.Text
	case f.ask != nil:
		out.Rule = f.ask.Text
	case f.maybe != nil:
		out.Rule = f.maybe.Text
	case !f.quiet() || c.why != "":
	case c.rule != nil:
		out.Verdict, out.Rule = Allowed, c.rule.Text
	case c.inert:
		out.Verdict = Allowed
	}
	return out
}
