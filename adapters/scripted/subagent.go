package scripted

import (
	"fmt"
	"slices"
	"time"
)

// subagentStep hands a task to a subagent. In the foreground its tool use lasts as long as it does; in the background it is
// answered at once, the agent goes on by itself, and the CLI begins a turn of its own when it is done.
type subagentStep struct {
	kind, description string
	background        bool
	steps             []step
	then              []step // what the CLI says in its own turn
	result            string
}

// task is a subagent at work.
type task struct {
	id, run, toolUse  string
	kind, description string
	prompt            string
	background        bool
	step              *subagentStep
	stop              chan struct{}
	stopped           bool
	began             time.Time
	report            string // the last text it said
	tokens, tools     int
}

// delegate runs a subagent for a tool use of v.
func (v *voice) delegate(u *toolUse) error {
	p, s := v.process, u.step.agent
	a := &task{toolUse: u.id, kind: s.kind, description: s.description, prompt: field(u.input, "prompt"), background: s.background,
		step: s, stop: v.stop, began: time.Now()}
	sub := &voice{process: p, turn: v.turn, agent: a, vars: map[string]string{}}
	err := v.saying(func() {
		for name, value := range v.vars {
			sub.vars[name] = value
		}
		a.id, a.run = p.ids.task('a')
		if p.stats.kinds == nil {
			p.stats.kinds = map[string]int{}
		}
		p.stats.kinds[a.kind]++
		if a.background {
			p.stats.background++
			a.stop = make(chan struct{})
			sub.turn = nil
			p.tasks = append(p.tasks, a)
			p.put(p.backgroundTasks())
		} else {
			p.stats.foreground++
		}
		p.put(a.event(p, "task_started").str("description", a.description).str("subagent_type", a.kind).
			bool("is_backgrounded", a.background).int("spawn_depth", 1).str("task_type", "local_agent").str("prompt", a.prompt).
			str("uuid", p.ids.uuid()).str("session_id", p.session).end())
		if !a.background {
			p.put(sub.userLine(newObject().str("role", "user").raw("content", array([]string{textBlock(quoted(a.prompt))})).end(), nil))
		}
	})
	if err != nil {
		return err
	}
	sub.stop = a.stop
	if a.background {
		u.result = "Async agent launched successfully.\nagentId: " + a.id + "\nThe agent is working in the background."
		err := v.finishTool(u, toolOutput{text: u.result, started: a})
		p.work.Go(func() { sub.workInBackground() })
		return err
	}
	err = sub.run(s.steps)
	if err == nil {
		err = sub.closeMessage("end_turn")
	}
	if err != nil {
		v.takeBack(sub)
		return err
	}
	p.lock()
	p.stats.completed++
	p.unlock()
	a.report = a.summary(sub)
	u.result = a.report
	if err := v.saying(func() { a.conclude(p) }); err != nil {
		return err
	}
	return v.finishTool(u, toolOutput{text: "[Subagent hand-back] The report follows:\n  " + u.result, started: a})
}

// takeBack moves what an interrupted subagent had under way into the turn, whose end rejects it all.
func (v *voice) takeBack(sub *voice) {
	v.process.lock()
	defer v.process.unlock()
	v.uses = append(slices.Clone(sub.uses), v.uses...)
}

// workInBackground runs the agent to its end and leaves a notice for a turn of the CLI's own.
func (v *voice) workInBackground() {
	p, a := v.process, v.agent
	err := v.pause(p.script.latency / 2) // after the conversation has gone on, and before its model answers
	if err == nil {
		err = v.run(a.step.steps)
	}
	if err == nil {
		err = v.closeMessage("end_turn")
	}
	report := a.summary(v)
	p.lock()
	defer p.unlock()
	a.report = report
	if err == nil && !a.stopped {
		a.stopped = true
		p.stats.completed++
		p.forget(a)
		a.conclude(p)
		p.put(p.backgroundTasks())
	} else if a.stopped {
		a.report = a.description // all a stopped agent is reported with
		for _, u := range v.uses {
			p.put(u.rejectedLine())
		}
		p.put(v.userLine(newObject().str("role", "user").
			raw("content", array([]string{textBlock(quoted("[Request interrupted by user for tool use]"))})).end(), nil))
	} else {
		return
	}
	p.notices = append(p.notices, a)
	p.notify()
}

