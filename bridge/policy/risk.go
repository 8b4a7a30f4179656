package policy

import (
	"fmt"
	"slices"
	"strings"
)

// A riskLine is one line of data/risk.txt.
type riskLine struct {
	level Risk
	kind  string
	text  *pattern  // command, tool
	path  *pathSpec // read, write
	other string    // <workspace>, <elsewhere>, <public>, …
}

func readRisk(table string) (out []riskLine) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		cols := strings.Split(line, " | ")
		if len(cols) != 4 {
			panic(fmt.Sprintf("data/risk.txt: %q has not four columns", line))
		}
		l := riskLine{level: Risk(strings.TrimSpace(cols[0])), kind: strings.TrimSpace(cols[1])}
		what := strings.TrimSpace(cols[2])
		switch {
		case l.level != Low && l.level != Medium && l.level != High:
			panic(fmt.Sprintf("data/risk.txt: unknown level in %q", line))
		case strings.HasPrefix(what, "<"):
			l.other = what
		case l.kind == "command" || l.kind == "tool":
			l.text = globText(what, l.kind == "command")
		default:
			l.path = protectedSpec(what)
		}
		out = append(out, l)
	}
	return out
}

// protectedSpec reads a path of the tables: below ~/, or at any depth anywhere.
func protectedSpec(text string) *pathSpec {
	anywhere := !strings.HasPrefix(text, "~/")
	if anywhere {
		text = "//" + text
	}
	spec, err := readPathSpec(text)
	if err != nil {
		panic(fmt.Sprintf("data: path %q: %v", text, err))
	}
	spec.anyDepth = anywhere
	return spec
}

// literalSpec is one path and everything below it, whatever characters it holds.
func literalSpec(name string) *pathSpec {
	spec := &pathSpec{anchor: '/', literal: true, below: true}
	for _, r := range strings.TrimPrefix(name, "/") {
		spec.glob = append(spec.glob, element{kind: literal, r: r})
		spec.folded = append(spec.folded, element{kind: literal, r: foldRune(r)})
	}
	return spec
}

var riskOrder = []Risk{Low, Medium, High}

func worse(a, b Risk) Risk {
	if slices.Index(riskOrder, a) > slices.Index(riskOrder, b) {
		return a
	}
	return b
}

// risk looks the call up in the table.
func (s *subject) risk(v *Verdict) Risk {
	level := Low
	switch uses := s.filePaths(); {
	case !s.valid:
		return High
	case uses != nil:
		for _, use := range uses {
			level = worse(level, s.pathRisk(strings.ToLower(map[string]string{"Read": "read", "Edit": "write"}[use.op]), use.place))
		}
	case s.call.Tool == "WebFetch":
		address, _ := s.input["url"].(string)
		kind := "<public>"
		if h := readHost(address); h.problem != "" {
			kind = "<private>"
		}
		level = riskOther("web", kind)
	case s.call.Tool == "Bash":
		level = s.commandRisk(v)
	default:
		level = riskOther("tool", "<other>")
		for _, l := range riskTable() {
			if l.kind == "tool" && l.text != nil && l.text.match([]rune(s.call.Tool), &s.budget) != no {
				level = l.level
				break
			}
		}
	}
	return level
}

// riskOther is the level of a line that names a class in angle brackets.
func riskOther(kind, other string) Risk {
	for _, l := range riskTable() {
		if l.kind == kind && l.other == other {
			return l.level
		}
	}
	return High
}

// pathRisk is the level of reading or writing a place: the first line that fits, else where it lies.
func (s *subject) pathRisk(kind string, p place) Risk {
	if kind == "write" && s.protects(p) {
		return riskOther(kind, "<protected>")
	}
	for _, l := range riskTable() {
		if l.kind != kind || l.path == nil {
			continue
		}
		for _, name := range []string{p.written, p.real} {
			if s.pathMatch(l.path, foldText([]rune(name)), true) != no {
				return l.level
			}
		}
	}
	if s.inWorkspace(p) {
		return riskOther(kind, "<workspace>")
	}
	return riskOther(kind, "<elsewhere>")
}

// commandRisk is the worst of a script's parts, of the scripts inside it and of its redirections.
func (s *subject) commandRisk(v *Verdict) Risk {
	if s.script == nil || v.Reason.Source == "unparsed" || s.script.hidden != "" || len(s.script.parts) == 0 {
		return High // could not be understood
	}
	if s.budget = max(s.budget, 0) + maxWork/4; len(v.Parts) > 500 {
		return High
	}
	level := Low
	for i, sc := range append([]*script{s.script}, s.nested...) {
		if i > 0 {
			level = worse(level, Medium)
		}
		for _, p := range sc.parts {
			level = worse(level, s.partRisk(p.words))
			for _, r := range p.redirs {
				level = worse(level, s.redirectRisk(resolveWord(r.Word), r.Op.String()))
			}
		}
		for _, r := range sc.groups {
			level = worse(level, s.redirectRisk(resolveWord(r.Word), r.Op.String()))
		}
	}
	return level
}

func (s *subject) redirectRisk(w word, op string) Risk {
	text, known := w.known()
	switch {
	case strings.Contains(op, "<<"), known && text == "/dev/null":
		return Low
	case strings.HasSuffix(op, "&") && strings.Trim(text, "0123456789-") == "":
		return Low
	case !known || strings.HasSuffix(op, "&"):
		return High
	}
	kind := "write"
	if op == "<" {
		kind = "read"
	}
	return s.pathRisk(kind, s.place(text, s.call.Cwd, w.tilde))
}

func (s *subject) partRisk(words []word) Risk {
	if _, known := words[0].known(); !known {
		return High
	}
	if inner, ok := transparentCommand(words); ok {
		return s.partRisk(inner)
	}
	level := s.wordsRisk(words)
	name, _ := words[0].program()
	for i, w := range words[1:] {
		if inner, _ := w.program(); programs().wrapper[name] && !programs().builtin[inner] && s.wordsRisk(words[i+1:]) == High {
			level = High
		}
		text, known := w.known()
		if known && (w.tilde || strings.ContainsAny(text, "/.")) && !strings.Contains(text, "://") {
			level = worse(level, s.pathRisk("read", s.place(text, s.call.Cwd, w.tilde)))
			if programs().writes[name] && s.protects(s.place(text, s.call.Cwd, w.tilde)) && level == Medium {
				level = High
			}
		}
	}
	return level
}

// wordsRisk is the level of the first line whose pattern fits: surely, or for a high one possibly.
func (s *subject) wordsRisk(words []word) Risk {
	text := foldText(joinWords(append([]word{words[0].base()}, words[1:]...), false))
	for _, l := range riskTable() {
		if l.kind != "command" || l.text == nil {
			continue
		}
		if c := l.text.match(text, &s.budget); c == sure || c == possible && l.level == High {
			return l.level
		}
	}
	return riskOther("command", "<unknown>")
}
