package policy

import (
	"strings"
)

// A proof tries to cover a script with allow rules.
type proof struct {
	s      *subject
	rules  []*rule // Bash(pattern)
	bare   *rule   // Bash: covers what the patterns of a rule would have to, but not what deny rules could mean
	script *script
	// moved says that a cd may have happened; dirs are the directories the shell can then be in, none if not known.
	moved bool
	dirs  []string
}

func newProof(s *subject, rules []*rule, bare *rule, sc *script) *proof {
	x := &proof{s: s, rules: rules, bare: bare, script: sc}
	if s.call.ShellCwd != "" {
		x.dirs = []string{s.clean(s.call.ShellCwd)}
	}
	if sc.shape != "" { // in a loop or a function what stands later may run earlier
		for _, p := range sc.parts {
			x.move(p)
		}
	}
	return x
}

// whole returns what keeps any rule from covering the script, apart from its parts.
func (x *proof) whole() string {
	what, bad := strange(undisguise.Replace(x.script.src))
	switch {
	case len(x.script.parts) == 0:
		return "there is no command"
	case bad:
		return "the command holds " + what
	case x.script.hidden != "":
		return "the command holds " + x.script.hidden
	case x.bare != nil:
		return ""
	case x.script.shape != "":
		return "the command holds " + x.script.shape
	case x.script.expansion != "":
		return "the command holds " + x.script.expansion
	}
	return ""
}

// A covering is why a part may run: a rule, or that it does nothing; or else why not.
type covering struct {
	rule  *rule
	inert bool
	why   string
}

// part covers one part; parts have to be given in order.
func (x *proof) part(p *part) covering {
	c := x.cover(p)
	if why := x.around(p); why != "" {
		c = covering{why: why}
	}
	x.move(p)
	return c
}

func (x *proof) cover(p *part) covering {
	if x.bare != nil {
		return covering{rule: x.bare}
	}
	if _, known := p.words[0].known(); !known {
		return covering{why: "the program is not known before the shell runs"}
	}
	for _, a := range p.assigns {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Name == nil || !variables()(a.Name.Value) {
			return covering{why: "the command sets a variable that can change what runs"}
		}
		if a.Value != nil {
			if _, known := resolveWord(a.Value).known(); !known {
				return covering{why: "the command sets a variable to something not known"}
			}
		}
	}
	c := x.byRule(p.words)
	if c.rule == nil && x.inert(p.words) {
		return covering{inert: true}
	}
	return c
}

// byRule looks for a rule that covers the words as written, then behind wrappers that change nothing.
func (x *proof) byRule(words []word) covering {
	why := ""
	for inner, seen := words, true; seen; inner, seen = transparentCommand(inner) {
		text := joinWords(inner, true)
		for _, r := range x.rules {
			if r.text.match(text, &x.s.budget) != sure {
				continue
			}
			switch fault := x.limits(r, inner); {
			case fault == "":
				return covering{rule: r}
			case why == "":
				why = fault
			}
		}
	}
	if why == "" {
		why = "no rule covers " + showText(joinWords(words, true))
	}
	return covering{why: why}
}

// limits says why a rule that matches does not cover all the same, or "".
func (x *proof) limits(r *rule, words []word) string {
	name, _ := words[0].program()
	if strings.HasPrefix(r.name, "*") && (programs().shell[name] || programs().interpreter[name] || programs().wrapper[name] || programs().builtin[name]) {
		return "a pattern that begins with * does not cover " + name + ", which runs other commands"
	}
	if programs().writes[name] && !r.exact {
		for _, w := range words[1:] {
			for _, p := range x.places(w) {
				if x.s.protects(p) {
					return showText(w.text) + " is a protected path"
				}
			}
		}
	}
	return optionsAllowed(r, words)
}

// inert reports commands that do nothing to the outside.
func (x *proof) inert(words []word) bool {
	name, _ := words[0].known()
	for _, w := range words {
		if _, known := w.known(); !known {
			return false
		}
	}
	switch name {
	case "cd", "pushd":
		return len(words) == 2 && len(x.moveTo(words[1])) > 0
	case "pwd", "true", "false", ":", "echo":
		return true
	case "printf":
		for _, w := range words[1:] {
			// zsh evaluates the arguments of %d as arithmetic, and with them $(…) in a subscript
			if text, _ := w.known(); strings.HasPrefix(text, "-") || strings.ContainsAny(text, "[$`") {
				return false
			}
		}
		return true
	}
	return false
}

