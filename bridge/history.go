package bridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"drawbridge/bridge/store"
)

// Library is all conversations of the user: those that Claude has written down, wherever they were led, and what the store knows of
// them. Its methods may be called by any goroutine; they read files and take their time.
type Library struct {
	Projects string       // Claude's projects directory
	Store    *store.Store // nil: none

	mu        sync.Mutex
	summaries map[string]summary // by path below Projects; see summary.fits
}

// Entry is a conversation in the list.
type Entry struct {
	ClaudeID   string // Claude's id, by which the conversation is resumed
	Handle     string // the session it was led in here, as far as the store knows
	Title      string
	CWD        string
	Model      string
	Updated    time.Time
	Turns      int // 0: unknown
	CostUSD    float64
	Source     string // drawbridge, claude
	Transcript string // path below Projects; empty if there is none
}

// Where a conversation was begun, or led here at least once.
const (
	fromDrawbridge = "drawbridge"
	fromClaude     = "claude"
)

// ProjectsDir is where Claude writes its transcripts: below CLAUDE_CONFIG_DIR, else ~/.claude.
func ProjectsDir() (string, error) {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "projects"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".claude", "projects"), nil
}

// sessionID is the only form of an id that becomes a part of a path. Claude's are all so.
var sessionID = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

const transcriptSuffix = ".jsonl"

// root opens the projects directory. What is opened through it lies in it: a symbolic link that leads elsewhere is an error.
func (l *Library) root() (*os.Root, error) {
	if l.Projects == "" {
		return nil, os.ErrNotExist
	}
	return os.OpenRoot(l.Projects)
}

// openTranscript opens a transcript for reading; it must be a plain file.
func openTranscript(root *os.Root, path string) (*os.File, os.FileInfo, error) {
	info, err := root.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func conversationNotFound(id string) *Error {
	e := fail(KindSessionNotFound, "there is no conversation %q", id)
	e.Remedy = "Choose one of session_list."
	return e
}
