package scripted

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

func (p *parser) duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, p.fail("%q is no duration (50ms, 2s)", s)
	}
	return d, nil
}

func (p *parser) count(s string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil || n < 0 {
		return 0, p.fail("%q is no number", s)
	}
	return n, nil
}

// size is a number of bytes: 100, 20KB, 50MB.
func (p *parser) size(s string) (int, error) {
	unit := 1
	for suffix, factor := range map[string]int{"KB": 1 << 10, "MB": 1 << 20} {
		if number, found := strings.CutSuffix(s, suffix); found {
			s, unit = number, factor
		}
	}
	n, err := p.count(strings.TrimSpace(s))
	return n * unit, err
}

func (p *parser) ignorable(what string) error {
	switch what {
	case "interrupt", "term", "eof", "initialize":
		return nil
	}
	return p.fail("cannot ignore %q (interrupt, term, eof or initialize)", what)
}

var variables = map[string]bool{"PROMPT": true, "FOLDED": true, "REASON": true, "INPUT": true, "ANSWER": true, "RESULT": true,
	"CONTEXT": true, "MODE": true, "MODEL": true, "SESSION": true, "CWD": true}

// template checks the $NAMEs of a text.
func (p *parser) template(text string) (string, error) {
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[1], ".")
		if name != "$" && (name[0] < '1' || name[0] > '9') && !variables[name] {
			return "", p.fail("unknown variable $%s; a dollar sign is written $$", name)
		}
	}
	return text, nil
}

// json checks a JSON object with $NAMEs and takes the blanks out.
func (p *parser) json(text string) (string, error) {
	if _, err := p.template(text); err != nil {
		return "", err
	}
	// A name may stand for a number, so it is checked as one; the text itself is kept.
	if !json.Valid([]byte(variable.ReplaceAllString(text, "0"))) || !strings.HasPrefix(text, "{") {
		return "", p.fail("not a JSON object: %s", text)
	}
	if json.Valid([]byte(text)) {
		text = string(merge([]byte(text), nil))
	}
	return text, nil
}
