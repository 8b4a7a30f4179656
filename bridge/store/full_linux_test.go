package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAFullDiskIsOneNoticeAndWhatWasSavedIsWrittenWhenThereIsRoom(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
	for _, when := range []string{"before the store is there", "while it is open"} {
		t.Run(when, func(t *testing.T) {
			path := filepath.Join(disk, strings.ReplaceAll(when, " ", "_"), FileName)
			e := &ear{}
			s := Open(path, nil, e.notice)
			defer shut(t, s)
			if when == "while it is open" {
				s.SaveSession(session("a", 1))
				if _, err := s.Session(ctx(t), "a"); err != nil {
					t.Fatal(err)
				}
			}
			stuffing := filepath.Join(disk, "stuffing")
			stuff(t, stuffing)
			for i := range 200 {
				s.SaveTurn(turn(fmt.Sprint("t", i), "a", i%60))
			}
			for deadline := time.Now().Add(20 * time.Second); len(e.all()) == 0 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if n := e.all(); len(n) != 1 || !strings.Contains(n[0], "The disk is full") {
				t.Errorf("notices %q", n)
			}
			if s.Dropped() > 0 {
				t.Errorf("%d dropped", s.Dropped())
			}
			if err := os.Remove(stuffing); err != nil {
				t.Fatal(err)
			}
			s.SaveSession(session("a", 2))
			got, err := s.Session(ctx(t), "a")
			if err != nil || got.Turns != 200 {
				t.Errorf("got %+v, %v", got, err)
			}
			if names := asides(t, path); len(names) > 0 {
				t.Errorf("set aside: %v", names)
			}
			shut(t, s)
			if result := check(t, path); result != "ok" {
				t.Errorf("the store is now: %s", result)
			}
		})
	}
}

// stuff fills the file system that the file is on.
func stuff(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return
		}
	}
}

func TestADirectoryWithoutWritePermissionIsANoticeAndNoMore(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_RDONLY, "size=64k"); err != nil {
		t.Skipf("a read-only file system cannot be mounted: %v", err)
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
	e := &ear{}
	s := Open(filepath.Join(disk, FileName), nil, e.notice)
	s.SaveSession(session("a", 1))
	_, _ = s.Session(ctx(t), "a")
	if err := s.Close(ctx(t)); err == nil {
		t.Error("closing says that all was written")
	}
	if n := e.all(); len(n) != 1 || !strings.Contains(n[0], "cannot be used") {
		t.Errorf("notices %q", n)
	}
}
