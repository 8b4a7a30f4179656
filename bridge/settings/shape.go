package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxRules bounds one list, so that a project's file cannot slow every decision down.
const maxRules = 10_000

// shape is what a value must look like: for the reader, for its messages and for the schema.
type shape struct {
	expected string
	// read returns the value, of the type of the key's field in Settings; ok is false if nothing of it can be used.
	// A part that cannot be used is named by flaw, and the rest returned.
	read   func(n *node, flaw func(at *node, message string)) (value any, ok bool)
	schema map[string]any
	unit   time.Duration // of the number in the file, for a time.Duration
}

// exactly is a shape that is either right or wrong as a whole.
func exactly(expected string, schema map[string]any, read func(n *node) (any, bool)) shape {
	return shape{expected: expected, schema: schema, read: func(n *node, flaw func(*node, string)) (any, bool) {
		v, ok := read(n)
		if !ok {
			flaw(n, "expected "+expected+", found "+found(n))
		}
		return v, ok
	}}
}

var boolean = exactly("true or false", map[string]any{"type": "boolean"}, func(n *node) (any, bool) {
	return n.kind == 't', n.kind == 't' || n.kind == 'f'
})

var text = exactly("a string that is not empty", map[string]any{"type": "string", "minLength": 1}, func(n *node) (any, bool) {
	return n.text, isText(n)
})

var filePath = exactly("an absolute path (or one that begins with ~/)", map[string]any{"type": "string", "minLength": 1}, func(n *node) (any, bool) {
	path := expandHome(n.text)
	return path, isText(n) && filepath.IsAbs(path)
})

func oneOf(words ...string) shape {
	expected := "one of " + strings.Join(words, ", ")
	return exactly(expected, map[string]any{"enum": words}, func(n *node) (any, bool) {
		for _, word := range words {
			if n.isString() && n.text == word {
				return word, true
			}
		}
		return "", false
	})
}

func whole(unit string, least, most int64) shape {
	expected := fmt.Sprintf("a whole number of %s from %d to %d", unit, least, most)
	return exactly(expected, map[string]any{"type": "integer", "minimum": least, "maximum": most}, func(n *node) (any, bool) {
		number, ok := integer(n)
		return number, ok && least <= number && number <= most
	})
}

func duration(unit time.Duration, least, most int64) shape {
	name := "seconds"
	if unit == time.Millisecond {
		name = "milliseconds"
	}
	s := whole(name, least, most)
	number := s.read
	s.unit = unit
	s.read = func(n *node, flaw func(*node, string)) (any, bool) {
		v, ok := number(n, flaw)
		count, _ := v.(int64)
		return time.Duration(count) * unit, ok
	}
	return s
}

// integer takes 10485760 and also 1e7 and 10.0: JSON knows one kind of number.
func integer(n *node) (int64, bool) {
	if n.kind != '0' {
		return 0, false
	}
	if number, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return number, true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}

// command is a program, or a program and its first arguments. A string is one path, never a line to be split: a
// blank in it is part of the path. A relative path with a slash would mean another program in every directory.
var command = exactly("the program as a string (a name or an absolute path), or a list of it and its arguments",
	map[string]any{"oneOf": []any{
		map[string]any{"type": "string", "minLength": 1},
		map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string"}},
	}},
	func(n *node) (any, bool) {
		var words []string
		if n.isString() {
			words = []string{n.text}
		}
		if n.isArray() {
			for _, m := range n.members {
				if !m.value.isString() || strings.ContainsRune(m.value.text, 0) {
					return nil, false
				}
				words = append(words, m.value.text)
			}
		}
		if len(words) == 0 || words[0] == "" || strings.ContainsRune(words[0], 0) {
			return nil, false
		}
		words[0] = expandHome(words[0])
		return words, filepath.IsAbs(words[0]) || !strings.ContainsAny(words[0], `/\`)
	})

var names = shape{
	expected: "a list of environment variable names",
	schema:   map[string]any{"type": "array", "items": map[string]any{"type": "string", "pattern": "^[^=\\s]+$"}},
	read: func(n *node, flaw func(*node, string)) (any, bool) {
		if !n.isArray() {
			flaw(n, "expected a list of environment variable names, found "+found(n))
			return nil, false
		}
		list := []string{}
		for _, m := range n.members {
			if m.value.isString() && isVariable(m.value.text) {
				list = append(list, m.value.text)
			} else {
				flaw(m.value, "expected the name of an environment variable, found "+found(m.value))
			}
		}
		return list, true
	},
}

// environment never quotes a value: it may be a secret.
var environment = shape{
	expected: "an object of strings",
	schema:   map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
	read: func(n *node, flaw func(*node, string)) (any, bool) {
		if !n.isObject() {
			flaw(n, "expected an object of names and strings")
			return nil, false
		}
		env := make(map[string]string, len(n.members))
		for _, m := range n.members {
			_, twice := env[m.name.text]
			switch {
			case !isVariable(m.name.text):
				flaw(m.name, "expected the name of an environment variable, found "+quoted(m.name.text))
			case twice:
				flaw(m.name, quoted(m.name.text)+" is here twice; the first one counts")
			case !m.value.isString() || strings.ContainsRune(m.value.text, 0):
				flaw(m.value, "expected a string as the value of "+quoted(m.name.text))
			default:
				env[m.name.text] = m.value.text
			}
		}
		return env, true
	},
}

var rules = shape{
	expected: "a list of rules",
	schema:   map[string]any{"type": "array", "maxItems": maxRules, "items": map[string]any{"type": "string", "minLength": 1}},
	read: func(n *node, flaw func(*node, string)) (any, bool) {
		if !n.isArray() {
			flaw(n, "expected a list of rules such as [\"Bash(npm test *)\"], found "+found(n))
			return nil, false
		}
		list := []Rule{}
		for i, m := range n.members {
			if i == maxRules {
				flaw(m.value, fmt.Sprintf("expected at most %d rules", maxRules))
				break
			}
			if isText(m.value) {
				list = append(list, Rule{m.value.text, m.value.line, m.value.column})
			} else {
				flaw(m.value, "expected a rule such as \"Bash(npm test *)\", found "+found(m.value))
			}
		}
		return list, true
	},
}

// projects is read by the reader itself, which descends into each path.
var projects = shape{
	expected: "an object with the real paths of projects as names",
	schema: map[string]any{"type": "object", "additionalProperties": map[string]any{
		"type": "object", "additionalProperties": false, "properties": map[string]any{
			"trusted": map[string]any{"type": "boolean"},
			"permissions": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
				"deny": rules.schema, "ask": rules.schema, "allow": rules.schema,
			}},
		},
	}},
}

func isText(n *node) bool {
	return n.isString() && strings.TrimSpace(n.text) != "" && !strings.ContainsRune(n.text, 0)
}

func isVariable(name string) bool {
	return name != "" && !strings.ContainsAny(name, "= \t\r\n\x00")
}

// expandHome resolves a leading ~/, which people write in settings because their shell resolves it.
func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