// stopTask ends a background agent at once. The caller holds the lock.
func (p *process) stopTask(id string) {
	i := slices.IndexFunc(p.tasks, func(t *task) bool { return t.id == id })
	if i < 0 {
		return
	}
	a := p.tasks[i]
	for _, q := range p.openPrompts(func(q *prompt) bool { return q.agent == a }) {
		p.withdraw(q)
	}
	a.stopped = true
	p.stats.stopped++
	p.forget(a)
	p.put(a.event(p, "task_updated", noToolUse).raw("patch", a.patch("killed")).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	p.put(a.event(p, "task_notification").str("status", "stopped").str("output_file", a.outputFile(p)).str("summary", a.description).
		str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	p.put(p.backgroundTasks())
	close(a.stop)
}

func (p *process) forget(a *task) {
	p.tasks = slices.DeleteFunc(p.tasks, func(t *task) bool { return t == a })
}

const noToolUse = "without tool_use_id"

func (a *task) event(p *process, subtype string, without ...string) *object {
	o := event("system").str("subtype", subtype).str("task_id", a.id).str("run_id", a.run)
	if len(without) == 0 {
		o.str("tool_use_id", a.toolUse)
	}
	return o
}

// progress tells of a tool the agent uses. The caller holds the lock.
func (a *task) progress(p *process, tool string, input []byte) {
	a.tools++
	doing := "Running " + tool
	if d := field(input, "description"); d != "" {
		doing = "Running " + d
	}
	p.put(a.event(p, "task_progress").str("description", doing).str("subagent_type", a.kind).raw("usage", a.usage()).
		str("last_tool_name", tool).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
}

func (a *task) usage() string {
	return newObject().int("total_tokens", a.tokens).int("tool_uses", a.tools).
		int("duration_ms", int(time.Since(a.began)/time.Millisecond)).String()
}

// structured is the tool_use_result of the agent's tool use.
func (a *task) structured(p *process) []byte {
	if a.background {
		return newObject().bool("isAsync", true).str("status", "async_launched").str("agentId", a.id).str("description", a.description).
			str("resolvedModel", p.model).str("prompt", a.prompt).str("outputFile", a.outputFile(p)).bool("canReadOutputFile", true).
			bool("canContinueAgent", true).end()
	}
	return newObject().str("status", "completed").str("prompt", a.prompt).str("agentId", a.id).str("agentType", a.kind).
		raw("content", array([]string{textBlock(quoted(a.report))})).str("resolvedModel", p.model).
		int("totalDurationMs", int(time.Since(a.began)/time.Millisecond)).int("totalTokens", a.tokens).int("totalToolUseCount", a.tools).
		bool("canContinueAgent", true).end()
}

func (a *task) patch(status string) string {
	return newObject().str("status", status).int("end_time", int(time.Now().UnixMilli())).String()
}

// conclude prints the end of a task. The caller holds the lock.
func (a *task) conclude(p *process) {
	p.put(a.event(p, "task_updated", noToolUse).raw("patch", a.patch("completed")).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	o := a.event(p, "task_notification").str("status", "completed").str("output_file", a.outputFile(p)).str("summary", a.report)
	if a.background {
		o.bool("summary_is_report", true)
	}
	p.put(o.raw("usage", a.usage()).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
}

// summary is the agent's report: what the script says, or else its last words.
func (a *task) summary(v *voice) string {
	switch {
	case a.step.result != "":
		return v.text(a.step.result)
	case a.report != "":
		return a.report
	}
	return "Done."
}

func (a *task) outputFile(p *process) string {
	return fmt.Sprintf("%s/tasks/%s.output", p.session, a.id)
}

// backgroundTasks lists the agents at work. The caller holds the lock.
func (p *process) backgroundTasks() []byte {
	var list []string
	for _, a := range p.tasks {
		list = append(list, newObject().str("task_id", a.id).str("run_id", a.run).str("task_type", "local_agent").
			str("subagent_type", a.kind).str("description", a.description).String())
	}
	return event("system").str("subtype", "background_tasks_changed").raw("tasks", array(list)).
		str("uuid", p.ids.uuid()).str("session_id", p.session).end()
}
