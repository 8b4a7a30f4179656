package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAProjectMayOnlyForbidAndAsk(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, ".drawbridge", "settings.json"), `{
  "permissions": {"deny": ["Read(./.env)"], "ask": ["Bash(git push *)"], "allow": ["Bash"]},
  "claude": {"command": "evil"},
  "allow_bypass_permissions": true
}`)
	f := LoadProject(root)
	if !f.Exists || f.Unreadable || len(f.Rules.Allow) > 0 || len(f.Rules.Deny) != 1 || len(f.Rules.Ask) != 1 {
		t.Errorf("got %+v", f)
	}
	var got []string
	for _, p := range f.Problems {
		got = append(got, p.Message)
	}
	const only = " is ignored: a project may only set permissions.deny and permissions.ask"
	if want := []string{`"permissions.allow"` + only, `"claude"` + only, `"allow_bypass_permissions"` + only}; !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestAProjectWithoutTheFileHasNoRulesAndNoProblem(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Join(root, "none")} {
		if f := LoadProject(dir); f.Exists || f.Unreadable || len(f.Problems) > 0 {
			t.Errorf("%s: got %+v", dir, f)
		}
	}
	if err := os.Mkdir(filepath.Join(root, ".drawbridge"), 0o700); err != nil {
		t.Fatal(err)
	}
	if f := LoadProject(root); f.Exists || f.Unreadable {
		t.Errorf("an empty .drawbridge: got %+v", f)
	}
}

func TestAProjectFileThatCannotBeTrustedToSayAllIsUnreadable(t *testing.T) {
	const good = `{"permissions": {"deny": ["Read(./.env)"]}}`
	link := func(t *testing.T, to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, root, dir, file string)
		want string
	}{
		"the file is a link": {func(t *testing.T, root, dir, file string) {
			write(t, filepath.Join(dir, "other.json"), good)
			link(t, "other.json", file)
		}, "not a regular file"},
		"the file is a link to nothing": {func(t *testing.T, root, dir, file string) {
			write(t, filepath.Join(dir, "other.json"), good)
			link(t, "nothing", file)
		}, "not a regular file"},
		"the directory is a link": {func(t *testing.T, root, dir, file string) {
			write(t, filepath.Join(root, "elsewhere", "settings.json"), good)
			link(t, "elsewhere", dir)
		}, "not a directory"},
		"the directory is a file": {func(t *testing.T, root, dir, file string) { write(t, dir, good) }, "not a directory"},
		"the file is a directory": {func(t *testing.T, root, dir, file string) {
			write(t, filepath.Join(file, "x"), "")
		}, "not a regular file"},
		"too large": {func(t *testing.T, root, dir, file string) {
			write(t, file, good+strings.Repeat(" ", maxFileBytes))
		}, "larger than"},
		"no JSON":              {func(t *testing.T, root, dir, file string) { write(t, file, good+"}") }, "does not parse"},
		"no object":            {func(t *testing.T, root, dir, file string) { write(t, file, "[]") }, "expected an object"},
		"deny of a wrong kind": {func(t *testing.T, root, dir, file string) { write(t, file, `{"permissions": {"deny": 1}}`) }, "expected a list"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, ".drawbridge")
			c.make(t, root, dir, filepath.Join(dir, "settings.json"))
			f := LoadProject(root)
			if !f.Exists || !f.Unreadable || len(f.Problems) == 0 || !strings.Contains(f.Problems[0].Message, c.want) {
				t.Errorf("got %+v, want a problem with %q", f, c.want)
			}
		})
	}
}

// The project's root itself may be reached by a link: the user chose it.
func TestTheRootMayBeReachedByALink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "real", ".drawbridge", "settings.json"), `{"permissions": {"ask": ["Bash"]}}`)
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if f := LoadProject(filepath.Join(dir, "link")); f.Unreadable || len(f.Rules.Ask) != 1 {
		t.Errorf("got %+v", f)
	}
}
