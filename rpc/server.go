package rpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/bridge"
	"drawbridge/rpc/stream"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"
)

// Options are what a server is made of.
type Options struct {
	Bridge  bridge.Options        // Client is the server itself
	Session bridge.SessionOptions // defaults, over which go the options of initialize
	Prewarm bool                  // likewise: start the CLI of the default session at once
	Framing stream.Framing
	// MaxFrame limits an incoming frame, in bytes; 0 is stream.DefaultMaxFrame.
	MaxFrame int
	// Trace sees every frame, in the order of the wire. See stream.Options.
	Trace func(stream.Direction, []byte)
	Log   *zap.Logger
}

// Exit says how a connection ended.
type Exit struct {
	Initialized bool  // initialize was answered
	Shutdown    bool  // the editor sent shutdown
	InputEnded  bool  // the input ended, which means shutdown and exit
	Unusable    error // a *bridge.Error if there never was a usable claude
	Err         error // why the connection broke, if it did
}

// Time limits of the end. The bridge stops its processes within a few seconds, and closeLimit is for one that does not die; an editor
// that reads nothing for stallLimit is not waited for.
const (
	closeLimit = 10 * time.Second
	stallLimit = 4 * time.Second
	drainLimit = 2 * time.Second
)

// Server is the editor's end of the bridge: it corresponds to one accept(2), not to listen(2). It answers one editor's requests and,
// as the bridge's Client, tells that editor what happens.
type Server struct {
	options Options
	log     *zap.Logger
	stream  *stream.Stream
	conn    jsonrpc2.Conn
	bridge  *bridge.Bridge

	// ctx is the life of the connection's work. It is not the context that the library's reader runs with: when that one ends,
	// the last responses are thrown away.
	ctx    context.Context
	cancel context.CancelFunc
	// pace ends first: then nobody waits any more for an editor that reads too slowly.
	pace       context.Context
	stopPacing context.CancelFunc
	group      conc.WaitGroup // parent watch, and the making of progress tokens

	// The reader sets these. state is its own; the others are set once, before there is a session, and then only read.
	state    state
	client   client
	defaults SessionOptions // of every session

	calls    calls
	views    sync.Map // *bridge.Session → *view
	prompts  endedPrompts
	greeting *greeting
	trace    trace
	closing  atomic.Bool
	closed   chan struct{} // closed when the sessions are
	ending   chan struct{} // closed when the connection is to end
	endOnce  sync.Once

	sawShutdown, sawEOF atomic.Bool
}

var _ bridge.Client = (*Server)(nil)

// state of the lifecycle.
type state uint8

const (
	uninitialized state = iota
	initialized
	shutDown
)

// Serve speaks the protocol over in and out until the editor says exit, the input ends, the editor's process is gone, the output
// fails, or ctx ends. When it returns, every turn has been answered and every process is gone.
//
// It never waits for a blocked read: a goroutine that reads a blocking stdin stays there until the process exits.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) Exit {
	s := newServer(o)
	s.stream = stream.New(in, out, stream.Options{Framing: o.Framing, MaxFrame: o.MaxFrame, Trace: o.Trace,
		OnEOF: s.inputEnded, OnFail: s.outputFailed, OnReject: s.rejected})
	s.conn = jsonrpc2.NewConn(&answerWatch{s.stream, s}, jsonrpc2.WithCodec(codec{}))
	s.conn.Go(context.WithoutCancel(ctx), s.handle)
	select {
	case <-s.ending:
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	return s.finish()
}

