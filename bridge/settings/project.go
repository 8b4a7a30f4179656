package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ProjectFile is one reading of a project's .drawbridge/settings.json: deny and ask rules, nothing else.
type ProjectFile struct {
	Path     string
	Exists   bool
	Rules    Rules // Allow is always empty
	Problems []Problem
	// Unreadable says that the file, or a part of it that may hold rules, could not be read: everything is to be
	// asked. Rules holds what could be read.
	Unreadable bool
}

// LoadProject reads the settings that a project brings along. They are written by whoever wrote the project, so
// nothing below root is followed that is a link, nothing but a regular file of at most 1 MiB is read, and it is read
// once: what is judged is what was read.
func LoadProject(root string) ProjectFile {
	f := ProjectFile{Path: filepath.Join(root, ".drawbridge", "settings.json")}
	text, err := readWithoutLinks(root, ".drawbridge", "settings.json")
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	f.Exists = true
	unread := func(at node, message string) ProjectFile {
		f.Problems = []Problem{{File: f.Path, Line: at.line, Column: at.column, Message: message + ". Everything is asked in this project"}}
		f.Unreadable = true
		f.Rules.Incomplete = true
		return f
	}
	if err != nil {
		return unread(node{}, "cannot be read: "+plain(err.Error()))
	}
	tree, err := parse(text)
	var bad *syntaxError
	switch {
	case errors.As(err, &bad):
		return unread(node{line: bad.line, column: bad.column}, "does not parse: "+bad.reason)
	case !tree.isObject():
		return unread(*tree, "expected an object, found "+found(tree))
	}
	r := reader{file: f.Path, table: projectFileTable, problems: new(problems), at: map[string]*node{},
		strict: " is ignored: a project may only set permissions.deny and permissions.ask"}
	r.section(tree, "", false)
	f.Rules = r.rules()
	f.Problems = r.problems.all(f.Path)
	f.Unreadable = f.Rules.Incomplete
	return f
}

// readWithoutLinks reads root/dir/name. os.Root keeps the way inside root but follows links there, so each step is
// looked at without following and the opened thing must be the one that was seen: a link put there in between names
// another file.
func readWithoutLinks(root, dir, name string) ([]byte, error) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	seen, err := top.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, errors.New(dir + " is not a directory")
	}
	below, err := top.OpenRoot(dir)
	if err != nil {
		return nil, replaced(err)
	}
	defer below.Close()
	if opened, err := below.Stat("."); err != nil || !os.SameFile(seen, opened) {
		return nil, errors.New(dir + " was exchanged while it was opened")
	}
	if seen, err = below.Lstat(name); err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := below.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, replaced(err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(seen, opened) {
		return nil, errors.New("it was exchanged while it was opened")
	}
	return readAll(f)
}

// replaced keeps a thing that vanished between two looks from passing for one that was never there.
func replaced(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it was exchanged while it was opened")
	}
	return err
}
