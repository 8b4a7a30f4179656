package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxBase is how large a file may be to be read for a diff, in bytes. A larger one is told apart by size and time of change.
const maxBase = 64 << 20

// Base is the file that a diff was made from, as it was then. It is looked at again right before the allow is sent, because what the
// user has agreed to is a change of that file and of no other: a directory on the way may have become a link meanwhile, and before
// 2.1.329 the CLI follows it.
type Base struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // of the content; empty if there is no file, or it is too large or no regular one

	seen sight
}

// sight is what can be seen of a path.
type sight struct {
	real     string // where the links lead
	link     bool   // the path itself is a link
	exists   bool
	trouble  string // why the content is not known
	size     int64  // the last two only if the content is not known
	modified int64
	sum      [sha256.Size]byte
}

// changed reports that the path leads to another file than before, or that the file has another content.
func (b *Base) changed() bool {
	now, _, _ := lookAt(b.Path) // an error is part of what is seen
	return now == nil || now.seen != b.seen
}

// lookAt reads the file that path leads to. The Base is nil if that cannot be told; an error without it says why there is no content.
func lookAt(path string) (*Base, []byte, error) {
	real, err := follow(path)
	if err != nil {
		return nil, nil, err
	}
	b := &Base{Path: path, seen: sight{real: real}}
	if st, err := os.Lstat(path); err == nil {
		b.seen.link = st.Mode()&fs.ModeSymlink != 0
	}
	content, err := b.read()
	if err != nil {
		b.seen.trouble = err.Error()
		return b, nil, err
	}
	if b.seen.exists {
		b.seen.sum = sha256.Sum256(content)
		b.SHA256 = hex.EncodeToString(b.seen.sum[:])
	}
	return b, content, nil
}

// read returns the content of the file, nil if there is none. Nothing but a regular file is read: a pipe would keep us waiting.
func (b *Base) read() ([]byte, error) {
	st, err := os.Lstat(b.seen.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	b.seen.exists = true
	f, err := openRegular(b.seen.real, st)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, notRegular(b.seen.real, st)
	}
	if st.Size() > maxBase {
		b.seen.size, b.seen.modified = st.Size(), st.ModTime().UnixNano()
		return nil, fmt.Errorf("%s is larger than %d MiB", b.seen.real, maxBase>>20)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxBase+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxBase {
		return nil, fmt.Errorf("%s grows while it is read", b.seen.real)
	}
	return content, nil
}

func openRegular(path string, st fs.FileInfo) (*os.File, error) {
	if !st.Mode().IsRegular() {
		return nil, notRegular(path, st)
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe just now
}

func notRegular(path string, st fs.FileInfo) error {
	if st.IsDir() {
		return fmt.Errorf("%s is a directory", path)
	}
	return fmt.Errorf("%s is no regular file", path)
}

// maxLinks is how many links to nowhere are followed.
const maxLinks = 40

// follow is where the links of a path lead. What does not exist is taken as it stands; a link to nowhere leads to what it names.
func follow(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s cannot be resolved: %w", path, err)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path, nil
		}
		dir, err := follow(parent)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// absolutePath is the file that a tool means, as the CLI completes it: up to 2.1.17 that is only done after the question.
func absolutePath(path, cwd string) (string, error) {
	path = strings.TrimSpace(path)
	switch {
	case path == "":
		return "", errors.New("the input names no file")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path holds a NUL")
	case path == "~", strings.HasPrefix(path, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, path[1:]), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case !filepath.IsAbs(cwd):
		return "", errors.New("the path is relative and the directory is not known")
	}
	return filepath.Join(cwd, path), nil
}
