package adapters

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheDocumentationShowsEveryKindAsItIsRead decodes the lines of doc.go.
func TestTheDocumentationShowsEveryKindAsItIsRead(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	example := regexp.MustCompile(`^//\t([A-Z]\w+) {2,}(.+)$`)
	for _, l := range strings.Split(string(doc), "\n") {
		m := example.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		shown[m[1]] = true
		if got := decode(t, m[2]).Kind.String(); got != m[1] {
			t.Errorf("%s is read as %s: %s", m[1], got, m[2])
		}
	}
	for _, name := range kindNames {
		if !shown[name] {
			t.Errorf("doc.go shows no %s", name)
		}
	}
}
