package settings

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestARuleIsInsertedInTheStyleOfTheFile(t *testing.T) {
	user, project := User(), ProjectScope("/p")
	for _, c := range []struct {
		name       string
		scope      Scope
		text, want string
	}{
		{"an empty object", user, "{}\n", "{\n  \"permissions\": {\n    \"allow\": [\n      \"R\"\n    ]\n  }\n}\n"},
		{"an empty object over two lines", user, "{\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"R\"\n    ]\n  }\n}"},
		{"a list of lines", user,
			"{\n    \"permissions\": {\n        \"allow\": [\n            \"a\",\n            \"b\"\n        ]\n    }\n}\n",
			"{\n    \"permissions\": {\n        \"allow\": [\n            \"a\",\n            \"b\",\n            \"R\"\n        ]\n    }\n}\n"},
		{"a list on one line", user,
			"{\n\t\"permissions\": { \"allow\": [ \"a\" ] },\n\t\"model\":   \"x\"\n}",
			"{\n\t\"permissions\": { \"allow\": [ \"a\", \"R\" ] },\n\t\"model\":   \"x\"\n}"},
		{"an empty list", user,
			"{\n\t\"permissions\": {\n\t\t\"allow\": [],\n\t\t\"deny\": [\"d\"]\n\t}\n}",
			"{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"R\"\n\t\t],\n\t\t\"deny\": [\"d\"]\n\t}\n}"},
		{"a file on one line", user, `{"model":"x"}`, `{"model":"x", "permissions": {"allow": ["R"]}}`},
		{"a file on one line with an empty list", user, `{"permissions":{"allow":[]}}`, `{"permissions":{"allow":["R"]}}`},
		{"CRLF", user, "{\r\n  \"model\": \"x\"\r\n}\r\n", "{\r\n  \"model\": \"x\",\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"R\"\r\n    ]\r\n  }\r\n}\r\n"},
		{"a byte order mark", user, "\xef\xbb\xbf{\"permissions\": {\"allow\": [\"a\"]}}", "\xef\xbb\xbf{\"permissions\": {\"allow\": [\"a\", \"R\"]}}"},
		{"a project not yet there", project,
			"{\n  \"projects\": {\n    \"/q\": {}\n  }\n}",
			"{\n  \"projects\": {\n    \"/q\": {},\n    \"/p\": {\n      \"permissions\": {\n        \"allow\": [\n          \"R\"\n        ]\n      }\n    }\n  }\n}"},
		{"a project written with a slash at its end", project,
			`{"projects": {"/p/": {"permissions": {"allow": ["a"]}}}}`,
			`{"projects": {"/p/": {"permissions": {"allow": ["a", "R"]}}}}`},
		{"a rule that is there", user, `{"permissions": {"allow": ["R"]}}`, `{"permissions": {"allow": ["R"]}}`},
		{"values that the reader finds wrong", user, `{"permissions": {"allow": [5, {"x": null}]}, "y": 1e400}`, `{"permissions": {"allow": [5, {"x": null}, "R"]}, "y": 1e400}`},
	} {
		got, err := withElement([]byte(c.text), c.scope.path(Allow), "R")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

func TestARemovedRuleLeavesTheOthersAsTheyStand(t *testing.T) {
	for text, want := range map[string]string{
		`{"permissions": {"allow": ["R"]}}`:                       `{"permissions": {"allow": []}}`,
		`{"permissions": {"allow": [ "a", "R",  "b" ]}}`:          `{"permissions": {"allow": [ "a",  "b" ]}}`,
		`{"permissions": {"allow": ["R", "a", "R"]}}`:             `{"permissions": {"allow": ["a"]}}`,
		"{\"permissions\": {\"allow\": [\n  \"a\",\n  \"R\"\n]}}": "{\"permissions\": {\"allow\": [\n  \"a\"\n]}}",
		"{\"permissions\": {\"allow\": [\n  \"R\",\n  \"a\"\n]}}": "{\"permissions\": {\"allow\": [\n  \"a\"\n]}}",
		`{"permissions": {"deny": ["R"]}}`:                        `{"permissions": {"deny": ["R"]}}`,
		`{}`:                                                      `{}`,
		`{"permissions": {"allow": "R"}}`:                         `{"permissions": {"allow": "R"}}`,
	} {
		got, err := withoutElement([]byte(text), User().path(Allow), "R")
		if err != nil || string(got) != want {
			t.Errorf("%q: %v\n got %q\nwant %q", text, err, got, want)
		}
	}
}

func TestATextInWhichItIsNotCertainWhereToWriteIsNotChanged(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                               "line 1, column 2: the file ends too early",
		`[]`:                              "the file holds a list instead of an object",
		`{"permissions": []}`:             `"permissions" holds a list instead of an object`,
		`{"permissions": {"allow": "x"}}`: `"permissions.allow" holds the string "x" instead of a list`,
		"{\"permissions\": {},\n\"permissions\": {}}": `line 2: "permissions" is there twice`,
		`{"permissions": {"allow": [], "allow": []}}`: `"allow" is there twice`,
	} {
		got, err := withElement([]byte(text), User().path(Allow), "R")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestTheTrustInAProjectIsSetAndReplaced(t *testing.T) {
	path := []string{"projects", "/p", "trusted"}
	text, err := withValue([]byte("{}"), path, "true")
	if want := "{\n  \"projects\": {\n    \"/p\": {\n      \"trusted\": true\n    }\n  }\n}"; err != nil || string(text) != want {
		t.Fatalf("%v\n got %q\nwant %q", err, text, want)
	}
	again, err := withValue(text, path, "false")
	if want := bytes.Replace(text, []byte("true"), []byte("false"), 1); err != nil || !bytes.Equal(again, want) {
		t.Errorf("%v\n got %q\nwant %q", err, again, want)
	}
}

func TestWhatIsInvisibleInARuleIsWrittenSoThatItIsSeen(t *testing.T) {
	const rule = "Bash(a \u202e\U000e0001\x01 \"\\ é 漢 😀)"
	if got, want := quote(rule), `"Bash(a \u202e\udb40\udc01\u0001 \"\\ é 漢 😀)"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	n, err := parse([]byte(quote(rule)))
	if err != nil || n.text != rule {
		t.Errorf("read back: %q, %v", n.text, err)
	}
}

// Whatever the file is like: a rule that is added is read back, all else stays byte for byte, and a rule that is
// removed is gone.
func FuzzEdit(f *testing.F) {
	f.Add(`{"permissions": {"allow": ["a"]}, "model": "x"}`, "Bash(ls *)")
	f.Add("{\n\t\"permissions\": {\n\t\t\"allow\": [ ]\n\t}\n}", "\u202e\"\\")
	f.Add("\xef\xbb\xbf{}", "é")
	f.Add("{\"projects\":{\r\n}}", "R")
	f.Fuzz(func(t *testing.T, text, rule string) {
		if checkRule(Allow, rule) != nil {
			return
		}
		before := interpret("f", []byte(text), nil)
		for _, scope := range []Scope{User(), ProjectScope("/p")} {
			added, err := withElement([]byte(text), scope.path(Allow), rule)
			if err != nil {
				continue
			}
			after := interpret("f", added, nil)
			list, old := after.Permissions.Allow, before.Permissions.Allow
			if scope != User() {
				list, old = after.Projects["/p"].Permissions.Allow, before.Projects["/p"].Permissions.Allow
			}
			if !after.Parsed || !bytes.Equal(added, []byte(text)) && (len(list) != len(old)+1 || list[len(list)-1].Text != rule) {
				t.Fatalf("%q + %q = %q, read as %q after %q", text, rule, added, texts(list), texts(old))
			}
			if !unchanged([]byte(text), added) {
				t.Fatalf("%q + %q = %q: more than one insertion", text, rule, added)
			}
			removed, err := withoutElement(added, scope.path(Allow), rule)
			if err != nil {
				t.Fatalf("%q - %q: %v", added, rule, err)
			}
			left := interpret("f", removed, nil)
			list = left.Permissions.Allow
			if scope != User() {
				list = left.Projects["/p"].Permissions.Allow
			}
			if !left.Parsed || slices.Contains(texts(list), rule) {
				t.Fatalf("%q - %q = %q", added, rule, removed)
			}
		}
	})
}

// unchanged says whether after is before with one piece put in, blanks of an empty container aside.
func unchanged(before, after []byte) bool {
	front := 0
	for front < len(before) && front < len(after) && before[front] == after[front] {
		front++
	}
	return bytes.HasSuffix(after, bytes.TrimLeft(before[front:], " \t\r\n"))
}