func newServer(o Options) *Server {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	s := &Server{options: o, log: o.Log, greeting: newGreeting(), ending: make(chan struct{}), closed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.pace, s.stopPacing = context.WithCancel(s.ctx)
	s.calls.init()
	o.Bridge.Client = s
	if o.Bridge.Log == nil {
		o.Bridge.Log = o.Log
	}
	s.bridge = bridge.New(o.Bridge)
	return s
}

// handle is the library's handler. What it returns is final: a notification that returns an error, and a panic, would end the
// connection.
func (s *Server) handle(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	if caught := panics.Try(func() { result, err = s.dispatch(&call{s: s, request: ctx, req: req}) }); caught != nil {
		s.log.Error("panic in a handler", zap.String("method", req.Method()), zap.String("stack", caught.String()))
		result, err = nil, caught.AsError()
	}
	switch {
	case !req.IsCall():
		if err != nil {
			s.log.Warn("a notification of the editor failed", zap.String("method", req.Method()), zap.Error(err))
		}
		return nil, nil
	case err != nil:
		return nil, toError(err)
	}
	return result, nil
}

// dispatch looks the method up and checks that its time has come.
func (s *Server) dispatch(c *call) (any, error) {
	name := c.req.Method()
	m, known := methods[name]
	switch {
	case s.state == uninitialized && name != "initialize" && c.req.IsCall():
		return nil, failure(jsonrpc2.ServerNotInitialized, kindNotInitialized, "The first request must be initialize.",
			"Send initialize and wait for its answer.")
	case s.state == uninitialized && known && m.flags&early == 0:
		return nil, nil
	case s.state == shutDown && name != "initialize" && c.req.IsCall():
		return nil, failure(jsonrpc2.InvalidRequest, kindShutDown, "The bridge is shut down.", "Start another one.")
	case !known && c.req.IsCall():
		return nil, failure(jsonrpc2.MethodNotFound, "method_not_found", "There is no method "+name+".",
			"Compare the versions of the editor's plugin and of drawbridge.")
	case !known:
		return nil, nil
	case !c.req.IsCall() && m.flags&notification == 0:
		s.log.Warn("a request of the editor has no id, so it was ignored", zap.String("method", name))
		return nil, nil
	}
	if s.state == initialized {
		s.greeting.wait() // a response must not overtake that of initialize
	}
	c.flags = m.flags
	return m.handle(s, c)
}

// shutdown ends the sessions. It is answered when every other request is, and every process is gone.
func (s *Server) shutdown(c *call) (any, error) {
	s.state = shutDown
	s.sawShutdown.Store(true)
	c.async()
	s.closeBridge()
	s.calls.wait(1)
	return nil, nil
}

func (s *Server) exit(*call) (any, error) {
	s.end()
	return nil, nil
}

func ignored(*Server, *call) (any, error) { return nil, nil }

// inputEnded holds the end of the input back from the library, which would throw away the responses still to come.
func (s *Server) inputEnded() {
	s.sawEOF.Store(true)
	s.end()
	s.closeBridge()
	s.calls.wait(0)
}

func (s *Server) outputFailed(err error) {
	s.log.Warn("the editor cannot be written to", zap.Error(err))
	s.end()
}

func (s *Server) rejected(why string, frame []byte) {
	s.log.Warn("a frame of the editor is no good", zap.String("why", why), zap.ByteString("frame", frame[:min(len(frame), 200)]))
}

// end says that the connection is to end.
func (s *Server) end() {
	s.stopPacing()
	s.endOnce.Do(func() { close(s.ending) })
}

// closeBridge ends every session. Whoever comes second waits for the first.
func (s *Server) closeBridge() {
	if s.closing.Swap(true) {
		<-s.closed
		return
	}
	defer close(s.closed)
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	s.bridge.Close(ctx)
	s.cancel()
	s.group.Wait()
}

// finish is the one way a connection ends: sessions closed, requests answered, everything written. An editor that does not read, or
// a process that does not die, cannot hold it up.
func (s *Server) finish() Exit {
	s.end()
	limit := time.NewTimer(closeLimit + drainLimit)
	defer limit.Stop()
	answered, stalled := make(chan struct{}), make(chan struct{})
	go func() {
		s.closeBridge()
		s.calls.wait(0)
		close(answered)
	}()
	go func() {
		if s.stalls(answered) {
			close(stalled)
		}
	}()
	rest := drainLimit
	select {
	case <-answered:
	case <-stalled:
		s.log.Warn("the editor does not read, so it was not told everything")
		rest = 0
	case <-limit.C:
		s.log.Error("the sessions did not end in time")
	}
	ctx, cancel := context.WithTimeout(context.Background(), rest)
	defer cancel()
	err := s.stream.Drain(ctx)
	if err == nil {
		err = s.conn.Err()
	}
	_ = s.stream.Close()
	return Exit{Initialized: s.greeting.given(), Shutdown: s.sawShutdown.Load(), InputEnded: s.sawEOF.Load(),
		Unusable: s.bridge.Usable(), Err: err}
}

// stalls waits until the editor has left something unread for stallLimit, which it may begin with at any time, or all is answered.
func (s *Server) stalls(answered <-chan struct{}) bool {
	const look = 100 * time.Millisecond
	for {
		patience, giveUp := context.WithTimeout(context.Background(), stallLimit)
		err := s.stream.Drain(patience)
		giveUp()
		if err != nil {
			return errors.Is(err, context.DeadlineExceeded)
		}
		select {
		case <-answered:
			return false
		case <-time.After(look):
		}
	}
}
