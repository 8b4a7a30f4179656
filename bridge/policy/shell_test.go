//go:build unix

package policy

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This file asks the shells themselves whether an allowed script does what the rules allow and nothing else.

// osFS is the real file system.
type osFS struct{}

func (osFS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (osFS) Readlink(name string) (string, error)   { return os.Readlink(name) }

const (
	fieldSep  = "\x1f"
	recordSep = "\x1e" + fieldSep
	// stub logs its name and arguments with shell built-ins alone, in one write, because stubs in a pipe run at once.
	stub = "#!/bin/sh\nprintf '%s\\037' \"${0##*/}\" \"$@\" '\x1e' >> \"$STUBLOG\"\n"
)

// A yard is a throwaway directory with a PATH of stubs.
type yard struct{ work, bin, home, log string }

func newYard(t *testing.T, stubs, real []string) *yard {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{filepath.Join(root, "work"), filepath.Join(root, "bin"), filepath.Join(root, "home"), filepath.Join(root, "log", "log")}
	for _, dir := range []string{y.work, filepath.Join(y.work, "sub"), y.bin, y.home, filepath.Dir(y.log)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range stubs {
		if err := os.WriteFile(filepath.Join(y.bin, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range real {
		if target, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(target, filepath.Join(y.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return y
}

// files lists everything in the yard but the log.
func (y *yard) files(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(y.work), func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == filepath.Dir(y.log) {
			return cmpSkip(err)
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func cmpSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// run lets a shell run a script and returns the programs that were started, with their arguments.
func (y *yard) run(t *testing.T, shell []string, script string) [][]string {
	t.Helper()
	if err := os.WriteFile(y.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	// Bounded in time and memory, and in a process group of its own, so that nothing it started outlives it.
	limited := append([]string{"-c", `ulimit -t 5; ulimit -v 4000000; exec "$@"`, "sh"}, append(shell, "-c", script)...)
	cmd := exec.CommandContext(ctx, "/bin/sh", limited...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir, cmd.WaitDelay = y.work, time.Second
	cmd.Env = []string{"PATH=" + y.bin, "STUBLOG=" + y.log, "HOME=" + y.home, "x=touch pwned", "y=-exec", "z=;rm q", "e=", "LC_ALL=C.UTF-8"}
	_ = cmd.Run() // the script may fail; what counts is what it ran
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	raw, err := os.ReadFile(y.log)
	if err != nil {
		t.Fatal(err)
	}
	var ran [][]string
	for rec := range bytes.SplitSeq(raw, []byte(recordSep)) {
		if len(rec) > 0 {
			ran = append(ran, strings.Split(strings.TrimSuffix(string(rec), fieldSep), fieldSep))
		}
	}
	return ran
}

func joinedArgs(argv []string) string {
	var words []string
	for _, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n'\"|&;<>()") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// shellsToAsk returns the shells that are installed; zsh may be missing, and then the test says so.
func shellsToAsk(t *testing.T) map[string][]string {
	t.Helper()
	shells := map[string][]string{}
	for name, args := range map[string][]string{"bash": {"--norc", "--noprofile"}, "zsh": {"-f"}} {
		if file, err := exec.LookPath(name); err == nil {
			shells[name] = append([]string{file}, args...)
		} else {
			t.Logf("%s is not installed: allowed scripts are not run in it", name)
		}
	}
	if len(shells) == 0 {
		t.Skip("no POSIX shell to ask")
	}
	return shells
}

// scripts is how many allowed scripts are run: DRAWBRIDGE_POLICY_SCRIPTS or 300.
func scripts(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("DRAWBRIDGE_POLICY_SCRIPTS")); err == nil {
		return n
	}
	if testing.Short() {
		return 50
	}
	return 300
}

// seed is printed with every failure; DRAWBRIDGE_POLICY_SEED repeats a run.
func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("DRAWBRIDGE_POLICY_SEED"), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano())
}

func TestWhatAnAllowedScriptRunsInTheRealShellIsCovered(t *testing.T) {
	shells := shellsToAsk(t)
	allow := []string{"npm run *", "git status", "ls *", "grep *", "foo *"}
	var sources []Source
	var patterns []*regexp.Regexp
	for _, p := range allow {
		sources = append(sources, Source{List: Allow, Text: "Bash(" + p + ")", Scope: ScopeUser})
		patterns = append(patterns, oracle(p))
	}
	sources = append(sources, Source{List: Deny, Text: "Bash(rm *)", Scope: ScopeUser})
	rules, _ := Compile(sources)
	y := newYard(t, strings.Fields("npm git ls grep foo rm touch tee sh bash env sudo find curl cat mv cp test [ a b"), strings.Fields("timeout nice nohup stdbuf xargs"))
	s := seed()
	r := rand.New(rand.NewPCG(s, 1))
	before := y.files(t)
	allowed := 0
	for tries := 0; allowed < scripts(t) && tries < 200*scripts(t); tries++ {
		script := plainGrammar.script(r)
		c := Call{Tool: "Bash", Input: inputOf("command", script), Cwd: y.work, ProjectRoot: y.work, ShellCwd: y.work, Home: y.home}
		if rules.Decide(c, osFS{}).Decision != Allowed {
			continue
		}
		allowed++
		for name, shell := range shells {
			for _, argv := range y.run(t, shell, script) {
				text := joinedArgs(argv)
				if !slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) }) {
					t.Fatalf("seed %d, %s: %q was allowed and ran %q, which no rule covers", s, name, script, argv)
				}
			}
			if after := y.files(t); !slices.Equal(before, after) {
				after = slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) })
				t.Fatalf("seed %d, %s: %q was allowed and left the files %v", s, name, script, after)
			}
		}
	}
	if allowed < scripts(t) {
		t.Errorf("only %d scripts were allowed", allowed)
	}
}

// defines finds a function that damage made: run for real, it could call itself without end.
var defines = regexp.MustCompile(`\(\s*\)|function`)

func TestADeniedProgramNeverRunsEvenWhereBareBashIsAllowed(t *testing.T) {
	shells := shellsToAsk(t)
	rules, _ := Compile([]Source{{List: Allow, Text: "Bash", Scope: ScopeUser}, {List: Deny, Text: "Bash(rm *)", Scope: ScopeUser}})
	y := newYard(t, strings.Fields("ls foo rm a b"), strings.Fields("sh bash env nice xargs find timeout setsid"))
	s := seed()
	r := rand.New(rand.NewPCG(s, 2))
	allowed := 0
	for tries := 0; allowed < scripts(t)/2 && tries < 200*scripts(t); tries++ {
		script := wrappedGrammar.script(r)
		if defines.MatchString(script) {
			continue
		}
		c := Call{Tool: "Bash", Input: inputOf("command", script), Cwd: y.work, ProjectRoot: y.work, ShellCwd: y.work, Home: y.home}
		if rules.Decide(c, osFS{}).Decision != Allowed {
			continue
		}
		allowed++
		for name, shell := range shells {
			for _, argv := range y.run(t, shell, script) {
				if argv[0] == "rm" {
					t.Fatalf("seed %d, %s: %q was allowed and ran %q, which is denied", s, name, script, argv)
				}
			}
		}
	}
	if allowed == 0 {
		t.Error(fmt.Sprint("no script was allowed, seed ", s))
	}
}