// moveTo returns the directories a cd can lead to from any of those the shell can be in; none if one is not certainly in the
// workspace.
func (x *proof) moveTo(w word) (dirs []string) {
	text, known := w.known()
	if !known || text == "" || strings.ContainsAny(text[:1], "-+") {
		return nil
	}
	from := x.dirs
	if x.s.absolute(text) || w.tilde {
		from = []string{"/"}
	}
	for _, dir := range from {
		p := x.s.place(text, dir, w.tilde)
		if p.problem != "" || !x.s.inWorkspace(p) {
			return nil
		}
		dirs = append(dirs, p.written)
	}
	return dirs
}

// maxDirs bounds the directories followed through several cd; past it they count as not known.
const maxDirs = 16

func (x *proof) move(p *part) {
	name, known := p.words[0].program()
	if inner, ok := transparentCommand(p.words); ok && name != "xargs" {
		x.move(&part{words: inner})
		return
	}
	if known && !programs().cd[name] && !programs().builtin[name] {
		return
	}
	x.moved = true
	var to []string
	if len(p.words) == 2 && programs().cd[name] {
		to = x.moveTo(p.words[1])
	}
	if len(to) == 0 || len(x.dirs)+len(to) > maxDirs {
		x.dirs = nil
		return
	}
	x.dirs = append(x.dirs, to...)
}

// around checks what no rule for commands can cover: git and relative programs in a directory that was changed to,
// arguments that are denied paths, redirections.
func (x *proof) around(p *part) string {
	for i, w := range p.words {
		text := showText(w.text)
		name, _ := w.program()
		first, _ := p.words[0].program()
		switch program := i == 0 || programs().wrapper[first]; {
		case program && x.moved && name == "git":
			return "git after cd runs what the other directory's configuration says"
		case program && x.moved && i == 0 && strings.Contains(text, "/") && !x.s.absolute(text):
			return "a relative program path after cd"
		}
		if denied := x.names(w); denied != nil {
			return "the command names a path that " + denied.Text + " denies"
		}
	}
	for _, r := range p.redirs {
		if _, why := x.s.redirection(r, x.moved); why != "" {
			return why
		}
	}
	return ""
}

// groups checks the redirections of ( ) and { }; a cd anywhere comes before them.
func (x *proof) groups() string {
	for _, r := range x.script.groups {
		if _, why := x.s.redirection(r, x.moved); why != "" {
			return why
		}
	}
	return ""
}

// places returns the paths a word may name: itself, and what follows = @ : or a short option.
func (x *proof) places(w word) (list []place) {
	text, known := w.known()
	if !known || text == "" {
		return nil
	}
	candidates := []string{text}
	for i := range len(text) {
		if strings.IndexByte("=@:,", text[i]) >= 0 && i+1 < len(text) {
			candidates = append(candidates, text[i+1:])
		}
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		candidates = append(candidates, text[2:])
	}
	bases := append([]string{x.s.call.Cwd}, x.dirs...)
	for _, c := range candidates {
		if x.s.budget -= 100; x.s.budget < 0 {
			break // a spent budget allows nothing
		}
		for _, base := range bases {
			p := x.s.place(c, base, w.tilde || strings.HasPrefix(c, "~/"))
			list = append(list, p)
			if x.s.absolute(c) {
				break
			}
		}
	}
	return list
}

// names returns the Read or Edit deny rule that a word's path falls under, possibly.
func (x *proof) names(w word) *rule {
	rules := x.s.pathDenies()
	if len(rules) == 0 {
		return nil
	}
	texts := [][]rune{}
	for _, p := range x.places(w) {
		texts = append(texts, foldText([]rune(p.written)))
		if p.real != p.written {
			texts = append(texts, foldText([]rune(p.real)))
		}
	}
	if _, known := w.known(); !known {
		for _, base := range append([]string{x.s.call.Cwd}, x.dirs...) {
			text := foldText(w.text)
			if len(text) == 0 || text[0] != '/' {
				text = append(foldText([]rune(strings.TrimSuffix(base, "/")+"/")), text...)
			}
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		for _, r := range rules {
			if x.s.pathMatch(r.path, text, true) != no {
				return r
			}
		}
	}
	return nil
}
