package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxDepth is how many scripts inside scripts (sh -c "sh -c …") are followed before the user is asked.
	maxDepth = 5
	// maxWork bounds all matching for one call, in steps of the automaton: some 100 ms at worst. A spent budget asks.
	maxWork = 1_000_000
)

// A finding is what the deny and ask rules say of a command or of one of its parts.
type finding struct {
	deny  *rule  // surely denied
	ask   *rule  // surely to be asked
	maybe *rule  // a deny or ask rule possibly means it
	doubt string // why it could not be told
}

func (f *finding) merge(g finding) {
	if f.deny == nil {
		f.deny = g.deny
	}
	if f.ask == nil {
		f.ask = g.ask
	}
	if f.maybe == nil {
		f.maybe = g.maybe
	}
	if f.doubt == "" {
		f.doubt = g.doubt
	}
}

func (f finding) quiet() bool { return f == finding{} }

// A suspicion compares a command with the deny and ask rules: as written, by its base name, behind wrappers, and in the
// strings and here-documents that are scripts themselves.
type suspicion struct {
	s     *subject
	rules []*rule // Bash(pattern) in deny and ask
	// nested are the scripts found in strings; their redirections count as well.
	nested []*script
}

// part returns what the rules say of one part of the command line itself.
func (x *suspicion) part(p *part, sc *script) finding {
	var f finding
	x.words(p.words, 0, sure, false, &f)
	x.heredocs(p.redirs, p.words, sc, 0, &f)
	return f
}

// rest returns what they say of what belongs to no part: here-documents of groups, quoted substitutions.
func (x *suspicion) rest(sc *script, depth int) finding {
	var f finding
	for _, r := range sc.groups {
		if slices.ContainsFunc(sc.parts, func(p *part) bool { return x.readsScript(p.words) != no }) {
			x.scan(sc.heredocBody(r), depth, possible, false, &f)
		}
	}
	for _, text := range sc.quoted {
		inner, err := readScript(": \""+strings.ReplaceAll(text, `"`, `\"`)+"\"", syntax.LangBash)
		if x.s.budget -= 10 * len(text); err != nil || x.s.budget < 0 || depth >= maxDepth {
			continue // no shell would run what does not parse
		}
		for _, p := range inner.parts {
			x.words(p.words, depth+1, possible, false, &f)
		}
	}
	return f
}

// scan parses a string that some program runs as a script. With suffixes every word of it may begin a command.
func (x *suspicion) scan(src string, depth int, ceiling certainty, suffixes bool, f *finding) {
	if strings.TrimSpace(src) == "" || x.spent(10*len(src), f) {
		return
	}
	if depth >= maxDepth {
		f.doubt = "scripts are nested too deep"
		return
	}
	sc, err := readScript(src, syntax.LangBash)
	if err != nil {
		if len(x.rules) > 0 {
			f.doubt = "a script in the command cannot be parsed"
		}
		return
	}
	x.nested = append(x.nested, sc)
	for _, p := range sc.parts {
		x.words(p.words, depth+1, ceiling, suffixes, f)
		x.heredocs(p.redirs, p.words, sc, depth+1, f)
	}
	f.merge(x.rest(sc, depth+1))
}

func (x *suspicion) spent(work int, f *finding) bool {
	if x.s.budget -= work; x.s.budget < 0 {
		f.doubt = "the command is too complex"
		return true
	}
	return false
}

// words looks at one simple command.
func (x *suspicion) words(words []word, depth int, ceiling certainty, suffixes bool, f *finding) {
	x.command(words, ceiling, f)
	x.code(words, depth, ceiling, f)
	name, known := words[0].program()
	for i := 1; i < len(words); i++ {
		switch {
		case x.spent(len(words)-i, f):
			return
		case suffixes || programs().wrapper[name]:
			x.command(words[i:], ceiling, f)
			x.code(words[i:], depth, ceiling, f)
		case !known || !programs().quiet[name]:
			// Any program may be a wrapper. But ⍰ alone could be every denied command, and then *.go could not be allowed.
			if _, named := words[i].program(); named {
				x.command(words[i:], possible, f)
			}
		}
	}
}

// command compares words with every rule: as written and unquoted, with the program's path and without.
func (x *suspicion) command(words []word, ceiling certainty, f *finding) {
	if len(x.rules) == 0 {
		return
	}
	variants := [][]word{words}
	if base := words[0].base(); len(base.text) != len(words[0].text) {
		variants = append(variants, append([]word{base}, words[1:]...))
	}
	for _, v := range variants {
		text := foldText(joinWords(v, true))
		x.compare(text, ceiling, f)
		if plain := foldText(joinWords(v, false)); !slices.Equal(plain, text) {
			x.compare(plain, ceiling, f)
		}
	}
}

func (x *suspicion) compare(text []rune, ceiling certainty, f *finding) {
	for _, r := range x.rules {
		switch c := min(r.folded.match(text, &x.s.budget), ceiling); {
		case c == sure && r.List == Deny:
			f.merge(finding{deny: r})
		case c == sure:
			f.merge(finding{ask: r})
		case c == possible:
			f.merge(finding{maybe: r})
		}
	}
}

// base is the program's name without directories, and without .exe, which Windows adds.
func (w word) base() word {
	text := w.text[slices.Index(w.text, '/')+1:]
	for i := slices.Index(text, '/'); i >= 0; i = slices.Index(text, '/') {
		text = text[i+1:]
	}
	if n := len(text) - len(".exe"); n > 0 && strings.EqualFold(showText(text[n:]), ".exe") {
		text = text[:n]
	}
	return word{text: text}
}

