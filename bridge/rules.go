package bridge

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"time"

	"drawbridge/bridge/policy"
	"drawbridge/bridge/settings"
)

// ComposeRules puts together what decides about a tool call in a project: the rules of the user's file, of the user's file for this
// project, of the project's own file (which can only deny and ask), and the session's grants. suspended says that a deny or ask rule
// may stand where it could not be read, so that nothing may be allowed by rule.
func ComposeRules(file settings.File, project settings.ProjectFile, root string, grants []policy.Source) (rules *policy.Rules, suspended bool, problems []policy.Problem) {
	var sources []policy.Source
	add := func(scope policy.Scope, path string, r settings.Rules) {
		for _, l := range []struct {
			list  policy.List
			rules []settings.Rule
		}{{policy.Deny, r.Deny}, {policy.Ask, r.Ask}, {policy.Allow, r.Allow}} {
			for _, rule := range l.rules {
				sources = append(sources, policy.Source{List: l.list, Text: rule.Text, Scope: scope, File: path, Line: rule.Line,
					ID: ruleID(scope, root, l.list, rule.Text)})
			}
		}
	}
	add(policy.ScopeUser, file.Path, file.Permissions)
	stored := file.Projects[root].Permissions
	add(policy.ScopeProject, file.Path, stored)
	add(policy.ScopeWorkspace, project.Path, project.Rules)
	sources = append(sources, grants...)
	rules, problems = policy.Compile(sources)
	suspended = file.Permissions.Incomplete || stored.Incomplete || project.Unreadable || project.Rules.Incomplete
	return rules, suspended, problems
}

// ruleID names a stored rule: the same rule at the same place has the same id in every window.
func ruleID(scope policy.Scope, root string, list policy.List, text string) string {
	if scope == policy.ScopeUser {
		root = ""
	}
	sum := sha256.Sum256([]byte(string(scope) + "\x00" + root + "\x00" + string(list) + "\x00" + text))
	return "r_" + hex.EncodeToString(sum[:6])
}

func grantID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "g_" + hex.EncodeToString(b[:])
}

// realPath is the key of a project in the user's file.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// rules are those in force now. They are read anew for each decision, so that a rule saved in one window holds in all of them.
// Called with mu held.
func (s *Session) rules() (rules *policy.Rules, suspended bool) {
	var file settings.File
	if s.b.Settings != nil {
		var changed bool
		if file, changed = s.b.Settings.Read(); changed {
			for _, p := range file.Problems {
				s.notice("warning", "settings", p.String(), "Correct it; drawbridge config shows what is in force.")
			}
		}
	}
	project := settings.LoadProject(s.options.CWD)
	for _, p := range project.Problems {
		s.noticeOnce("warning", "project_settings", p.String(), "")
	}
	rules, suspended, problems := ComposeRules(file, project, s.root, s.grants)
	for _, p := range problems {
		s.noticeOnce("warning", "rule", p.Text, "Correct the rule; drawbridge explain shows what it does.")
	}
	return rules, suspended
}

// policyCall describes a tool call to the policy. Called with mu held.
func (s *Session) policyCall(tool string, input []byte) policy.Call {
	c := policy.Call{Tool: tool, Input: input, Cwd: s.options.CWD, ProjectRoot: s.options.CWD, Workspace: s.options.AddDirs,
		Home: s.b.home(), Shell: os.Getenv("SHELL"), Remote: s.remote, Windows: filepath.Separator == '\\', Protected: s.b.Protected}
	if s.known.PermissionMode != nil {
		c.Mode = *s.known.PermissionMode
	}
	return c
}

// judgeCall is the policy's verdict on a call, with the rules in force. Called with mu held.
func (s *Session) judgeCall(c policy.Call) policy.Verdict {
	rules, suspended := s.rules()
	return decide(rules, suspended, c)
}

// decide is the verdict of composed rules.
func decide(rules *policy.Rules, suspended bool, c policy.Call) policy.Verdict {
	v := rules.Decide(c, realFS{})
	if v.Decision == policy.Allowed && suspended {
		v.Decision = policy.Asked
		v.Reason = policy.Reason{Source: "default", Text: "a settings file cannot be read, so no rule allows anything"}
	}
	return v
}

