//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe would make a plain open wait for ever.
func TestAPipeInPlaceOfAFileMakesNobodyWait(t *testing.T) {
	root := t.TempDir()
	pipe := filepath.Join(root, ".drawbridge", "settings.json")
	if err := os.Mkdir(filepath.Dir(pipe), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := LoadProject(root); !f.Unreadable {
		t.Errorf("the project's: got %+v", f)
	}
	if f := Load(pipe); f.Parsed || !strings.Contains(f.Problems[0].Message, "not a regular file") {
		t.Errorf("the user's: got %+v", f)
	}
	if err := AddRule(pipe, User(), Deny, "Bash"); err == nil {
		t.Error("a pipe was replaced by a file")
	}
}
