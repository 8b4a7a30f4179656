package policy

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// A grammar makes scripts of fragments and then damages some of them.
type grammar struct{ good, evil, args, joins []string }

var plainGrammar = grammar{
	good: []string{"npm run build", "npm run test -- $x", "git status", "ls -la", "ls $x", "ls *", "grep a b", "grep $y $z", "foo", "foo 'a b'", "foo \"$x\"", "echo hi", "printf '%s\\n' a", "pwd", "true", "cd sub", "timeout 5 foo a",
		"nice -n 1 ls", "nohup foo", "command ls", "foo $(ls)", "foo <(ls)", "CI=1 foo", "xargs foo", "foo {a,b}", "foo $'a\\x20b'", "stdbuf -oL ls", "foo =ls", "foo a^b", "foo [ab]*", "foo ~", "foo %1", "foo !!", "foo a#b", "foo # c"},
	evil: []string{"rm q", "touch pwned", "$x", "$(touch pwned)", "`touch pwned`", "> pwned", ">>pwned", "x=rm", "${e}touch pwned", "eval $x", "sh -c 'touch pwned'", "alias foo=touch", "foo() { touch pwned; }", "env touch pwned", "sudo rm q",
		"<(touch pwned)", "{touch,pwned}", "t\"ou\"ch pwned", "trap 'touch pwned' EXIT", "touch\tpwned", "foo `touch pwned`", "foo \"$(touch pwned)\"", "foo <<E\n$(touch pwned)\nE", "if foo; then touch pwned; fi", "[[ -v 'a[$(touch pwned)]' ]]",
		"printf %d 'a[$(touch pwned)]'", "=touch pwned", "foo *(e:'touch pwned':)", "PATH=. foo", "exec touch pwned", "foo &> pwned", "foo <> pwned", "foo >& pwned", "tou\\\nch pwned", "foo 2>pwned", "foo ${e:-$(touch pwned)}", "noglob touch pwned",
		"\\touch pwned", "foo $((a[$(touch pwned)]))", "let 'a[$(touch pwned)]'", "find . -exec touch pwned \\;", "foo | tee pwned", "coproc touch pwned", "time touch pwned", "foo >| pwned", "foo {fd}>pwned", "foo >&2pwned", "test -v 'a[$(touch pwned)]'"},
	args:  []string{"a", "$x", "'b c'", "\"$z\"", "*", "--", "-x", "\\;", "''", "~", "<<<a", ">/dev/null", "2>&1", "</dev/null", "&", "#", "$y"},
	joins: []string{"; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "&&", "|", " "},
}

// damage are what single edits insert: everything a shell gives a meaning to.
const damage = "'\"\\`$(){}[]<>|&;#!~*?=^%:,@+-/ \n\tax0\r\u00a0"

func (g grammar) script(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString(pick(r, g.joins))
		}
		part := pick(r, g.good)
		if r.IntN(6) == 0 {
			part = pick(r, g.evil)
		}
		for range r.IntN(3) {
			part += " " + pick(r, g.args)
		}
		switch r.IntN(14) {
		case 0:
			part = "(" + part + ")"
		case 1:
			part = "{ " + part + "; }"
		case 2:
			part = "! " + part
		case 3:
			part = "foo $(" + part + ")"
		case 4:
			part = "time " + part
		}
		b.WriteString(part)
	}
	script := []rune(b.String())
	for range r.IntN(3) {
		at := r.IntN(len(script) + 1)
		if r.IntN(3) == 0 && at < len(script) {
			script = slices.Delete(script, at, at+1)
		} else {
			script = slices.Insert(script, at, []rune(damage)[r.IntN(len([]rune(damage)))])
		}
	}
	return string(script)
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// wrappedGrammar reaches rm through every wrapper the real system has. It defines no functions: a damaged one can call itself
// on both ends of a pipe, without end.
var wrappedGrammar = grammar{
	good:  []string{"ls", "echo hi", "foo a", "env foo", "sh -c 'foo b'", "bash -c \"foo $e\"", "eval foo", "nice foo", "xargs foo", "find . -exec foo {} \\;", "if foo; then ls; fi", "for i in a b; do foo $i; done", "v=1 foo", "command foo", "exec 3>&1", "trap 'foo' EXIT", "env A=1 foo", "timeout 5 foo", "setsid foo"},
	evil:  []string{"rm q", "sh -c 'rm q'", "env rm q", "nice rm q", "xargs rm", "eval 'rm q'", "bash -c \"rm q\"", "find . -exec rm {} \\;", "command rm q", "exec rm q", "trap 'rm q' EXIT", "env -S 'rm q'", "bash <<E\nrm q\nE", "sh <<< 'rm q'", "timeout 5 rm q", "$z", "v=rm; $v q", "r\"\"m q", "\\rm q", "$'\\x72m' q", "{rm,q}", "echo rm q | sh", "echo rm | xargs env", "setsid rm q", "echo 'rm q' | bash -s", "bash -c 'eval \"rm q\"'", "env sh -c 'rm q'", "builtin command rm q", "$(echo rm) q", "eval \"$z\"", "[[ -v 'a[$(rm q)]' ]]", "let 'a[$(rm q)]=1'", "if rm q; then ls; fi", "for i in rm; do $i q; done", "sh -c \"$z\"", "export A=$(rm q)", "xargs -I% sh -c % <<< 'rm q'", "alias foo='rm q'\nfoo", "source <(echo rm q)", "echo 'rm q' | source /dev/stdin"},
	args:  []string{"a", "$e", "'b c'", "--", "2>&1", ">/dev/null", "$y", "-n", "rm"},
	joins: []string{"; ", " && ", " || ", " | ", "\n", " & "},
}

// oracle is the language of patterns once more, for words that are known: a regular expression over the joined text.
func oracle(pattern string) *regexp.Regexp {
	tail := ""
	if p, ok := strings.CutSuffix(pattern, " *"); ok {
		pattern, tail = p, "( .*)?"
	}
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + tail + `$`)
}
