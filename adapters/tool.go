package adapters

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ToolView is what an editor shows of a tool use. All of it comes from the input: the model's own "description" is its claim, and
// never a title.
type ToolView struct {
	Title     string
	Kind      string // read, edit, execute, search, fetch, think, switch_mode, other
	Locations []Location
	Command   string // of a shell tool, verbatim
}

// Location is a place in a file that a tool use concerns. Path is absolute, as the CLI sees it.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 1-based, 0 if none
}

// Describe says what a tool is about to do. cwd is the session's directory, which relative paths are completed with and which is cut
// off the paths in titles. An unknown tool is shown by its name and input.
func Describe(tool string, input json.RawMessage, cwd string) ToolView {
	in := readInput(input)
	d := description{in: in, cwd: cwd}
	v := ToolView{Kind: kindOfTool(tool)}
	switch tool {
	case "Bash", "Monitor":
		v.Command = in["command"]
		v.Title = v.Command
	case "BashOutput", "TaskOutput", "AgentOutputTool":
		v.Title = titled("Output of", first(in, "bash_id", "task_id", "agentId"))
	case "KillShell", "KillBash", "TaskStop":
		v.Title = titled("Stop", first(in, "shell_id", "task_id"))
	case "Read", "NotebookRead":
		v.Title = titled("Read", d.file("file_path", "notebook_path")) + lineRange(in)
		v.Locations = d.locations(lineOf(in["offset"]), "file_path", "notebook_path")
	case "Write":
		v.Title = titled("Write", d.file("file_path"))
		v.Locations = d.locations(0, "file_path")
	case "Edit", "MultiEdit":
		v.Title = titled("Edit", d.file("file_path"))
		if n := len(elementsOf(member(input, "edits"))); n > 1 {
			v.Title += " (" + strconv.Itoa(n) + " changes)"
		}
		v.Locations = d.locations(0, "file_path")
	case "NotebookEdit":
		v.Title = titled("Edit", d.file("notebook_path"))
		if mode := in["edit_mode"]; mode == "insert" || mode == "delete" {
			v.Title += " (" + mode + " a cell)"
		}
		v.Locations = d.locations(0, "notebook_path")
	case "LS":
		v.Title = titled("List", d.file("path"))
		v.Locations = d.locations(0, "path")
	case "Glob":
		v.Title = titled("Find", in["pattern"]) + d.within()
		v.Locations = d.locations(0, "path")
	case "Grep":
		v.Title = titled("Search for", in["pattern"])
		if glob := first(in, "glob", "type"); glob != "" {
			v.Title += " in " + glob
		}
		v.Title += d.within()
		v.Locations = d.locations(0, "path")
	case "WebFetch":
		v.Title = titled("Fetch", in["url"])
	case "WebSearch":
		v.Title = titled("Search the web for", in["query"])
	case "Task", "Agent":
		v.Title = titled(titled("Agent", in["subagent_type"])+":", in["prompt"])
	case "TodoWrite":
		v.Title = todoTitle(input)
	case "TaskCreate":
		v.Title = titled("Add to the list:", in["subject"])
	case "TaskUpdate":
		v.Title = titled(titled("List item", in["taskId"])+":", first(in, "status", "subject"))
	case "TaskList", "TaskGet":
		v.Title = titled("Read the list", in["taskId"])
	case "Skill":
		v.Title = titled(titled("Skill", first(in, "skill", "command")), in["args"])
	case "SlashCommand":
		v.Title = first(in, "command")
	case "EnterPlanMode":
		v.Title = "Go to plan mode"
	case "ExitPlanMode", "exit_plan_mode":
		v.Title = "Carry out the plan"
	case "AskUserQuestion":
		v.Title = "Ask a question"
		if questions, err := ParseQuestions(input); err == nil && len(questions) > 0 {
			v.Title = questions[0].Question
		}
	default:
		v.Title = unknownTitle(tool, input)
	}
	if strings.TrimSpace(v.Title) == "" {
		v.Title = unknownTitle(tool, input)
	}
	return v
}

