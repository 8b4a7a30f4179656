package settings

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Value is one key's value and where it comes from. Load, Flag and Options make them.
type Value struct {
	Key    string
	v      any
	Origin string // "file path:line", "flag --claude", "initialize options"
}

// reader goes through the tree of one file with one table.
type reader struct {
	file     string
	table    []key
	strict   string // what to say of an unknown key, instead of that it is unknown
	problems *problems

	values     []Value
	at         map[string]*node // where each key was first seen
	incomplete bool             // see Rules.Incomplete
	projects   map[string]Project
}

// problems names the first maxProblems and counts the rest.
type problems struct {
	list []Problem
	more int
}

func (p *problems) add(problem Problem) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, problem)
}

func (p *problems) all(file string) []Problem {
	if p.more == 0 {
		return p.list
	}
	return append(p.list, Problem{File: file, Message: fmt.Sprintf("and %d more problems", p.more)})
}

func (r *reader) problem(at *node, key, message string) {
	r.problems.add(Problem{File: r.file, Line: at.line, Column: at.column, Key: plain(shortened(key)), Message: message})
}

// section reads the members of n, whose keys begin with prefix.
//
// Of a name that appears twice the first counts, and the second is named as a problem. But a deny or ask rule counts
// wherever it stands: repeat says that n is such a second one, of which only those are taken.
func (r *reader) section(n *node, prefix string, repeat bool) {
	if !n.isObject() {
		r.problem(n, prefix, inKey(prefix, "expected an object, found "+found(n)))
		r.doubt(prefix)
		return
	}
	seen := make(map[string]*node, len(n.members))
	for _, m := range n.members {
		name := dotted(prefix, m.name.text)
		first, twice := seen[m.name.text]
		if !twice {
			seen[m.name.text] = m.name
		}
		k, known := lookUp(r.table, name)
		known = known && !strings.Contains(m.name.text, ".") // in the file a dot is a level
		switch {
		case known && k.name == "projects":
			r.projectList(m, twice || repeat)
		case known:
			r.value(k, m, repeat)
			continue // value names a key that is there twice, under whichever of its names
		case isSection(r.table, name):
			r.section(m.value, name, twice || repeat)
		default:
			r.unknown(m, prefix)
		}
		if twice {
			r.problem(m.name, name, fmt.Sprintf("%s is here twice; the one on line %d counts", quoted(name), first.line))
		}
	}
}

func (r *reader) value(k key, m member, repeat bool) {
	first, twice := r.at[k.name]
	if twice {
		r.problem(m.name, k.name, fmt.Sprintf("%s is here twice; the one on line %d counts", k.name, first.line))
	} else {
		r.at[k.name] = m.name
	}
	repeat = repeat || twice
	if repeat && !k.restricts() {
		return
	}
	v, ok := k.shape.read(m.value, func(at *node, message string) {
		r.problem(at, k.name, inKey(k.name, message))
		if k.restricts() {
			r.incomplete = true
		}
	})
	if !ok {
		return
	}
	if k.restricts() {
		for i := range r.values {
			if r.values[i].Key == k.name {
				r.values[i].v = append(r.values[i].v.([]Rule), v.([]Rule)...)
				return
			}
		}
	}
	r.values = append(r.values, Value{k.name, v, fmt.Sprintf("file %s:%d", r.file, m.name.line)})
}

// projectList reads the member projects of the user's file.
func (r *reader) projectList(m member, repeat bool) {
	if !m.value.isObject() {
		r.problem(m.value, "projects", inKey("projects", "expected "+projects.expected+", found "+found(m.value)))
		r.incomplete = true
		return
	}
	if _, ok := r.at["projects"]; !ok {
		r.at["projects"] = m.name
		r.values = append(r.values, Value{"projects", nil, fmt.Sprintf("file %s:%d", r.file, m.name.line)})
	}
	for _, p := range m.value.members {
		path := filepath.Clean(p.name.text)
		if !filepath.IsAbs(path) {
			r.problem(p.name, "projects", inKey("projects", "expected the absolute path of a project's root, found "+quoted(p.name.text)))
			continue
		}
		known, twice := r.projects[path]
		if twice {
			r.problem(p.name, "projects", fmt.Sprintf("the project %s is here twice; of this one only deny and ask rules count", quoted(path)))
		}
		r.projects[path] = r.project(p.value, known, twice || repeat)
	}
}

func (r *reader) project(n *node, known Project, repeat bool) Project {
	inner := reader{file: r.file, table: projectTable, problems: r.problems, at: map[string]*node{}}
	inner.section(n, "", repeat)
	more := inner.rules()
	for _, v := range inner.values {
		if trusted, ok := v.v.(bool); ok {
			known.Trusted = &trusted
		}
	}
	p := &known.Permissions
	p.Allow = append(p.Allow, more.Allow...)
	p.Ask = append(p.Ask, more.Ask...)
	p.Deny = append(p.Deny, more.Deny...)
	p.Incomplete = p.Incomplete || more.Incomplete || !n.isObject()
	return known
}

// rules are the permission rules among the values read.
func (r *reader) rules() Rules {
	rules := Rules{Incomplete: r.incomplete}
	for _, v := range r.values {
		switch v.Key {
		case "permissions.allow":
			rules.Allow = v.v.([]Rule)
		case "permissions.ask":
			rules.Ask = v.v.([]Rule)
		case "permissions.deny":
			rules.Deny = v.v.([]Rule)
		}
	}
	return rules
}

func (r *reader) unknown(m member, section string) {
	name := dotted(section, m.name.text)
	message := "unknown key " + quoted(name)
	if r.strict != "" {
		message = quoted(name) + r.strict
	}
	meant := suggest(m.name.text, section, r.table)
	if meant == "" && section == "" {
		meant = suggestSection(m.name.text, r.table)
	}
	if outer, inner, ok := strings.Cut(meant, "."); ok && m.name.text == meant {
		message += fmt.Sprintf("; write it as {%q: {%q: …}}", outer, inner)
	} else if meant != "" {
		message += fmt.Sprintf("; did you mean %q?", meant)
	}
	r.doubt(meant)
	r.problem(m.name, name, message)
}

// doubt notes that name could not be read, or was meant by a name that could not: rules may be lost by it.
func (r *reader) doubt(name string) {
	switch name {
	case "permissions", "permissions.deny", "permissions.ask", "projects":
		r.incomplete = true
	}
}

// suggestSection is suggest for the names of sections.
func suggestSection(name string, table []key) string {
	var sections []key
	for _, k := range table {
		if section, _, ok := strings.Cut(k.name, "."); ok {
			sections = append(sections, key{name: section})
		}
	}
	return suggest(name, "", sections)
}

func inKey(key, message string) string {
	if key == "" {
		return message
	}
	return plain(key) + ": " + message
}
