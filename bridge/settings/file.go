package settings

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// File is one reading of the user's settings file.
type File struct {
	Path   string
	Exists bool
	// Parsed is false if the file is there but could not be read as a JSON object. Then Values is empty and the
	// first problem says why.
	Parsed      bool
	Values      []Value
	Permissions Rules
	Projects    map[string]Project // by the project root's real path
	Problems    []Problem
}

// Load reads the settings file at path, which may be a symbolic link. It has no error: what is wrong is in Problems,
// and a file that is not there is an empty one.
func Load(path string) File {
	text, err := readRegular(path)
	return interpret(path, text, err)
}

func interpret(path string, text []byte, err error) File {
	f := File{Path: path, Exists: !errors.Is(err, fs.ErrNotExist)}
	if !f.Exists {
		f.Parsed = true
		return f
	}
	unread := func(at node, message string) File {
		f.Problems = []Problem{{File: path, Line: at.line, Column: at.column, Message: message}}
		f.Permissions.Incomplete = true
		return f
	}
	if err != nil {
		return unread(node{}, "cannot be read: "+plain(err.Error())+". The defaults are in force and no rule allows anything")
	}
	root, err := parse(text)
	var bad *syntaxError
	switch {
	case errors.As(err, &bad):
		return unread(node{line: bad.line, column: bad.column},
			"does not parse: "+bad.reason+". The defaults are in force and no rule allows anything until it is repaired")
	case !root.isObject():
		return unread(*root, "expected an object, found "+found(root)+". The defaults are in force and no rule allows anything until it is repaired")
	}
	r := reader{file: path, table: table, problems: new(problems), at: map[string]*node{}, projects: map[string]Project{}}
	r.section(root, "", false)
	f.Parsed = true
	f.Values = r.values
	f.Permissions = r.rules()
	f.Projects = r.projects
	f.Problems = r.problems.all(path)
	return f
}

// after is f as it follows last: a file that stops parsing keeps the deny and ask rules it had.
func (f File) after(last File) File {
	if f.Parsed {
		return f
	}
	f.Permissions = last.Permissions.restrictive()
	f.Projects = make(map[string]Project, len(last.Projects))
	for path, p := range last.Projects {
		f.Projects[path] = Project{Permissions: p.Permissions.restrictive()}
	}
	return f
}

func (r Rules) restrictive() Rules {
	return Rules{Ask: r.Ask, Deny: r.Deny, Incomplete: true}
}

// Source reads one settings file whenever it is asked and has changed, so that every window sees a saved rule at its
// next decision. It watches nothing and holds no descriptor.
type Source struct {
	path string

	mu   sync.Mutex // guards what follows, and makes a change known to one caller only
	read bool
	seen stamp
	sum  [sha256.Size]byte
	last File
}

// Open returns the Source of the file at path. The file need not exist.
func Open(path string) *Source { return &Source{path: path} }

// Read returns the file as it is now. When it does not parse, Permissions and Projects hold the deny and ask rules of
// the last reading that did, and no allow. changed is true for exactly one caller of each new content, the first
// included: the one to tell the user of its Problems.
func (s *Source) Read() (f File, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := stampOf(s.path)
	if s.read && now.same(s.seen) {
		return s.last, false
	}
	text, err := readRegular(s.path)
	sum := sha256.Sum256(fmt.Appendf(nil, "%v\n%s", err, text))
	s.seen = now
	if s.read && sum == s.sum {
		return s.last, false
	}
	s.last, s.sum, s.read = interpret(s.path, text, err).after(s.last), sum, true
	return s.last, true
}

// stamp tells cheaply whether a file may have changed.
type stamp struct {
	info fs.FileInfo // nil: not there
	err  string
	// settled is false for a file that was changed just now: it may be changed again within the same tick of the
	// file system's clock (2 s on FAT).
	settled bool
}

const clockTick = 2 * time.Second

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{err: err.Error(), settled: errors.Is(err, fs.ErrNotExist)}
	}
	age := time.Since(info.ModTime())
	return stamp{info: info, settled: age > clockTick}
}

func (s stamp) same(earlier stamp) bool {
	if !earlier.settled || s.err != earlier.err || (s.info == nil) != (earlier.info == nil) {
		return false
	}
	return s.info == nil || os.SameFile(s.info, earlier.info) && s.info.Size() == earlier.info.Size() &&
		s.info.ModTime().Equal(earlier.info.ModTime()) && s.info.Mode() == earlier.info.Mode()
}

// readRegular reads a regular file of at most maxFileBytes. A pipe does not make it wait.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	return text, nil
}
