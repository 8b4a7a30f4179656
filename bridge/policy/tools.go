package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// pathSuspicion compares a place with the deny and ask rules. op is Read or Edit; who may not read may not edit either.
func (s *subject) pathSuspicion(op string, p place) finding {
	var f finding
	for _, r := range s.rules.rules {
		if r.List == Allow || r.tool != op && (r.tool != "Read" || r.List != Deny) {
			continue
		}
		c := no
		switch r.kind {
		case bare:
			c = sure
		case broken:
			c = possible
		case pathRule:
			for _, name := range []string{p.written, p.real} {
				c = max(c, s.pathMatch(r.path, foldText([]rune(name)), true))
			}
		}
		switch {
		case c == sure && r.List == Deny:
			f.merge(finding{deny: r})
		case c == sure:
			f.merge(finding{ask: r})
		case c == possible:
			f.merge(finding{maybe: r})
		}
	}
	return f
}

// pathDenies returns the rules whose paths no command may name.
func (s *subject) pathDenies() (rules []*rule) {
	for _, r := range s.rules.rules {
		if r.kind == pathRule && r.List == Deny {
			rules = append(rules, r)
		}
	}
	return rules
}

// pathAllow returns the rule that covers a place: both forms of it, and without a wildcard where it is protected. An Edit
// rule lets one read, too.
func (s *subject) pathAllow(op string, p place) *rule { return s.pathCover(op, p, "") }

func (s *subject) pathCover(op string, p place, below string) *rule {
	if p.problem != "" || s.call.Remote {
		return nil
	}
	guarded := op == "Edit" && s.protects(p)
	for _, r := range s.rules.rules {
		if r.List != Allow || r.tool != op && (op != "Read" || r.tool != "Edit") {
			continue
		}
		switch r.kind {
		case bare:
			if !guarded {
				return r
			}
		case pathRule:
			spec := *r.path
			if guarded {
				if !spec.literal {
					continue
				}
				spec.below = false
			}
			if s.covers(&spec, p.written, below) && s.covers(&spec, p.real, below) {
				return r
			}
		}
	}
	return nil
}

func (s *subject) covers(spec *pathSpec, name, below string) bool {
	text := []rune(name)
	if below != "" {
		text = append([]rune(strings.TrimSuffix(name, "/")+"/"), anyText)
	}
	return s.pathMatch(spec, text, false) == sure
}

// A pathUse is a path in a tool's input and what the tool does with it.
type pathUse struct {
	op    string // Read or Edit
	place place
	tree  bool // a search: everything below it as well
}

// filePaths returns the paths of a file tool; nil for other tools.
func (s *subject) filePaths() []pathUse {
	key, op, tree := "file_path", "Edit", false
	switch s.call.Tool {
	case "Edit", "Write", "MultiEdit":
	case "NotebookEdit":
		key = "notebook_path"
	case "Read":
		op = "Read"
	case "NotebookRead":
		key, op = "notebook_path", "Read"
	case "Grep", "Glob", "LS":
		key, op, tree = "path", "Read", true
	default:
		return nil
	}
	name, _ := s.input[key].(string)
	if _, given := s.input[key]; tree && !given {
		name = s.call.Cwd
	}
	uses := []pathUse{{op, s.place(name, s.call.Cwd, true), tree}}
	if pattern, _ := s.input["pattern"].(string); s.call.Tool == "Glob" && (strings.HasPrefix(pattern, "~") || s.absolute(pattern) || strings.Contains(pattern, "..")) {
		fixed, _, _ := strings.Cut(pattern, "*")
		base := uses[0].place.written
		root := s.place(path.Dir(fixed+"x"), base, true)
		if strings.Contains(strings.TrimPrefix(pattern, fixed), "..") {
			root.problem = "the pattern goes up after a wildcard"
		}
		uses = append(uses, pathUse{op, root, true})
	}
	return uses
}

// files decides a tool that reads or writes files: every path has to be covered.
func (s *subject) files() opinion {
	o := opinion{source: "default"}
	for _, use := range s.filePaths() {
		o.merge(s.pathSuspicion(use.op, use.place))
		var r *rule
		if use.tree {
			r = s.pathCover("Read", use.place, "/")
		}
		if r == nil && (!use.tree || s.isFile(use.place)) {
			r = s.pathAllow(use.op, use.place)
		}
		if r == nil && use.place.problem == "" && !s.call.Remote {
			r = s.ownName(use)
		}
		if r != nil && o.why == "" {
			o.allow = r
			continue
		}
		o.allow = nil
		switch {
		case o.why != "":
		case use.place.problem != "":
			o.why = use.place.problem
		case use.op == "Edit" && s.protects(use.place):
			o.why, o.source = "only a rule that names it without wildcard allows writing "+use.place.written+", a protected path", "protected"
		default:
			o.why = "no rule covers " + s.call.Tool + " " + use.place.written
		}
	}
	return o
}

