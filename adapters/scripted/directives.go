package scripted

import (
	"encoding/json"
	"strings"
)

// directives are the words of the script language, each with what reads the rest of its line.
// (Filled by init because a directive may hold a block of directives.)
var directives map[string]func(p *parser, rest string) (step, error)

func init() {
	directives = map[string]func(p *parser, rest string) (step, error){
		"text":     func(p *parser, rest string) (step, error) { t, err := p.template(rest); return textStep{t}, err },
		"think":    func(p *parser, rest string) (step, error) { t, err := p.template(rest); return thinkStep{t}, err },
		"whole":    func(p *parser, rest string) (step, error) { t, err := p.template(rest); return wholeStep{t}, err },
		"token":    (*parser).token,
		"tokens":   (*parser).flood,
		"delay":    func(p *parser, rest string) (step, error) { d, err := p.duration(rest); return delayStep{d}, err },
		"pace":     func(p *parser, rest string) (step, error) { d, err := p.duration(rest); return paceStep{d}, err },
		"hang":     func(*parser, string) (step, error) { return hangStep{}, nil },
		"repeat":   (*parser).repeat,
		"tool":     (*parser).tool,
		"bash":     func(_ *parser, rest string) (step, error) { return bash(rest), nil },
		"read":     func(_ *parser, rest string) (step, error) { return pathTool("Read", rest), nil },
		"write":    (*parser).write,
		"parallel": func(p *parser, rest string) (step, error) { return p.group(rest, true) },
		"tools":    func(p *parser, rest string) (step, error) { return p.group(rest, false) },
		"question": (*parser).question,
		"plan":     (*parser).plan,
		"todo":     (*parser).todo,
		"subagent": (*parser).subagent,
		"retry":    (*parser).retry,
		"fail":     (*parser).failure,
		"abandon":  func(_ *parser, rest string) (step, error) { return abandonStep{quiet: rest == "quietly"}, nil },
		"refuse":   func(*parser, string) (step, error) { return refuseStep{}, nil },
		"cutoff":   func(*parser, string) (step, error) { return cutoffStep{}, nil },
		"limit":    (*parser).limit,
		"compact":  func(*parser, string) (step, error) { return compactStep{}, nil },
		"mode":     func(_ *parser, rest string) (step, error) { return modeStep{rest}, nil },
		"title":    func(p *parser, rest string) (step, error) { t, err := p.template(rest); return titleStep{t}, err },
		"raw":      func(p *parser, rest string) (step, error) { t, err := p.template(rest); return rawStep{line: t}, err },
		"half":     (*parser).half,
		"line":     (*parser).line,
		"stderr":   (*parser).stderr,
		"exit":     (*parser).exit,
		"die":      func(*parser, string) (step, error) { return dieStep{}, nil },
		"ignore":   func(p *parser, rest string) (step, error) { return ignoreStep{rest}, p.ignorable(rest) },
	}
}

func (p *parser) token(rest string) (step, error) {
	if n, found := strings.CutPrefix(rest, "bytes "); found {
		size, err := p.size(n)
		return tokenStep{bytes: size}, err
	}
	if len(rest) < 2 || rest[0] != '"' || !json.Valid([]byte(rest)) {
		return nil, p.fail("token wants a JSON string")
	}
	return tokenStep{raw: rest[1 : len(rest)-1]}, nil
}

func (p *parser) flood(rest string) (step, error) {
	number, every, paced := strings.Cut(rest, " every ")
	n, err := p.count(strings.TrimSpace(number))
	if err != nil {
		return nil, err
	}
	s := floodStep{n: n}
	if paced {
		s.every, err = p.duration(every)
	}
	return s, err
}

func (p *parser) repeat(rest string) (step, error) {
	number, steps, _, err := p.braced(rest)
	if err != nil {
		return nil, err
	}
	n, err := p.count(number)
	return repeatStep{n, steps}, err
}

func (p *parser) tool(rest string) (step, error) {
	name, input, _ := strings.Cut(rest, " ")
	if name == "" {
		return nil, p.fail("tool wants a name and its input as JSON")
	}
	if input = strings.TrimSpace(input); input == "" {
		input = "{}"
	}
	input, err := p.json(input)
	return &toolStep{name: name, input: input}, err
}

// bash and pathTool take their text as it is: a $ in it is a $, save for what `match` caught.
func bash(command string) *toolStep {
	return &toolStep{name: "Bash", input: newObject().str("command", dollars(command)).String()}
}

func pathTool(name, path string) *toolStep {
	return &toolStep{name: name, input: newObject().str("file_path", dollars(path)).String()}
}

// dollars keeps the $NAMEs of a shell command from being taken for ours.
func dollars(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		head, _, _ := strings.Cut(name[1:], ".")
		if name == "$$" || variables[head] || head[0] >= '1' && head[0] <= '9' {
			return name
		}
		return "$" + name
	})
}

func (p *parser) write(rest string) (step, error) {
	path, content, found := strings.Cut(rest, " ")
	if !found {
		return nil, p.fail("write wants a path and a text")
	}
	return &toolStep{name: "Write", input: newObject().str("file_path", path).str("content", content).String()}, nil
}

func (p *parser) group(rest string, parallel bool) (step, error) {
	_, steps, _, err := p.braced(rest)
	if err != nil {
		return nil, err
	}
	g := groupStep{parallel: parallel}
	for _, s := range steps {
		t, isTool := s.(*toolStep)
		if !isTool {
			return nil, p.fail("only tools and subagents may stand in a group")
		}
		g.tools = append(g.tools, t)
	}
	if len(g.tools) == 0 {
		return nil, p.fail("the group is empty")
	}
	return g, nil
}

