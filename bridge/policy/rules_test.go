package policy

import (
	"strings"
	"testing"
)

// The tests of this file are the language: one for each of its rules, named after what it says.

func TestRule01DenyBeforeAskBeforeAllowElseAsk(t *testing.T) {
	checkBash(t, []row{
		{"git push", "+Bash(git *); ?Bash(git push *); -Bash(git push *)", Denied},
		{"git push", "-Bash(git push *); ?Bash(git push *); +Bash(git *)", Denied}, // order does not count
		{"git push", "+Bash(git push); ?Bash(git *)", Asked},                       // nor how specific a rule is
		{"git pull", "+Bash(git *); ?Bash(git push *)", Allowed},
		{"git pull", "", Asked},
	})
}

func TestRule02UnreadableDenyAsksForTheToolAndUnreadableAllowIsIgnored(t *testing.T) {
	for _, bad := range []string{"Bash(rm", "Bash()", "Bash(* foo:*)", "Bash(:*)", "Bash(command:rm *)", "Bash(dangerouslyDisableSandbox:true)", "B*", "*"} {
		for _, list := range []string{"-", "?"} {
			rules, problems := compileText("+Bash(ls *); " + list + bad)
			if len(problems) != 1 || problems[0].Source.File == "" {
				t.Errorf("%s%s: %d problems, want one with its file", list, bad, len(problems))
			}
			if v := rules.Decide(bashCall("ls"), tree{}); v.Decision != Asked || v.Reason.Source != "ask_rule" || !v.MustAsk {
				t.Errorf("ls with %s%s: %s (%s), want ask by that rule", list, bad, v.Decision, v.Reason.Source)
			}
		}
		rules, problems := compileText("+Bash(ls *); +" + bad)
		if len(problems) != 1 {
			t.Errorf("allow %s: %d problems, want one", bad, len(problems))
		}
		if v := rules.Decide(bashCall("ls"), tree{}); v.Decision != Allowed {
			t.Errorf("ls with an unreadable allow %s: %s", bad, v.Decision)
		}
		if v := rules.Decide(bashCall("rm x"), tree{}); v.Decision != Asked {
			t.Errorf("rm x with an unreadable allow %s: %s", bad, v.Decision)
		}
	}
	for text, tool := range map[string]string{"-Agent(model:opus)": "Task", "-mcp__*": "mcp__s__t", "-mcp__s__": "mcp__s__t", "-mcp__s(x)": "mcp__s__t",
		"-Read(!x)": "Grep", "-Edit(a//b)": "Write", "-WebFetch(evil.com)": "WebFetch", "-WebFetch(domain:bücher.de)": "WebFetch", "-Foo(x)": "Foo", "-(x)": "Anything"} {
		rules, problems := compileText(text)
		if v := rules.Decide(callOf(tool), tree{}); len(problems) != 1 || v.Decision != Asked || v.Reason.Source != "ask_rule" {
			t.Errorf("%s for %s: %s by %s, %d problems", text, tool, v.Decision, v.Reason.Source, len(problems))
		}
	}
}

func TestRule03ABareNameIsEveryCallAndNamesAreExact(t *testing.T) {
	checkBash(t, []row{
		{"anything --at all", "+Bash", Allowed},
		{"anything --at all", "+Bash(*)", Allowed},
		{"ls", "-Bash; +Bash(ls)", Denied},
		{"ls", "+bash", Asked},
	})
	for tool, want := range map[string]Decision{"PowerShell": Allowed, "Powershell": Asked, "PowerShell2": Asked} {
		if v := rulesOf(t, "+PowerShell").Decide(callOf(tool, "command", "ls"), tree{}); v.Decision != want {
			t.Errorf("%s: %s, want %s", tool, v.Decision, want)
		}
	}
	if _, problems := compileText("+PowerShell(ls *); -Monitor(x)"); len(problems) != 2 {
		t.Errorf("only Bash has command patterns: %d problems, want 2", len(problems))
	}
}

func TestRule04StarsInPatterns(t *testing.T) {
	checkBash(t, []row{
		{"ls", "+Bash(ls *)", Allowed}, {"ls -la", "+Bash(ls *)", Allowed}, {"lsof", "+Bash(ls *)", Asked},
		{"ls", "+Bash(ls*)", Allowed}, {"ls -la", "+Bash(ls*)", Allowed}, {"lsof", "+Bash(ls*)", Allowed},
		{"ls", "+Bash(ls:*)", Allowed}, {"ls -la", "+Bash(ls:*)", Allowed}, {"lsof", "+Bash(ls:*)", Asked},
		{"foo a b c bar", "+Bash(foo * bar)", Allowed}, {"foo bar", "+Bash(foo * bar)", Asked},
		{"a:xb", "+Bash(a:*b)", Allowed}, {"a xb", "+Bash(a:*b)", Asked}, // ":*" inside is literal
		{"timeout 5 ls", "+Bash(timeout:*)", Allowed},
		{"ls -la", "+Bash(LS *)", Asked},
		{"foo.bar", "+Bash(foo?bar)", Asked}, // nothing else is special
	})
}

