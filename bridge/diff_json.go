package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// jsValue is a JSON value as JavaScript holds it: an object keeps the order of its members, but those that look like an index come
// first, and numbers are doubles.
type jsValue struct {
	kind    byte   // { [ " or 0 for a number, true, false and null
	text    string // of a string, without quotes and escapes; of the others as it is written
	items   []*jsValue
	members []jsMember
}

type jsMember struct {
	key string
	*jsValue
}

func jsString(s string) *jsValue { return &jsValue{kind: '"', text: s} }

func (v *jsValue) member(key string) *jsValue {
	for _, m := range v.members {
		if m.key == key {
			return m.jsValue
		}
	}
	return nil
}

func (v *jsValue) is(key, text string) bool {
	m := v.member(key)
	return m != nil && m.kind == '"' && m.text == text
}

func (v *jsValue) number(key string) float64 {
	m := v.member(key)
	if m == nil || m.kind != 0 {
		return 0
	}
	n, _ := strconv.ParseFloat(m.text, 64)
	return n
}

func (v *jsValue) set(key string, to *jsValue) {
	for i := range v.members {
		if v.members[i].key == key {
			v.members[i].jsValue = to
			return
		}
	}
	v.members = append(v.members, jsMember{key, to})
}

// maxDepth is how deep a notebook may nest to be shown.
const maxDepth = 500

func parseJS(text string) (*jsValue, error) {
	if !json.Valid([]byte(text)) {
		return nil, errors.New("it is no JSON")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return readValue(dec, 0)
}

func readValue(dec *json.Decoder, depth int) (*jsValue, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errors.New("it nests too deeply")
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(dec, depth)
		}
		v := &jsValue{kind: '['}
		for dec.More() {
			item, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = dec.Token()
		return v, err
	case string:
		return jsString(t), nil
	case json.Number:
		return &jsValue{text: numberJS(t)}, nil
	case bool:
		return &jsValue{text: strconv.FormatBool(t)}, nil
	}
	return &jsValue{text: "null"}, nil
}

// readObject reads the rest of an object. Of members with the same name the last one counts, at the place of the first one.
func readObject(dec *json.Decoder, depth int) (*jsValue, error) {
	v := &jsValue{kind: '{'}
	places := map[string]int{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		item, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		if at, twice := places[key]; twice {
			v.members[at].jsValue = item
			continue
		}
		places[key] = len(v.members)
		v.members = append(v.members, jsMember{key, item})
	}
	_, err := dec.Token()
	return v, err
}

// numberJS is a number after it was a double in JavaScript.
func numberJS(n json.Number) string {
	f, _ := strconv.ParseFloat(n.String(), 64) // an error is an infinity
	switch {
	case math.IsInf(f, 0):
		return "null"
	case f == 0:
		return "0"
	}
	b, _ := json.Marshal(f) // encoding/json writes doubles as ECMAScript does
	return string(b)
}

// write is JSON.stringify with an indent of one blank; newline is the line end with the indent of the place.
func (v *jsValue) write(b *strings.Builder, newline string) {
	switch {
	case v.kind == '"':
		writeString(b, v.text)
	case v.kind == 0:
		b.WriteString(v.text)
	case v.kind == '{' && len(v.members) == 0:
		b.WriteString("{}")
	case v.kind == '[' && len(v.items) == 0:
		b.WriteString("[]")
	case v.kind == '{':
		before := "{"
		for _, m := range ordered(v.members) {
			b.WriteString(before + newline + " ")
			writeString(b, m.key)
			b.WriteString(": ")
			m.write(b, newline+" ")
			before = ","
		}
		b.WriteString(newline + "}")
	default:
		before := "["
		for _, item := range v.items {
			b.WriteString(before + newline + " ")
			item.write(b, newline+" ")
			before = ","
		}
		b.WriteString(newline + "]")
	}
}

// ordered puts the members whose names are array indices first, by number: that is the order of a JavaScript object.
func ordered(members []jsMember) []jsMember {
	index := func(m jsMember) uint64 {
		n, err := strconv.ParseUint(m.key, 10, 32)
		if err != nil || n == math.MaxUint32 || strconv.FormatUint(n, 10) != m.key {
			return math.MaxUint32
		}
		return n
	}
	members = slices.Clone(members)
	slices.SortStableFunc(members, func(a, b jsMember) int { return cmp.Compare(index(a), index(b)) })
	return members
}

// writeString escapes what JSON must escape and nothing else: encoding/json would also escape U+2028 and U+2029.
func writeString(b *strings.Builder, s string) {
	const short = "\b\t\n\f\r"
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ':
			b.WriteByte(c)
		case strings.IndexByte(short, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("btnfr"[strings.IndexByte(short, c)])
		default:
			fmt.Fprintf(b, `\u%04x`, c)
		}
	}
	b.WriteByte('"')
}
