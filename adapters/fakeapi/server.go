// Package fakeapi is a scripted Messages API on loopback. It lets tests run the real claude CLI end to end without an
// account or a network: the last thing the user said is the script of the answer (see [Usage]), so that a test says in
// its prompt what the model shall do.
//
// It speaks as much of https://docs.anthropic.com/en/api/messages as the CLI uses: POST /v1/messages, streaming (SSE) or
// not, POST /v1/messages/count_tokens, and errors. Every request is recorded, so that a test can ask what the model was
// told: the reason of a denial, the output of a command, a message folded into a running turn.
//
// The package is for tests and recordings only and is never linked into the drawbridge binary.
package fakeapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running API. Its methods may be called from any goroutine.
type Server struct {
	addr    string
	http    *http.Server
	stop    context.CancelFunc // ends ctx, and with it streams that hang
	ctx     context.Context
	accepts sync.WaitGroup // accept loops
	open    sync.WaitGroup // connections

	keepBodies bool
	idPrefix   string // makes ids unique across servers, since a resumed session carries the ids of an earlier one

	mu       sync.Mutex
	listener net.Listener // nil while refusing
	conns    map[net.Conn]struct{}
	log      io.Writer
	override func(Request) (Answer, bool)
	requests []Request
	changed  chan struct{} // closed and replaced whenever requests changes
	messages int           // answers given, for ids
	attempts map[string]int
	then     map[string]string // tool_use id → script to run when its result comes
	after    map[string]string // tool_use id → script of the turn that announces the end of its background task
}

// Option changes how [Start] sets a server up.
type Option func(*Server)

// WithAddr listens on addr instead of 127.0.0.1:0.
func WithAddr(addr string) Option { return func(s *Server) { s.addr = addr } }

// WithLog writes each request to w as one line of JSON, when it arrives and again when it has been answered or abandoned.
func WithLog(w io.Writer) Option { return func(s *Server) { s.log = w } }

// WithBodies keeps the raw body of every request in [Request.Body].
func WithBodies() Option { return func(s *Server) { s.keepBodies = true } }

// Start serves the API until [Server.Close].
func Start(opts ...Option) (*Server, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		addr:     "127.0.0.1:0",
		stop:     cancel,
		ctx:      ctx,
		idPrefix: randomHex(),
		conns:    map[net.Conn]struct{}{},
		log:      io.Discard,
		changed:  make(chan struct{}),
		attempts: map[string]int{},
		then:     map[string]string{},
		after:    map[string]string{},
	}
	for _, o := range opts {
		o(s)
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: time.Minute,
		ConnState:         s.track,
	}
	if err := s.listen(); err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

// listen opens the port and serves it. The first call fixes the port, so that a later one comes back to the same URL.
func (s *Server) listen() error {
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	s.mu.Lock()
	s.listener, s.addr = l, l.Addr().String()
	s.mu.Unlock()
	s.accepts.Go(func() { _ = s.http.Serve(l) }) // ends with the listener; there is nobody to tell
	return nil
}

// URL is what ANTHROPIC_BASE_URL must be.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "http://" + s.addr
}

// Close ends every connection, hung streams too, and waits until no goroutine of the server is left.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	s.accepts.Wait() // no connection is added after this
	s.open.Wait()
	return err
}

// Refuse makes the API unreachable (connection refused, open connections dropped) or, with false, reachable again at the
// same URL.
func (s *Server) Refuse(on bool) error {
	s.mu.Lock()
	l := s.listener
	if !on {
		s.mu.Unlock()
		if l != nil {
			return nil
		}
		return s.listen()
	}
	defer s.mu.Unlock()
	if l == nil {
		return nil
	}
	s.listener = nil
	err := l.Close()
	for c := range s.conns {
		_ = c.Close() // a connection its peer has already closed is as gone as we want it
	}
	return err
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.open.Add(1)
		s.conns[c] = struct{}{}
		if s.listener == nil { // accepted just before Refuse closed the listener
			_ = c.Close()
		}
	case http.StateClosed:
		delete(s.conns, c)
		s.open.Done()
	}
}

// Handle puts f before the text script: when it returns true its answer is given. It is asked about every message request,
// the CLI's own housekeeping (titles and the like, [Request.Tools] empty) too. nil removes it.
func (s *Server) Handle(f func(Request) (Answer, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.override = f
}

// Requests returns the message requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Wait returns the first request for which match is true, one that came before the call too: to wait for a further one,
// match on [Request.Seq] as well. It gives up with ctx's error, or with [net.ErrClosed] when the server closes.
func (s *Server) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		seen, changed := append([]Request(nil), s.requests...), s.changed
		s.mu.Unlock()
		for _, r := range seen {
			if match(r) {
				return r, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("fakeapi: no such request among %d: %w", len(seen), ctx.Err())
		case <-s.ctx.Done():
			return Request{}, fmt.Errorf("fakeapi: no such request among %d: %w", len(seen), net.ErrClosed)
		}
	}
}

// record numbers r and keeps it.
func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Seq = len(s.requests) + 1
	s.requests = append(s.requests, r)
	s.announce(r)
	return r
}

// finish notes how the request numbered seq ended.
func (s *Server) finish(seq int, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[seq-1].State = state
	s.announce(s.requests[seq-1])
}

// announce wakes those who Wait and writes the log. The caller holds mu.
func (s *Server) announce(r Request) {
	close(s.changed)
	s.changed = make(chan struct{})
	if s.log == io.Discard {
		return
	}
	line, err := json.Marshal(r)
	if err != nil {
		line = fmt.Appendf(nil, "%q", err)
	}
	_, _ = s.log.Write(append(line, '\n')) // a log that cannot be written must not fail the conversation
}

// messageID returns an id no other answer has.
func (s *Server) messageID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages++
	return fmt.Sprintf("msg_01%s%06d", s.idPrefix, s.messages)
}

// attempt counts requests that are the same request: the CLI's retries.
func (s *Server) attempt(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts[key]++
	return s.attempts[key]
}

func randomHex() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(b[:])
}

// UnusedPort returns a port of 127.0.0.1 on which nothing listens, for a CLI that shall find no API at all.
func UnusedPort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("fakeapi: %w", err)
	}
	port, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.Join(errors.New("fakeapi: not a TCP address"), l.Close())
	}
	return port.Port, l.Close()
}