func TestRule05LongUnparsedOrAmbiguousCommandsAreAsked(t *testing.T) {
	allow := "+Bash"
	checkBash(t, []row{
		{"echo " + strings.Repeat("a", maxScript-5), allow, Allowed},
		{"echo " + strings.Repeat("a", maxScript-4), allow, Asked},
		{"rm " + strings.Repeat("a", maxScript), "-Bash(rm *)", Asked},
		{strings.Repeat("(", maxNesting+1), allow, Asked},
		{"ls '", allow, Asked}, {"ls )", allow, Asked}, {"ls <<X\na\n", allow, Asked},
		{"ls *(e:'rm x':)", allow, Asked},
	})
	c := bashCall("ls $x[1]") // an array element to zsh, text after a variable to bash
	if v := rulesOf(t, allow).Decide(c, tree{}); v.Decision == Denied {
		t.Errorf("%s: %s", "ls $x[1]", v.Decision)
	}
}

// TestSixMegabytesOfNestingAreAskedAndTheProcessLives is the case that ends a process whose parser recurses without bound.
func TestSixMegabytesOfNestingAreAskedAndTheProcessLives(t *testing.T) {
	for _, opening := range []string{"$(", "(", "((", `"$(`, "${a:-", "{ ", "[[ ! ", "`", "if ", "! ", "a && ", "$((", "<(", "eval ", "sudo sh -c "} {
		for _, size := range []int{maxScript, 6 << 20} {
			v := rulesOf(t, "+Bash; -Bash(rm *)").Decide(bashCall(strings.Repeat(opening, size/len(opening))), tree{})
			if v.Decision != Asked {
				t.Errorf("%d bytes of %q: %s", size, opening, v.Decision)
			}
		}
	}
}

func TestRule06EverySimpleCommandAnywhereIsAPart(t *testing.T) {
	for _, cmd := range []string{
		"a; rm x", "a && rm x", "a || rm x", "a | rm x", "a |& rm x", "a & rm x", "(rm x)", "{ rm x; }", "! rm x", "time rm x", "if rm x; then a; fi",
		"if a; then rm x; fi", "if a; then b; elif rm x; then c; fi", "if a; then b; else rm x; fi", "while rm x; do a; done", "until a; do rm x; done",
		"for i in 1; do rm x; done", "for i in $(rm x); do a; done", "for ((i=0;i<$(rm x);i++)); do a; done", "case $(rm x) in a) b;; esac", "case a in $(rm x)) b;; esac",
		"case a in a) rm x;; esac", "f() { rm x; }", "function f { rm x; }", "select i in 1; do rm x; done", "a $(rm x)", "a `rm x`", "a \"$(rm x)\"", "a <(rm x)", "a >(rm x)",
		"a > $(rm x)", "a <<E\n$(rm x)\nE", "a <<<$(rm x)", "x=$(rm x)", "x=$(rm x) a", "x=(1 $(rm x))", "x[$(rm x)]=1", "${x:-$(rm x)}", "a ${x:-`rm x`}", "a ${x/$(rm x)/}",
		"a ${x:$(rm x)}", "a $((1+$(rm x)))", "((1+$(rm x)))", "[[ -n $(rm x) ]]", "let x=$(rm x)", "export A=$(rm x)", "coproc rm x", "a $(b $(c $(rm x)))",
		"$(rm x)", "a; b; c; d; rm x", "true\nrm x\n", "a \\\n; rm x", "{ a; } | ( b | rm x )",
	} {
		if v := rulesOf(t, "+Bash; -Bash(rm *)").Decide(bashCall(cmd), tree{}); v.Decision != Denied {
			t.Errorf("%q: %s (%s), want deny", cmd, v.Decision, v.Reason.Text)
		}
	}
}

