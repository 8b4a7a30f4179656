package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// List is one of the three lists a rule stands in.
type List string

// The lists, in the order in which they are heard.
const (
	Deny  List = "deny"
	Ask   List = "ask"
	Allow List = "allow"
)

// Scope is where a rule comes from. It counts for one thing only: a rule of the user's file does not cover the tools of an
// MCP server that the project brought.
type Scope string

// The scopes of rules. Session rules are the grants of this session; workspace rules are the project's own deny and ask
// rules; project rules are the user's, stored for one project.
const (
	ScopeSession   Scope = "session"
	ScopeWorkspace Scope = "workspace"
	ScopeProject   Scope = "project"
	ScopeUser      Scope = "user"
)

// Source is a rule as it was written, and where.
type Source struct {
	List  List
	Text  string
	Scope Scope
	File  string // empty for grants of the session
	Line  int    // 1-based; 0 if not known
	ID    string // the caller's handle, e.g. for revoking
}

// Problem is a rule that does not say what its author may think. Text is one sentence for a notice.
type Problem struct {
	Source Source
	Text   string
}

// Rules is a compiled, immutable set. The zero value has no rule and asks about everything.
type Rules struct {
	sources []Source
	rules   []*rule
}

type ruleKind uint8

const (
	bare     ruleKind = iota // every call of the tool
	bashRule                 // Bash(pattern)
	pathRule                 // Read(path), Edit(path)
	hostRule                 // WebFetch(domain:host)
	nameRule                 // Agent(name), Skill(name)
	mcpRule                  // mcp__server, mcp__server__tool*
	broken                   // a deny or ask rule that cannot be read: asks for every call of the tool
)

type rule struct {
	Source
	kind   ruleKind
	tool   string
	text   *pattern // bashRule, as written; mcpRule and broken: the tool's name
	folded *pattern // bashRule, for deny and ask
	path   *pathSpec
	name   string // hostRule, nameRule
	exact  bool   // bashRule without a wildcard
}

// Compile reads rules. A rule that cannot be read is a Problem: a deny or ask rule then asks for every call of its tool,
// an allow rule covers nothing.
func Compile(sources []Source) (*Rules, []Problem) {
	r := &Rules{sources: slices.Clone(sources)}
	var problems []Problem
	for _, src := range sources {
		compiled, err := readRule(src)
		if err != nil {
			text := fmt.Sprintf("%s rule %s: %v", src.List, Visible(src.Text), err)
			if compiled != nil {
				text += "; every call of the tool is asked"
			} else {
				text += "; the rule is ignored"
			}
			problems = append(problems, Problem{src, text})
		}
		if compiled != nil {
			r.rules = append(r.rules, compiled)
		}
	}
	return r, problems
}

// With returns the set with more rules: what a grant would make of it. Rules that cannot be read count as in Compile.
func (r *Rules) With(more ...Source) (*Rules, []Problem) {
	return Compile(slices.Concat(r.sources, more))
}

// Sources returns the rules as they were given.
func (r *Rules) Sources() []Source { return slices.Clone(r.sources) }

