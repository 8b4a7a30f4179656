package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Notice tells the user of trouble with the store, or of its end. It is called by the store's goroutine and must not wait for it.
type Notice func(level, kind, message, remedy string)

// Kind is the kind of all notices and errors of the store, as in docs/protocol.md.
const Kind = "store"

// ErrClosed is the answer of a store that has been closed.
var ErrClosed = errors.New("the store is closed")

// Store is the file of remembered sessions. Its methods may be called by any goroutine. Those that save never wait and never fail:
// what goes wrong is a notice.
type Store struct {
	path   string
	log    *zap.Logger
	notice Notice

	wake chan struct{}  // holds one: something is queued
	asks chan *question // for run to answer
	quit chan struct{}  // closed by Close
	done chan struct{}  // closed when run has returned

	// mu guards what follows. It is never held while the disk is touched.
	mu      sync.Mutex
	queue   queue
	seen    map[string]Folder
	dropped int64
	closed  bool
}

// Open makes the store at path and returns at once; its directory and file are made when there is something to write or to read.
func Open(path string, log *zap.Logger, notice Notice) *Store {
	if log == nil {
		log = zap.NewNop()
	}
	if notice == nil {
		notice = func(_, _, _, _ string) {}
	}
	s := &Store{path: path, log: log, notice: notice, wake: make(chan struct{}, 1), asks: make(chan *question, 8),
		quit: make(chan struct{}), done: make(chan struct{}), seen: map[string]Folder{}}
	go s.run() // joined by Close
	return s
}

// FileName is the name of the store's file in the state directory.
const FileName = "drawbridge.db"

// In is the path of the store in the state directory.
func In(stateDir string) string { return filepath.Join(stateDir, FileName) }

// Path is where the store's file is.
func (s *Store) Path() string { return s.path }

// Size is how many bytes the store takes on the disk, its log included; 0 if there is none.
func (s *Store) Size() int64 {
	var size int64
	for _, name := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// Dropped counts what was given up because the disk did not take it in time.
func (s *Store) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// SaveSession remembers a session, or what is new of it. Its ID must be set.
func (s *Store) SaveSession(v Session) {
	if v.ID == "" {
		return
	}
	now := time.Now()
	if v.Updated.IsZero() {
		v.Updated = now
	}
	if v.Created.IsZero() {
		v.Created = now
	}
	s.save(func(q *queue) int { return q.session(v) })
}

// SaveTurn remembers a turn that has ended. Its ID must be set.
func (s *Store) SaveTurn(t Turn) {
	if t.ID == "" {
		return
	}
	if t.Ended.IsZero() {
		t.Ended = time.Now()
	}
	if t.Started.IsZero() {
		t.Started = t.Ended
	}
	s.save(func(q *queue) int { return q.turn(t) })
}

// SaveFolder remembers what a session in a directory has, for LastSeen.
func (s *Store) SaveFolder(f Folder) {
	s.mu.Lock()
	s.seen[f.CWD] = f
	s.mu.Unlock()
	s.save(func(q *queue) int { return q.folder(f) })
}

// Rename gives a conversation, named by Claude's id, the title the user wants.
func (s *Store) Rename(claudeID, title string) {
	s.save(func(q *queue) int { return q.name(naming{claudeID, title, time.Now()}) })
}

// Delete forgets a conversation, named by Claude's id, and its session if it has no other. What its turns have used stays in the sums.
func (s *Store) Delete(claudeID string) {
	s.save(func(q *queue) int { return q.delete(claudeID) })
}

// LastSeen is what the last session in a directory had, as far as it is in memory: see Preload. It does not wait.
func (s *Store) LastSeen(cwd string) (tools []string, mcpServers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.seen[cwd]
	return f.Tools, f.MCPServers
}

// Preload reads what LastSeen of a directory will say, in the background. It does not wait.
func (s *Store) Preload(cwd string) {
	q := &question{ctx: context.Background(), answered: make(chan struct{}), ask: func(c *connection) error {
		f, err := c.folder(cwd)
		if err != nil || f.CWD == "" {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, newer := s.seen[cwd]; !newer {
			s.seen[cwd] = f
		}
		return nil
	}}
	select {
	case s.asks <- q:
	default: // the disk hangs
	}
}

func (s *Store) save(into func(*queue) int) {
	s.mu.Lock()
	if s.closed {
		s.dropped++
	} else {
		s.dropped += int64(into(&s.queue))
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close writes what is queued and closes the file. It returns when that is done or ctx has ended; a disk that hangs is left to itself.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queue.empty() {
		return errors.New("the store could not be written")
	}
	return nil
}
