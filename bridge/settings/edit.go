package settings

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Edits change the text of a settings file and leave every byte they need not touch as its author wrote it. A path
// names a value from the root: {"projects", "/home/u/p", "permissions", "allow"}.

// withElement returns text with the string added at the end of the list at path, which is made if it is not there.
// A string that the list already holds is not added again.
func withElement(text []byte, path []string, element string) ([]byte, error) {
	n, missing, err := descend(text, path)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return insert(text, n, missing, literal{quote(element), true}), nil
	}
	if !n.isArray() {
		return nil, misplaced(n, path, "a list")
	}
	if slices.ContainsFunc(n.members, func(m member) bool { return m.value.isString() && m.value.text == element }) {
		return text, nil
	}
	return insert(text, n, nil, literal{quote(element), false}), nil
}

// withoutElement returns text without the string, wherever it stands in the list at path. What is left keeps the blanks
// and line ends before it.
func withoutElement(text []byte, path []string, element string) ([]byte, error) {
	n, missing, err := descend(text, path)
	if err != nil || len(missing) > 0 || !n.isArray() {
		return text, err
	}
	var left []byte
	kept := 0
	for i, m := range n.members {
		if m.value.isString() && m.value.text == element {
			continue
		}
		before := n.start + 1
		if kept > 0 {
			before = n.members[i-1].value.end // the comma, too
		} else if i > 0 {
			left = append(left, text[n.start+1:n.members[0].value.start]...)
			before = m.value.start
		}
		left = append(left, text[before:m.value.end]...)
		kept++
	}
	switch kept {
	case len(n.members):
		return text, nil
	case 0:
		return splice(text, n.start+1, n.end-1, ""), nil
	}
	last := n.members[len(n.members)-1].value.end
	return splice(text, n.start+1, last, string(left)), nil
}

// withValue returns text with the JSON value at path, in place of the one that is there.
func withValue(text []byte, path []string, json string) ([]byte, error) {
	n, missing, err := descend(text, path)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return insert(text, n, missing, literal{json, false}), nil
	}
	return splice(text, n.start, n.end, json), nil
}

// descend follows path as far as the text goes and returns the last value there and the names that are missing below.
// It refuses a text in which it is not certain where to write.
func descend(text []byte, path []string) (n *node, missing []string, err error) {
	if n, err = parse(text); err != nil {
		var bad *syntaxError
		errors.As(err, &bad)
		return nil, nil, fmt.Errorf("line %d, column %d: %w", bad.line, bad.column, err)
	}
	for i, name := range path {
		if !n.isObject() {
			return nil, nil, misplaced(n, path[:i], "an object")
		}
		var next *node
		for _, m := range n.members {
			if m.name.text != name && !(i == 1 && path[0] == "projects" && filepath.Clean(m.name.text) == name) {
				continue
			}
			if next != nil {
				return nil, nil, fmt.Errorf("line %d: %s is there twice", m.name.line, quoted(name))
			}
			next = m.value
		}
		if next == nil {
			return n, path[i:], nil
		}
		n = next
	}
	return n, nil, nil
}

func misplaced(n *node, path []string, expected string) error {
	at := "the file"
	if len(path) > 0 {
		at = quoted(strings.Join(path, "."))
	}
	return fmt.Errorf("line %d: %s holds %s instead of %s", n.line, at, found(n), expected)
}

// literal is a value to write; as the only element of a new list if inList.
type literal struct {
	json   string
	inList bool
}

// insert adds a member at the end of n: for names {"a", "b"} and a literal v, "a": {"b": v} in an object; v in a list.
// A container whose last member stands on its own line gets another line like it; any other stays on its line, and so
// does a file that is a single one.
func insert(text []byte, n *node, names []string, v literal) []byte {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	unit := indentUnit(text)
	if len(n.members) == 0 {
		open, end := string(text[n.start]), string(text[n.end-1])
		if n.start > 0 && !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) {
			return splice(text, n.start, n.end, open+v.render(names, "", "", "")+end)
		}
		outer := lineIndent(text, n.start)
		return splice(text, n.start, n.end, open+newline+outer+unit+v.render(names, newline, outer+unit, unit)+newline+outer+end)
	}
	last := n.members[len(n.members)-1]
	indent := lineIndent(text, last.start())
	if begin := lineBegin(text, last.start()); begin > 0 && begin+len(indent) == last.start() {
		return splice(text, last.value.end, last.value.end, ","+newline+indent+v.render(names, newline, indent, unit))
	}
	return splice(text, last.value.end, last.value.end, ", "+v.render(names, "", "", ""))
}

// render writes the value below the names, on one line if newline is empty.
func (v literal) render(names []string, newline, indent, unit string) string {
	if len(names) == 0 {
		return v.json
	}
	return quote(names[0]) + ": " + v.nested(names[1:], newline, indent, unit)
}

func (v literal) nested(names []string, newline, indent, unit string) string {
	inner := newline + indent + unit
	if len(names) > 0 {
		return "{" + inner + v.render(names, newline, indent+unit, unit) + newline + indent + "}"
	}
	if v.inList {
		return "[" + inner + v.json + newline + indent + "]"
	}
	return v.json
}

// indentUnit is what the file indents its first level with, two blanks if it does not say.
func indentUnit(text []byte) string {
	root, err := parse(text)
	if err == nil && len(root.members) > 0 {
		first := root.members[0].start()
		if unit := lineIndent(text, first); unit != "" && lineBegin(text, first)+len(unit) == first {
			return unit
		}
	}
	return "  "
}

func lineBegin(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// lineIndent is the blanks at the beginning of the line that offset is on, and before offset.
func lineIndent(text []byte, offset int) string {
	line := text[lineBegin(text, offset):offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}

// quote writes a JSON string in which nothing is invisible: what a person opens in an editor is what the rule says.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
