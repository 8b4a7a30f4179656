package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockPatience is how long a writer waits for the others. Each holds the lock for the few milliseconds of one write.
const lockPatience = 10 * time.Second

// rewrite replaces the settings file by what change makes of it, so that neither a crash nor another writer can lose
// anything: locked, read under the lock, written beside it, synced, renamed over it. A symbolic link stays one; its
// target is what is replaced.
func rewrite(path string, change func(text []byte) ([]byte, error)) error {
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The lock is a file of its own: the settings file is replaced, and a lock on a replaced file holds nobody off. It
	// is never removed, because somebody may be waiting for it.
	unlock, err := lock(filepath.Join(dir, "."+name+".lock"), lockPatience)
	if err != nil {
		return err
	}
	defer unlock()

	text, err := readWritable(target)
	if err != nil {
		return fmt.Errorf("%s: %w", plain(path), err)
	}
	changed, err := change(text)
	if err != nil {
		return fmt.Errorf("%s is not changed: %w", plain(path), err)
	}
	if bytes.Equal(text, changed) {
		return nil
	}
	if len(changed) > maxFileBytes {
		return fmt.Errorf("%s is not changed: it would be larger than %d bytes", plain(path), maxFileBytes)
	}
	if _, err := parse(changed); err != nil {
		return fmt.Errorf("%s is not changed: the result would not parse: %w", plain(path), err)
	}
	return replace(dir, name, changed)
}

// replace makes text the content of dir/name in one step. The caller holds the lock, so that a temporary file that is
// there was left by a writer that died.
func replace(dir, name string, text []byte) (err error) {
	temp := filepath.Join(dir, "."+name+".tmp")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := rename(temp, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}

// readWritable reads a file that is to be replaced. It opens it for writing too: a file that its owner made read-only
// is not replaced behind that owner's back.
func readWritable(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR|openNonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}\n"), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// followLinks returns the file that path names, which need not exist yet.
func followLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			// Relative to where the link really stands, not to the way we came.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return "", fmt.Errorf("%s: too many symbolic links", plain(path))
}
