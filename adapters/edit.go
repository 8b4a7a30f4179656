package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// An editor may change values of a tool's input before it lets the tool run, but only those that are meant to be read and
// understood: with one member more than the original, 2.1.17 overwrites a file instead of running the command that was shown, and no
// version looks at an edited input again.

// editable names the values of the tools that have a fixed set of them. "[]" stands for each element of a list.
var editable = map[string][]string{
	"Bash":            {"command"},
	"Edit":            {"new_string"},
	"Write":           {"content"},
	"MultiEdit":       {"edits[].new_string"},
	"NotebookEdit":    {"new_source"},
	"ExitPlanMode":    {"plan"},
	"exit_plan_mode":  {"plan"},
	"WebFetch":        {"url", "prompt"},
	"AskUserQuestion": {}, // is answered, not edited
}

// Editable names the values of this input that an editor may exchange: of the known tools those above, of any other each string that
// is there and no path or id. Names of nested values are joined by dots.
func Editable(tool string, input json.RawMessage) []string {
	list := []string{}
	allowed, fixed := editable[tool]
	found := map[string]bool{}
	stringsIn(input, "", 0, found)
	for name := range found {
		if fixed && slices.Contains(allowed, name) || !fixed && !locates(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// ApplyEdit is the original with the editable values of updated, every other byte as it was. It is an error, naming the first one
// found, if they differ in anything else: a member more or less, another type, a value that may not be changed.
func ApplyEdit(tool string, original, updated json.RawMessage) (json.RawMessage, error) {
	if !valid(original) || !isObject(trim(original)) {
		return nil, fmt.Errorf("the original input is not a JSON object")
	}
	if !valid(updated) || !isObject(trim(updated)) {
		return nil, fmt.Errorf("the edited input is not a JSON object")
	}
	m := merger{original: original, allowed: Editable(tool, original)}
	if err := m.merge(trim(original), trim(updated), "", 0); err != nil {
		return nil, err
	}
	if m.dst == nil {
		return original, nil
	}
	return append(m.dst, original[m.done:]...), nil
}

// editDepth is how deep an input may nest to be edited at all.
const editDepth = 64

// locates reports whether a value says where or on what a tool works, so that another value would be another tool use.
func locates(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	name = strings.TrimRight(name, "[]")
	if strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") {
		return true
	}
	name = strings.ToLower(name)
	for _, part := range []string{"path", "file", "dir", "folder", "cwd", "root"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "id" || strings.HasSuffix(name, "_id")
}

// stringsIn collects the names of all strings below span.
func stringsIn(span []byte, name string, depth int, found map[string]bool) {
	span = trim(span)
	switch {
	case depth > editDepth:
	case isString(span):
		found[name] = true
	case isObject(span):
		for o := object(span); o.next(); {
			stringsIn(o.val, join(name, string(o.key)), depth+1, found)
		}
	case isArray(span):
		for e := array(span); e.next(); {
			stringsIn(e.val, name+"[]", depth+1, found)
		}
	}
}

func join(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

// merger walks original and updated together and builds the edited input: dst is original up to done with the exchanged values.
type merger struct {
	original []byte
	allowed  []string
	dst      []byte
	done     int
}

func (m *merger) merge(was, now []byte, name string, depth int) error {
	switch {
	case depth > editDepth:
		return fmt.Errorf("%q nests too deeply to be edited", name)
	case isObject(was) && isObject(now):
		return m.mergeObject(was, now, name, depth)
	case isArray(was) && isArray(now):
		return m.mergeArray(was, now, name, depth)
	case len(elementsOf(was)) == 0 && isArray(was) && isObject(now) && emptyObject(now),
		isObject(was) && emptyObject(was) && isArray(now) && len(elementsOf(now)) == 0:
		return nil // Lua cannot tell {} from []
	case isString(was) && isString(now):
		if bytes.Equal(was, now) || str(was) == str(now) {
			return nil
		}
		if !slices.Contains(m.allowed, name) {
			return fmt.Errorf("%q may not be changed", name)
		}
		m.exchange(was, now)
		return nil
	case sameScalar(was, now):
		return nil
	}
	return fmt.Errorf("%q may not be changed", name)
}

func (m *merger) mergeObject(was, now []byte, name string, depth int) error {
	edited := map[string][]byte{}
	for o := object(now); o.next(); {
		if _, twice := edited[string(o.key)]; twice {
			return fmt.Errorf("%q is there twice", join(name, string(o.key)))
		}
		edited[string(o.key)] = o.val
	}
	seen := map[string]bool{}
	for o := object(was); o.next(); {
		key := string(o.key)
		if seen[key] {
			return fmt.Errorf("%q is there twice", join(name, key))
		}
		seen[key] = true
		val, ok := edited[key]
		if !ok && !present(o.val) {
			continue // an editor may drop a null
		}
		if !ok {
			return fmt.Errorf("%q is missing", join(name, key))
		}
		if err := m.merge(o.val, val, join(name, key), depth+1); err != nil {
			return err
		}
	}
	for o := object(now); o.next(); {
		if !seen[string(o.key)] {
			return fmt.Errorf("%q was not there", join(name, string(o.key)))
		}
	}
	return nil
}

func (m *merger) mergeArray(was, now []byte, name string, depth int) error {
	before, after := elementsOf(was), elementsOf(now)
	if len(before) != len(after) {
		return fmt.Errorf("%q has %d elements instead of %d", name, len(after), len(before))
	}
	for i := range before {
		if err := m.merge(before[i], after[i], name+"[]", depth+1); err != nil {
			return err
		}
	}
	return nil
}

// exchange replaces the span was, which is a piece of original behind all exchanged so far.
func (m *merger) exchange(was, now []byte) {
	at := cap(m.original) - cap(was) // a piece of a slice keeps its end
	m.dst = append(m.dst, m.original[m.done:at]...)
	m.dst = append(m.dst, now...)
	m.done = at + len(was)
}

func emptyObject(span []byte) bool {
	o := object(span)
	return !o.next() && o.ok
}

// sameScalar compares numbers by value, because an editor may write 1.0 as 1.
func sameScalar(was, now []byte) bool {
	if bytes.Equal(was, now) {
		return true
	}
	if isString(was) || isString(now) || isObject(was) || isArray(was) {
		return false
	}
	var x, y any
	return json.Unmarshal(was, &x) == nil && json.Unmarshal(now, &y) == nil && x == y && x != nil
}
