package policy

import (
	"strings"
	"testing"
)

func TestTablesHoldWhatTheLanguageNames(t *testing.T) {
	for _, name := range strings.Fields("env sudo doas su xargs find fd timeout nice nohup command exec builtin setsid flock watch parallel busybox docker ssh npx") {
		if !programs().wrapper[name] {
			t.Errorf("%s is no wrapper", name)
		}
	}
	for _, name := range strings.Fields("CI NODE_ENV NO_COLOR FORCE_COLOR TERM TZ LANG LC_ALL COLUMNS LINES RUST_BACKTRACE GOOS GOARCH CGO_ENABLED PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE") {
		if !variables()(name) {
			t.Errorf("%s is not harmless", name)
		}
	}
	for _, name := range strings.Fields("PATH LD_PRELOAD BASH_ENV ENV IFS NODE_OPTIONS GIT_SSH_COMMAND PYTHONPATH PERL5OPT EDITOR PAGER MANPAGER LC CDPATH HOME GOFLAGS PROMPT_COMMAND npm_config_script_shell") {
		if variables()(name) {
			t.Errorf("%s is harmless", name)
		}
	}
	for _, name := range strings.Fields("find git npm pnpm yarn tar sort rsync ssh curl wget sed awk go cargo make docker rg fd") {
		if options()[name] == nil {
			t.Errorf("%s has no options listed", name)
		}
	}
	for _, name := range strings.Fields("timeout nice nohup stdbuf command time") {
		if _, ok := programs().transparent[name]; !ok {
			t.Errorf("%s is not transparent", name)
		}
	}
	s := newSubject(&Rules{}, callOf("Write"), tree{})
	for _, name := range strings.Fields(".git/x .git .claude/x .drawbridge/x .vscode/x .idea/x .husky/x .github/workflows/x .devcontainer/x .mcp.json .envrc .npmrc .yarnrc .yarnrc.yml .gitmodules .gitattributes .bashrc .zshrc .profile .gitconfig") {
		for _, dir := range []string{"/w/", "/w/a/b/", "/home/u/"} {
			if !s.protects(s.place(dir+name, "", false)) {
				t.Errorf("%s is not protected", dir+name)
			}
		}
	}
	for _, name := range strings.Fields("~/.ssh/x ~/.gnupg/x ~/.aws/x ~/.config/drawbridge/x ~/.config/autostart/x ~/.config/systemd/x ~/.config/nvim/x ~/.config/Code/x") {
		if !s.protects(s.place(name, "", true)) {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range strings.Fields(".gitignore .github/x git/x a.git/x .gitx src/a.go .ssh/x") {
		if s.protects(s.place("/w/"+name, "", false)) {
			t.Errorf("%s is protected", name)
		}
	}
}

func TestNoProgramIsQuietThatRunsOthers(t *testing.T) {
	for name := range programs().quiet {
		if programs().wrapper[name] || programs().shell[name] || programs().interpreter[name] {
			t.Errorf("%s is quiet and runs others", name)
		}
	}
}

func TestNoWidenedRuleLetsAProgramRunAnything(t *testing.T) {
	for _, prefix := range programs().widen {
		name := prefix[0]
		if programs().shell[name] || programs().interpreter[name] || programs().builtin[name] || programs().wrapper[name] && len(prefix) < 2 && name != "fd" {
			t.Errorf("a rule %v * would run anything", prefix)
		}
	}
}
