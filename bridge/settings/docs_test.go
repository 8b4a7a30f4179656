package settings

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/settings.schema.json and the table of docs/settings.md")

func TestTheDocumentsAreThoseOfTheTable(t *testing.T) {
	const schema, page = "../../docs/settings.schema.json", "../../docs/settings.md"
	hold(t, schema, Schema())

	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- keys: made by go generate -->\n"), []byte("<!-- end of keys -->\n")
	before, rest, ok := bytes.Cut(text, begin)
	_, after, ok2 := bytes.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	hold(t, page, bytes.Join([][]byte{before, begin, Table(), end, after}, nil))
}

func hold(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the table says; run: go generate ./bridge/settings", path)
	}
}

// The page's example must be one that the reader takes without a word, and so must every default.
func TestTheExampleOfThePageHasNoProblem(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(text, []byte("```json\n"))
	example, _, ok2 := bytes.Cut(rest, []byte("```"))
	if !ok || !ok2 {
		t.Fatal("the page has no example")
	}
	if f := interpret("settings.json", example, nil); !f.Parsed || len(f.Problems) > 0 {
		t.Errorf("the example has problems: %v", f.Problems)
	}
}

func TestEveryDefaultIsAValueThatTheFileMayHold(t *testing.T) {
	for _, k := range table {
		if k.def == nil {
			continue
		}
		text, err := json.Marshal(k.inFile(k.def))
		if err != nil {
			t.Fatal(err)
		}
		n, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := k.shape.read(n, func(_ *node, message string) { t.Errorf("%s: %s", k.name, message) })
		if !ok || v != k.def {
			t.Errorf("%s: %s is read as %v, want %v", k.name, text, v, k.def)
		}
	}
}
