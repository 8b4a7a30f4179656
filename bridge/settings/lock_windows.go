package settings

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lock takes LockFileEx on the file, which ends with the handle, so also with the process.
func lock(path string, patience time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	pause, deadline := time.Millisecond, time.Now().Add(patience)
	for {
		err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING):
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

// rename tries for a second: a program that reads the file at this moment, a virus scanner for one, keeps it from
// being replaced.
func rename(from, to string) error {
	var err error
	for range 50 {
		err = os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// syncDir does nothing: Windows has no sync of a directory.
func syncDir(string) error { return nil }
