package scripted

// rawStep prints a line as it is: garbage, null, a type no one knows.
type rawStep struct {
	line string
	half bool // without a newline
}

func (s rawStep) run(v *voice) error {
	line := v.text(s.line)
	return v.saying(func() {
		if s.half {
			v.process.write([]byte(line))
		} else {
			v.process.put([]byte(line))
		}
	})
}

// halfLine is what `half` writes if the script does not say.
const halfLine = `{"type":"stream_event","event":{"type":"content_block_del`

// exitStep ends the process in the middle of whatever it does.
type exitStep struct {
	code    int
	message string // for stderr
}

func (s exitStep) run(v *voice) error {
	if s.message != "" {
		_, _ = v.process.errOut.Write([]byte(v.text(s.message) + "\n"))
	}
	v.process.leave(s.code)
	return errGone
}

// dieStep is kill -9.
type dieStep struct{}

func (dieStep) run(v *voice) error {
	if v.process.kill != nil {
		v.process.kill()
	}
	v.process.leave(killed)
	return errGone
}

// ignoreStep makes the process deaf: to interrupt, term, eof or initialize.
type ignoreStep struct{ what string }

func (s ignoreStep) run(v *voice) error {
	v.process.lock()
	defer v.process.unlock()
	v.process.ignore(s.what)
	return nil
}

// modeStep changes the permission mode, as the model does with EnterPlanMode.
type modeStep struct{ mode string }

func (s modeStep) run(v *voice) error {
	return v.saying(func() { v.process.changeMode(s.mode) })
}

// titleStep names the session.
type titleStep struct{ title string }

func (s titleStep) run(v *voice) error {
	title := v.text(s.title)
	return v.saying(func() {
		p := v.process
		p.put(event("system").str("subtype", "session_title_changed").str("title", title).str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	})
}
