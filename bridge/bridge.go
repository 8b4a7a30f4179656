package bridge

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"drawbridge/bridge/settings"
	"drawbridge/bridge/store"

	"github.com/google/uuid"
	"github.com/sourcegraph/conc"
	"go.uber.org/zap"
)

// Options are what a Bridge is made of.
type Options struct {
	Client   Client
	CLI      CLI // finds and starts the claude process
	Log      *zap.Logger
	Version  string // of drawbridge
	StateDir string // for files that live as long as a process; empty: there are none
	Trace    *Trace // nil: no trace
	// AllowBypass: the user's own settings permit the mode bypassPermissions.
	AllowBypass bool
	// AllowEnv are guarded environment variables that the user's own settings let a session set.
	AllowEnv []string
	// Settings is the user's settings file, whose permission rules are read anew for each decision; nil: there are none.
	Settings     *settings.Source
	SettingsFile string   // where it is, and rules are saved
	StorePath    string   // of the store of sessions, turns and usage; empty: nothing is remembered
	Projects     string   // where Claude writes its transcripts; empty: there are none
	Audit        *Audit   // nil: decisions are not written down
	Home         string   // the user's; empty: as the system says
	Protected    []string // places that only a rule which names them opens: our own files
	// MaxPayloadBytes limits what the editor is told of one message of the CLI; 0: DefaultMaxPayload.
	MaxPayloadBytes int64
	// Notices are told to the user with the first session: what was wrong before there was anybody to tell.
	Notices []Notice
}

// Bridge is all sessions of one editor connection.
type Bridge struct {
	Options
	started time.Time

	// mu guards the table of sessions and what has been seen of claude.
	mu       sync.Mutex
	sessions map[string]*Session
	first    *Session // the default session
	claude   ClaudeCode
	usable   *Error // why there was no usable claude yet; nil once there was one
	hadOne   bool
	closed   bool

	store   *store.Store // nil: nothing is remembered
	library *Library     // nil: there is no past

	counters Counters
	group    conc.WaitGroup // one goroutine for each life of a claude process and each interrupt under way
}

// New makes a Bridge. Nothing is started.
func New(o Options) *Bridge {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	b := &Bridge{Options: o, started: time.Now(), sessions: map[string]*Session{}}
	b.claude = o.CLI.Known()
	if o.StorePath != "" {
		b.store = store.Open(o.StorePath, o.Log, b.notice)
	}
	if b.store != nil || o.Projects != "" {
		b.library = &Library{Projects: o.Projects, Store: b.store}
	}
	return b
}

// Open makes a session. Its claude process is started by Start or by the first message.
func (b *Bridge) Open(o SessionOptions) (*Session, error) {
	if err := o.check(b.AllowBypass, b.AllowEnv); err != nil {
		return nil, err
	}
	s := newSession(b, uuid.NewString(), o)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fail(KindInternal, "the bridge is shutting down")
	}
	b.sessions[s.id] = s
	if b.first == nil {
		b.first = s
		s.greet()
	}
	return s, nil
}

// Session finds an open session by its handle; "" is the default session.
func (b *Bridge) Session(id string) (*Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == "" && b.first != nil {
		id = b.first.id
	}
	if s := b.sessions[id]; s != nil {
		return s, nil
	}
	e := fail(KindSessionNotFound, "there is no open session %q", id)
	e.Remedy = "Open one with session_new."
	return nil, e
}

// Sessions lists the open sessions, oldest first.
func (b *Bridge) Sessions() []*Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]*Session, 0, len(b.sessions))
	for _, s := range b.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y *Session) int { return x.opened.Compare(y.opened) })
	return list
}

func (b *Bridge) home() string {
	if b.Home != "" {
		return b.Home
	}
	home, _ := os.UserHomeDir() // unknown: no rule with ~ covers anything
	return home
}

// Claude is the CLI as far as it is known now.
func (b *Bridge) Claude() ClaudeCode {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claude
}

// sawClaude records what a start of the CLI has shown; err is why it was of no use.
func (b *Bridge) sawClaude(c ClaudeCode, err *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claude = c
	switch {
	case err == nil:
		b.hadOne, b.usable = true, nil
	case !b.hadOne:
		b.usable = err
	}
}

// Usable is nil unless every attempt to start the CLI so far has failed for want of a usable one: then it says why, and a bridge
// that ends now exits with 72 or 78.
func (b *Bridge) Usable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.usable == nil {
		return nil
	}
	return b.usable
}

// forget takes a closed session out of the table.
func (b *Bridge) forget(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, s.id)
	if b.first == s {
		b.first = nil
	}
}

// Close ends every session: every turn is answered as cancelled, every process is gone when it returns.
func (b *Bridge) Close(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	var all conc.WaitGroup
	for _, s := range b.Sessions() {
		all.Go(func() { _ = s.Close(ctx) })
	}
	all.Wait()
	b.group.Wait()
	if b.store != nil {
		ctx, cancel := context.WithTimeout(ctx, storeLimit)
		defer cancel()
		_ = b.store.Close(ctx) // what could not be written has been told
	}
}

// storeLimit bounds what the end of the bridge waits for the disk.
const storeLimit = 2 * time.Second

// notice tells the user something that concerns no session, by the default one.
func (b *Bridge) notice(level, kind, message, remedy string) {
	if s, err := b.Session(""); err == nil {
		s.tellLocked(Notice{Level: level, Kind: kind, Message: message, Remedy: remedy})
	}
}
