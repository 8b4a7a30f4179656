package rpc

import (
	"context"
	"sync"

	"drawbridge/bridge"

	"go.lsp.dev/jsonrpc2"
)

// handler answers a request. It runs on the reader, so requests begin in the order of the wire; it must not wait there for
// anything but the session's own lock. To wait it calls async first.
type handler func(*Server, *call) (any, error)

// call is a request of the editor, or a notification.
type call struct {
	s       *Server
	request context.Context // the library's; see async
	req     *jsonrpc2.Request
	flags   flags
	cancel  context.CancelFunc
	ctx     context.Context
}

// decode reads the params.
func (c *call) decode(v any) error { return decodeParams(c.req.Params(), v) }

// async lets the reader go on: from here the handler runs beside later requests. It returns the context of the work, which
// $/cancelRequest ends.
//
// That context is not derived from the library's: before Async the request is its own context and is reused for another one
// as soon as the handler returns, so that whatever is derived from it reads foreign memory (context: nil parent).
func (c *call) async() context.Context {
	c.ctx, c.cancel = context.WithCancel(c.s.ctx)
	c.s.calls.add(c)
	jsonrpc2.Async(c.request)
	c.afterResponse(func() {
		c.cancel()
		c.s.calls.remove(c)
	})
	return c.ctx
}

// afterResponse has f run when the response is on its way, or can be so no more: the library ends the context of a request right
// after it has written the response. Only after async.
func (c *call) afterResponse(f func()) { context.AfterFunc(c.request, f) }

// inSession makes a handler of a verb of a session: it decodes the params, finds the session, lets the reader go on if the verb
// may wait, and does it.
func inSession[P interface{ session() string }](do func(context.Context, *bridge.Session, P) (any, error)) handler {
	return func(s *Server, c *call) (any, error) {
		var p P
		if err := c.decode(&p); err != nil {
			return nil, err
		}
		session, err := s.bridge.Session(p.session())
		if err != nil {
			return nil, err
		}
		ctx := s.ctx
		var turn place
		if c.flags&ordered != 0 {
			turn = s.view(session).settings.enter()
		}
		if c.flags&async != 0 {
			ctx = c.async()
		}
		if c.flags&ordered != 0 {
			c.afterResponse(turn.leave)
			if err := turn.wait(ctx); err != nil {
				return nil, err
			}
		}
		return do(ctx, session, p)
	}
}

// turnstile lets what enters it on the reader go on one after the other. It belongs to the reader.
type turnstile struct{ last chan struct{} }

// place is a place before a turnstile.
type place struct{ before, done chan struct{} }

func (t *turnstile) enter() place {
	p := place{before: t.last, done: make(chan struct{})}
	t.last = p.done
	return p
}

// wait waits until everything that entered before has left.
func (p place) wait(ctx context.Context) error {
	if p.before == nil {
		return nil
	}
	select {
	case <-p.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next one go on, once those before are through: who has given up waiting lets nobody overtake. It may wait.
func (p place) leave() {
	if p.before != nil {
		<-p.before
	}
	close(p.done)
}

// calls are the requests that have left the reader and are not answered yet.
type calls struct {
	mu   sync.Mutex
	open map[*call]struct{}
	byID map[jsonrpc2.ID]*call // of two that share an id, the later
	less *sync.Cond            // one was answered
}

func (cs *calls) init() {
	cs.open, cs.byID = map[*call]struct{}{}, map[jsonrpc2.ID]*call{}
	cs.less = sync.NewCond(&cs.mu)
}

func (cs *calls) add(c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.open[c] = struct{}{}
	if c.req.IsCall() {
		cs.byID[c.req.ID()] = c
	}
}

func (cs *calls) remove(c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.open, c)
	if cs.byID[c.req.ID()] == c {
		delete(cs.byID, c.req.ID())
	}
	cs.less.Broadcast()
}

// cancelByID ends the context of a call, if it is open.
func (cs *calls) cancelByID(id jsonrpc2.ID) {
	cs.mu.Lock()
	c := cs.byID[id]
	cs.mu.Unlock()
	if c != nil {
		c.cancel()
	}
}

// wait returns when at most n calls are open.
func (cs *calls) wait(n int) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for len(cs.open) > n {
		cs.less.Wait()
	}
}

// cancelRequest is $/cancelRequest.
func (s *Server) cancelRequest(c *call) (any, error) {
	var p struct {
		ID any `json:"id"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	switch id := p.ID.(type) {
	case float64:
		s.calls.cancelByID(jsonrpc2.NewNumberID(int64(id)))
	case string:
		s.calls.cancelByID(jsonrpc2.NewStringID(id))
	}
	return nil, nil
}
