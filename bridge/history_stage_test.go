package bridge

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateHistory = flag.Bool("update-history", false, "write the histories of the recorded transcripts anew")

const recorded = "../adapters/testdata/transcripts"

// shelf is a projects directory of a test.
type shelf struct {
	t   testing.TB
	dir string
}

func newShelf(t testing.TB) *shelf { return &shelf{t, filepath.Join(t.TempDir(), "projects")} }

func (s *shelf) library() *Library { return &Library{Projects: s.dir} }

// put writes a transcript of the directory /home/user/project.
func (s *shelf) put(id string, data []byte) string { return s.putIn("-home-user-project", id, data) }

func (s *shelf) putIn(dir, id string, data []byte) string {
	s.t.Helper()
	name := filepath.Join(s.dir, dir, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func conversation(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// replayed collects a page as text.
func replayed(t testing.TB, l *Library, q HistoryQuery) (page []string, next string) {
	t.Helper()
	next, err := l.History(context.Background(), q, func(i HistoryItem) error {
		page = append(page, itemLine(i))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return page, next
}

// all is every page of a conversation, put together.
func all(t testing.TB, l *Library, q HistoryQuery) (items []string, pages int) {
	t.Helper()
	for {
		page, next := replayed(t, l, q)
		items = append(page, items...)
		pages++
		if q.Cursor = next; next == "" || pages > 10000 {
			return items, pages
		}
	}
}

// lines writes a transcript line by line, each following the one before.
type lines struct {
	bytes.Buffer
	n    int
	last string
}

func (w *lines) add(format string, args ...any) string {
	w.n++
	id := fmt.Sprintf("u%d", w.n)
	parent := "null"
	if w.last != "" {
		parent = `"` + w.last + `"`
	}
	fmt.Fprintf(w, `{"parentUuid":%s,"uuid":%q,"isSidechain":false,"cwd":"/home/user/project","version":"2.1.112","timestamp":"2026-03-01T10:00:00Z",`, parent, id)
	fmt.Fprintf(w, format, args...)
	w.WriteString("}\n")
	w.last = id
	return id
}

func (w *lines) user(text string) string {
	return w.add(`"type":"user","message":{"role":"user","content":%q}`, text)
}

func (w *lines) says(id, text string) string {
	return w.add(`"type":"assistant","message":{"id":%q,"model":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":%q}]}`, id, text)
}

func (w *lines) uses(id, tool string) string {
	return w.add(`"type":"assistant","message":{"id":%q,"model":"m","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{}}]}`, id, tool)
}

func (w *lines) returns(tool, text string) string {
	return w.add(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, tool, text)
}

func history(t testing.TB, w *lines) string {
	t.Helper()
	s := newShelf(t)
	s.put(conversation(1), w.Bytes())
	items, _ := all(t, s.library(), HistoryQuery{ID: conversation(1), Limit: 1})
	var short []string
	for _, i := range items {
		words := strings.Fields(i)
		short = append(short, words[0]+":"+strings.Trim(words[len(words)-1], `"`))
	}
	return strings.Join(short, " ")
}

func isKind(err error, kind string) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
