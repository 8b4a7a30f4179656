package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/guard"

	"go.uber.org/zap"
)

// Local is the claude program on this machine, run under a guard.
type Local struct {
	// Command is what the user has set (--claude, or claude.command in the settings): a program and its first arguments, such as
	// "ssh host claude". Empty: the program is looked for.
	Command []string
	// Env is set for every process, on top of the bridge's own environment (claude.env in the settings).
	Env map[string]string
	// StateDir is where the versions of programs are remembered, and where they are asked for their version.
	StateDir string
	Log      *zap.Logger

	mu    sync.Mutex
	found *Found
}

// versionLimit bounds `claude --version`: it takes 24 ms to 1 s.
const versionLimit = 20 * time.Second

// Known is the program as far as it is known without starting anything.
func (l *Local) Known() ClaudeCode {
	argv, err := l.locate("")
	if err != nil {
		return missing(err)
	}
	if version, ok := l.remembered(argv); ok {
		return describe(argv, version)
	}
	return ClaudeCode{Path: argv[0], Level: "unknown", Message: "The version of Claude Code is not known yet."}
}

func missing(err *Error) ClaudeCode {
	return ClaudeCode{Level: "missing", Message: err.Message, Remedy: err.Remedy}
}

// Find locates the program and its version. A session's own directory is no place to take it from.
func (l *Local) Find(ctx context.Context, cwd string) (Found, *Error) {
	argv, err := l.locate(cwd)
	if err != nil {
		return Found{ClaudeCode: missing(err)}, err
	}
	version, ok := l.remembered(argv)
	if !ok {
		var verr error
		if version, verr = l.ask(ctx, argv); verr != nil {
			e := fail(KindClaudeNotFound, "%s does not tell its version: %v", strings.Join(argv, " "), verr)
			return Found{ClaudeCode: ClaudeCode{Path: argv[0], Level: "missing", Message: e.Message, Remedy: e.Remedy}}, e
		}
		l.remember(argv, version)
	}
	found := Found{ClaudeCode: describe(argv, version), Argv: argv, Remote: remote(argv)}
	if found.Level == "incompatible" {
		return found, &Error{Kind: KindClaudeTooOld, Message: found.Message, Remedy: found.Remedy}
	}
	return found, nil
}

// describe says what is to be expected of a version.
func describe(argv []string, version string) ClaudeCode {
	support := adapters.SupportOf(version)
	c := ClaudeCode{Version: version, Path: argv[0], Level: string(support.Level)}
	switch support.Level {
	case adapters.NotKnown:
		c.Version = ""
		c.Message = fmt.Sprintf("Claude Code does not tell its version (it said %q); the newest known one is assumed.", clip(version, 100))
		c.Remedy = "Run the program with --version in a terminal, and set claude.command in the settings if it is the wrong one."
	case adapters.Incompatible:
		c.Remedy = remedies[KindClaudeTooOld]
		c.Message = fmt.Sprintf("Claude Code %s is too old; drawbridge needs %s or newer.", version, adapters.Oldest)
	case adapters.Likely:
		c.Message = fmt.Sprintf("Claude Code %s is newer than %s, the newest one tested: it is likely to work, and what is new in it is left out.", version, adapters.Tested)
		c.Remedy = "Update drawbridge when there is a version for it."
	case adapters.Degraded:
		c.Remedy = remedies[KindClaudeTooOld]
		c.Message = fmt.Sprintf("Claude Code %s works with limits. It lacks: %s.", version, strings.Join(support.Lacks, "; "))
	default:
		c.Message = fmt.Sprintf("Claude Code %s (tested)", version)
	}
	return c
}

// clip shortens a text for people.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// ask runs `claude --version`, in a directory that no project has a say in.
func (l *Local) ask(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	p, err := l.start(Launch{Argv: append(slices.Clone(argv), "--version"), Dir: l.StateDir})
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	defer stop()
	_ = p.Stdin().Close()
	out, _ := io.ReadAll(io.LimitReader(p.Stdout(), 64<<10))
	words, _ := io.ReadAll(io.LimitReader(p.Stderr(), 64<<10))
	exit := p.Wait()
	first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	if v, ok := adapters.ParseVersion(string(first)); ok {
		return v.String(), nil
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case exit.Err != nil:
		return "", exit.Err
	case exit.Code != 0:
		return "", fmt.Errorf("exit status %d: %s", exit.Code, lastLine(string(redact(words))))
	}
	return string(first), nil // nonsense, but it runs: go on with the newest adapter
}

// Start starts the program under a guard.
func (l *Local) Start(launch Launch) (Process, error) {
	return l.start(launch)
}

func (l *Local) start(launch Launch) (*guarded, error) {
	env := environment(l.Env, launch.Env)
	l.Log.Info("starting claude", zap.Strings("argv", launch.Argv), zap.String("dir", launch.Dir), zap.Strings("env", names(env)))
	argv := launch.Argv
	if len(l.Command) > 0 && base(l.Command[0]) == "ssh" {
		argv = quoteRemote(argv, len(l.Command))
	}
	p, err := guard.Start(guard.Command{Argv: argv, Dir: launch.Dir, Env: env})
	if err != nil {
		return nil, err
	}
	return &guarded{p}, nil
}