func TestRule07WordsAreResolvedAndExpansionsAreUnknown(t *testing.T) {
	for word, want := range map[string]string{
		"abc": "abc", "'a b'": "a b", `"a b"`: "a b", `a\ b`: "a b", `a''b""c`: "abc", `\a\b`: "ab", `'a\b'`: `a\b`, `"a\b"`: `a\b`, `"a\$b"`: "a$b", `"a\\b"`: `a\b`, "a\\\nb": "ab", "\"a\\\nb\"": "ab",
		`$'a\tb'`: "a\tb", `$'\x72m'`: "rm", `$'\162m'`: "rm", `$'r\u006d'`: "rm", `$'\U00000072m'`: "rm", `$'\'\\'`: `'\`, `$'a\0b'`: "a⍰", `$'\q'`: "⍰", `$'\xff'`: "⍰", `$'\cA'`: "⍰",
		"$x": "⍰", "${x}": "⍰", "a$x": "a⍰", `"a${x}b"`: "a⍰b", "$x$y": "⍰", "$(x)": "⍰", "`x`": "⍰", "$((1))": "⍰", "<(x)": "⍰", "*": "⍰", "*.go": "⍰.go", "a?b": "a⍰b", "[ab]c": "⍰", "x[1]": "x⍰",
		"a^": "a⍰", "=ls": "⍰ls", "a=b": "a=b", "{a,b}": "⍰", "x{a,b}": "x⍰", "{1..3}": "⍰", "{}": "{}", "{a}": "{a}", "'{a,b}'": "{a,b}", "HEAD@{1}": "HEAD@{1}", "'*'": "*", `\*`: "*", `"*"`: "*", "~/x": "~/x",
	} {
		sc, err := readScript("p "+word, 0)
		if err != nil || len(sc.parts) == 0 {
			t.Errorf("%s: %v", word, err)
			continue
		}
		if got := showText(sc.parts[0].words[1].text); got != want {
			t.Errorf("%s is %q, want %q", word, got, want)
		}
	}
}

func TestRule08ATextIsTheWordsJoinedAndQuotedWhereNeeded(t *testing.T) {
	for cmd, want := range map[string]string{
		"git   status": "git status", `"git status"`: "'git status'", "a ''": "a ''", `a "b'c"`: `a 'b'\''c'`, "a 'b;c' 'd>e' 'f|g' 'h&i' '(j)'": "a 'b;c' 'd>e' 'f|g' 'h&i' '(j)'",
		"a '*.o' $x": "a *.o ⍰", "a \"b $x\"": "a 'b ⍰'", "A=1 b": "b", "a $'b\\nc'": "a 'b\nc'",
	} {
		sc, err := readScript(cmd, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := showText(joinWords(sc.parts[0].words, true)); got != want {
			t.Errorf("%q is %q, want %q", cmd, got, want)
		}
	}
}

func TestRule09OnlyAStarTakesTheUnknownForSure(t *testing.T) {
	checkBash(t, []row{
		{"foo $x", "+Bash(foo *)", Allowed}, {"foo $x", "+Bash(foo a*)", Asked}, {"foo a$x", "+Bash(foo a*)", Allowed}, {"foo $x b", "+Bash(foo * b)", Asked}, // $x may be no word at all
		{"foo a$x b", "+Bash(foo * b)", Allowed}, {"foo$x", "+Bash(foo *)", Asked}, {"foo $x", "+Bash(foo)", Asked}, {"foo $x", "+Bash(foo ⍰)", Asked},
		{"git $x", "-Bash(git push *); +Bash(git *)", Asked}, {"git $x origin", "-Bash(git push origin)", Asked}, {"git $x push", "-Bash(git push)", Asked}, {"foo pu$x", "-Bash(foo push *); +Bash(foo *)", Asked},
		{"foo pull$x", "-Bash(foo push *); +Bash(foo *)", Allowed},
		{"ls $x", "-Bash(lsof *); +Bash(ls *)", Allowed}, // the unknown begins after a blank
	})
}

func TestRule10DenyAndAskSeeThroughWrappersStringsAndSpelling(t *testing.T) {
	denied := []string{
		"rm x", "RM x", "Rm x", "/bin/rm x", "./rm x", "../../bin/RM x", "rm.exe x", "'rm' x", `"rm x"`, "sudo rm x", "sudo -u root -n rm x", "env A=1 rm x", "/usr/bin/env rm x", "xargs rm x",
		"xargs -0 -n 1 rm", "find . -exec rm {} ;", "fd -x rm", "timeout 5 rm x", "nice -n 5 rm x", "nohup rm x", "command rm x", "exec rm x", "builtin rm x", "setsid rm x", "flock f rm x",
		"watch rm x", "parallel rm ::: x", "busybox rm x", "docker run --rm img rm x", "ssh host rm x", "npx rm x", "doas rm x", "su -c 'rm x'", "su - u -c 'a; rm x'", "sudo env A=1 nice rm x",
		"sh -c 'rm x'", "bash -c 'a && rm x'", "bash -lc 'rm x'", "bash -e -o pipefail -c 'rm x'", "bash -eo pipefail -c 'rm x'", "zsh -c 'rm x'", "sudo sh -c 'rm x'", "busybox sh -c 'rm x'",
		"eval 'rm x'", "eval rm x", "eval r''m x", "trap 'rm x' EXIT", "env -S 'rm x'", "env -S'rm x'", "env --split-string='rm x'", "ssh host 'a; rm x'", "watch 'rm x'", "npm exec -c 'rm x'",
		"npx -c 'rm x'", "npm exec --call='rm x'", "git -c core.pager='rm x' log", "git -c alias.x='!rm x' x", "git rebase -x 'rm x' main", "git rebase --exec='rm x'", "git submodule foreach 'rm x'",
		"git submodule foreach rm x", "git bisect run rm x", "git bisect run sh -c 'rm x'", "bash <<'E'\nrm x\nE", "bash <<E\nrm $x\nE", "sh <<<'rm x'", "sudo bash <<'E'\nrm x\nE", "bash -s <<-E\n\trm x\n\tE",
		`sh -c "sh -c 'rm x'"`, `sh -c "sh -c \"sh -c 'rm x'\""`, "noglob rm x", "- rm x", "repeat 3 rm x", "if a; then sh -c 'rm x'; fi", "bash -c 'cat <<E\n$(rm x)\nE'", "$HOME/bin/rm x",
	}
	for _, cmd := range denied {
		if v := rulesOf(t, "+Bash; -Bash(rm *)").Decide(bashCall(cmd), tree{}); v.Decision != Denied {
			t.Errorf("%q: %s (%s), want deny", cmd, v.Decision, v.Reason.Text)
		}
		if v := rulesOf(t, "+Bash; ?Bash(rm *)").Decide(bashCall(cmd), tree{}); v.Decision != Asked || !v.MustAsk {
			t.Errorf("%q with an ask rule: %s", cmd, v.Decision)
		}
	}
	checkBash(t, []row{
		{"git -c alias.x='push origin' x", "+Bash; -Bash(git push *)", Denied},
		{"$x -rf y", "+Bash; -Bash(rm *)", Asked}, {"sh -c \"$x\"", "+Bash; -Bash(rm *)", Asked}, {"sudo $x", "+Bash; -Bash(rm *)", Asked},
		{"eval \"a $x\"", "+Bash; -Bash(rm *)", Asked}, {"sh -c 'a; b'", "+Bash; -Bash(rm *)", Allowed}, {"sh -c '('", "+Bash; -Bash(rm *)", Asked},
		{nest("true", 4), "+Bash; -Bash(rm *)", Allowed}, {nest("rm x", 4), "+Bash; -Bash(rm *)", Denied}, {nest("true", 6), "+Bash; -Bash(rm *)", Asked},
		{"[[ -v 'a[$(rm x)]' ]]", "+Bash; -Bash(rm *)", Asked}, {"let 'a[$(rm x)]=1'", "+Bash; -Bash(rm *)", Asked}, {"printf %d 'a[$(rm x)]'", "+Bash; -Bash(rm *)", Asked},
		{"`echo r\\\\m` x", "+Bash; -Bash(rm *)", Asked},
	})
}

// nest wraps a command into sh -c n times.
func nest(cmd string, n int) string {
	for range n {
		cmd = "sh -c '" + strings.ReplaceAll(cmd, "'", `'\''`) + "'"
	}
	return cmd
}

func TestRule11AnArgumentThatIsADeniedCommandIsAsked(t *testing.T) {
	checkBash(t, []row{
		{"mywrapper rm x", "+Bash(mywrapper *); -Bash(rm *)", Asked}, {"mywrapper a b rm x", "+Bash(mywrapper *); -Bash(rm *)", Asked}, {"mywrapper a", "+Bash(mywrapper *); -Bash(rm *)", Allowed},
		{"mywrapper git $x", "+Bash(mywrapper *); ?Bash(git push *)", Asked}, {"mywrapper rm x", "+Bash; -Bash(rm *)", Asked},
		{"ls rm", "+Bash(ls *); -Bash(rm *)", Allowed}, {"grep rm x", "+Bash(grep *); -Bash(rm *)", Allowed}, {"which rm", "+Bash(which *); -Bash(rm *)", Allowed}, {"man rm", "+Bash(man *); -Bash(rm *)", Allowed},
		{"npm run a; echo rm x", "R0", Allowed},
	})
}

func TestRule12And13OnlyPlainListsOfCommandsAreAllowed(t *testing.T) {
	allow := "+Bash(a *); +Bash(b *)"
	checkBash(t, []row{
		{"a; b", allow, Allowed}, {"a && b", allow, Allowed}, {"a || b", allow, Allowed}, {"a | b", allow, Allowed}, {"a |& b", allow, Allowed}, {"a & b", allow, Allowed}, {"a\nb", allow, Allowed},
		{"! a", allow, Allowed}, {"(a; b)", allow, Allowed}, {"{ a; b; }", allow, Allowed}, {"time a", allow, Allowed}, {"time -p a", allow, Allowed}, {"a $(b)", allow, Allowed}, {"a # b", allow, Allowed},
		{"a; if b; then a; fi", allow, Asked}, {"for i in 1; do a; done", allow, Asked}, {"while a; do b; done", allow, Asked}, {"case x in x) a;; esac", allow, Asked}, {"f() { a; }", allow, Asked},
		{"[[ x ]]; a", allow, Asked}, {"((1)); a", allow, Asked}, {"let x=1; a", allow, Asked}, {"export X=1; a", allow, Asked}, {"coproc a", allow, Asked}, {"a; > f", allow, Asked}, {"a; X=1", allow, Asked},
		{"a; $(<f)", allow, Asked}, {"a; c", allow, Asked}, {"# a", allow, Asked}, {"", allow, Asked}, {"true", allow, Asked}, {"echo a", allow, Asked}, {"time", allow, Asked}, {"a; time", allow, Asked},
	})
}

func TestRule14TransparentWrappersAndInertCommands(t *testing.T) {
	allow := "+Bash(a *); +Bash(b)"
	checkBash(t, []row{
		{"timeout 5 a", allow, Allowed}, {"timeout 1.5h a", allow, Allowed}, {"timeout -s KILL -k 5s 30 a", allow, Allowed}, {"timeout --signal=TERM 5 a", allow, Allowed}, {"timeout --weird 5 a", allow, Asked},
		{"timeout $x a", allow, Asked}, {"timeout a", allow, Asked}, {"timeout 5", allow, Asked}, {"nice a", allow, Allowed}, {"nice -n 5 a", allow, Allowed}, {"nice -n5 a", allow, Allowed}, {"nice -n x a", allow, Asked},
		{"nohup a", allow, Allowed}, {"nohup -- a", allow, Allowed}, {"nohup --help a", allow, Asked}, {"stdbuf -oL a", allow, Allowed}, {"stdbuf -o L -e 0 a", allow, Allowed}, {"command a", allow, Allowed},
		{"command -p a", allow, Allowed}, {"command -v a", allow, Asked}, {"\\time -o f a", allow, Asked}, {"nohup timeout 5 nice a", allow, Allowed}, {"/usr/bin/timeout 5 a", allow, Asked},
		{"xargs a", allow, Allowed}, {"xargs b", allow, Asked}, {"xargs -n1 a", allow, Asked}, {"env a", allow, Asked}, {"exec a", allow, Asked}, {"builtin a", allow, Asked},
		{"a; pwd; true; false; :", allow, Allowed}, {"a; echo hi 'x y'", allow, Allowed}, {"a; echo $x", allow, Asked}, {"a; echo *", allow, Asked}, {"a; printf 'x\\n' y", allow, Allowed}, {"a; printf -v x y", allow, Asked},
		{"a; printf %d 'x[$(b)]'", allow, Asked}, {"cd sub; a", allow, Allowed}, {"cd /w/sub && a", allow, Allowed}, {"cd sub/../sub && a", allow, Allowed}, {"cd .. && a", allow, Asked}, {"cd / && a", allow, Asked},
		{"cd && a", allow, Asked}, {"cd - && a", allow, Asked}, {"cd ~ && a", allow, Asked}, {"cd $x && a", allow, Asked}, {"cd -P sub && a", allow, Asked}, {"pushd sub && a", allow, Allowed}, {"popd && a", allow, Asked},
		{"cd sub; cd ..; a", allow, Asked}, {"(cd x && a) && (cd y && a)", allow, Allowed},
	})
	files := tree{"/w": "/", "/w/out": "/etc"}
	if v := rulesOf(t, allow).Decide(bashCall("cd out && a"), files); v.Decision != Asked {
		t.Errorf("cd through a link out of the workspace: %s", v.Decision)
	}
	c := bashCall("cd sub && a")
	c.ShellCwd = ""
	if v := rulesOf(t, allow).Decide(c, tree{}); v.Decision != Asked {
		t.Errorf("cd from an unknown directory: %s", v.Decision)
	}
}

func TestRule15TheProgramIsKnownAndALeadingStarCoversNoInterpreter(t *testing.T) {
	checkBash(t, []row{
		{"foo --version", "+Bash(* --version)", Allowed}, {"bash --version", "+Bash(* --version)", Asked}, {"python3 x --version", "+Bash(* --version)", Asked}, {"sudo x --version", "+Bash(* --version)", Asked},
		{"eval x --version", "+Bash(* --version)", Asked}, {"source x --version", "+Bash(* --version)", Asked}, {"/usr/bin/python3 x --version", "+Bash(* --version)", Asked}, {"$x --version", "+Bash(* --version)", Asked},
		{"python3 --version", "+Bash(python3 --version)", Allowed}, {"bash x", "+Bash(*)", Allowed},
	})
}

func TestRule16OnlyHarmlessVariablesMayBeSet(t *testing.T) {
	checkBash(t, []row{
		{"CI=1 a", "+Bash(a)", Allowed}, {"NODE_ENV=test LC_ALL=C GOOS=linux a", "+Bash(a)", Allowed}, {"NODE_ENV=$x a", "+Bash(a)", Asked}, {"NODE_ENV=$(a) a", "+Bash(a)", Asked}, {"PATH=/x a", "+Bash(a)", Asked},
		{"LD_PRELOAD=x a", "+Bash(a)", Asked}, {"ci=1 a", "+Bash(a)", Asked}, {"CI+=1 a", "+Bash(a)", Asked}, {"CIX=1 a", "+Bash(a)", Asked}, {"LC_= a", "+Bash(a)", Allowed}, {"CI= a", "+Bash(a)", Allowed}, {"NODE_OPTIONS=x a", "+Bash(a)", Asked},
	})
}

func TestRule17OnlyPlainExpansionsAndVisibleCharacters(t *testing.T) {
	checkBash(t, []row{
		{"a $x ${x} $(a)", "+Bash(a *)", Allowed}, {"a <(a)", "+Bash(a *)", Allowed}, {"a ${x:-y}", "+Bash(a *)", Asked}, {"a ${!x}", "+Bash(a *)", Asked}, {"a ${x[1]}", "+Bash(a *)", Asked}, {"a $((1))", "+Bash(a *)", Asked},
		{"a $[1]", "+Bash(a *)", Asked}, {"a `a`", "+Bash(a *)", Asked}, {"a $1", "+Bash(a *)", Asked}, {"a $@", "+Bash(a *)", Asked}, {"a $?", "+Bash(a *)", Asked}, {"a >(a)", "+Bash(a *)", Asked}, {"a $\"x\"", "+Bash(a *)", Asked},
		{"a @(x|y)", "+Bash(a *)", Asked}, {"a ${x@P}", "+Bash(a *)", Asked}, {"a 'é'", "+Bash(a *)", Allowed}, {"a\tb", "+Bash(a *)", Allowed}, {"a \n", "+Bash(a *)", Allowed},
		{"a \u202e", "+Bash(a *)", Asked}, {"a \u200b", "+Bash(a *)", Asked}, {"a\u00a0b", "+Bash(a*)", Asked}, {"a \u2028", "+Bash(a *)", Asked}, {"a \x1b", "+Bash(a *)", Asked}, {"a \x00", "+Bash(a *)", Asked}, {"a \ue000", "+Bash(a *)", Asked},
		{"a \r", "+Bash(a *)", Asked}, {"a \x7f", "+Bash(a *)", Asked}, {"a \ufeff", "+Bash(a *)", Asked}, {"a \U000e0041", "+Bash(a *)", Asked},
		{"a \r", "+Bash", Asked}, {"r\x00m x", "+Bash; -Bash(rm *)", Asked}, {"rm\rx", "+Bash; -Bash(rm *)", Asked},
	})
}

func TestRule18OptionsThatRunCodeHaveToBeInTheRule(t *testing.T) {
	for _, r := range []struct{ program, args string }{
		{"find", ". -exec x"}, {"find", ". -execdir x"}, {"find", ". -ok x"}, {"find", ". -delete"}, {"find", ". -fprintf x y"}, {"find", ". -fls x"}, {"git", "-c a=b status"}, {"git", "-C x status"}, {"git", "--git-dir=x status"},
		{"git", "--exec-path=x status"}, {"git", "fetch --upload-pack x"}, {"git", "fetch --upload-pa=x"}, {"git", "grep -Ox y"}, {"git", "diff --output=x"}, {"git", "diff --ext-diff"}, {"git", "clone ext::x"}, {"git", "rebase -x y"},
		{"git", "submodule-x -vx"}, {"git", "config a b"}, {"npm", "run --script-shell=x y"}, {"npm", "run --script-sh=x y"}, {"npm", "run -script-shell x y"}, {"npm", "--prefix x run y"}, {"pnpm", "-C x run y"}, {"yarn", "--node-options=x y"},
		{"tar", "-x --to-command=y"}, {"tar", "-xIy"}, {"tar", "xIf y z"}, {"tar", "--checkpoint-action=exec=x"}, {"tar", "--use-comp x"}, {"sort", "-o x"}, {"sort", "-uox"}, {"sort", "--compress-program=x"}, {"rsync", "-e x a b"}, {"rsync", "-ave x a b"},
		{"ssh", "-oProxyCommand=x h"}, {"ssh", "-F x h"}, {"curl", "-o x u"}, {"curl", "-sSLo x u"}, {"curl", "-O u"}, {"curl", "-K x"}, {"curl", "-T x u"}, {"curl", "--data-binary @x u"}, {"wget", "-O x u"}, {"wget", "--post-file=x u"}, {"sed", "-i s/a/b/ f"},
		{"sed", "1e f"}, {"sed", "s/a/b/e f"}, {"sed", "s/a/b/w f"}, {"sed", "-n '/x/w f'"}, {"sed", "-f x"}, {"sed", "-e s/a/b/ -e 'e x'"}, {"awk", "'{system(\"x\")}' f"}, {"awk", "'{print|\"x\"}'"}, {"awk", "'{print>\"x\"}'"}, {"awk", "'{getline}'"}, {"awk", "-f x"},
		{"go", "test -exec x"}, {"go", "build -toolexec=x"}, {"go", "vet --vettool x"}, {"go", "build -o x"}, {"cargo", "build --config x"}, {"make", "SHELL=x"}, {"make", "-C x"}, {"make", "-fx"}, {"docker", "run -v /:/x y"}, {"docker", "run --privileged y"}, {"rg", "--pre x y"}, {"fd", "-x y"}, {"fd", "-HX y"},
	} {
		cmd := r.program + " " + r.args
		if v := rulesOf(t, "+Bash("+r.program+" *)").Decide(bashCall(cmd), tree{}); v.Decision != Asked {
			t.Errorf("%q with %s *: %s", cmd, r.program, v.Decision)
		}
	}
	checkBash(t, []row{
		{"find . -name x", "+Bash(find *)", Allowed}, {"find . -exec grep x", "+Bash(find * -exec grep *)", Allowed}, {"find . -exec grep x -exec rm y", "+Bash(find * -exec grep *)", Asked}, {"find . -delete", "+Bash(find . -delete)", Allowed},
		{"find . -name ' -exec grep ' -exec x", "+Bash(find * -exec grep *)", Asked}, {"git -C x status", "+Bash(git -C * status)", Allowed}, {"git -C x -c a=b status", "+Bash(git -C * status)", Asked}, {"curl -o x u", "+Bash(curl -o *)", Allowed},
		{"curl -o x -o y u", "+Bash(curl -o *)", Asked}, {"npm run x -- --prefix y", "+Bash(npm run *)", Allowed}, {"npm run $x", "+Bash(npm run *)", Asked}, {"npm run y -- $x", "+Bash(npm run *)", Allowed}, {"find . -- $x", "+Bash(find *)", Asked},
		{"sed s/a/b/g f", "+Bash(sed *)", Allowed}, {"sed 's|[0-9]|x|' f", "+Bash(sed *)", Allowed}, {"sed -n 5,10p f", "+Bash(sed *)", Allowed}, {"sed -n -e 5p f", "+Bash(sed *)", Allowed}, {"sed 's/[/]/e' f", "+Bash(sed *)", Asked}, {"sed -i s/a/b/ f", "+Bash(sed -i *)", Allowed},
		{"awk '{print $1}' f", "+Bash(awk *)", Allowed}, {"awk -F, '{print $1}' f", "+Bash(awk *)", Allowed}, {"git log --oneline", "+Bash(git *)", Allowed}, {"timeout 5 git -c a=b log", "+Bash(git *)", Asked}, {"go test ./...", "+Bash(go test *)", Allowed},
		{"tar xzf a.tgz", "+Bash(tar *)", Allowed}, {"curl -fsS https://x", "+Bash(curl *)", Allowed},
	})
}

func TestRule19NoGitNoRelativeProgramAfterCdAndNoDeniedPath(t *testing.T) {
	for _, allow := range []string{"+Bash(git status); +Bash(./x *); +Bash(cat *); +Bash(cd *)", "+Bash"} {
		checkBash(t, []row{
			{"cd sub && git status", allow, Asked}, {"git status && cd sub", allow, Allowed}, {"cd sub && ./x", allow, Asked}, {"./x && cd sub", allow, Allowed}, {"(cd sub); git status", allow, Asked}, {"command cd sub; git status", allow, Asked},
			{"cd sub && cat < f", allow, Asked}, {"cat .env", allow + "; -Read(./.env)", Asked}, {"cat sub/.env", allow + "; -Read(.env)", Asked}, {"cat .ENV", allow + "; -Read(.env)", Asked}, {"cat .en*", allow + "; -Read(.env)", Asked},
			{"cat --file=.env", allow + "; -Read(.env)", Asked}, {"cat -f.env", allow + "; -Read(.env)", Asked}, {"cat @.env", allow + "; -Read(.env)", Asked}, {"cat /w/sub/../.env", allow + "; -Read(/.env)", Asked}, {"cat .env", allow + "; -Edit(.env)", Asked},
			{"cat ~/.ssh/id", allow + "; -Read(~/.ssh/**)", Asked}, {"cat README", allow + "; -Read(.env)", Allowed}, {"cat secrets/a", allow + "; -Read(secrets)", Asked},
		})
	}
	checkBash(t, []row{{"for i in 1 2; do git status; cd sub; done", "+Bash", Asked}, {"git() { cd sub; }; git status", "+Bash", Asked}, {"eval 'cd sub'; git status", "+Bash", Asked}})
	if v := rulesOf(t, "+Bash(cat *); -Read(/secret)").Decide(bashCall("cat link"), tree{"/w": "/", "/w/link": "/w/secret"}); v.Decision != Asked {
		t.Errorf("a link to a denied path: %s", v.Decision)
	}
}

func TestRule20Redirections(t *testing.T) {
	for _, allow := range []string{"+Bash(a *)", "+Bash"} {
		edit := allow + "; +Edit(/out/**)"
		checkBash(t, []row{
			{"a >/dev/null 2>&1 <&- 3>&2", allow, Allowed}, {"a 2>&1-", allow, Asked}, {"a <<E\nx\nE", allow, Allowed}, {"a < f", allow, Allowed}, {"a < /etc/hosts", allow, Asked}, {"a < /etc/hosts", allow + "; +Read(//etc/hosts)", Allowed},
			{"a > f", allow, Asked}, {"a > out/f", edit, Allowed}, {"a >> out/f", edit, Allowed}, {"a >| out/f", edit, Allowed}, {"a &> out/f", edit, Allowed}, {"a &>> out/f", edit, Allowed}, {"a <> out/f", edit, Allowed}, {"a 2> f", edit, Asked},
			{"a > $x", edit, Asked}, {"a > out/../f", edit, Asked}, {"a > out/../out/f", edit, Asked}, {"a {fd}> out/f", edit, Asked}, {"a >& out/f", edit, Asked}, {"a > /dev/tcp/h/1", allow + "; +Edit(//**)", Asked}, {"a < /proc/self/environ", allow + "; +Read(//**)", Asked},
			{"a > out/.git/x", edit, Asked}, {"a > '~/x'", edit, Asked}, {"a > ~/x", edit, Asked}, {"a > ~root/x", edit, Asked}, {"a > out/*", edit, Asked}, {"a > out/f > g", edit, Asked}, {"(a) > f", edit, Asked}, {"(a) > out/f", edit, Allowed}, {"{ a; } > f", edit, Asked},
			{"cd sub && a > out/f", edit, Asked}, {"cd sub && a > /w/out/f", edit, Allowed}, {"a > out/f", edit + "; -Edit(/out/f)", Denied}, {"a < .env", allow + "; -Read(.env)", Denied}, {"a < .env", allow + "; ?Read(.env)", Asked}, {"a > .env", edit + "; -Read(.env)", Denied},
			{"sh -c 'a > .env'", "+Bash; -Edit(.env)", Denied}, {"sh -c 'a > f'", "+Bash", Asked},
		})
		c := bashCall("a > out/f")
		c.ShellCwd = ""
		if v := rulesOf(t, edit).Decide(c, tree{}); v.Decision != Asked {
			t.Errorf("a relative redirection from an unknown directory: %s", v.Decision)
		}
		if v := rulesOf(t, edit).Decide(bashCall("a > out/f"), tree{"/w": "/", "/w/out": "/etc"}); v.Decision != Asked {
			t.Errorf("a redirection through a link: %s", v.Decision)
		}
	}
}

func TestRule21BareBashLiftsTheProofButNotTheSuspicion(t *testing.T) {
	checkBash(t, []row{
		{"if a; then b; fi", "+Bash", Allowed}, {"X=1; $X", "+Bash", Allowed}, {"PATH=/x a", "+Bash", Allowed}, {"a ${x:-1} $((2))", "+Bash", Allowed}, {"find . -delete", "+Bash", Allowed}, {"npm run $x", "+Bash", Allowed},
		{"rm x", "+Bash; -Bash(rm *)", Denied}, {"$x y", "+Bash; -Bash(rm *)", Asked}, {"mywrapper rm x", "+Bash; -Bash(rm *)", Asked}, {"cd a; git status", "+Bash", Asked}, {"a > f", "+Bash", Asked}, {"> f", "+Bash", Asked}, {"# a", "+Bash", Asked},
	})
	c := callOf("Bash", "command", "ls", "dangerouslyDisableSandbox", true)
	if v := rulesOf(t, "+Bash").Decide(c, tree{}); v.Decision != Asked {
		t.Errorf("outside the sandbox: %s", v.Decision)
	}
}
