package rpc

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"drawbridge/adapters"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"
)

// What an LSP client understands without a plugin: its log, its progress spinner, its trace window.

// logMessage writes to an LSP client's log. level is that of a notice, or log.
func (s *Server) logMessage(level, message string) {
	if !s.client.lsp {
		return
	}
	kind := protocol.MessageTypeLog
	switch level {
	case "error":
		kind = protocol.MessageTypeError
	case "warning":
		kind = protocol.MessageTypeWarning
	case "info":
		kind = protocol.MessageTypeInfo
	}
	s.greeting.after(func() {
		s.notify(protocol.MethodWindowLogMessage, protocol.LogMessageParams{Type: kind, Message: message})
	})
}

// progress shows the turn that runs as a spinner. An editor makes the token for it when asked, and may refuse.
type progress struct {
	s       *Server
	session string

	mu     sync.Mutex
	turns  int                // tokens asked for so far
	live   bool               // the token of the turn that runs is there
	giveUp context.CancelFunc // ends the wait for a token that is being made
	title  string
}

// begin asks for a token, in a goroutine of its own: the answer comes over the reader, and the turn does not wait for it.
func (p *progress) begin() {
	if !p.s.client.workProgress {
		return
	}
	p.end()
	p.mu.Lock()
	p.turns++
	turn := p.turns
	p.title = ""
	ctx, giveUp := context.WithCancel(p.s.ctx)
	p.giveUp = giveUp
	p.mu.Unlock()
	p.s.group.Go(func() {
		defer giveUp()
		token := p.token(turn)
		if _, err := p.s.ask(ctx, protocol.MethodWindowWorkDoneProgressCreate, map[string]string{"token": token}, nil); err != nil {
			p.s.log.Debug("the editor shows no progress", zap.Error(err))
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.turns != turn {
			return // over already
		}
		p.live = true
		cancellable := true
		begin := protocol.WorkDoneProgressBegin{Kind: "begin", Title: "Claude", Cancellable: &cancellable}
		if p.title != "" {
			begin.Message = &p.title
		}
		p.send(token, begin)
	})
}

// report shows what the turn is at.
func (p *progress) report(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.title = title
	if p.live {
		p.send(p.token(p.turns), protocol.WorkDoneProgressReport{Kind: "report", Message: &title})
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.send(p.token(p.turns), protocol.WorkDoneProgressEnd{Kind: "end"})
	}
	p.live = false
	p.turns++ // a token that is still being made comes too late
	if p.giveUp != nil {
		p.giveUp()
	}
}

func (p *progress) token(turn int) string { return p.session + "/" + strconv.Itoa(turn) }

func (p *progress) send(token string, value any) {
	p.s.notify(protocol.MethodProgress, map[string]any{"token": token, "value": value})
}

// cancelProgress is the cancel button of the spinner: it interrupts the turn.
func (s *Server) cancelProgress(c *call) (any, error) {
	var p struct {
		Token string `json:"token"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	name, _, ours := strings.Cut(p.Token, "/")
	if !ours {
		return nil, nil // "" would be the default session
	}
	session, err := s.bridge.Session(name)
	if err != nil {
		return nil, err
	}
	return nil, session.Interrupt(c.async(), false)
}

// trace is the value of $/setTrace: off, messages or verbose.
type trace struct {
	value atomic.Pointer[protocol.TraceValue]
}

func (t *trace) set(v protocol.TraceValue) { t.value.Store(&v) }

func (t *trace) get() protocol.TraceValue {
	if v := t.value.Load(); v != nil {
		return *v
	}
	return ""
}

func (t *trace) on() bool {
	v := t.get()
	return v == protocol.TraceValueMessages || v == protocol.TraceValueVerbose
}

func (s *Server) setTrace(c *call) (any, error) {
	var p struct {
		Value protocol.TraceValue `json:"value"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	s.trace.set(p.Value)
	return nil, nil
}

// traceLine shows a line of the CLI in the editor's trace window.
func (s *Server) traceLine(m *adapters.Message) {
	const longest = 4 << 10
	p := protocol.LogTraceParams{Message: "claude: " + m.Wire}
	if s.trace.get() == protocol.TraceValueVerbose {
		line := string(m.Raw[:min(len(m.Raw), longest)])
		if len(m.Raw) > longest {
			line += "… (" + strconv.Itoa(len(m.Raw)) + " bytes)"
		}
		p.Verbose = &line
	}
	s.notify(protocol.MethodLogTrace, p)
}
