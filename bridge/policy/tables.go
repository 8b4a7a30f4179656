package policy

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// The tables are data, so that a reviewer reads them as such; they are read when first asked for, since every guard is started from
// this binary and needs none of them. What a line means is
// said at the top of each file. A line that cannot be read is a defect of the program and panics in every test.
var (
	//go:embed data/programs.txt
	programsText string
	//go:embed data/options.txt
	optionsText string
	//go:embed data/protected.txt
	protectedText string
	//go:embed data/variables.txt
	variablesText string
	//go:embed data/risk.txt
	riskText string

	programs  = sync.OnceValue(func() programTable { return readPrograms(programsText) })
	options   = sync.OnceValue(func() map[string]*optionEntry { return readOptions(optionsText) })
	protected = sync.OnceValue(func() []*pathSpec { return readProtected(protectedText) })
	variables = sync.OnceValue(func() func(name string) bool { return readVariables(variablesText) })
	riskTable = sync.OnceValue(func() []riskLine { return readRisk(riskText) })
)

// RiskTable returns the table that risk levels come from, in its text form, for the documentation to quote.
func RiskTable() string { return riskText }

// lines yields the words of each line that is neither empty nor a comment.
func lines(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" && !strings.HasPrefix(f[0], "##") {
			out = append(out, f)
		}
	}
	return out
}

type nameSet map[string]bool

// programTable is data/programs.txt.
type programTable struct {
	wrapper, shell, interpreter, builtin, joined, first, feeds, quiet, cd, writes nameSet
	code, value, after                                                            map[string][]string
	transparent                                                                   map[string][]string
	widen                                                                         [][]string
}

func readPrograms(text string) programTable {
	t := programTable{code: map[string][]string{}, value: map[string][]string{}, after: map[string][]string{}, transparent: map[string][]string{}}
	sets := map[string]*nameSet{"wrapper": &t.wrapper, "shell": &t.shell, "interpreter": &t.interpreter, "builtin": &t.builtin,
		"joined": &t.joined, "first": &t.first, "feeds": &t.feeds, "quiet": &t.quiet, "cd": &t.cd, "writes": &t.writes}
	lists := map[string]map[string][]string{"code": t.code, "value": t.value, "after": t.after, "transparent": t.transparent}
	for _, f := range lines(text) {
		if set := sets[f[0]]; set != nil {
			if *set == nil {
				*set = nameSet{}
			}
			for _, name := range f[1:] {
				(*set)[strings.ToLower(name)] = true
			}
		} else if list := lists[f[0]]; list != nil {
			list[f[1]] = append(list[f[1]], f[2:]...)
		} else if f[0] == "widen" {
			t.widen = append(t.widen, f[1:])
		} else {
			panic(fmt.Sprintf("data/programs.txt: unknown kind %q", f[0]))
		}
	}
	return t
}

// optionEntry is one program of data/options.txt.
type optionEntry struct {
	options, prefixes, words, texts []string
	single, bundle, open, sed, awk  bool
}

func readOptions(text string) map[string]*optionEntry {
	table := map[string]*optionEntry{}
	for _, f := range lines(text) {
		e := &optionEntry{}
		flags := map[string]*bool{"!single": &e.single, "!bundle": &e.bundle, "!open": &e.open, "!sed": &e.sed, "!awk": &e.awk}
		for _, w := range f[1:] {
			switch {
			case flags[w] != nil:
				*flags[w] = true
			case strings.HasPrefix(w, "-"):
				e.options = append(e.options, w)
			case strings.HasPrefix(w, "word:"):
				e.words = append(e.words, w[len("word:"):])
			case strings.HasPrefix(w, "text:"):
				e.texts = append(e.texts, w[len("text:"):])
			case strings.HasSuffix(w, "="):
				e.prefixes = append(e.prefixes, w)
			default:
				panic(fmt.Sprintf("data/options.txt: %s: unknown word %q", f[0], w))
			}
		}
		for name := range strings.SplitSeq(f[0], ",") {
			table[name] = e
		}
	}
	return table
}

func readVariables(text string) func(name string) bool {
	var exact, prefixes []string
	for _, f := range lines(text) {
		if p, ok := strings.CutSuffix(f[0], "*"); ok {
			prefixes = append(prefixes, p)
		} else {
			exact = append(exact, f[0])
		}
	}
	return func(name string) bool {
		for _, v := range exact {
			if v == name {
				return true
			}
		}
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
}

// readProtected reads whole lines, because directories may hold blanks.
func readProtected(text string) (list []*pathSpec) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, protectedSpec(line))
		}
	}
	return list
}
