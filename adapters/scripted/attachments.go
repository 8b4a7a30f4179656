package scripted

import "strings"

// attachments are the words that say more of the tool before them.
var attachments map[string]func(p *parser, t *toolStep, rest string) error

func init() {
	attachments = map[string]func(p *parser, t *toolStep, rest string) error{
		"ask":   func(_ *parser, t *toolStep, _ string) error { t.policy = policyAsk; return nil },
		"run":   func(_ *parser, t *toolStep, _ string) error { t.policy = policyRun; return nil },
		"real":  func(_ *parser, t *toolStep, _ string) error { t.real = true; return nil },
		"spawn": func(p *parser, t *toolStep, rest string) (err error) { t.spawn, err = p.template(rest); return err },
		"takes": func(p *parser, t *toolStep, rest string) (err error) { t.takes, err = p.duration(rest); return err },
		"forbid": func(p *parser, t *toolStep, rest string) (err error) {
			if t.forbid, err = p.template(rest); rest == "" {
				return p.fail("forbid wants a message")
			}
			return err
		},
		"with":   (*parser).with,
		"result": (*parser).result,
		"error": func(p *parser, t *toolStep, rest string) error {
			t.fails = true
			return p.result(t, rest)
		},
		"on": (*parser).on,
	}
}

func (p *parser) with(t *toolStep, rest string) error {
	text, err := p.json(rest)
	t.with = append(t.with, members([]byte(text))...)
	return err
}

func (p *parser) result(t *toolStep, rest string) (err error) {
	if n, found := strings.CutPrefix(rest, "bytes "); found {
		t.says = true
		t.bytes, err = p.size(n)
		return err
	}
	text, err := p.template(rest)
	if t.agent != nil {
		t.agent.result = text
		return err
	}
	t.says, t.result = true, text
	return err
}

func (p *parser) on(t *toolStep, rest string) error {
	what, steps, _, err := p.braced(rest)
	switch {
	case err != nil:
		return err
	case what == "allow":
		t.onAllow = steps
	case what == "deny":
		t.onDeny = steps
	default:
		return p.fail("on wants `allow {` or `deny {`")
	}
	return nil
}
