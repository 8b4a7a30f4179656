package settings

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Default returns the settings of somebody who has set nothing.
func Default() *Settings {
	s := &Settings{origin: map[string]string{}}
	for _, k := range table {
		if k.def != nil {
			s.set(k, k.def)
		}
	}
	return s
}

// Resolve returns the settings in force: the defaults, over them the file, over it the flags and then the options of
// initialize, in the order in which they are given.
func Resolve(f File, overrides ...[]Value) *Settings {
	s := Default()
	for _, layer := range append([][]Value{f.Values}, overrides...) {
		for _, v := range layer {
			if k, ok := lookUp(table, v.Key); ok {
				s.set(k, v.v)
				s.origin[k.name] = v.Origin
			}
		}
	}
	s.Permissions, s.Projects = f.Permissions, maps.Clone(f.Projects)
	return s
}

func (s *Settings) set(k key, v any) {
	if k.field != nil {
		reflect.ValueOf(k.field(s)).Elem().Set(reflect.ValueOf(v))
	}
}

// Origin says where the value of a key comes from: "default", "file <path>:<line>", "flag --claude" or
// "initialize options".
func (s *Settings) Origin(key string) string {
	if k, ok := lookUp(table, key); ok {
		key = k.name
	}
	if origin, ok := s.origin[key]; ok {
		return origin
	}
	return "default"
}

// Flag reads the text of a command line flag, named without its dashes ("claude", "log-level"). A list may be given
// as JSON, as in --claude '["ssh","host","claude"]'; any other text of --claude is the path of the program.
func Flag(name, value string) (Value, error) {
	for _, k := range table {
		if k.from.flag != name || name == "" {
			continue
		}
		n := &node{kind: '"', text: value}
		// Whether a text is meant as a string or as JSON is told by the shape alone: only the strings take a string.
		if _, asString := k.shape.read(n, ignore); !asString || strings.HasPrefix(value, "[") {
			if parsed, err := parse([]byte(value)); err == nil {
				n = parsed
			}
		}
		return one(k, n, "flag --"+name)
	}
	return Value{}, fmt.Errorf("no setting has the flag --%s", name)
}

func ignore(*node, string) {}

// FlagInfo is what a command line parser needs to know of a flag that sets a key.
type FlagInfo struct {
	Name    string // without dashes
	Usage   string
	Boolean bool // may stand without a value, which means "true"
}

// Flags returns the flags that set a key, for the command to define.
func Flags() []FlagInfo {
	var flags []FlagInfo
	for _, k := range table {
		if k.from.flag != "" {
			_, boolean := k.def.(bool)
			flags = append(flags, FlagInfo{k.from.flag, strings.ReplaceAll(k.doc, "`", ""), boolean})
		}
	}
	return flags
}

// Options reads the settings among the options of initialize. Its other members are somebody else's and a null counts
// as absent. What is wrong is named, and the rest is used.
func Options(raw []byte) ([]Value, []Problem) {
	const origin = "initialize options"
	if len(raw) == 0 {
		return nil, nil
	}
	root, err := parse(raw)
	if err != nil {
		return nil, []Problem{{Message: origin + ": " + err.Error()}}
	}
	var values []Value
	var wrong problems
	for _, m := range root.members {
		if m.name == nil || m.value.kind == jsontext.KindNull {
			continue
		}
		k, ok := lookUp(table, m.name.text)
		if !ok || !k.from.option {
			continue
		}
		v, err := one(k, m.value, origin)
		if err != nil {
			wrong.add(Problem{Key: k.name, Message: err.Error()})
			continue
		}
		values = append(values, v)
	}
	return values, wrong.all("")
}

// one reads a value that is right as a whole or an error.
func one(k key, n *node, origin string) (Value, error) {
	var wrong string
	v, ok := k.shape.read(n, func(_ *node, message string) { wrong = message })
	if !ok || wrong != "" {
		return Value{}, errors.New(origin + ": " + inKey(k.name, wrong))
	}
	return Value{k.name, v, origin}, nil
}
