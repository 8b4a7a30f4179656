package scripted

import (
	"sync"
	"time"
)

// toolStep is a tool the model uses.
type toolStep struct {
	name    string
	input   string // JSON with $NAMEs
	kind    toolKind
	policy  policy
	forbid  string   // the CLI itself denies it, with this message
	with    []member // set in the can_use_tool request
	takes   time.Duration
	spawn   string // a command that runs meanwhile, as a real child
	real    bool   // do it, do not pretend
	result  string // with $NAMEs; what the tool says
	says    bool   // result is set
	fails   bool
	bytes   int // that much filler in the result
	onAllow []step
	onDeny  []step
	agent   *subagentStep // the tool is a subagent
}

type toolKind int

const (
	plainTool toolKind = iota
	questionTool
	planTool
	todoTool
)

type policy int

const (
	policyTool policy = iota // as the CLI would: read-only tools run, others are asked for
	policyAsk
	policyRun
)

// interactive tools are asked for in every mode.
func (s *toolStep) interactive() bool { return s.kind == questionTool || s.kind == planTool }

// toolUse is one use of a tool, from its block to its result.
type toolUse struct {
	step    *toolStep
	voice   *voice
	id      string
	input   []byte // as the model wrote it
	final   []byte // as it runs: paths absolute, then as the host changed it
	hooks   []call
	prompt  *prompt
	running bool
	verdict verdict
	result  string // what the tool said, or why it was denied
}

func (s *toolStep) run(v *voice) error { return v.useTools([]*toolStep{s}, false) }

// groupStep is several tools in one message, one prompt after the other or all at once.
type groupStep struct {
	tools    []*toolStep
	parallel bool
}

func (s groupStep) run(v *voice) error { return v.useTools(s.tools, s.parallel) }

// useTools writes the blocks of one message, then runs the tools. Parallel ones ask while the message still
// streams; a single one asks between message_delta and message_stop; of serial ones each asks when the one before is done.
func (v *voice) useTools(steps []*toolStep, parallel bool) error {
	var uses []*toolUse
	for _, s := range steps {
		u, err := v.writeTool(s)
		if err != nil {
			return err
		}
		uses = append(uses, u)
		early := parallel || len(steps) == 1
		if err := v.saying(func() {
			v.uses = append(v.uses, u)
			if early {
				v.callPreToolUse(u)
			}
			if parallel && len(u.hooks) == 0 {
				v.open(u, hookAnswer{})
			}
			v.stopBlock()
		}); err != nil {
			return err
		}
	}
	single := uses[0]
	if err := v.closeMessage("tool_use", func() {
		if len(uses) == 1 && len(single.hooks) == 0 {
			v.open(single, hookAnswer{})
		}
	}); err != nil {
		return err
	}
	err := v.runTools(uses, parallel)
	if err != nil {
		return err
	}
	v.owed = true
	if v.turn != nil && v.agent == nil {
		v.turn.fold()
	}
	for _, u := range uses {
		v.remember(u)
		branch := u.step.onAllow
		if !u.verdict.allow {
			branch = u.step.onDeny
		}
		if err := v.run(branch); err != nil {
			return err
		}
	}
	return nil
}

func (v *voice) runTools(uses []*toolUse, parallel bool) error {
	if !parallel {
		for _, u := range uses {
			if err := v.useTool(u); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, len(uses))
	var group sync.WaitGroup
	for i, u := range uses {
		group.Go(func() { errs[i] = v.useTool(u) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTool streams the block of a tool use up to its assistant line.
func (v *voice) writeTool(s *toolStep) (*toolUse, error) {
	u := &toolUse{step: s, voice: v, input: []byte(v.expand(s.input, escaped))}
	u.final = u.input
	if err := v.startMessage(); err != nil {
		return nil, err
	}
	if err := v.closeBlock(); err != nil {
		return nil, err
	}
	m := v.message
	u.id = toolUseID(m)
	empty := newObject().str("type", "tool_use").str("id", u.id).str("name", s.name).raw("input", "{}").String()
	if err := v.openBlock("tool_use", empty); err != nil {
		return nil, err
	}
	const piece = 20 // bytes a delta
	for rest := string(u.input); rest != ""; {
		n := runeCut(rest, piece)
		if err := v.delta("input_json_delta", "partial_json", escaped(rest[:n])); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	u.final = v.process.absolute(u.input)
	if s.kind == planTool {
		u.final = []byte("{}") // 2.1.329 keeps the plan in a file
	}
	return u, v.saying(func() {
		block := newObject().str("type", "tool_use").str("id", u.id).str("name", s.name).bytes("input", u.input)
		line, _ := v.assistantLine(block.end(), nil)
		v.process.put(line)
		if v.agent != nil {
			v.agent.progress(v.process, s.name, u.input)
		}
	})
}

// callPreToolUse: the caller holds the lock.
func (v *voice) callPreToolUse(u *toolUse) {
	u.hooks = v.callHooks("PreToolUse", u.step.name, u.id, func(o *object) {
		o.str("tool_name", u.step.name).bytes("tool_input", u.final).str("tool_use_id", u.id)
	})
}

// open decides or asks. The caller holds the lock.
func (v *voice) open(u *toolUse, hook hookAnswer) {
	verdict, done := v.settled(u, hook)
	if done {
		u.verdict = verdict
		return
	}
	u.prompt = v.askHost(u, hook)
}
