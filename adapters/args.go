package adapters

import (
	"slices"
	"strconv"
	"strings"
)

// Args is the argument list for a session over stdio. A flag and its value are one argument ("--model=opus"), so that no value,
// whatever it begins with, is taken for a flag, and no list takes in what follows it. --verbose is needed by stream-json. What the CLI
// cannot do without the rejected flags is no feature of this run any more.
func (b *baseline) Args(o Options) []string {
	b.traits.drop(o.Without)
	a := arguments{traits: &b.traits, without: o.Without}
	a.flag("-p")
	a.value("--output-format", "stream-json")
	a.value("--input-format", "stream-json")
	a.flag("--verbose")
	a.flag("--include-partial-messages")
	a.value("--permission-prompt-tool", "stdio")
	a.flag("--replay-user-messages")
	if o.PermissionMode == "" {
		o.PermissionMode = "default"
	}
	a.value("--permission-mode", o.PermissionMode)
	if o.AllowBypass {
		a.flag("--allow-dangerously-skip-permissions")
	}
	if o.Restricted {
		a.words("--setting-sources", "user")
		a.flag("--strict-mcp-config")
	}

	resuming := o.Resume != "" || o.Continue
	switch {
	case o.Resume != "":
		a.value("--resume", o.Resume)
	case o.Continue:
		a.flag("--continue")
	}
	if resuming && o.Fork {
		a.flag("--fork-session")
	}
	if o.SessionID != "" && (!resuming || o.Fork && b.traits.forksToID) {
		a.value("--session-id", o.SessionID)
	}

	if o.Model != "" {
		a.value("--model", o.Model)
	}
	if o.Effort != "" {
		a.value("--effort", o.Effort)
	}
	for _, dir := range o.AddDirs {
		a.value("--add-dir", dir)
	}
	if o.AppendSystemPrompt != "" {
		a.value("--append-system-prompt", o.AppendSystemPrompt)
	}
	if len(o.MCPConfig) > 0 {
		a.value("--mcp-config", string(o.MCPConfig))
	}
	if o.MaxTurns > 0 {
		a.value("--max-turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		a.value("--max-budget-usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	if o.MaxThinkingTokens > 0 {
		a.value("--max-thinking-tokens", strconv.Itoa(o.MaxThinkingTokens))
	}
	return a.list
}

// arguments collects the flags that this version has and has not rejected.
type arguments struct {
	list    []string
	traits  *traits
	without []string
}

// optional are the flags that not every version has; all others are in all of them.
var optional = newest().flags

func (a *arguments) has(name string) bool {
	return (!optional[name] || a.traits.flags[name]) && !slices.Contains(a.without, name)
}

func (a *arguments) flag(name string) {
	if a.has(name) {
		a.list = append(a.list, name)
	}
}

func (a *arguments) value(name, value string) {
	if a.has(name) {
		// An argument of a process cannot hold a NUL.
		a.list = append(a.list, name+"="+strings.ReplaceAll(value, "\x00", ""))
	}
}

// words is value as two arguments. 2.0.0 looks for --setting-sources before it parses its command line, and does not see the other
// form: it then runs the project's hooks.
func (a *arguments) words(name, value string) {
	if a.has(name) {
		a.list = append(a.list, name, value)
	}
}
