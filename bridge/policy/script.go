package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxScript bounds what is parsed, in bytes. The parser and the walk recurse, and a Go stack that overflows ends the
	// process: recover does not help. At this length the deepest nesting that parses costs some 30 MB of stack.
	maxScript = 10_000
	// maxNesting bounds open brackets before the parser sees them, which keeps that cost far below the worst.
	maxNesting = 500
)

// A part is one simple command, wherever in the script it stands.
type part struct {
	words   []word
	assigns []*syntax.Assign
	redirs  []*syntax.Redirect
	source  string // its redirections included
}

// A script is the parsed command line and everything about it that the proof asks for.
type script struct {
	src    string
	parts  []*part
	groups []*syntax.Redirect // redirections that belong to no simple command
	loose  []string           // statements without a command: an assignment, a redirection
	// shape is the first thing that is not a plain list of simple commands; empty if there is none.
	shape string
	// expansion is the first expansion whose result a rule must not depend on; empty if there is none.
	expansion string
	// hidden is the first construct that can hold code this parser does not show; empty if there is none.
	hidden string
	// quoted are the words with a command substitution in quotes. It is text to most commands, but arithmetic
	// runs it: [[ -v 'a[$(x)]' ]], let, declare -i, zsh's printf %d.
	quoted []string
}

// disguise replaces what the parser and the shells disagree on by runes that are ordinary to both: NUL, which the parser
// drops, and CR, which it takes for a blank. Undisguised again by display only.
var (
	disguise   = strings.NewReplacer("\x00", "\ufdd0", "\r", "\ufddd")
	undisguise = strings.NewReplacer("\ufdd0", "\x00", "\ufddd", "\r")
)

// readScript parses src. The error says in one clause why it could not be understood.
func readScript(src string, variant syntax.LangVariant) (*script, error) {
	if len(src) > maxScript {
		return nil, fmt.Errorf("the command is longer than %d bytes", maxScript)
	}
	if deepest(src) > maxNesting {
		return nil, fmt.Errorf("the command is nested more than %d deep", maxNesting)
	}
	s := &script{src: disguise.Replace(src)}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(s.src), "")
	if err != nil {
		return nil, fmt.Errorf("the command does not parse")
	}
	syntax.Walk(file, s.visit)
	return s, nil
}

// deepest counts brackets without regard to quotes, so it can only overrate the nesting.
func deepest(src string) int {
	depth, most := 0, 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return most
}

