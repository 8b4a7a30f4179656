package adapters

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDocumentSaysWhatTheTableSays holds docs/compatibility.md to the compatibility table; -update writes it anew.
func TestTheDocumentSaysWhatTheTableSays(t *testing.T) {
	path := filepath.Join("..", "docs", "compatibility.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := section(t, string(data), "versions", versionsTable())
	text = section(t, text, "defects", defectsTable())
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != string(data) {
		t.Error("docs/compatibility.md is not what the code says: run go test ./adapters -update")
	}
}

// section replaces what stands between the marks of a generated part.
func section(t *testing.T, text, name, body string) string {
	t.Helper()
	before, rest, ok1 := strings.Cut(text, "<!-- generated: "+name+" -->\n")
	_, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok1 || !ok2 {
		t.Fatalf("the part %q is not there", name)
	}
	return before + "<!-- generated: " + name + " -->\n" + body + "<!-- end -->" + after
}

func versionsTable() string {
	var b strings.Builder
	b.WriteString("| versions | level | what is different | what is missing |\n|---|---|---|---|\n")
	fmt.Fprintf(&b, "| above %v | `%s` | read as %v | |\n", Tested, Likely, Tested)
	until := Tested.String()
	for _, r := range ranges {
		fmt.Fprintf(&b, "| %v – %s | `%s` | %s | %s |\n", r.since, until, r.level, r.notes, strings.Join(lacks(r.traits().Features), "; "))
		until = "before " + r.since.String()
	}
	fmt.Fprintf(&b, "| below %v | `%s` | | |\n", Oldest, Incompatible)
	return b.String()
}

func defectsTable() string {
	var b strings.Builder
	b.WriteString("| gone in | until then | what drawbridge does |\n|---|---|---|\n")
	for _, d := range defects {
		fmt.Fprintf(&b, "| %v | %s | %s |\n", d.Fixed, d.What, d.Does)
	}
	return b.String()
}