// question is JSON, or `[Header] Question? | label: description | label`.
func (p *parser) question(rest string) (step, error) {
	t := &toolStep{name: "AskUserQuestion", kind: questionTool}
	if strings.HasPrefix(rest, "{") {
		text, err := p.json(rest)
		if err == nil && field([]byte(text), "questions") == "" {
			text = newObject().raw("questions", array([]string{text})).String()
		}
		t.input = text
		return t, err
	}
	parts := strings.Split(rest, "|")
	ask := strings.TrimSpace(parts[0])
	header := "Question"
	if strings.HasPrefix(ask, "[") {
		if h, q, found := strings.Cut(ask[1:], "]"); found {
			header, ask = h, strings.TrimSpace(q)
		}
	}
	if len(parts) < 2 || ask == "" {
		return nil, p.fail("question wants JSON, or `[Header] Question? | label: description | label`")
	}
	var options []string
	for _, o := range parts[1:] {
		label, description, _ := strings.Cut(strings.TrimSpace(o), ":")
		options = append(options, newObject().str("label", strings.TrimSpace(label)).str("description", strings.TrimSpace(description)).String())
	}
	q := newObject().str("question", ask).str("header", header).raw("options", array(options)).bool("multiSelect", false)
	t.input = newObject().raw("questions", array([]string{q.String()})).String()
	return t, nil
}

func (p *parser) plan(rest string) (step, error) {
	text, err := p.template(rest)
	return &toolStep{name: "ExitPlanMode", kind: planTool, input: newObject().str("plan", text).String()}, err
}

// todo is `[x] done; [>] in progress; [ ] pending`.
func (p *parser) todo(rest string) (step, error) {
	states := map[string]string{"[x]": "completed", "[>]": "in_progress", "[ ]": "pending"}
	var items []string
	for _, item := range strings.Split(rest, ";") {
		item = strings.TrimSpace(item)
		if len(item) < 4 || states[item[:3]] == "" {
			return nil, p.fail("todo wants `[x] done; [>] in progress; [ ] pending`")
		}
		content := strings.TrimSpace(item[3:])
		items = append(items, newObject().str("content", content).str("status", states[item[:3]]).str("activeForm", content).String())
	}
	return &toolStep{name: "TodoWrite", kind: todoTool, input: newObject().raw("todos", array(items)).String()}, nil
}

// subagent is `[background] TYPE description { … }`, in the background perhaps with `} then { … }`.
func (p *parser) subagent(rest string) (step, error) {
	head, steps, closed, err := p.braced(rest)
	if err != nil {
		return nil, err
	}
	a := &subagentStep{steps: steps}
	if after, found := strings.CutPrefix(head, "background "); found {
		a.background, head = true, after
	}
	a.kind, a.description, _ = strings.Cut(head, " ")
	a.description = strings.Trim(a.description, `" `)
	if a.description == "" {
		return nil, p.fail("subagent wants `[background] TYPE description {`")
	}
	if strings.HasPrefix(closed, "} then") {
		if !a.background {
			return nil, p.fail("then is for subagents in the background")
		}
		if _, a.then, _, err = p.braced(closed); err != nil {
			return nil, err
		}
	}
	in := newObject().str("description", a.description).str("prompt", a.description).str("subagent_type", a.kind)
	if !a.background {
		in.bool("run_in_background", false)
	}
	return &toolStep{name: "Agent", input: in.String(), agent: a}, nil
}

// retry is `STATUS TIMES [every DURATION]`.
func (p *parser) retry(rest string) (step, error) {
	rest, every, paced := strings.Cut(rest, " every ")
	status, times, _ := strings.Cut(strings.TrimSpace(rest), " ")
	var s retryStep
	var err error
	if s.status, err = p.status(status); err != nil {
		return nil, err
	}
	if s.n, err = p.count(times); err == nil && paced {
		s.every, err = p.duration(every)
	}
	return s, err
}

// failure is `STATUS message`.
func (p *parser) failure(rest string) (step, error) {
	status, message, _ := strings.Cut(rest, " ")
	n, err := p.status(status)
	if err != nil {
		return nil, err
	}
	message, err = p.template(strings.Trim(message, `"`))
	return failStep{n, message}, err
}

// status is an HTTP status, or `connection`.
func (p *parser) status(s string) (int, error) {
	if s == "connection" {
		return 0, nil
	}
	n, err := p.count(s)
	if err == nil && apiErrors[n].kind == "" {
		err = p.fail("no known API error %s (400, 401, 403, 404, 413, 429, 500, 529, connection)", s)
	}
	return n, err
}

func (p *parser) limit(rest string) (step, error) {
	switch rest {
	case "turns":
		return limitStep{}, nil
	case "budget":
		return limitStep{budget: true}, nil
	}
	return nil, p.fail("limit wants `turns` or `budget`")
}

func (p *parser) half(rest string) (step, error) {
	if rest == "" {
		rest = halfLine
	}
	text, err := p.template(rest)
	return rawStep{line: text, half: true}, err
}

func (p *parser) line(rest string) (step, error) {
	n, found := strings.CutPrefix(rest, "bytes ")
	if !found {
		return nil, p.fail("line wants `bytes N`; a line of your own is `raw`")
	}
	size, err := p.size(n)
	return paddingStep{size}, err
}

func (p *parser) stderr(rest string) (step, error) {
	if n, found := strings.CutPrefix(rest, "bytes "); found {
		size, err := p.size(n)
		return stderrStep{bytes: size}, err
	}
	text, err := p.template(rest)
	return stderrStep{text: text}, err
}

func (p *parser) exit(rest string) (step, error) {
	code, message, _ := strings.Cut(rest, " ")
	n, err := p.count(code)
	if err != nil {
		return nil, err
	}
	message, err = p.template(message)
	return exitStep{n, message}, err
}
