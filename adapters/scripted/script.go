package scripted

import (
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Script is a parsed script. It holds no state of a conversation: many runs may share it.
type Script struct {
	version         string
	model           string
	cwd             string
	seed            uint32
	pace            time.Duration
	latency         time.Duration
	initializeAfter time.Duration
	real            bool
	forgetful       bool
	ignore          map[string]bool
	unknownOptions  []string
	servers         []server
	rewind          []string
	start           *scene // runs before the first line of stdin
	scenes          []*scene
	standard        *scene
	runs            atomic.Uint32
}

// Version is the CLI version the script pretends to be.
func (s *Script) Version() string { return s.version }

// scene is the answer to the messages it matches.
type scene struct {
	name     string
	patterns []*regexp.Regexp
	steps    []step
}

const defaultVersion = "2.1.329"

func newScript() *Script {
	return &Script{version: defaultVersion, model: "claude-opus-5-5", latency: time.Millisecond, ignore: map[string]bool{}}
}

// find is the first scene whose pattern the prompt matches, or else the one called default. What stars stood for becomes $1 … $9.
func (s *Script) find(prompt string, vars map[string]string) *scene {
	prompt = strings.TrimSpace(prompt)
	for _, sc := range s.scenes {
		for _, p := range sc.patterns {
			if m := p.FindStringSubmatch(prompt); m != nil {
				for i := 1; i < len(m) && i < 10; i++ {
					vars[strconv.Itoa(i)] = m[i]
				}
				return sc
			}
		}
	}
	if strings.HasPrefix(prompt, "/") {
		return nil // the CLI's own commands come before the default
	}
	return s.standard
}

// fallback answers what no scene does: an echo, or in the CLI's own turn the news of a finished agent.
func (s *Script) fallback(origin *task) []step {
	switch {
	case origin == nil:
		if s.standard != nil {
			return s.standard.steps
		}
		return []step{textStep{"Echo: $PROMPT"}}
	case origin.step.then != nil:
		return append([]step{setStep{"RESULT", origin.report}}, origin.step.then...)
	}
	return []step{setStep{"RESULT", origin.report}, textStep{"The background agent has finished: $RESULT"}}
}

type setStep struct{ name, value string }

func (s setStep) run(v *voice) error { v.set(s.name, s.value); return nil }

var blanks = regexp.MustCompile(`\s+`)

// glob compiles a pattern: it must match the whole message, case does not matter, a blank is any white space, * stands for anything.
func glob(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = blanks.ReplaceAllString(regexp.QuoteMeta(parts[i]), `\s+`)
	}
	return regexp.MustCompile(`(?is)^` + strings.Join(parts, `(.*)`) + `$`)
}
