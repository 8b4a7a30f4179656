package settings

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestALinkSwappedInWhileTheProjectIsReadIsNeverFollowed(t *testing.T) {
	root := t.TempDir()
	dir, outside := filepath.Join(root, ".drawbridge"), filepath.Join(root, "outside")
	write(t, filepath.Join(outside, "settings.json"), `{"permissions": {"ask": ["outside"]}}`)
	write(t, filepath.Join(root, "inside", "settings.json"), `{"permissions": {"ask": ["inside"]}}`)
	link := filepath.Join(root, "link")
	if err := os.Symlink("outside", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "inside"), dir); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default: // one step: the directory and the link change places
				_ = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	for range 3000 {
		f := LoadProject(root)
		if len(f.Rules.Ask) > 0 && f.Rules.Ask[0].Text != "inside" {
			t.Errorf("the link was followed: %+v", f)
			break
		}
		if len(f.Rules.Ask) == 0 && !f.Unreadable {
			t.Errorf("a file that was there all the time passes for none: %+v", f)
			break
		}
	}
	close(stop)
	<-stopped
}
