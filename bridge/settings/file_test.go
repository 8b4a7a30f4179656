package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileThatIsNotThereIsAnEmptyOne(t *testing.T) {
	f := Load(filepath.Join(t.TempDir(), "none", "settings.json"))
	if f.Exists || !f.Parsed || len(f.Problems) > 0 || f.Permissions.Incomplete {
		t.Errorf("got %+v", f)
	}
}

func TestWhatCannotBeReadIsAProblemAndNotAnEmptyFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir: "it is not a regular file",
		write(t, filepath.Join(dir, "large"), `{"a": "`+strings.Repeat("x", maxFileBytes)+`"}`): "it is larger than 1048576 bytes",
	} {
		f := Load(name)
		if !f.Exists || f.Parsed || !f.Permissions.Incomplete || len(f.Problems) != 1 || !strings.Contains(f.Problems[0].Message, want) {
			t.Errorf("%s: got %+v", name, f)
		}
	}
}

func TestAChangeIsSeenAtTheNextReadAndToldToOneCallerOnly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "settings.json")
	s := Open(name)
	if f, changed := s.Read(); !changed || f.Exists {
		t.Fatalf("first reading: changed %v, %+v", changed, f)
	}
	write(t, name, `{"model": "a"}`)
	if f, changed := s.Read(); !changed || Resolve(f).Model != "a" {
		t.Fatalf("after the file was made: changed %v, %+v", changed, f)
	}
	if _, changed := s.Read(); changed {
		t.Error("the same content is told twice")
	}
	// Same size, and within one tick of a coarse clock.
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, `{"model": "b"}`)
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if f, changed := s.Read(); !changed || Resolve(f).Model != "b" {
		t.Errorf("a change within the tick of the clock is missed: changed %v, %+v", changed, f)
	}
}

func TestAFileThatHasNotChangedForAWhileIsNotReadAgain(t *testing.T) {
	name := write(t, filepath.Join(t.TempDir(), "settings.json"), `{"model": "a"}`)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	s := Open(name)
	s.Read()
	// What is put in its place by hand here is what a second reading would replace.
	s.last.Path = "kept"
	if f, changed := s.Read(); changed || f.Path != "kept" {
		t.Error("the file was read again")
	}
	write(t, name, `{"model": "bb"}`)
	if f, changed := s.Read(); !changed || Resolve(f).Model != "bb" {
		t.Error("the change was missed")
	}
}

func TestAFileThatStopsParsingKeepsItsDenyAndAskRulesAndSuspendsEveryAllow(t *testing.T) {
	const good = `{"model": "opus",
"permissions": {"allow": ["a"], "ask": ["q"], "deny": ["d"]},
"projects": {"/p": {"trusted": true, "permissions": {"allow": ["pa"], "deny": ["pd"]}}}}`
	name := write(t, filepath.Join(t.TempDir(), "settings.json"), good)
	s := Open(name)
	s.Read()
	write(t, name, strings.TrimSuffix(good, "}"))
	for range 2 { // also at a second reading of a file that is still broken
		f, _ := s.Read()
		p := f.Projects["/p"]
		switch {
		case f.Parsed || len(f.Problems) != 1 || Resolve(f).Model != "":
			t.Errorf("got %+v", f)
		case len(f.Permissions.Allow)+len(p.Permissions.Allow) > 0 || !f.Permissions.Incomplete || p.Trusted != nil:
			t.Errorf("something is still allowed: %+v", f)
		case len(f.Permissions.Deny) != 1 || len(f.Permissions.Ask) != 1 || len(p.Permissions.Deny) != 1:
			t.Errorf("a deny or ask rule is lost: %+v", f)
		}
		write(t, name, "{") // another content that does not parse either
	}
	write(t, name, good)
	if f, changed := s.Read(); !changed || !f.Parsed || len(f.Permissions.Allow) != 1 || f.Permissions.Incomplete {
		t.Errorf("repaired: changed %v, %+v", changed, f)
	}
}
