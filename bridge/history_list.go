package bridge

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/bridge/store"
)

// ListQuery chooses a page of the list.
type ListQuery struct {
	CWD    string // of this directory only
	Limit  int    // 0: listLimit
	Cursor string // where the page before ended
}

const (
	listLimit = 50
	listMax   = 1000
)

// candidate is a transcript, or a conversation that only the store knows, before it is looked into.
type candidate struct {
	id      string
	path    string // empty: no transcript
	size    int64
	updated time.Time
	known   store.Session // without a transcript
}

// List lists the conversations of Claude and of the store as one, the last used first. Of all of them it looks at the directory
// entries; only those of the page are read, and of a long transcript only both ends. next is where the next page begins, empty after
// the last.
func (l *Library) List(ctx context.Context, q ListQuery) (page []Entry, next string, err error) {
	limit := q.Limit
	if limit <= 0 {
		limit = listLimit
	}
	limit = min(limit, listMax)
	after, err := parseListCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	root, err := l.root()
	if err == nil {
		defer root.Close()
	}
	candidates, err := l.candidates(ctx, root, q.CWD)
	if err != nil {
		return nil, "", err
	}
	if q.Cursor != "" {
		candidates = candidates[firstAfter(candidates, after):]
	}
	var chosen []candidate
	var summaries []summary
	for _, c := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		var s summary
		if c.path != "" {
			s, err = l.summary(root, c)
			if err != nil || s.empty || q.CWD != "" && !sameDir(s.cwd, q.CWD) {
				continue
			}
		}
		if len(chosen) == limit {
			last := chosen[limit-1]
			next = fmt.Sprintf("%d.%s", last.updated.UnixNano(), last.id)
			break
		}
		chosen, summaries = append(chosen, c), append(summaries, s)
	}
	known := l.known(ctx, chosen)
	for i, c := range chosen {
		if c.path == "" {
			page = append(page, entryOf(c.known))
			continue
		}
		page = append(page, summaries[i].entry(c, known[c.id]))
	}
	return page, next, nil
}

// candidates are all conversations, newest first.
func (l *Library) candidates(ctx context.Context, root *os.Root, cwd string) ([]candidate, error) {
	var list []candidate
	names := projectNames(cwd)
	found := map[string]bool{} // the directories there are
	if root != nil {
		dirs, _ := fs.ReadDir(root.FS(), ".")
		for _, d := range dirs {
			found[d.Name()] = true
			if cwd != "" && !isProject(d.Name(), names) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			list = append(list, transcriptsIn(root, d.Name())...)
		}
	}
	list, err := l.withRemembered(ctx, list, found, cwd)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(b.updated.Compare(a.updated), strings.Compare(b.id, a.id)) })
	// A conversation may lie in two directories, when it was led in two: the newer file is the one that goes on.
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(c candidate) bool {
		twice := seen[c.id]
		seen[c.id] = true
		return twice
	}), nil
}

func transcriptsIn(root *os.Root, dir string) []candidate {
	entries, err := fs.ReadDir(root.FS(), dir) // not a directory, not readable, or led outside by a link: nothing
	if err != nil {
		return nil
	}
	list := make([]candidate, 0, len(entries))
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), transcriptSuffix)
		if !ok || !sessionID.MatchString(id) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		c := candidate{id: id, path: path.Join(dir, e.Name()), size: info.Size(), updated: info.ModTime()}
		if !info.Mode().IsRegular() {
			if c, ok = stat(root, dir, id); !ok { // a link is followed, if it stays inside
				continue
			}
		}
		list = append(list, c)
	}
	return list
}

// withRemembered adds conversations of the store that have no transcript here. Where Claude keeps transcripts of that directory, one
// that is missing was deleted and cannot be resumed, unless it is so new that Claude has not written it yet; where it keeps none, it
// runs elsewhere (over ssh, in a container).
func (l *Library) withRemembered(ctx context.Context, list []candidate, dirs map[string]bool, cwd string) ([]candidate, error) {
	if l.Store == nil {
		return list, nil
	}
	sessions, _, err := l.Store.Sessions(ctx, store.Filter{CWD: cwd, Brief: true})
	if err != nil {
		return list, ctx.Err() // the store's trouble is told by the store
	}
	written := make(map[string]bool, len(list))
	for _, c := range list {
		written[c.id] = true
	}
	for _, s := range sessions {
		if written[s.ClaudeID] || s.ClaudeID == "" {
			continue
		}
		if time.Since(s.Updated) > justNow && slices.ContainsFunc(projectNames(s.CWD), func(name string) bool { return dirs[name] }) {
			continue
		}
		list = append(list, candidate{id: s.ClaudeID, updated: s.Updated, known: s})
	}
	return list, nil
}

// justNow is how long a conversation may be without a transcript.
const justNow = 2 * time.Minute

// known is what the store knows of the chosen ones, and completes those that only it has.
func (l *Library) known(ctx context.Context, chosen []candidate) map[string]store.Session {
	if l.Store == nil {
		return nil
	}
	ids := make([]string, len(chosen))
	for i, c := range chosen {
		ids[i] = c.id
	}
	known, err := l.Store.Known(ctx, ids)
	if err != nil {
		return nil
	}
	for i := range chosen {
		if c := &chosen[i]; c.path == "" {
			if k, ok := known[c.id]; ok {
				c.known = k
			}
		}
	}
	return known
}

// sameDir compares the cwd in a transcript with the one asked for; different ones may share a directory of transcripts.
func sameDir(written, asked string) bool {
	if written == "" || written == asked {
		return true
	}
	a, err := os.Stat(written)
	if err != nil {
		return false
	}
	b, err := os.Stat(asked)
	return err == nil && os.SameFile(a, b)
}

func parseListCursor(cursor string) (candidate, error) {
	if cursor == "" {
		return candidate{}, nil
	}
	at, id, ok := strings.Cut(cursor, ".")
	nano, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return candidate{}, fail(KindInvalidParams, "%q is no cursor of session_list", cursor)
	}
	return candidate{id: id, updated: time.Unix(0, nano)}, nil
}

// firstAfter is the index of the first candidate behind c in the order of the list.
func firstAfter(list []candidate, c candidate) int {
	i, found := slices.BinarySearchFunc(list, c, func(a, b candidate) int {
		return cmp.Or(b.updated.Compare(a.updated), strings.Compare(b.id, a.id))
	})
	if found {
		i++
	}
	return i
}
