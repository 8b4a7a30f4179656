package bridge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"drawbridge/bridge/store"
)

// Find finds a conversation by Claude's id, or by the handle of a session that was led here: then it is the session's last one. A
// transcript comes first where both are possible, so that the list's ids always mean what they say.
func (l *Library) Find(ctx context.Context, id string) (Entry, error) {
	if !sessionID.MatchString(id) {
		return Entry{}, conversationNotFound(id)
	}
	known, err := l.remembered(ctx, id)
	if err != nil && ctx.Err() != nil {
		return Entry{}, ctx.Err()
	}
	root, err := l.root()
	if err != nil {
		if known.ClaudeID == "" {
			return Entry{}, conversationNotFound(id)
		}
		return entryOf(known), nil
	}
	defer root.Close()
	for _, claude := range []string{id, known.ClaudeID} {
		if !sessionID.MatchString(claude) {
			continue
		}
		c, ok := l.locate(root, claude, known.CWD)
		if !ok {
			continue
		}
		if claude != known.ClaudeID {
			if known, err = l.remembered(ctx, claude); err != nil && ctx.Err() != nil {
				return Entry{}, ctx.Err()
			}
		}
		s, err := l.summary(root, c)
		if err != nil {
			continue
		}
		return s.entry(c, known), nil
	}
	if known.ClaudeID == "" {
		return Entry{}, conversationNotFound(id)
	}
	return entryOf(known), nil
}

// remembered is what the store knows of a session or conversation; without a store that works it knows nothing.
func (l *Library) remembered(ctx context.Context, id string) (store.Session, error) {
	if l.Store == nil {
		return store.Session{}, nil
	}
	return l.Store.Session(ctx, id)
}

// locate finds the transcript of a conversation. A directory is named by the session's cwd; where that is not known, or Claude has
// written elsewhere, all are looked at.
func (l *Library) locate(root *os.Root, id, cwd string) (candidate, bool) {
	for _, dir := range projectNames(cwd) {
		if c, ok := stat(root, dir, id); ok {
			return c, true
		}
	}
	dirs, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return candidate{}, false
	}
	for _, d := range dirs {
		if c, ok := stat(root, d.Name(), id); ok {
			return c, true
		}
	}
	return candidate{}, false
}

func stat(root *os.Root, dir, id string) (candidate, bool) {
	c := candidate{id: id, path: path.Join(dir, id+transcriptSuffix)}
	info, err := root.Stat(c.path)
	if err != nil || !info.Mode().IsRegular() {
		return c, false
	}
	c.size, c.updated = info.Size(), info.ModTime()
	return c, true
}

// projectNames are the names that the directory of a cwd's transcripts may have: Claude replaces all but letters and digits by
// dashes, and may see the cwd without its symbolic links.
func projectNames(cwd string) []string {
	if cwd == "" {
		return nil
	}
	names := []string{projectName(cwd)}
	if real, err := filepath.EvalSymlinks(cwd); err == nil && real != cwd {
		names = append(names, projectName(real))
	}
	return names
}

func projectName(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

// longName is the length from which on newer versions cut the name of a directory and put a checksum behind it.
const longName = 200

// isProject reports whether dir is the directory of one of the names.
func isProject(dir string, names []string) bool {
	for _, name := range names {
		if dir == name || len(name) > longName && strings.HasPrefix(dir, name[:longName]) {
			return true
		}
	}
	return false
}

// Rename gives a conversation a title of the user's. It is kept in the store.
func (l *Library) Rename(ctx context.Context, id, title string) error {
	e, err := l.Find(ctx, id)
	if err != nil {
		return err
	}
	if l.Store == nil {
		return fail("store", "there is no store to keep the title in")
	}
	l.Store.Rename(e.ClaudeID, title)
	return nil
}

// Delete removes a conversation for good: Claude's transcript with what lies beside it under its id, and what the store knows of it
// but for the sums of its usage.
func (l *Library) Delete(ctx context.Context, id string) error {
	e, err := l.Find(ctx, id)
	if err != nil {
		return err
	}
	if e.Transcript != "" {
		root, err := l.root()
		if err != nil {
			return err
		}
		defer root.Close()
		if err := root.Remove(e.Transcript); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.RemoveAll(strings.TrimSuffix(e.Transcript, transcriptSuffix)); err != nil {
			return err
		}
	}
	if l.Store != nil {
		l.Store.Delete(e.ClaudeID)
	}
	return nil
}

func entryOf(s store.Session) Entry {
	return Entry{ClaudeID: s.ClaudeID, Handle: s.ID, Title: s.Title, CWD: s.CWD, Model: s.Model, Updated: s.Updated, Turns: s.Turns,
		CostUSD: s.CostUSD, Source: fromDrawbridge}
}