func (s *script) visit(n syntax.Node) bool {
	first := func(at *string, what string) {
		if *at == "" {
			*at = what
		}
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		if n.Coprocess || n.Disown {
			first(&s.shape, "a disowned command")
		}
		s.statement(n, first)
	case *syntax.Word:
		if text := codeOf(resolveWord(n)); strings.Contains(text, "$(") || strings.Contains(text, "`") {
			s.quoted = append(s.quoted, text)
		}
	case *syntax.ParamExp:
		if !plainParameter(n) {
			first(&s.expansion, "an expansion other than $NAME")
		}
	case *syntax.ArithmExp:
		first(&s.expansion, "an arithmetic expansion")
	case *syntax.CmdSubst:
		if n.Backquotes || n.TempFile || n.ReplyVar {
			first(&s.expansion, "backquotes")
			if strings.Contains(s.between(n.Left, n.Right), `\`) {
				// the shell removes backslashes before it parses what stands between backquotes
				first(&s.hidden, "a backslash between backquotes")
			}
		}
	case *syntax.ProcSubst:
		if n.Op != syntax.CmdIn {
			first(&s.expansion, "a process substitution that is written to")
		}
	case *syntax.DblQuoted:
		if n.Dollar {
			first(&s.expansion, "a translated string")
		}
	case *syntax.ExtGlob:
		first(&s.hidden, "a glob with parentheses") // zsh runs code in *(e:'…':)
	case *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.CallExpr:
	case *syntax.TimeClause:
		if n.Stmt == nil {
			first(&s.shape, "a statement without a command")
		}
	case syntax.Command:
		first(&s.shape, "a shell construct other than a list of commands")
	}
	return true
}

// statement takes down the simple command of a statement with its redirections.
func (s *script) statement(n *syntax.Stmt, first func(*string, string)) {
	p := &part{redirs: n.Redirs}
	switch cmd := n.Cmd.(type) {
	case nil:
		first(&s.shape, "a redirection without a command")
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			first(&s.shape, "an assignment without a command")
			break
		}
		p.assigns = cmd.Assigns
		for _, a := range cmd.Args {
			p.words = append(p.words, resolveWord(a))
		}
	case *syntax.DeclClause: // export, declare, … are commands with a grammar of their own
		p.words = []word{{text: []rune(cmd.Variant.Value)}}
		for _, a := range cmd.Args {
			p.words = append(p.words, declared(a))
		}
	case *syntax.LetClause:
		p.words = []word{{text: []rune("let")}, {text: []rune{anyText}}}
	}
	if len(p.words) == 0 {
		s.groups = append(s.groups, n.Redirs...)
		if _, assigns := n.Cmd.(*syntax.CallExpr); assigns || n.Cmd == nil {
			s.loose = append(s.loose, strings.TrimSpace(s.between(n.Pos(), n.End())))
		}
		return
	}
	from, to := n.Cmd.Pos(), n.Cmd.End()
	for _, r := range n.Redirs {
		if from.After(r.Pos()) {
			from = r.Pos()
		}
		if r.Word.End().After(to) {
			to = r.Word.End()
		}
	}
	p.source = s.between(from, to)
	s.parts = append(s.parts, p)
}

// between returns a piece of the source. The parser's positions are not always in order; all of it is never too little.
func (s *script) between(from, to syntax.Pos) string {
	if !from.IsValid() || !to.IsValid() || from.After(to) || int(to.Offset()) > len(s.src) {
		return s.src
	}
	return s.src[from.Offset():to.Offset()]
}

func declared(a *syntax.Assign) word {
	var w word
	if a.Value != nil {
		w = resolveWord(a.Value)
	}
	switch {
	case a.Array != nil || a.Index != nil:
		return word{text: []rune{anyText}}
	case a.Name != nil && a.Naked:
		return word{text: []rune(a.Name.Value)}
	case a.Name != nil:
		return word{text: append([]rune(a.Name.Value+"="), w.text...)}
	}
	return w
}

// plainParameter reports $NAME and ${NAME}.
func plainParameter(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.Split+p.GlobSubst+p.RcExpand != 0 ||
		p.NestedParam != nil || p.Index != nil || len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return false
	}
	for i, r := range p.Param.Value {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return p.Param.Value != ""
}

// signature is what has to be equal between the readings of two shells.
func (s *script) signature() string {
	var b strings.Builder
	redirs := func(list []*syntax.Redirect) {
		for _, r := range list {
			fmt.Fprintf(&b, " %v %q", r.Op, showText(resolveWord(r.Word).text))
		}
	}
	for _, p := range s.parts {
		fmt.Fprintf(&b, "%d %q", len(p.assigns), showText(joinWords(p.words, true)))
		redirs(p.redirs)
		b.WriteByte('\n')
	}
	redirs(s.groups)
	return b.String() + s.shape + "\n" + s.expansion
}

// heredocBody returns what a here-document or here-string feeds to its command, as far as it is known from the source.
func (s *script) heredocBody(r *syntax.Redirect) string {
	switch {
	case r.Op == syntax.WordHdoc:
		return codeOf(resolveWord(r.Word))
	case r.Hdoc == nil:
		return ""
	}
	return s.between(r.Hdoc.Pos(), r.Hdoc.End())
}

// unknownCode stands for ⍰ in source.
const unknownCode = "${_}"

// codeOf writes a word as source again, ⍰ as an expansion.
func codeOf(w word) string {
	var b strings.Builder
	for _, r := range w.text {
		if r < 0 {
			b.WriteString(unknownCode)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// strange returns the first character that no allowed command may hold: what editors do not show, show in another place,
// or show like another character.
func strange(s string) (string, bool) {
	// U+FFFD is what decoding makes of half a surrogate pair
	if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
		return "bytes that are not UTF-8", true
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && r != ' ' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co) || invisible(r)) {
			return fmt.Sprintf("the character U+%04X", r), true
		}
	}
	return "", false
}
