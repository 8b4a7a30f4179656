package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirection looks at one redirection. moved says that a cd came before it. The finding holds what deny and ask rules say
// of the file; why says what keeps it from being allowed, "" if nothing does.
func (s *subject) redirection(r *syntax.Redirect, moved bool) (f finding, why string) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		return f, "a redirection to a file descriptor held in a variable"
	}
	target := resolveWord(r.Word)
	text, known := target.known()
	reads, writes := false, false
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return f, ""
	case syntax.DplOut, syntax.DplIn:
		// one digit: to zsh 2>&1- and more is the name of a file
		if known && len(text) == 1 && strings.Contains("0123456789-", text) {
			return f, ""
		}
		return f, "a redirection to something other than a number"
	case syntax.RdrIn:
		reads = true
	case syntax.RdrInOut:
		reads, writes = true, true
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		writes = true
	default:
		return f, "a redirection that only zsh knows"
	}
	switch {
	case known && text == "/dev/null":
		return f, ""
	case !known:
		return f, "a redirection to a file that is not known"
	}
	p := s.place(text, s.call.ShellCwd, target.tilde)
	if writes {
		f.merge(s.pathSuspicion("Edit", p))
	}
	if reads {
		f.merge(s.pathSuspicion("Read", p))
	}
	switch {
	case p.problem != "":
		why = p.problem
	case strings.Contains("/"+text+"/", "/../"):
		why = "a redirection to a path with .."
	case moved && !s.absolute(text) && !target.tilde:
		why = "a redirection to a relative path after cd"
	case reads && !s.inWorkspace(p) && s.pathAllow("Read", p) == nil:
		why = "no rule allows reading " + text
	case writes && s.pathAllow("Edit", p) == nil:
		why = "no rule allows writing " + text
		if s.protects(p) {
			why = "only a rule that names it without wildcard allows writing " + text + ", a protected path"
		}
	}
	return f, why
}
