package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// optionsAllowed checks the words of a part against data/options.txt: a rule covers an option that runs code or writes
// files only if it writes it out. It returns why not, or "".
func optionsAllowed(r *rule, words []word) string {
	name, _ := words[0].program()
	e := options()[name]
	if e == nil || r.exact {
		return "" // a rule without wildcard says all there is
	}
	written := strings.Fields(r.name)
	quoted, command := false, false
	counts := map[string]int{}
	for i, w := range words[1:] {
		text, known := w.known()
		switch {
		case !known:
			return "it cannot be known what " + name + " is given in " + showText(joinWords(words, true))
		case text == "--" && !e.open:
			return e.unwritten(name, counts, quoted, written)
		}
		quoted = quoted || w.needsQuotes()
		if opt := e.option(text, i == 0); opt != "" {
			counts[opt]++
		}
		if !command && !strings.HasPrefix(text, "-") {
			command = true
			if slices.Contains(e.words, text) {
				counts[text]++
			}
		}
	}
	if e.sed && !sedHarmless(words[1:]) || e.awk && !awkHarmless(words[1:]) {
		return "the script given to " + name + " can run commands or write files"
	}
	return e.unwritten(name, counts, quoted, written)
}

// unwritten names an option that the call has more often than the rule. With a quoted argument the rule's own words may
// have matched inside the quotes, so then nothing counts as written.
func (e *optionEntry) unwritten(name string, counts map[string]int, quoted bool, written []string) string {
	for _, opt := range slices.Sorted(maps.Keys(counts)) {
		inRule := 0
		for _, w := range written {
			if w == opt || e.option(w, false) == opt {
				inRule++
			}
		}
		if counts[opt] > inRule || quoted {
			return name + " " + opt + " can run commands or write files, and the rule does not name it"
		}
	}
	return ""
}

// option returns the listed option that an argument is or may be, or "".
func (e *optionEntry) option(arg string, first bool) string {
	for _, p := range e.prefixes {
		if strings.HasPrefix(arg, p) {
			return p
		}
	}
	for _, t := range e.texts {
		if strings.Contains(arg, t) {
			return t
		}
	}
	if !strings.HasPrefix(arg, "-") {
		if !e.bundle || !first {
			return ""
		}
		arg = "-" + arg
	}
	given, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, opt := range e.options {
		name := strings.TrimLeft(opt, "-")
		prefix, isPrefix := strings.CutSuffix(name, "*")
		switch {
		case given == "":
		case isPrefix && (strings.HasPrefix(given, prefix) || !e.single && strings.HasPrefix(arg, "--") && strings.HasPrefix(prefix, given)):
			return opt
		case given == name:
			return opt
		case e.single:
		case len(name) == 1: // a cluster: -vx, -xVALUE
			if !strings.HasPrefix(arg, "--") && strings.Contains(arg[1:], name) {
				return opt
			}
		case strings.HasPrefix(arg, "--") && strings.HasPrefix(name, given): // GNU programs take abbreviations
			return opt
		}
	}
	return ""
}

var (
	// sedScript is s with flags that only print, and the printing of a line: data/options.txt, !sed.
	sedScript  = regexp.MustCompile(`^(?:[0-9]+(?:,[0-9$]+)?|\$)?p$`)
	sedOptions = regexp.MustCompile(`^-[nErsuz]+$|^--(quiet|silent|regexp-extended|separate|unbuffered|null-data|posix)$`)
)

// sedHarmless reports that every script among sed's arguments is s/…/…/ or p.
func sedHarmless(args []word) bool {
	scripts := 0
	for i := 0; i < len(args); i++ {
		text, _ := args[i].known()
		switch {
		case text == "-e" || text == "--expression":
			if i++; i == len(args) {
				return false
			}
			if text, _ = args[i].known(); !sedCommand(text) {
				return false
			}
			scripts++
		case sedOptions.MatchString(text), strings.HasPrefix(text, "-i"), strings.HasPrefix(text, "--in-place"): // in data/options.txt
		case strings.HasPrefix(text, "-") && len(text) > 1:
			return false
		case scripts == 0:
			if !sedCommand(text) {
				return false
			}
			scripts++
		}
	}
	return scripts > 0
}

