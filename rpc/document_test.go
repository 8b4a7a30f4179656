package rpc

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/protocol.md has a section for each method, with a real exchange in it, and none for anything else. An exchange is lines that
// begin with --> (from the editor) or <-- (from the bridge).
func TestTheDocumentAgreesWithTheMethodTable(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	heading := regexp.MustCompile("(?m)^### `([^`]+)`$")
	places := heading.FindAllSubmatchIndex(text, -1)
	for i, at := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		body := string(text[at[1]:end])
		if next := strings.Index(body, "\n## "); next >= 0 {
			body = body[:next]
		}
		sections[string(text[at[2]:at[3]])] = body
	}

	table := map[string]bool{}
	for _, names := range []map[string]any{notifications, questions} {
		for name := range names {
			table[name] = true
		}
	}
	for name := range methods {
		table[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if sections[name] == "" {
			t.Errorf("%s has no section", name)
			continue
		}
		checkExchange(t, name, sections[name])
	}
	for name := range sections {
		if !table[name] {
			t.Errorf("the section %s is about nothing that there is", name)
		}
	}
}

// checkExchange checks the exchange of a section: that it is JSON, about the method, complete, and says what the table says.
func checkExchange(t *testing.T, name, section string) {
	ids := map[string]bool{}
	about := false
	for _, line := range strings.Split(section, "\n") {
		direction, frame, ok := strings.Cut(line, " ")
		if !ok || direction != "-->" && direction != "<--" {
			continue
		}
		m := message{frame: frame}
		if err := json.Unmarshal([]byte(frame), &m); err != nil {
			t.Errorf("%s: %v in %s", name, err, frame)
			continue
		}
		id := string(m.ID)
		switch {
		case m.Method == name:
			about = true
			ids[id] = true
			if direction == "-->" {
				checkShape(t, name, m.Params, methods[name].params, false)
			} else {
				checkShape(t, name, m.Params, firstOf(notifications[name], questions[name]), true)
			}
		case m.Method == "" && ids[id]:
			delete(ids, id)
			if direction == "<--" {
				checkShape(t, name, m.Result, methods[name].result, true)
			}
		}
	}
	delete(ids, "") // notifications
	if !about {
		t.Errorf("%s: no exchange", name)
	}
	if len(ids) > 0 {
		t.Errorf("%s: no answer", name)
	}
}

func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// checkShape checks that raw has only members that the type of want has, and, if whole, all that are never left out.
func checkShape(t *testing.T, name string, raw json.RawMessage, want any, whole bool) {
	if want == nil || len(raw) == 0 {
		return
	}
	v := reflect.New(reflect.TypeOf(want))
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v.Interface()); err != nil {
		t.Errorf("%s: %v in %s", name, err, raw)
		return
	}
	if !whole {
		return
	}
	again, err := marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var documented, real map[string]json.RawMessage
	if json.Unmarshal(raw, &documented) != nil || json.Unmarshal(again, &real) != nil {
		return // no object
	}
	for member := range real {
		if _, ok := documented[member]; !ok {
			t.Errorf("%s: the exchange lacks %q", name, member)
		}
	}
}