// program is the base name in lower case, and whether it is known.
func (w word) program() (string, bool) {
	name, known := w.base().known()
	return strings.ToLower(name), known
}

// readsScript tells whether a command runs what it reads: a shell, or ssh, also behind a wrapper.
func (x *suspicion) readsScript(words []word) certainty {
	first, known := words[0].program()
	if !known {
		return possible
	}
	for i, w := range words {
		name, _ := w.program()
		if (i == 0 || programs().wrapper[first]) && (programs().shell[name] || name == "ssh") {
			return sure
		}
	}
	return no
}

func (x *suspicion) heredocs(redirs []*syntax.Redirect, words []word, sc *script, depth int, f *finding) {
	for _, r := range redirs {
		if c := x.readsScript(words); c != no && (r.Hdoc != nil || r.Op == syntax.WordHdoc) {
			x.scan(sc.heredocBody(r), depth, c, false, f)
		}
	}
}

// code finds the scripts among the arguments of a program, as data/programs.txt describes them.
func (x *suspicion) code(words []word, depth int, ceiling certainty, f *finding) {
	name, _ := words[0].program()
	args := words[1:]
	run := func(w word, suffixes bool) {
		src := codeOf(w)
		if strings.Contains(src, unknownCode) {
			x.compare([]rune{anyText}, possible, f) // ⍰ in a script can be any command
		}
		x.scan(src, depth, ceiling, suffixes, f)
	}
	if programs().shell[name] || name == "source" || name == "." {
		w, isCode := shellCode(args)
		if file, known := w.known(); isCode {
			run(w, false)
		} else if !known || file == "" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
			x.compare([]rune{anyText}, possible, f) // the script comes from a pipe
		}
	}
	if programs().feeds[name] && slices.ContainsFunc(args, func(w word) bool {
		inner, _ := w.program()
		return programs().wrapper[inner] || programs().shell[inner] || replaceOption.MatchString(inner)
	}) {
		x.compare([]rune{anyText}, possible, f) // xargs env, xargs -I% %: what is read becomes the command
	}
	if programs().joined[name] {
		run(joined(args), true)
	}
	if programs().first[name] {
		for _, w := range args {
			if len(w.text) > 0 && w.text[0] != '-' {
				run(w, false)
				break
			}
		}
	}
	if name == "alias" {
		for _, w := range args {
			_, val, _ := strings.Cut(codeOf(w), "=")
			x.scan(val, depth, possible, false, f)
		}
	}
	for _, w := range optionValues(args, programs().code[name]) {
		run(w, false)
	}
	for _, w := range optionValues(args, programs().value[name]) {
		key, val, _ := strings.Cut(codeOf(w), "=")
		script, isScript := strings.CutPrefix(val, "!")
		if !isScript && strings.HasPrefix(strings.ToLower(key), "alias.") {
			script = name + " " + val
		}
		run(word{text: []rune(script)}, false)
	}
	for _, after := range programs().after[name] {
		if i := slices.IndexFunc(args, func(w word) bool { return string(w.text) == after }); i >= 0 {
			run(joined(args[i+1:]), true)
		}
	}
}

// replaceOption is the option of xargs that puts what it reads anywhere in the command.
var replaceOption = regexp.MustCompile(`^(-[a-z0-9]*[ij]|--replace)`)

func joined(words []word) word { return word{text: spread(joinWords(words, false))} }

// spread writes a word that may vanish as a blank and ⍰, for use inside another text.
func spread(text []rune) []rune {
	var out []rune
	for _, r := range text {
		if r == anyWord {
			out = append(out, ' ')
			r = anyText
		}
		out = append(out, r)
	}
	return out
}

// shellCode returns the script of sh -c: the first argument after the options, of which -o and -O, alone or at the end of a
// cluster, take one more. Without -c that argument is a file, and there is none with -s.
func shellCode(args []word) (word, bool) {
	code, stdin, unknown := false, false, word{}
	for i := 0; i < len(args); i++ {
		text, known := args[i].known()
		switch {
		case !known && !code: // an option or the file
			unknown = args[i]
		case text == "--rcfile" || text == "--init-file":
			i++
		case text == "--" || text == "-":
		case strings.HasPrefix(text, "--"):
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
			code = code || text[0] == '-' && strings.Contains(text, "c")
			stdin = stdin || strings.Contains(text, "s")
			if strings.HasSuffix(strings.ToLower(text), "o") {
				i++
			}
		case code:
			return args[i], true
		case stdin || unknown.text != nil:
			return unknown, false
		default:
			return args[i], false
		}
	}
	return unknown, false
}

// optionValues returns the values of options: the next argument, or what follows "--long=" or "-x".
func optionValues(args []word, opts []string) (values []word) {
	for i, w := range args {
		for _, opt := range opts {
			prefix := opt
			if strings.HasPrefix(opt, "--") {
				prefix += "="
			}
			text := showText(w.text)
			cluster := len(opt) == 2 && len(text) > 2 && text[0] == '-' && text[1] != '-' && text[len(text)-1] == opt[1]
			if (text == opt || cluster) && i+1 < len(args) {
				values = append(values, args[i+1])
			} else if strings.HasPrefix(text, prefix) && text != opt {
				values = append(values, word{text: w.text[len(prefix):]})
			}
		}
	}
	return values
}