func kindOfTool(tool string) string {
	switch tool {
	case "Read", "NotebookRead", "LS", "BashOutput", "TaskOutput", "AgentOutputTool", "ListMcpResourcesTool", "ReadMcpResourceTool",
		"ListMcpResources", "ReadMcpResource", "TaskList", "TaskGet":
		return "read"
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return "edit"
	case "Bash", "Monitor", "KillShell", "KillBash", "TaskStop":
		return "execute"
	case "Glob", "Grep":
		return "search"
	case "WebFetch", "WebSearch":
		return "fetch"
	case "Task", "Agent", "TodoWrite", "TaskCreate", "TaskUpdate":
		return "think"
	case "EnterPlanMode", "ExitPlanMode", "exit_plan_mode":
		return "switch_mode"
	}
	return "other"
}

// readInput takes the scalar members of a tool input as strings.
func readInput(input json.RawMessage) map[string]string {
	in := map[string]string{}
	for o := object(input); o.next(); {
		switch {
		case isString(o.val):
			in[string(o.key)] = str(o.val)
		case present(o.val) && !isObject(o.val) && !isArray(o.val):
			in[string(o.key)] = string(o.val)
		}
	}
	return in
}

func elementsOf(span []byte) (list [][]byte) {
	for e := array(span); e.next(); {
		list = append(list, e.val)
	}
	return list
}

func first(in map[string]string, names ...string) string {
	for _, name := range names {
		if in[name] != "" {
			return in[name]
		}
	}
	return ""
}

func titled(verb, what string) string {
	if what == "" {
		return strings.TrimSuffix(verb, ":")
	}
	return verb + " " + what
}

func lineOf(offset string) int {
	n, err := strconv.Atoi(offset)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// lineRange is the part of a file that Read takes, offset being its first line.
func lineRange(in map[string]string) string {
	from, count := max(lineOf(in["offset"]), 1), lineOf(in["limit"])
	switch {
	case count > 0:
		return " (lines " + strconv.Itoa(from) + "–" + strconv.Itoa(from+count-1) + ")"
	case from > 1:
		return " (from line " + strconv.Itoa(from) + ")"
	}
	return ""
}

func todoTitle(input []byte) string {
	items := parseTodos(member(input, "todos"))
	done := 0
	for _, t := range items {
		if t.Status == "completed" {
			done++
		}
	}
	return "Update the list (" + strconv.Itoa(done) + " of " + strconv.Itoa(len(items)) + " done)"
}

// unknownTitle shows a tool nothing is known of: an MCP tool as "server: tool", and the whole input.
func unknownTitle(tool string, input []byte) string {
	name := tool
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		if server, t, ok := strings.Cut(rest, "__"); ok {
			name = server + ": " + t
		}
	}
	if !isObject(input) || !valid(input) {
		return name
	}
	arguments := string(appendJSON(nil, input, ""))
	if arguments == "{}" {
		return name
	}
	return name + " " + arguments
}

// description finishes paths for a view.
type description struct {
	in  map[string]string
	cwd string
}

// file is the path of the first of these members that is there, without the cwd if it lies below.
func (d description) file(names ...string) string {
	p := first(d.in, names...)
	if d.cwd == "" {
		return p
	}
	sep := separator(d.cwd)
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(d.cwd, sep)+sep); ok && rest != "" && !slices.Contains(strings.Split(rest, sep), "..") {
		return rest
	}
	return p
}

func (d description) within() string {
	if p := d.file("path"); p != "" {
		return " in " + p
	}
	return ""
}

func (d description) locations(line int, names ...string) []Location {
	p := first(d.in, names...)
	if p == "" {
		return nil
	}
	return []Location{{Path: absolute(p, d.cwd), Line: line}}
}

// absolute completes a relative path as the CLI would. The CLI may run elsewhere than we do (over ssh), so its own kind of path is
// told from its cwd, not from our system.
func absolute(p, cwd string) string {
	switch {
	case cwd == "", strings.HasPrefix(p, "~"), strings.HasPrefix(p, "/"), strings.HasPrefix(p, `\\`),
		len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/'):
		return p
	}
	if separator(cwd) == "/" {
		return path.Join(cwd, p)
	}
	return strings.TrimSuffix(cwd, `\`) + `\` + strings.TrimPrefix(p, `.\`)
}

func separator(cwd string) string {
	if strings.Contains(cwd, `\`) && !strings.HasPrefix(cwd, "/") {
		return `\`
	}
	return "/"
}
