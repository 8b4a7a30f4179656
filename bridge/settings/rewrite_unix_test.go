//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileThatItsOwnerMadeReadOnlyIsNotReplaced(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write any file")
	}
	name := write(t, filepath.Join(t.TempDir(), "settings.json"), "{}")
	if err := os.Chmod(name, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := AddRule(name, User(), Allow, "a"); err == nil {
		t.Error("it was replaced")
	}
}
