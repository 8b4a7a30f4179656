package scripted

import "time"

// useTool takes a tool from its hooks to its result.
func (v *voice) useTool(u *toolUse) error {
	if u.prompt == nil && u.verdict.source == "" { // not opened while the message was streaming
		if len(u.hooks) == 0 {
			if err := v.saying(func() { v.callPreToolUse(u) }); err != nil {
				return err
			}
		}
		hook, err := v.awaitHooks(u.hooks)
		if err != nil {
			return err
		}
		if err := v.saying(func() { v.open(u, hook) }); err != nil {
			return err
		}
	}
	if u.prompt != nil {
		var err error
		if u.verdict, err = v.hear(u); err != nil {
			return err
		}
	}
	if u.verdict.interrupt {
		v.process.lock()
		v.process.stopTurn()
		v.process.unlock()
		return errInterrupted
	}
	if !u.verdict.allow {
		u.result = u.verdict.message
		return v.finishTool(u, toolOutput{text: u.result, fails: true})
	}
	v.process.lock()
	u.running, u.prompt = true, nil
	v.process.unlock()
	if u.step.agent != nil {
		return v.delegate(u)
	}
	began := time.Now()
	out, err := v.perform(u)
	if err != nil {
		return err
	}
	u.result = out.text
	if err := v.postToolUse(u, out, time.Since(began)); err != nil {
		return err
	}
	return v.finishTool(u, out)
}

// perform runs the tool or pretends to, for as long as the script says.
func (v *voice) perform(u *toolUse) (toolOutput, error) {
	s := u.step
	if s.spawn != "" {
		if _, err := v.process.execute(v, v.text(s.spawn)); err != nil {
			return toolOutput{}, err
		}
	}
	if err := v.pause(s.takes); err != nil {
		return toolOutput{}, err
	}
	if s.real || v.process.script.real && s.kind == plainTool && !s.says {
		return v.really(u)
	}
	out := pretended(u)
	if s.says {
		// The result may speak of the input as it ran.
		own := *v
		own.vars = map[string]string{}
		for name, value := range v.vars {
			own.vars[name] = value
		}
		own.vars["INPUT"] = string(u.final)
		out.text = own.text(s.result)
	}
	out.fails, out.fill = s.fails, s.bytes
	return out, nil
}

func (v *voice) postToolUse(u *toolUse, out toolOutput, took time.Duration) error {
	v.process.lock()
	calls := v.callHooks("PostToolUse", u.step.name, u.id, func(o *object) {
		o.str("tool_name", u.step.name).bytes("tool_input", u.final).bytes("tool_response", out.structured(u)).
			str("tool_use_id", u.id).int("duration_ms", int(took/time.Millisecond))
	})
	v.process.unlock()
	a, err := v.awaitHooks(calls)
	if a.context != "" {
		v.process.lock()
		v.set("CONTEXT", a.context)
		v.process.unlock()
	}
	return err
}

// finishTool prints the result.
func (v *voice) finishTool(u *toolUse, out toolOutput) error {
	return v.saying(func() {
		v.drop(u)
		v.countTool(u)
		prefix, text, suffix := v.resultOf(u, out)
		v.process.putLong(prefix, text, suffix)
	})
}

func (v *voice) countTool(u *toolUse) {
	if t := v.turn; t != nil && v.agent == nil {
		t.tools++
	}
	if !u.verdict.allow {
		v.deny(u)
	}
}

// deny lists a denial in the turn's result.
func (v *voice) deny(u *toolUse) {
	if v.turn != nil {
		v.turn.denials = append(v.turn.denials, newObject().str("tool_name", u.step.name).str("tool_use_id", u.id).
			bytes("tool_input", u.final).String())
	}
}

func (v *voice) drop(u *toolUse) {
	for i, other := range v.uses {
		if other == u {
			v.uses = append(v.uses[:i:i], v.uses[i+1:]...)
			return
		}
	}
}

// remember sets what later lines of the script may speak of.
func (v *voice) remember(u *toolUse) {
	v.set("INPUT", string(u.final))
	v.set("RESULT", u.result)
	if !u.verdict.allow {
		v.set("REASON", u.verdict.message)
	}
	if u.step.kind == questionTool {
		for name, value := range answers(u.final) {
			v.set(name, value)
		}
	}
}

// wait for a child while the turn may be interrupted.
func (v *voice) untilDone(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-v.stop:
		return errInterrupted
	case <-v.process.ctx.Done():
		return errGone
	}
}
