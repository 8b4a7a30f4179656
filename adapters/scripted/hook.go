package scripted

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"time"
)

// hook is a matcher the host has registered at initialize.
type hook struct {
	Matcher   string   `json:"matcher"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   float64  `json:"timeout"` // seconds
}

const hookTimeout = 60 * time.Second

func (h hook) matches(tool string) bool {
	if h.Matcher == "" || h.Matcher == "*" || tool == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + h.Matcher + ")$")
	return err == nil && re.MatchString(tool)
}

// call is a hook_callback under way.
type call struct {
	prompt  *prompt
	hook    hook
	timeout time.Duration
}

// callHooks sends the callbacks of an event. fill adds to the input what belongs to it. The caller holds the lock.
func (v *voice) callHooks(name, tool, toolUseID string, fill func(*object)) []call {
	p := v.process
	var calls []call
	for _, h := range p.hooks[name] {
		if !h.matches(tool) {
			continue
		}
		for _, callback := range h.Callbacks {
			in := newObject().str("session_id", p.session).str("transcript_path", filepath.Join(p.projectDir(), p.session+".jsonl")).
				str("cwd", p.cwd()).str("prompt_id", fmt.Sprintf(uuidShape, p.results+1, p.ids.run&0xffff, 1)).
				str("permission_mode", p.mode).raw("effort", `{"level":"medium"}`).str("hook_event_name", name)
			fill(in)
			request := newObject().str("subtype", "hook_callback").str("callback_id", callback).bytes("input", in.end()).
				str("tool_use_id", toolUseID)
			c := call{prompt: v.ask(request), hook: h, timeout: hookTimeout}
			if h.Timeout > 0 {
				c.timeout = time.Duration(h.Timeout * float64(time.Second))
			}
			calls = append(calls, c)
		}
	}
	return calls
}

// ownTurn is the turn whose interrupt withdraws what this voice asks.
func (v *voice) ownTurn() *turn {
	if v.agent != nil && v.agent.background {
		return nil
	}
	return v.turn
}

// hookAnswer is what hooks said, taken together: a deny outranks an ask, an ask an allow.
type hookAnswer struct {
	decision string // "", allow, ask, deny
	reason   string
	context  string
	timedOut bool
}

// awaitHooks collects the answers. An error answer lets the action go on; an unanswered PreToolUse hook
// blocks the tool, as on 2.1.329.
func (v *voice) awaitHooks(calls []call) (hookAnswer, error) {
	var sum hookAnswer
	rank := map[string]int{"": 0, "allow": 1, "ask": 2, "deny": 3}
	for _, c := range calls {
		a, err := v.await(c.prompt, c.timeout)
		if err != nil {
			return sum, err
		}
		switch {
		case a.lost == "timeout":
			sum.timedOut, sum.decision = true, "deny"
			sum.reason = "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was blocked."
			continue
		case a.err != "":
			fmt.Fprintf(v.process.errOut, "Error in hook callback: %s\n", a.err)
			continue
		}
		var r struct {
			Decision string `json:"decision"`
			Reason   string `json:"reason"`
			Specific struct {
				Decision string `json:"permissionDecision"`
				Reason   string `json:"permissionDecisionReason"`
				Context  string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		_ = json.Unmarshal(a.response, &r)
		decision, reason := r.Specific.Decision, r.Specific.Reason
		if r.Decision == "block" {
			decision, reason = "deny", r.Reason
		}
		if rank[decision] > rank[sum.decision] {
			sum.decision, sum.reason = decision, reason
		}
		if r.Specific.Context != "" {
			sum.context = r.Specific.Context
		}
	}
	return sum, nil
}

// await waits for the answer to a prompt; with a timeout it withdraws it then and reports it lost.
func (v *voice) await(q *prompt, timeout time.Duration) (answer, error) {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case a := <-q.answer:
		return a, v.halted()
	case <-v.stop:
		return answer{}, errInterrupted
	case <-v.process.ctx.Done():
		return answer{}, errGone
	case <-late:
		v.process.lock()
		v.process.withdraw(q)
		v.process.unlock()
		return answer{lost: "timeout"}, nil
	}
}

// submitHooks tells UserPromptSubmit hooks of the prompt, before system/init.
func (t *turn) submitHooks(prompt string) error {
	if t.origin != nil {
		return nil
	}
	return t.simpleHooks("UserPromptSubmit", func(o *object) { o.str("prompt", prompt) })
}

// stopHooks tells Stop hooks that the answer is complete, before the result.
func (t *turn) stopHooks() error {
	return t.simpleHooks("Stop", func(o *object) { o.bool("stop_hook_active", false) })
}

func (t *turn) simpleHooks(name string, fill func(*object)) error {
	p := t.process
	p.lock()
	var calls []call
	if !t.stopped {
		calls = t.callHooks(name, "", p.ids.uuid(), fill)
	}
	p.unlock()
	if len(calls) == 0 {
		return nil
	}
	a, err := t.awaitHooks(calls)
	if a.context != "" {
		t.set("CONTEXT", a.context)
	}
	return err
}