// sedCommand reads one command. The delimiter may be any punctuation; a newline would begin another command.
func sedCommand(text string) bool {
	if sedScript.MatchString(text) {
		return true
	}
	if len(text) < 4 || text[0] != 's' || !strings.ContainsRune("/|,#:!@%", rune(text[1])) || strings.Contains(text, "\n") {
		return false
	}
	// Whether a delimiter inside brackets counts differs between implementations; with exactly two there is one reading
	// and errors.
	delimiter, seen, flags := text[1], 0, 0
	for i := 2; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			seen, flags = seen+1, i+1
		}
	}
	return seen == 2 && strings.Trim(text[flags:], "gpi0123456789") == ""
}

// awkHarmless reports that awk's program, its first argument that is no option, neither runs nor writes nor reads anything
// but its input.
func awkHarmless(args []word) bool {
	for i := 0; i < len(args); i++ {
		text, _ := args[i].known()
		switch {
		case text == "-F" || text == "-v" || text == "--field-separator" || text == "--assign":
			i++
		case strings.HasPrefix(text, "-F") || strings.HasPrefix(text, "-v"):
		case strings.HasPrefix(text, "-"):
			return false
		default:
			// @ calls functions by name and loads files; a comparison with > cannot be told from a redirection
			return !strings.ContainsAny(text, "|>@") && !strings.Contains(text, "system") && !strings.Contains(text, "getline")
		}
	}
	return false
}

// transparentCommand returns the command behind timeout, nice, xargs and the like, as data/programs.txt lists them with
// the options that are understood.
func transparentCommand(words []word) ([]word, bool) {
	name, known := words[0].known()
	if !known {
		return nil, false
	}
	if name == "xargs" {
		if len(words) < 2 || len(words[1].text) == 0 || words[1].text[0] == '-' {
			return nil, false
		}
		return append(slices.Clone(words[1:]), word{text: []rune{anyText}}), true
	}
	opts, ok := programs().transparent[name]
	if !ok {
		return nil, false
	}
	i := 1
	for ; i < len(words); i++ {
		text, _ := words[i].known()
		if text == "--" {
			i++
			break
		}
		if !strings.HasPrefix(text, "-") {
			break
		}
		n := transparentOption(opts, words[i:])
		if n == 0 {
			return nil, false
		}
		i += n - 1
	}
	for _, o := range opts { // an argument of the wrapper's own
		if !strings.HasPrefix(o, "-") {
			if i >= len(words) || !hasForm(words[i], o) {
				return nil, false
			}
			i++
		}
	}
	if i >= len(words) || len(words[i].text) == 0 || words[i].text[0] == '-' {
		return nil, false
	}
	return words[i:], true
}

// transparentOption returns how many words a known option takes, 0 for an unknown one.
func transparentOption(opts []string, words []word) int {
	text, _ := words[0].known()
	for _, o := range opts {
		name, form, hasValue := strings.Cut(o, "=")
		value, attached := strings.CutPrefix(text, name)
		switch {
		case !strings.HasPrefix(o, "-") || !attached:
		case !hasValue && value == "":
			return 1
		case hasValue && value == "" && len(words) > 1 && hasForm(words[1], form):
			return 2
		case hasValue && value != "" && hasForm(word{text: []rune(strings.TrimPrefix(value, "="))}, form):
			return 1
		}
	}
	return 0
}

var forms = map[string]*regexp.Regexp{
	"d": regexp.MustCompile(`^[0-9]+(\.[0-9]+)?[smhd]?$`),
	"s": regexp.MustCompile(`^[A-Z0-9+]+$`),
	"n": regexp.MustCompile(`^[+-]?[0-9]+$`),
	"m": regexp.MustCompile(`^([0-9]+[KMGB]*|L)$`),
}

func hasForm(w word, form string) bool {
	text, known := w.known()
	return known && forms[form].MatchString(text)
}