// inherited are variables by which a claude knows that it runs inside another one, or another editor's: they are not handed down.
var inherited = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"}

// environment is what the process gets: the bridge's own, without what belongs to another claude, and what was set for it.
func environment(sets ...map[string]string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(inherited, name)
	})
	env = append(env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1") // without it rewind_files is refused
	for _, set := range sets {
		for name, value := range set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// names are the names of environment variables; their values do not belong in a log.
func names(env []string) []string {
	list := make([]string, len(env))
	for i, v := range env {
		list[i], _, _ = strings.Cut(v, "=")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// guarded is a guard.Process in the shape of a Process.
type guarded struct{ *guard.Process }

func (g *guarded) Stdin() io.WriteCloser { return g.Process.Stdin }
func (g *guarded) Stdout() io.Reader     { return g.Process.Stdout }
func (g *guarded) Stderr() io.Reader     { return g.Process.Stderr }
func (g *guarded) Terminate() error      { g.Process.Terminate(); return nil }
func (g *guarded) Kill() error           { g.Process.Kill(); return nil }

func (g *guarded) Wait() Exit {
	exit, err := g.Process.Wait()
	e := Exit{Code: exit.Code, Err: err}
	if exit.Signal != 0 {
		e.Signal = exit.Signal.String()
	}
	return e
}

// quoteRemote quotes everything after the user's own words for the shell on the other side: ssh joins its arguments with blanks.
func quoteRemote(argv []string, own int) []string {
	quoted := slices.Clone(argv[:own])
	for _, a := range argv[own:] {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return quoted
}

// remote says whether a command runs the CLI on another machine or in a container, where paths mean other files.
func remote(argv []string) bool {
	switch base(argv[0]) {
	case "ssh", "mosh", "docker", "podman", "nerdctl", "kubectl", "lxc", "incus", "machinectl", "nsenter", "chroot", "distrobox", "toolbox", "wsl", "vagrant", "fly", "gcloud":
		return len(argv) > 1
	}
	return false
}

func base(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}

// locate finds the command: the user's own, CLAUDE_CODE_PATH, PATH, and the usual places of its installers, in this order.
func (l *Local) locate(cwd string) ([]string, *Error) {
	if len(l.Command) > 0 {
		path, err := program(l.Command[0], cwd)
		if err != nil {
			return nil, fail(KindClaudeNotFound, "claude.command names %q: %v", l.Command[0], err)
		}
		return append([]string{path}, l.Command[1:]...), nil
	}
	if path := os.Getenv("CLAUDE_CODE_PATH"); path != "" {
		if !filepath.IsAbs(path) || !executable(path) {
			return nil, fail(KindClaudeNotFound, "CLAUDE_CODE_PATH is %q, which is not an absolute path of a program", path)
		}
		return []string{path}, nil
	}
	if path, err := program("claude", cwd); err == nil {
		return []string{path}, nil
	}
	for _, path := range places() {
		if executable(path) && !within(path, cwd) {
			return []string{path}, nil
		}
	}
	return nil, fail(KindClaudeNotFound, "Claude Code was not found: not on PATH, and not where its installers put it")
}

// program finds a program as a shell would, except that a PATH entry that is empty or relative, inside the workspace, or open to
// everybody is passed over: what lies there may come from anybody.
func program(name, cwd string) (string, error) {
	if filepath.IsAbs(name) {
		if !executable(name) {
			return "", errors.New("there is no such program")
		}
		return name, nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", errors.New("a path must be absolute")
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || within(dir, cwd) || anybodys(dir) {
			continue
		}
		for _, ext := range extensions() {
			if path := filepath.Join(dir, name+ext); executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%w on PATH", exec.ErrNotFound)
}

// anybodys says whether everybody may put files into a directory.
func anybodys(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o002 != 0
}

func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func extensions() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0)
}

// places are where the installers of Claude Code put it.
func places() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	if runtime.GOOS == "windows" {
		return []string{
			filepath.Join(home, ".local", "bin", "claude.exe"),
			filepath.Join(os.Getenv("APPDATA"), "npm", "claude.cmd"),
		}
	}
	list := []string{
		filepath.Join(home, ".local/bin/claude"),
		filepath.Join(home, ".claude/local/claude"),
		"/usr/local/bin/claude",
		"/opt/homebrew/bin/claude",
		filepath.Join(home, ".npm-global/bin/claude"),
		filepath.Join(home, ".bun/bin/claude"),
		filepath.Join(home, ".volta/bin/claude"),
	}
	nodes, _ := filepath.Glob(filepath.Join(home, ".nvm/versions/node/*/bin/claude"))
	slices.Reverse(nodes)
	return append(list, nodes...)
}
