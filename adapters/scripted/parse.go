package scripted

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// ParseError says where a script is wrong.
type ParseError struct {
	Scene   string // "" in the settings
	Line    int    // of the archive, from 1
	Message string
}

func (e *ParseError) Error() string {
	if e.Scene == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return fmt.Sprintf("line %d, scene %s: %s", e.Line, e.Scene, e.Message)
}

// Parse reads a script. Its language is described at the top of the package.
func Parse(archive []byte) (*Script, error) {
	s := newScript()
	ar := txtar.Parse(archive)
	settings := &parser{lines: strings.Split(string(ar.Comment), "\n"), first: 1}
	if err := settings.settings(s); err != nil {
		return nil, err
	}
	at := 1 + strings.Count(string(ar.Comment), "\n")
	for _, f := range ar.Files {
		at++ // the line with its name
		p := &parser{scene: f.Name, lines: strings.Split(string(f.Data), "\n"), first: at}
		at += strings.Count(string(f.Data), "\n")
		sc, err := p.parseScene()
		if err != nil {
			return nil, err
		}
		switch f.Name {
		case "start":
			s.start = sc
		case "default":
			s.standard = sc
		default:
			s.scenes = append(s.scenes, sc)
		}
	}
	return s, nil
}

// parser reads the lines of one file of the archive.
type parser struct {
	scene string
	lines []string
	first int // line of the archive on which lines[0] stands
	next  int
}

func (p *parser) fail(format string, args ...any) error {
	return &ParseError{Scene: p.scene, Line: p.first + p.next - 1, Message: fmt.Sprintf(format, args...)}
}

// statement is one directive: a line, or a line and the text after <<WORD.
type statement struct{ word, rest string }

var heredoc = regexp.MustCompile(`^(.*?)\s*<<([A-Z]+)$`)

// statement reads the next directive; ok is false at the end.
func (p *parser) statement() (st statement, ok bool, err error) {
	for p.next < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.next])
		p.next++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if m := heredoc.FindStringSubmatch(line); m != nil {
			body, err := p.heredoc(m[2])
			if err != nil {
				return st, false, err
			}
			st.word, st.rest, _ = strings.Cut(m[1], " ")
			if st.rest != "" {
				st.rest += " "
			}
			st.rest += body
			return st, true, nil
		}
		st.word, st.rest, _ = strings.Cut(line, " ")
		st.rest = strings.TrimSpace(st.rest)
		return st, true, nil
	}
	return st, false, nil
}

// heredoc is the text up to a line that is end, without the indentation its lines have in common.
func (p *parser) heredoc(end string) (string, error) {
	began := p.next
	for i := p.next; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) == end {
			p.next = i + 1
			return strings.Join(outdent(p.lines[began:i]), "\n"), nil
		}
	}
	return "", p.fail("no line %s ends the text", end)
}

func outdent(lines []string) []string {
	common, found := "", false
	for _, l := range lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
		switch {
		case strings.TrimSpace(l) == "":
		case !found:
			common, found = indent, true
		default:
			for !strings.HasPrefix(indent, common) {
				common = common[:len(common)-1]
			}
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimPrefix(l, common)
		if strings.TrimSpace(l) == "" {
			out[i] = ""
		}
	}
	return out
}

func (p *parser) parseScene() (*scene, error) {
	sc := &scene{name: p.scene}
	for {
		at := p.next
		st, ok, err := p.statement()
		if err != nil {
			return nil, err
		}
		if ok && strings.TrimSuffix(st.word, ":") == "match" {
			if st.rest == "" {
				return nil, p.fail("match wants a pattern")
			}
			sc.patterns = append(sc.patterns, glob(st.rest))
			continue
		}
		p.next = at
		break
	}
	if len(sc.patterns) == 0 {
		sc.patterns = append(sc.patterns, glob(p.scene))
	}
	steps, closed, err := p.block()
	if err != nil {
		return nil, err
	}
	if closed != "" {
		return nil, p.fail("} closes nothing")
	}
	sc.steps = steps
	return sc, nil
}

// block reads steps up to a line that begins with }, which it returns.
func (p *parser) block() (steps []step, closed string, err error) {
	for {
		st, ok, err := p.statement()
		switch {
		case err != nil:
			return nil, "", err
		case !ok:
			return steps, "", nil
		case st.word == "}":
			return steps, strings.TrimSpace("} " + st.rest), nil
		}
		if attach := attachments[st.word]; attach != nil {
			var tool *toolStep
			if n := len(steps); n > 0 {
				tool, _ = steps[n-1].(*toolStep)
			}
			if tool == nil {
				return nil, "", p.fail("`%s` must follow a tool", st.word)
			}
			if err := attach(p, tool, st.rest); err != nil {
				return nil, "", err
			}
			continue
		}
		directive := directives[st.word]
		if directive == nil {
			return nil, "", p.fail("unknown directive %q", st.word)
		}
		s, err := directive(p, st.rest)
		if err != nil {
			return nil, "", err
		}
		steps = append(steps, s)
	}
}

// braced reads the block of a directive whose line ends with {.
func (p *parser) braced(rest string) (head string, steps []step, closed string, err error) {
	head, found := strings.CutSuffix(rest, "{")
	if !found {
		return "", nil, "", p.fail("a { is missing at the end of the line")
	}
	opened := p.next
	steps, closed, err = p.block()
	if err == nil && closed == "" {
		p.next = opened
		err = p.fail("no } closes this block")
	}
	return strings.TrimSpace(head), steps, closed, err
}
