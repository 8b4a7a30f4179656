package policy

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// maxProposed is how many rules a prompt offers to save.
const maxProposed = 5

// propose returns the rules that a scope beyond once would save: together they allow the call from then on, and each covers
// a part of it. None if there are no such rules, as when the call must always be asked.
func (s *subject) propose(v Verdict) []string {
	if !s.valid || v.MustAsk || s.call.Remote {
		return nil
	}
	if source, _ := s.never(); source != "" {
		return nil
	}
	var texts []string
	switch uses := s.filePaths(); {
	case s.call.Tool == "Bash":
		texts = s.proposeCommands(v)
	case len(uses) == 1:
		texts = s.proposePath(uses[0])
	case uses != nil:
	case s.call.Tool == "WebFetch":
		address, _ := s.input["url"].(string)
		if h := readHost(address); !h.unreadable {
			texts = []string{"WebFetch(domain:" + h.name + ")"}
		}
	case s.call.Tool == "Agent" || s.call.Tool == "Task" || s.call.Tool == "Skill":
		if _, title := s.text(); title != "" {
			texts = s.proposeName()
		}
	case isCodeTool(s.call.Tool):
	case strings.HasPrefix(s.call.Tool, "mcp__") || riskOfTool(s.call.Tool) == Low:
		texts = []string{s.call.Tool}
	}
	if len(texts) == 0 || len(texts) > maxProposed || !s.suffices(texts) {
		return nil
	}
	return texts
}

// suffices reports that with these grants the call is allowed.
func (s *subject) suffices(texts []string) bool {
	var grants []Source
	for _, t := range texts {
		grants = append(grants, Source{List: Allow, Text: t, Scope: ScopeSession})
	}
	with, _ := s.rules.With(grants...)
	return newSubject(with, s.call, s.fs).decide().Decision == Allowed
}

func riskOfTool(tool string) Risk {
	s := &subject{call: Call{Tool: tool}, valid: true, budget: maxWork}
	return s.risk(&Verdict{})
}

// proposeCommands offers a rule for each part that none covers yet: with a wildcard only after the words listed in
// data/programs.txt, so that no rule lets an interpreter or a wrapper run anything; else the words as they are.
func (s *subject) proposeCommands(v Verdict) (texts []string) {
	if s.script == nil || len(s.script.parts) > 50 {
		return nil
	}
	for i, p := range s.script.parts {
		if i >= len(v.Parts) || v.Parts[i].Verdict == Allowed {
			continue
		}
		words := p.words
		for inner, ok := words, true; ok; inner, ok = transparentCommand(inner) {
			words = inner
		}
		text, ok := widened(words)
		if !ok {
			text, ok = exactly(p.words)
		}
		if !ok {
			return nil
		}
		if rule := "Bash(" + text + ")"; !slices.Contains(texts, rule) {
			texts = append(texts, rule)
		}
	}
	return texts
}

// widened ends the rule in a wildcard after a listed prefix.
func widened(words []word) (string, bool) {
prefixes:
	for _, prefix := range programs().widen {
		if len(words) < len(prefix) {
			continue
		}
		for i, want := range prefix {
			text, known := words[i].known()
			if !known || want != "+" && text != want || want == "+" && (strings.HasPrefix(text, "-") || words[i].needsQuotes() || strings.Contains(text, "*")) {
				continue prefixes
			}
		}
		return showText(joinWords(words[:len(prefix)], true)) + " *", true
	}
	return "", false
}

// exactly is a rule without wildcard; not for a text that would be read as one.
func exactly(words []word) (string, bool) {
	for _, w := range words {
		if _, known := w.known(); !known {
			return "", false
		}
	}
	text := string(joinWords(words, true))
	return text, !strings.ContainsAny(text, "*\n") && len(words) > 0 && Visible(text) == text
}

// proposePath offers the file itself for writing, its directory for reading.
func (s *subject) proposePath(use pathUse) []string {
	p := use.place.written
	if use.place.problem != "" || strings.ContainsAny(p, `*?[\()`) || Visible(p) != p || use.op == "Edit" && s.protects(use.place) {
		return nil
	}
	tail := ""
	if use.op == "Read" {
		if !use.tree {
			p = path.Dir(p)
		}
		tail = "/**"
	}
	spec := "/" + p
	if home := s.clean(s.call.Home + "/"); s.call.Home != "" && strings.HasPrefix(p, strings.TrimSuffix(home, "/")+"/") {
		spec = "~" + p[len(strings.TrimSuffix(home, "/")):]
	}
	if root := s.clean(s.call.ProjectRoot); s.call.ProjectRoot != "" && within(p, root) {
		spec = strings.TrimPrefix(p, strings.TrimSuffix(root, "/"))
	}
	if strings.Count(p, "/") <= 1 && tail != "" && !within(p, s.workspace...) {
		return nil // the whole disk, or all of /etc
	}
	return []string{use.op + "(" + spec + tail + ")"}
}

func (s *subject) proposeName() []string {
	key := "subagent_type"
	if s.call.Tool == "Skill" {
		key = "skill"
	}
	name, _ := s.input[key].(string)
	return []string{s.call.Tool + "(" + name + ")"}
}

// Covers reports whether an allow rule covers the call, or for a command at least one part of it that is not covered by
// doing nothing. It is what a rule has to pass that a user widened or narrowed before saving it. An error says that
// the rule cannot be read.
func Covers(ruleText string, scope Scope, c Call, files FS) (bool, error) {
	rules, problems := Compile([]Source{{List: Allow, Text: ruleText, Scope: scope}})
	if len(problems) > 0 {
		return false, errors.New(problems[0].Text)
	}
	s := newSubject(rules, c, files)
	v := s.decide()
	if v.Decision == Allowed {
		return true, nil
	}
	if source, _ := s.never(); source != "" || s.budget < 0 || v.Reason.Source == "unparsed" {
		return false, nil
	}
	if s.script != nil {
		whole := &proof{s: s, script: s.script}
		if len(rules.rules) == 1 && rules.rules[0].kind == bare {
			whole.bare = rules.rules[0]
		}
		if whole.whole() != "" {
			return false, nil
		}
	}
	for _, p := range v.Parts {
		if p.Verdict == Allowed && p.Rule != "" {
			return true, nil
		}
	}
	return false, nil
}

// Resolved writes a path rule with the directory it starts from, for lists of rules; other rules as they are.
func Resolved(ruleText string, c Call) string {
	r, err := readRule(Source{List: Allow, Text: ruleText})
	if err != nil || r.kind != pathRule || r.path.up > 0 {
		return ruleText
	}
	_, spec, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(ruleText), ")"), "(")
	root := c.ProjectRoot
	if root == "" {
		root = c.Cwd
	}
	switch r.path.anchor {
	case '/':
		spec = spec[1:]
	case '~':
		spec = strings.TrimSuffix(c.Home, "/") + spec[1:]
	case 'r':
		spec = strings.TrimSuffix(root, "/") + spec
	case 'c':
		spec = strings.TrimSuffix(c.Cwd, "/") + "/" + strings.TrimPrefix(spec, "./")
	}
	return r.tool + "(" + spec + ")"
}
