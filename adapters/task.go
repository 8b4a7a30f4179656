package adapters

// task is what the adapter knows of a task that runs: later lines about it repeat little.
type task struct {
	toolUseID  string
	kind       string
	title      string
	background bool
	over       bool // ended, its notification may still come
}

// taskLine reads system/task_started, task_progress, task_updated and task_notification (2.1.112 on).
func (b *baseline) taskLine(l *line, m *Message) {
	var id, use, kind, description, status, patch, background, tool, summary, usage []byte
	for o := object(l.span); o.next(); {
		switch string(o.key) {
		case "task_id":
			id = o.val
		case "tool_use_id":
			use = o.val
		case "task_type":
			kind = o.val
		case "description":
			description = o.val
		case "status":
			status = o.val
		case "patch":
			patch = o.val
		case "is_backgrounded":
			background = o.val
		case "last_tool_name":
			tool = o.val
		case "summary":
			summary = o.val
		case "usage":
			usage = o.val
		}
	}
	if !isString(id) || len(id) == 2 {
		m.malformed("no task_id")
		return
	}
	key := str(id)
	t := b.tasks[key]
	if t == nil {
		t = &task{kind: "agent"}
		b.tasks[key] = t
	}
	started := is(l.subtype, "task_started")
	if isString(use) {
		t.toolUseID = str(use)
		b.agents[key] = t.toolUseID // an agent's task id is its agent id
	}
	if started {
		t.kind, t.title, t.background = taskKind(kind), str(description), isTrue(background)
	}
	for o := object(patch); o.next(); {
		switch string(o.key) {
		case "status":
			status = o.val
		case "description":
			t.title = str(o.val)
		case "is_backgrounded":
			t.background = isTrue(o.val)
		}
	}
	state := taskStatus(status)
	t.over = state != "running"
	m.Kind = TaskUpdate
	m.Task = &Task{
		ID: key, ToolUseID: t.toolUseID, Kind: t.kind, Status: state, Title: t.title, Background: t.background,
		LastTool: str(tool), Summary: str(summary),
	}
	if isObject(usage) {
		m.Task.Usage = usage
	}
	if is(l.subtype, "task_notification") {
		delete(b.tasks, key)
		delete(b.agents, key)
	}
}

// liveTasks reads background_tasks_changed (2.1.329), the list of all background tasks that run. What is not in it has ended, if
// it ran in the background at all.
func (b *baseline) liveTasks(l *line, m *Message) {
	m.Kind, m.Task = TaskUpdate, &Task{Live: true, LiveIDs: []string{}}
	live := map[string]bool{}
	for e := array(member(l.span, "tasks")); e.next(); {
		if id := str(member(e.val, "task_id")); id != "" {
			m.Task.LiveIDs = append(m.Task.LiveIDs, id)
			live[id] = true
		}
	}
	for id, t := range b.tasks {
		if t.over || t.background && !live[id] {
			delete(b.tasks, id)
			delete(b.agents, id)
		}
	}
}

func taskKind(span []byte) string {
	switch str(span) {
	case "local_bash", "bash", "shell", "monitor":
		return "command"
	}
	return "agent"
}

// taskStatus translates the CLI's words.
func taskStatus(span []byte) string {
	switch s := str(span); s {
	case "completed", "failed", "stopped":
		return s
	case "killed":
		return "stopped"
	}
	return "running" // running, pending, paused, or a line that tells no status
}

// isAgentTool: the tool is called Task up to 2.1.17 and Agent from 2.1.112 on.
func isAgentTool(name string) bool { return name == "Task" || name == "Agent" }

// agentStarts makes a task of the agent tool's start where the CLI tells of none.
func (b *baseline) agentStarts(u *ToolUse, m *Message) {
	if !b.traits.silentTasks || !isAgentTool(u.Name) {
		return
	}
	t := Task{ID: u.ID, ToolUseID: u.ID, Kind: "agent", Status: "running", Title: str(member(u.Input, "description"))}
	b.tasks[u.ID] = &task{toolUseID: u.ID, kind: t.Kind, title: t.Title}
	m.Tasks = append(m.Tasks, t)
}

// ended forgets a tool use whose result has come, and ends the task that was made of its start.
func (b *baseline) ended(r *ToolResult, m *Message) {
	if t := b.tasks[r.ToolUseID]; t != nil && b.traits.silentTasks {
		status := "completed"
		switch {
		case r.Background:
			status, t.background = "running", true
		case r.Interrupted:
			status = "stopped"
		case r.IsError:
			status = "failed"
		}
		m.Tasks = append(m.Tasks, Task{
			ID: r.ToolUseID, ToolUseID: r.ToolUseID, Kind: t.kind, Status: status, Title: t.title, Background: t.background,
		})
		if !r.Background {
			delete(b.tasks, r.ToolUseID)
		}
	}
	delete(b.voices, r.ToolUseID)
	if r.Background {
		return // its tool use goes on to be the parent of what the agent does
	}
	delete(b.uses, r.ToolUseID)
}

// forget drops what no line can concern any more once a turn is over: all tool uses but those of tasks that go on.
func (b *baseline) forget() {
	on := map[string]bool{}
	for id, t := range b.tasks {
		if t.over || !t.background {
			delete(b.tasks, id)
			delete(b.agents, id)
			continue
		}
		on[t.toolUseID] = true
	}
	for id := range b.uses {
		if !b.below(id, on) {
			delete(b.uses, id)
		}
	}
	for agent, use := range b.agents {
		if !on[use] {
			delete(b.agents, agent)
		}
	}
	for parent := range b.voices {
		if parent != "" && !on[parent] {
			delete(b.voices, parent)
		}
	}
}

// below reports whether a tool use is one of those in roots or made by an agent below them.
func (b *baseline) below(id string, roots map[string]bool) bool {
	for range 64 { // agents nest a few levels; a circle must not hang us
		if roots[id] {
			return true
		}
		use := b.uses[id]
		if use == nil || use.parent == "" {
			return false
		}
		id = use.parent
	}
	return false
}