var (
	toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:-]*$`)
	// mcpName is mcp__server and, after a second __, a tool or the beginning of one.
	mcpName = regexp.MustCompile(`^mcp__([A-Za-z0-9_.:-]+?)(?:__([A-Za-z0-9_.:-]*)(\*?))?$`)
	// parameter is Tool(param:value), which other programs know. Read as anything else it would silently not match.
	parameter = regexp.MustCompile(`^(command|description|timeout|run_in_background|dangerouslyDisableSandbox|model|prompt|subagent_type|isolation|args|skill):`)
)

// editTools and readTools are governed by the rules Edit(x) and Read(x).
var (
	editTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	readTools = []string{"Read", "Grep", "Glob", "LS", "NotebookRead"}
	nameTools = []string{"Agent", "Task", "Skill"}
)

// readRule compiles one rule. With an error it returns what stands in its place, nil for nothing.
func readRule(src Source) (*rule, error) {
	text := strings.TrimSpace(src.Text)
	name, spec, hasSpec := strings.Cut(text, "(")
	if hasSpec {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed {
			return inPlaceOf(src, name, errors.New("the closing parenthesis is missing"))
		}
	}
	r := &rule{Source: src, tool: name}
	switch {
	case strings.HasPrefix(name, "mcp__"):
		m := mcpName.FindStringSubmatch(name)
		if m == nil || hasSpec && spec != "*" || strings.HasSuffix(name, "__") {
			return inPlaceOf(src, name, errors.New("MCP rules are mcp__server, mcp__server__tool or mcp__server__*"))
		}
		r.kind, r.name, r.text = mcpRule, m[1], globText(name, false)
		if !strings.Contains(name[len("mcp__"):], "__") {
			r.text = globText(name+"__*", false)
		}
		return r, nil
	case !toolName.MatchString(name):
		return inPlaceOf(src, name, errors.New("this is no tool name"))
	case !hasSpec || spec == "*":
		return r, nil
	}
	err := r.readSpec(spec)
	if err != nil {
		return inPlaceOf(src, name, err)
	}
	if r.kind == pathRule && name != "Read" && name != "Edit" {
		governed := "Edit"
		if slices.Contains(readTools, name) {
			governed = "Read"
		}
		if src.List == Allow {
			return nil, fmt.Errorf("only %s(path) allows paths", governed)
		}
		r.tool = governed
	}
	return r, nil
}

func (r *rule) readSpec(spec string) (err error) {
	switch {
	case r.tool == "WebFetch":
		r.kind = hostRule
		r.name, err = readDomain(spec)
	case parameter.MatchString(spec) && !strings.HasSuffix(spec, ":*"):
		err = errors.New("Tool(param:value) is not supported")
	case r.tool == "Bash":
		r.kind = bashRule
		err = r.readPattern(spec)
	case slices.Contains(editTools, r.tool), slices.Contains(readTools, r.tool):
		r.kind = pathRule
		r.path, err = readPathSpec(spec)
	case slices.Contains(nameTools, r.tool):
		r.kind, r.name = nameRule, spec
		if strings.ContainsAny(spec, "*()") || strings.TrimSpace(spec) != spec || spec == "" || parameter.MatchString(spec) {
			err = fmt.Errorf("%s takes an exact name", r.tool)
		}
	default:
		err = fmt.Errorf("%s takes no specification", r.tool)
	}
	return err
}

// readPattern reads the inside of Bash(…). A final ":*" is " *".
func (r *rule) readPattern(spec string) error {
	if p, ok := strings.CutSuffix(spec, ":*"); ok {
		if strings.Contains(p, "*") || strings.TrimSpace(p) == "" {
			return errors.New("\":*\" stands at the end of a pattern without other wildcards")
		}
		spec = p + " *"
	}
	if strings.TrimSpace(spec) == "" {
		return errors.New("the pattern is empty")
	}
	r.name, r.exact = spec, !strings.Contains(spec, "*")
	// A text never begins or ends with a blank; a deny rule that does is meant all the same.
	r.text, r.folded = globText(spec, false), globText(strings.Join(strings.Fields(spec), " "), true)
	return nil
}

// inPlaceOf is what a rule that cannot be read counts as: deny and ask rules ask for the whole tool, as far as its name can
// be read; allow rules are nothing.
func inPlaceOf(src Source, name string, err error) (*rule, error) {
	if src.List == Allow {
		return nil, err
	}
	r := &rule{Source: src, kind: broken, tool: name, text: globText("*", false)}
	if clean := strings.ReplaceAll(name, "*", ""); toolName.MatchString(clean) {
		r.text = globText(name, false)
		if strings.HasPrefix(name, "mcp__") {
			prefix, _, _ := strings.Cut(name, "*")
			r.text = globText(strings.TrimRight(prefix, "_")+"*", false)
		}
	}
	if slices.Contains(editTools, name) || slices.Contains(readTools, name) {
		r.tool = name
	}
	return r, err
}

// governs reports whether a bare or broken rule for tool r.tool speaks of calls of tool.
func (r *rule) governs(tool string, budget *int) bool {
	if r.kind == broken && r.text.match([]rune(tool), budget) != no {
		return true
	}
	switch r.tool {
	case tool:
		return true
	case "Edit":
		return slices.Contains(editTools, tool)
	case "Read":
		return slices.Contains(readTools, tool)
	case "Agent", "Task": // the tool's name before and after 2.1.112
		return tool == "Agent" || tool == "Task"
	}
	return false
}

// RuleRef names a rule in verdicts.
type RuleRef struct {
	ID    string `json:"rule_id,omitempty"`
	List  List   `json:"list"`
	Rule  string `json:"rule"`
	Scope Scope  `json:"scope,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

func (r *rule) ref() *RuleRef {
	if r == nil {
		return nil
	}
	return &RuleRef{ID: r.ID, List: r.List, Rule: r.Text, Scope: r.Scope, File: r.File, Line: r.Line}
}