// ownName covers by a bare rule of the tool's own name: allow Write, say, which is not allow Edit.
func (s *subject) ownName(use pathUse) *rule {
	for _, r := range s.rules.rules {
		if r.List == Allow && r.kind == bare && r.tool == s.call.Tool && (use.op == "Read" || !s.protects(use.place)) {
			return r
		}
	}
	return nil
}

func (s *subject) isFile(p place) bool {
	if s.fs == nil {
		return false
	}
	info, err := s.fs.Lstat(p.real)
	return err == nil && info.Mode().IsRegular()
}

// web decides WebFetch by the host.
func (s *subject) web() opinion {
	address, _ := s.input["url"].(string)
	h := readHost(address)
	o := opinion{source: "default", why: "no rule covers " + address}
	if h.problem != "" {
		o.why = h.problem
	}
	for _, r := range s.rules.rules {
		switch {
		case r.kind == bare && r.tool == "WebFetch" && r.List == Allow:
			if h.covers("*") && o.allow == nil {
				o.allow = r
			}
		case r.kind != hostRule:
		case r.List == Allow:
			if h.covers(r.name) && o.allow == nil {
				o.allow = r
			}
		case h.unreadable:
			o.merge(finding{maybe: r})
		case h.matches(r.name) && r.List == Deny:
			o.merge(finding{deny: r})
		case h.matches(r.name):
			o.merge(finding{ask: r})
		}
	}
	return o
}

// mcp decides a tool of an MCP server. Server names may hold "__" themselves, so mcp__a is taken to cover a tool of the server
// a__b only to deny or ask.
func (s *subject) mcp() opinion {
	o := opinion{source: "default", why: "no rule covers " + s.call.Tool}
	tool := []rune(s.call.Tool)
	for _, r := range s.rules.rules {
		if r.kind != mcpRule || r.text.match(tool, &s.budget) == no {
			continue
		}
		switch {
		case r.List == Deny:
			o.merge(finding{deny: r})
		case r.List == Ask:
			o.merge(finding{ask: r})
		case r.Scope == ScopeUser && (s.call.MCPServerSource == "" || s.call.MCPServerSource == "project"):
			o.why = "the project defines this MCP server, so rules of the user's file do not cover it"
		case !s.ofServer(r):
			o.why = "the tool may belong to another MCP server than " + r.name
		case o.allow == nil:
			o.allow = r
		}
	}
	return o
}

var mcpUnsafe = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// ofServer reports that the call's server is certainly the one the rule names, in the form the CLI gives names in tools.
func (s *subject) ofServer(r *rule) bool {
	if s.call.MCPServer != "" {
		return mcpUnsafe.ReplaceAllString(s.call.MCPServer, "_") == mcpUnsafe.ReplaceAllString(r.name, "_")
	}
	rest := strings.TrimPrefix(s.call.Tool, "mcp__"+r.name+"__")
	return !strings.Contains(rest, "__") || r.Text == s.call.Tool
}

// named decides Agent and Skill by the exact name they are called with.
func (s *subject) named() opinion {
	name := ""
	for _, key := range []string{"subagent_type", "skill", "command", "name"} {
		if v, ok := s.input[key].(string); ok && name == "" && (key == "subagent_type") == (s.call.Tool != "Skill") {
			name = v
		}
	}
	o := s.bareAllow()
	if o.allow == nil {
		o.why = "no rule covers " + s.call.Tool + " " + name
	}
	for _, r := range s.rules.rules {
		if r.kind != nameRule || !r.governs(s.call.Tool, &s.budget) {
			continue
		}
		switch exact := r.name == name; {
		case r.List == Allow:
			if exact && o.allow == nil {
				o.allow = r
			}
		case foldString(r.name) != foldString(name):
		case r.List == Deny:
			o.merge(finding{deny: r})
		default:
			o.merge(finding{ask: r})
		}
	}
	return o
}

// runsCode are tools that run programs and have no patterns: no rule is proposed for them.
var runsCode = []string{"PowerShell", "Monitor", "REPL", "Bash"}

func isCodeTool(tool string) bool { return slices.Contains(runsCode, tool) }
