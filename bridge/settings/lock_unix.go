//go:build unix

package settings

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock takes flock(2) on the file, which ends with the descriptor, so also with the process. It asks again and again
// instead of waiting in the kernel, because a stopped process may hold it for ever.
func lock(path string, patience time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	pause, deadline := time.Millisecond, time.Now().Add(patience)
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case time.Now().After(deadline):
			_ = f.Close()
			return nil, fmt.Errorf("another program has held %s for %v", path, patience)
		}
		time.Sleep(pause)
		pause = min(2*pause, 16*time.Millisecond)
	}
}

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir puts the new name on the disk. A file system that cannot sync a directory (EINVAL) has nothing to sync.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}