// realFS answers the policy's questions about links.
type realFS struct{}

func (realFS) Lstat(name string) (os.FileInfo, error) { return os.Lstat(name) }
func (realFS) Readlink(name string) (string, error)   { return os.Readlink(name) }

// ruleUse counts what a rule has decided in this session.
type ruleUse struct {
	count int
	last  time.Time
}

// used counts that a verdict was carried out because of its rule.
func (s *Session) used(v policy.Verdict) {
	if v.Rule != nil {
		s.uses[v.Rule.ID] = ruleUse{s.uses[v.Rule.ID].count + 1, time.Now()}
	}
}

// RuleInfo is a rule in force: a row of permission_rules.
type RuleInfo struct {
	RuleID     string     `json:"rule_id"`
	List       string     `json:"list"`
	Rule       string     `json:"rule"`
	Resolved   string     `json:"resolved"`
	Scope      string     `json:"scope"`
	File       string     `json:"file,omitempty"`
	CreatedAt  *time.Time `json:"created_at,omitempty"` // of grants; a file does not tell it
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	Uses       int        `json:"uses"` // in this session
	Problem    string     `json:"problem,omitempty"`
}

// Rules lists the rules in force in the session.
func (s *Session) Rules() []RuleInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules, _ := s.rules()
	_, problems := policy.Compile(rules.Sources())
	list := []RuleInfo{}
	for _, src := range rules.Sources() {
		info := RuleInfo{RuleID: src.ID, List: string(src.List), Rule: src.Text, Resolved: policy.Resolved(src.Text, s.policyCall("", nil)),
			Scope: string(src.Scope), File: src.File, Uses: s.uses[src.ID].count}
		if last := s.uses[src.ID].last; !last.IsZero() {
			info.LastUsedAt = &last
		}
		if at, granted := s.granted[src.ID]; granted {
			info.CreatedAt = &at
		}
		for _, p := range problems {
			if p.Source.ID == src.ID {
				info.Problem = p.Text
			}
		}
		list = append(list, info)
	}
	return list
}

// Revoke takes a rule back: a grant of this session, or a rule of the user's file. It holds for the next decision, in every window.
func (s *Session) Revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.grants, func(g policy.Source) bool { return g.ID == id }); i >= 0 {
		s.grants = slices.Delete(s.grants, i, i+1)
		delete(s.granted, id)
		return nil
	}
	rules, _ := s.rules()
	for _, src := range rules.Sources() {
		if src.ID != id {
			continue
		}
		scope := settings.User()
		switch src.Scope {
		case policy.ScopeProject:
			scope = settings.ProjectScope(s.root)
		case policy.ScopeWorkspace:
			e := fail(KindNotPermitted, "the rule %s belongs to the project's own file", src.Text)
			e.Remedy = "Change " + src.File + "."
			return e
		}
		if err := settings.RemoveRule(src.File, scope, settings.List(src.List), src.Text); err != nil {
			return fail(KindOther, "the rule cannot be taken out of %s: %v", src.File, err)
		}
		return nil
	}
	e := fail(KindInvalidParams, "there is no rule %q", id)
	e.Remedy = "Use a rule_id of permission_rules."
	return e
}

// grant makes rules allow from now on, in the scope the user chose. Called without mu: saving waits for the disk and for other
// windows.
func (s *Session) grant(scope string, rules []string) error {
	if scope == "session" {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, text := range rules {
			if !slices.ContainsFunc(s.grants, func(g policy.Source) bool { return g.Text == text }) {
				id := grantID()
				s.grants = append(s.grants, policy.Source{List: policy.Allow, Text: text, Scope: policy.ScopeSession, ID: id})
				s.granted[id] = time.Now()
			}
		}
		return nil
	}
	place := settings.User()
	if scope == "project" {
		place = settings.ProjectScope(s.root)
	}
	for _, text := range rules {
		if err := settings.AddRule(s.b.SettingsFile, place, settings.Allow, text); err != nil {
			return err
		}
	}
	return nil
}
