package adapters

import (
	"bytes"
	"slices"
	"strings"
)

// Todo is an item of the model's list of what is to be done.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"` // pending, in_progress, completed
	ActiveForm string `json:"active_form,omitempty"`
}

// TodoList follows the list through a session. The model writes all of it at once (TodoWrite), or item by item where the CLI
// has those tools (TaskCreate, TaskUpdate: 2.1.112 with CLAUDE_CODE_ENABLE_TASKS); the ids of items only the results tell.
type TodoList struct {
	items   []todoItem
	pending map[string]pendingTodo // tool uses whose result has to come, by id
}

type todoItem struct {
	id string // of TaskCreate; empty in a list of TodoWrite
	Todo
}

type pendingTodo struct {
	tool  string
	input []byte
}

// Apply takes in a message and reports whether the list has changed. Subagents' lists are their own.
func (l *TodoList) Apply(m *Message) bool {
	switch {
	case m.Kind == Cleared || m.Kind == SystemInit && m.Boundary != nil:
		changed := len(l.items) > 0
		*l = TodoList{}
		return changed
	case m.Kind == TurnResult:
		l.pending = nil // no result will come for what is still open
		return false
	case m.Parent != "":
		return false
	}
	changed := false
	for _, block := range m.Blocks {
		switch block.ToolUse.Name {
		case "TodoWrite", "TaskCreate", "TaskUpdate":
			if l.pending == nil {
				l.pending = map[string]pendingTodo{}
			}
			l.pending[block.ToolUse.ID] = pendingTodo{block.ToolUse.Name, bytes.Clone(block.ToolUse.Input)}
		}
	}
	for _, r := range m.Results {
		use, ok := l.pending[r.ToolUseID]
		if !ok {
			continue
		}
		delete(l.pending, r.ToolUseID)
		if !r.IsError {
			changed = l.apply(use, &r) || changed
		}
	}
	return changed
}

// Items is the list as it is.
func (l *TodoList) Items() []Todo {
	items := make([]Todo, 0, len(l.items))
	for _, it := range l.items {
		items = append(items, it.Todo)
	}
	return items
}

func (l *TodoList) apply(use pendingTodo, r *ToolResult) bool {
	before := slices.Clone(l.items)
	in := readInput(use.input)
	switch use.tool {
	case "TodoWrite":
		l.items = l.items[:0:0]
		for _, t := range parseTodos(member(use.input, "todos")) {
			l.items = append(l.items, todoItem{Todo: t})
		}
	case "TaskCreate":
		l.insert(todoItem{
			id:   createdID(r),
			Todo: Todo{Content: in["subject"], Status: "pending", ActiveForm: in["activeForm"]},
		})
	case "TaskUpdate":
		i := slices.IndexFunc(l.items, func(it todoItem) bool { return it.id == in["taskId"] })
		if i < 0 || string(member(r.Structured, "success")) == "false" {
			return false
		}
		it := &l.items[i]
		switch status := in["status"]; status {
		case "deleted":
			l.items = slices.Delete(l.items, i, i+1)
			return true
		case "":
		default:
			it.Status = todoStatus(status)
		}
		if s := in["subject"]; s != "" {
			it.Content = s
		}
		if s := in["activeForm"]; s != "" {
			it.ActiveForm = s
		}
	}
	return !slices.Equal(before, l.items)
}

// insert keeps the order of the ids: results of items created at the same time come in any order.
func (l *TodoList) insert(it todoItem) {
	less := func(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
	i := len(l.items)
	for i > 0 && less(it.id, l.items[i-1].id) {
		i--
	}
	l.items = slices.Insert(l.items, i, it)
}

// createdID is the id TaskCreate gave: in the structured result, or in its text ("Task #1 created successfully: First").
func createdID(r *ToolResult) string {
	if id := str(member(member(r.Structured, "task"), "id")); id != "" {
		return id
	}
	_, after, _ := strings.Cut(str(r.Content), "#")
	id, _, _ := strings.Cut(after, " ")
	return id
}

func parseTodos(span []byte) []Todo {
	var list []Todo
	for e := array(span); e.next(); {
		list = append(list, Todo{
			Content:    str(member(e.val, "content")),
			Status:     todoStatus(str(member(e.val, "status"))),
			ActiveForm: str(member(e.val, "activeForm")),
		})
	}
	return list
}

func todoStatus(s string) string {
	switch s {
	case "in_progress", "completed":
		return s
	}
	return "pending"
}
