package scripted

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// What the CLI says of itself, in a believable size: a tenth of the real 17 KB.
var (
	tools = []string{"Task", "AskUserQuestion", "Bash", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "NotebookEdit",
		"Read", "Skill", "TaskStop", "TodoWrite", "WebFetch", "WebSearch", "Write"}
	commands = []struct{ name, description, hint string }{
		{"clear", "Start a new conversation", ""},
		{"compact", "Summarize the conversation so far", "[what to keep]"},
		{"cost", "Show what this session has cost", ""},
		{"code-review", "Review the current diff", "[low|medium|high]"},
		{"init", "Write a CLAUDE.md for this project", ""},
	}
	agents = []struct{ name, description string }{
		{"general-purpose", "General-purpose agent for multi-step tasks"},
		{"Explore", "Fast read-only search agent"},
		{"Plan", "Software architect agent for designing an implementation"},
	}
	models = []struct{ value, resolved, name, description string }{
		{"default", "claude-opus-5-5", "Default (recommended)", "Use the default model"},
		{"opus", "claude-opus-5-5", "Opus", "Best for everyday, complex tasks"},
		{"sonnet", "claude-sonnet-5-5", "Sonnet", "Efficient for routine tasks"},
		{"haiku", "claude-haiku-5-5", "Haiku", "Fastest for quick answers"},
	}
	styles       = []string{"default", "Concise", "Explanatory", "Learning"}
	capabilities = []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1", "request_marker_lists_v1",
		"ask_user_question_unanswered_v1", "lifecycle_wakeup_source_v1", "sdk_mcp_manifests", "mcp_read_resource_v1"}
)

const (
	contextWindow = 1_000_000
	fastMode      = "sdk_opt_in_required"
)

// initialize registers the host's hooks and answers. It may come again, and after a first turn. The caller holds the lock.
func (p *process) initialize(id string, hooks map[string][]hook) {
	if p.ignoring["initialize"] {
		return
	}
	again := p.initialized
	p.initialized = true
	for name, list := range hooks {
		p.hooks[name] = list
	}
	answer := func() {
		o := newObject().str("subtype", "success").str("request_id", id).bytes("response", p.initializeResponse(len(hooks) > 0)).
			raw("pending_permission_requests", "[]").raw("pending_user_dialog_requests", "[]")
		p.put(event("control_response").bytes("response", o.end()).end())
		if again {
			p.put(p.backgroundTasks())
		}
	}
	if p.script.initializeAfter == 0 {
		answer()
		return
	}
	p.work.Go(func() {
		select {
		case <-time.After(p.script.initializeAfter):
			p.lock()
			defer p.unlock()
			answer()
		case <-p.ctx.Done():
		}
	})
}

func (p *process) initializeResponse(hooksApplied bool) []byte {
	o := newObject()
	var list []string
	for _, c := range commands {
		list = append(list, newObject().str("name", c.name).str("description", c.description).str("argumentHint", c.hint).bool("builtin", true).String())
	}
	o.raw("commands", array(list))
	list = nil
	for _, a := range agents {
		list = append(list, newObject().str("name", a.name).str("description", a.description).String())
	}
	o.raw("agents", array(list)).str("output_style", "default").strings("available_output_styles", styles).
		str("user_output_styles_dir", filepath.Join(p.home(), ".claude", "output-styles"))
	list = nil
	for _, m := range models {
		list = append(list, newObject().str("value", m.value).str("resolvedModel", m.resolved).str("displayName", m.name).
			str("description", m.description).bool("supportsEffort", true).
			strings("supportedEffortLevels", []string{"low", "medium", "high"}).bool("supportsAdaptiveThinking", true).String())
	}
	o.raw("models", array(list)).
		raw("account", `{"tokenSource":"none","apiKeySource":"none","apiProvider":"firstParty"}`).int("pid", os.Getpid()).
		str("claude_code_version", p.script.version).str("current_permission_mode", p.mode)
	if hooksApplied {
		o.bool("hooks_applied", true)
	}
	return o.bool("hook_on_failure_supported", true).int("hooks_when_unanswered_kept", 0).bool("other_hook_ask_outranks_host", true).
		raw("feedback_mode", `{"kind":"disabled"}`).bool("analytics_disabled", true).bool("remote_control_auto_enable", false).
		bool("remote_control_auto_connect_default", false).bool("remote_control_available", false).bool("remote_control_auto_on_by_default", false).
		bool("ide_rc_auto_enable_gate", false).str("fast_mode_state", "off").str("fast_mode_disabled_reason", fastMode).
		str("session_state", "idle").strings("capabilities", capabilities).end()
}

// init is the line before every turn. The caller holds the lock.
func (p *process) init(uuids []string) []byte {
	var commandNames, agentNames []string
	for _, c := range commands {
		commandNames = append(commandNames, c.name)
	}
	for _, a := range agents {
		agentNames = append(agentNames, a.name)
	}
	o := event("system").str("subtype", "init").str("cwd", p.cwd()).str("session_id", p.session).strings("tools", tools).
		raw("mcp_servers", p.serverList()).str("model", p.model).str("permissionMode", p.mode).strings("slash_commands", commandNames).
		strings("terminal_slash_commands", []string{"doctor"}).str("apiKeySource", "none").str("claude_code_version", p.script.version).
		str("output_style", "default").strings("agents", agentNames).strings("skills", []string{"code-review"}).raw("plugins", "[]").
		strings("capabilities", capabilities).bool("analytics_disabled", true).bool("product_feedback_disabled", true).
		bool("served_by_anthropic", false).str("uuid", p.ids.uuid()).
		raw("memory_paths", newObject().str("auto", filepath.Join(p.projectDir(), "memory")+string(filepath.Separator)).String()).
		str("original_cwd", p.cwd()).raw("additional_directories", "[]").str("messaging_socket_path", "/run/user/claude.sock").
		str("fast_mode_state", "off").str("fast_mode_disabled_reason", fastMode).bool("per_turn_effort_active", true).
		bool("ultrathink_available", false).bool("ultrathink_typed_raises", false).str("view_mode", "default")
	if len(uuids) > 0 {
		o.strings("user_message_uuids", uuids)
	}
	return o.end()
}

// cwd is the working directory as reported; the setting `cwd` makes conversations the same on every machine.
func (p *process) cwd() string {
	if p.script.cwd != "" {
		return p.script.cwd
	}
	return p.dir
}

var notAlphanumeric = regexp.MustCompile(`[^A-Za-z0-9]`)

// projectDir is where the CLI keeps its transcripts of this directory.
func (p *process) projectDir() string {
	return filepath.Join(p.home(), ".claude", "projects", notAlphanumeric.ReplaceAllString(p.cwd(), "-"))
}

func (p *process) home() string {
	if p.script.cwd != "" {
		return "/home/user"
	}
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return "/"
}

func array(values []string) string { return "[" + strings.Join(values, ",") + "]" }
