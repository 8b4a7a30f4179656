package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/adapters"

	"go.uber.org/goleak"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("DRAWBRIDGE_STORE_WRITER"); path != "" {
		os.Exit(writeAsAnotherProcess(path, os.Getenv("DRAWBRIDGE_STORE_NAME")))
	}
	goleak.VerifyTestMain(m)
}

// ear collects notices.
type ear struct {
	mu    sync.Mutex
	heard []string
}

func (e *ear) notice(level, kind, message, remedy string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, level+" "+kind+": "+message+" "+remedy)
}

func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.heard...)
}

// open opens a store that the test closes.
func open(t testing.TB, path string) (*Store, *ear) {
	t.Helper()
	e := &ear{}
	s := Open(path, nil, e.notice)
	t.Cleanup(func() { shut(t, s) })
	return s, e
}

func shut(t testing.TB, s *Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func ctx(t testing.TB) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return c
}

// newPath is where a store may be made: its directory is not there yet.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", FileName) }

func at(minute int) time.Time { return time.Date(2026, 3, 1, 12, minute, 0, 0, time.Local) }

func session(id string, minute int) Session {
	return Session{ID: id, ClaudeID: id, CWD: "/p", Title: "title of " + id, Model: "sonnet", PermissionMode: "default", Updated: at(minute), Created: at(minute)}
}

func turn(id, session string, minute int) Turn {
	return Turn{ID: id, SessionID: session, ClaudeID: session, CWD: "/p", Model: "sonnet", Origin: "user", Status: "completed", StopReason: "end_turn",
		Started: at(minute), Ended: at(minute), Usage: adapters.Usage{InputTokens: 10, OutputTokens: 5}, CostUSD: 0.25, DurationMS: 1500, NumTurns: 1,
		Models: []ModelUsage{{Model: "sonnet", Usage: adapters.Usage{InputTokens: 8, OutputTokens: 4}, CostUSD: 0.2},
			{Model: "haiku", Usage: adapters.Usage{InputTokens: 2, OutputTokens: 1}, CostUSD: 0.05}}}
}

// fill makes a store with so many sessions of two turns each, and closes it.
func fill(t testing.TB, path string, sessions int) {
	t.Helper()
	s := Open(path, nil, nil)
	for i := range sessions {
		id := fmt.Sprintf("s%04d", i)
		s.SaveSession(session(id, i))
		s.SaveTurn(turn(id+"a", id, i))
		s.SaveTurn(turn(id+"b", id, i))
		if i%100 == 99 {
			if _, err := s.Session(ctx(t), id); err != nil { // waits for what is queued
				t.Fatal(err)
			}
		}
	}
	shut(t, s)
}

// inside opens the file beside the store.
func inside(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetBusyTimeout(5 * time.Second)
	return conn
}

func number(t testing.TB, path, query string) int64 {
	t.Helper()
	conn := inside(t, path)
	defer conn.Close()
	n, err := count(conn, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func execute(t testing.TB, path, script string) {
	t.Helper()
	conn := inside(t, path)
	defer conn.Close()
	if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
		t.Fatal(err)
	}
}

// files lists what lies beside the store, the store itself and its log left out.
func asides(t testing.TB, path string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.Contains(e.Name(), ".damaged-") {
			names = append(names, e.Name())
		}
	}
	return names
}
