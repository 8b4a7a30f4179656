package rpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The conversations in testdata are what goes over the wire, in its order. A file begins with its reason and has these sections, any
// number of times and in any order:
//
//	-- script --            what the scripted agent does (once, and first if at all)
//	-- client --            frames that the editor sends, one a line
//	-- server --            frames that the editor gets, one a line, all that come and no others
//	-- server without a b --  likewise, but frames of the methods a and b may stand between
//	-- server anyhow without a b --  likewise, in any order
//
// A frame of the server matches a line that says less than it does: members that the line does not have are not looked at. "*" is any
// value; "$name" is any value at first, and later the same one, in lines of the client, too.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(strings.TrimSpace(string(archive.Comment))) == 0 {
				t.Error("the conversation has no reason")
			}
			converse(t, archive.Files)
		})
	}
}

func converse(t *testing.T, sections []txtar.File) {
	script := ""
	if sections[0].Name == "script" {
		// Scenes have names of their own, which txtar would take for sections: they are written with ==.
		script = strings.ReplaceAll(strings.ReplaceAll(string(sections[0].Data), "== ", "-- "), " ==", " --")
		sections = sections[1:]
	}
	e := connect(t, script)
	known := map[string]string{}
	for _, s := range sections {
		kind, without, _ := strings.Cut(s.Name, " without ")
		lines := strings.Split(strings.TrimRight(string(s.Data), "\n"), "\n")
		switch kind {
		case "client":
			for _, line := range lines {
				for name, value := range known {
					line = strings.ReplaceAll(line, `"$`+name+`"`, value)
				}
				e.send(line)
			}
		case "server":
			for _, line := range lines {
				expect(t, e, []string{line}, strings.Fields(without), known)
			}
		case "server anyhow":
			for len(lines) > 0 {
				i := expect(t, e, lines, strings.Fields(without), known)
				lines = slices.Delete(lines, i, i+1)
			}
		default:
			t.Fatalf("section %q", s.Name)
		}
	}
	e.hangUp()
}

// expect reads frames up to one that one of the lines describes, and says which.
func expect(t *testing.T, e *editor, lines []string, without []string, known map[string]string) int {
	t.Helper()
	for {
		frame := e.next()
		var got any
		if err := json.Unmarshal([]byte(frame), &got); err != nil {
			t.Fatalf("not JSON: %s", frame)
		}
		var why []string
		for i, line := range lines {
			var pattern any
			if err := json.Unmarshal([]byte(line), &pattern); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			found := map[string]string{}
			reason := match(pattern, got, known, found, "")
			if reason == "" {
				maps.Copy(known, found)
				return i
			}
			why = append(why, line+"\n     "+reason)
		}
		object, _ := got.(map[string]any)
		if method, _ := object["method"].(string); !slices.Contains(without, method) {
			t.Fatalf("got  %s\nwant %s", frame, strings.Join(why, "\nor   "))
		}
	}
}

// match says why got is not what pattern describes, "" if it is.
func match(pattern, got any, known, found map[string]string, at string) string {
	switch p := pattern.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for name, want := range p {
			value, there := g[name]
			if !there {
				return at + "." + name + " is missing"
			}
			if why := match(want, value, known, found, at+"."+name); why != "" {
				return why
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(p) {
			return fmt.Sprintf("%s is not a list of %d", at, len(p))
		}
		for i := range p {
			if why := match(p[i], g[i], known, found, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
		return ""
	case string:
		if p == "*" {
			return ""
		}
		if name, ok := strings.CutPrefix(p, "$"); ok {
			value, _ := json.Marshal(got)
			before, seen := known[name]
			if !seen {
				before, seen = found[name]
			}
			if seen && before != string(value) {
				return fmt.Sprintf("%s is %s, and was %s", at, value, before)
			}
			found[name] = string(value)
			return ""
		}
	}
	if pattern != got {
		return fmt.Sprintf("%s is %v", at, got)
	}
	return ""
}
