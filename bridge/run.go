package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/store"

	"github.com/sourcegraph/conc"
	"go.uber.org/zap"
)

// Run is one life of the claude process. Its goroutines (the pump, the writer of stdin, the reader of stderr and the wait for the
// end) are started and joined in play.
type Run struct {
	s    *Session
	ctx  context.Context // ends with the process, or when the run is given up before there is one
	halt context.CancelFunc
	up   chan struct{} // closed when the CLI takes messages
	done chan struct{} // closed when the process is gone and everything of the run is joined
	// waiting: the pump waits for the editor, which is far behind.
	waiting atomic.Bool

	// adapter, proc and in are set once, with the session locked, before the process's first line is read.
	adapter adapters.Adapter
	proc    Process
	in      *feed
	stderr  *tail

	// Guarded by the session's mu.
	ready    bool               // the CLI takes messages
	stopping bool               // we end it
	resumed  bool               // started with --resume
	temp     string             // file with the configuration of MCP servers
	models   []store.ModelUsage // what the process has used so far
	hooks    bool               // our hooks are registered
	tolerant bool               // the CLI is of no tested version: what cannot be read of it is left out
	cost     float64
	started  adapters.Options                    // with which the process was started
	calls    map[string]chan<- adapters.Response // our control requests without an answer
	lastCall int
}

// Time limits of a run. An idle CLI answers initialize within some 40 ms of being up, which takes up to 3.4 s on a busy machine
// (2.1.17); other control requests take milliseconds, but 2.0.0 and 2.1.17 never answer those they do not know.
const (
	initializeLimit = 9 * time.Second
	controlLimit    = 10 * time.Second
)

// startRun begins a life of the claude process. Called with mu held.
func (s *Session) startRun() {
	ctx, halt := context.WithCancel(context.Background())
	s.run = &Run{s: s, ctx: ctx, halt: halt, up: make(chan struct{}), done: make(chan struct{}), calls: map[string]chan<- adapters.Response{}}
	s.exited = nil
	s.ranTasks = false
	s.tellState()
	if off := s.known.Trust.Off; !s.options.Trusted && len(off) > 0 {
		s.noticeOnce("warning", "untrusted", "This folder is not trusted, so what it brings along is off: "+strings.Join(off, ", ")+".",
			"Look at it, and trust the folder if you want it.")
	}
	s.b.group.Go(s.run.live)
}

func (r *Run) live() {
	defer close(r.done)
	defer r.halt()
	defer func() { _ = os.Remove(r.temp) }() // if there is one
	err := r.play()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.ranOut(r, err)
}

// play is the run from the search for the CLI to its end. It returns why it ended, unless we ended it.
func (r *Run) play() *Error {
	s := r.s
	found, ferr := s.b.CLI.Find(r.ctx, s.options.CWD)
	if r.ctx.Err() != nil {
		return nil // given up meanwhile: that says nothing about claude
	}
	s.b.sawClaude(found.ClaudeCode, ferr)
	s.mu.Lock()
	s.remote = found.Remote
	options := s.startOptions(r)
	if s.known.ClaudeCode == nil || *s.known.ClaudeCode != found.ClaudeCode {
		s.known.ClaudeCode = &found.ClaudeCode
		s.tell(SessionChanged{Update{ClaudeCode: &found.ClaudeCode}})
	}
	if ferr != nil {
		s.noticeOnce("error", ferr.Kind, ferr.Message, ferr.Remedy)
	}
	s.noticeCompatibility(found.ClaudeCode)
	level := adapters.Level(found.Level)
	r.tolerant = level == adapters.Likely || level == adapters.NotKnown
	s.mu.Unlock()
	if ferr != nil {
		return ferr
	}
	adapter := adapters.For(found.Version)()
	s.enforcement(adapter.Features())
	if options.Restricted && !adapter.Features().Restricted {
		e := fail(KindNotPermitted, "Claude Code %s cannot be kept from running what the folder %s brings along", found.Version, s.options.CWD)
		e.Remedy = "Trust the folder, or update Claude Code."
		return e
	}
	proc, err := s.b.CLI.Start(Launch{Argv: append(slices.Clone(found.Argv), adapter.Args(options)...), Dir: s.options.CWD, Env: s.options.Env})
	if err != nil {
		return fail(KindClaudeNotFound, "%s cannot be started: %v", found.Path, err)
	}
	s.mu.Lock()
	r.adapter, r.proc, r.in, r.stderr = adapter, proc, newFeed(), newTail()
	if r.stopping {
		_ = proc.Kill()
	}
	s.mu.Unlock()

	var exit Exit
	var crash error
	var group conc.WaitGroup
	var readers conc.WaitGroup
	read := make(chan struct{})
	group.Go(func() { exit = proc.Wait(); r.in.close(); r.halt(); r.hangUp(proc, read) })
	group.Go(func() { r.in.drain(proc.Stdin(), func(line []byte) { s.b.Trace.line(s.id, toCLI, line) }) })
	readers.Go(func() { r.stderr.read(proc.Stderr(), s.log) })
	readers.Go(func() {
		crash = r.pump(proc.Stdout())
		if crash != nil || !wait(context.Background(), r.ctx.Done(), outputGrace) { // without output it is of no use
			_ = proc.Kill()
		}
	})
	group.Go(func() { readers.Wait(); close(read) })
	ierr := r.initialize()
	if ierr != nil {
		_ = proc.Kill()
	}
	group.Wait()
	s.log.Info("claude has ended", zap.Int("exit_code", exit.Code), zap.String("signal", exit.Signal), zap.Error(exit.Err))
	switch {
	case crash != nil:
		return fail(KindInternal, "drawbridge failed on a line of Claude Code: %v", crash)
	case ierr != nil:
		return ierr
	}
	return r.obituary(exit)
}

// startOptions are what this run of the CLI is started with. Called with mu held.
func (s *Session) startOptions(r *Run) adapters.Options {
	o := s.options
	a := adapters.Options{SessionID: s.claude, Model: o.Model, Effort: o.Effort, PermissionMode: o.PermissionMode, AddDirs: o.AddDirs,
		AppendSystemPrompt: o.AppendSystemPrompt, MaxTurns: o.MaxTurns, MaxBudgetUSD: o.MaxBudgetUSD, Restricted: !o.Trusted,
		AllowBypass: s.b.AllowBypass, Without: s.without}
	if s.spoken {
		a.SessionID, a.Resume, a.Fork = "", s.claude, s.fork
		r.resumed = true
	}
	if s.thinking != nil {
		a.MaxThinkingTokens = *s.thinking
	}
	if len(o.MCPServers) > 0 {
		a.MCPConfig, _ = json.Marshal(map[string]json.RawMessage{"mcpServers": o.MCPServers})
		a.MCPConfig = r.inFile(a.MCPConfig)
	}
	r.started = a
	return a
}

// inFile puts the configuration of MCP servers into a file of the user's own and returns its path: it may hold tokens, and everybody
// can read the arguments of a process. What cannot be written, and what another machine reads, is passed as it is.
func (r *Run) inFile(config []byte) []byte {
	if r.s.b.StateDir == "" || r.s.remote {
		return config
	}
	f, err := os.CreateTemp(r.s.b.StateDir, "mcp-*.json") // 0600
	if err != nil {
		return config
	}
	_, werr := f.Write(config)
	if cerr := f.Close(); werr != nil || cerr != nil {
		_ = os.Remove(f.Name())
		return config
	}
	r.temp = f.Name()
	return []byte(f.Name())
}

// initialize asks the CLI what it can do; its answer is the sign that it takes messages. A process that ends meanwhile is no error
// here: its exit says more.
func (r *Run) initialize() *Error {
	s := r.s
	if r.adapter.Features().Initialize {
		ctx, cancel := context.WithTimeout(r.ctx, initializeLimit)
		defer cancel()
		c := adapters.Control{Subtype: "initialize"}
		if r.hooks = r.adapter.Features().Hooks; r.hooks {
			c.Members = hookRegistration()
		}
		answer, err := r.call(ctx, c)
		switch {
		case err == nil:
			s.mu.Lock()
			s.initialized(r, answer)
			s.mu.Unlock()
		case errors.Is(err, context.DeadlineExceeded):
			e := fail(KindClaudeExited, "Claude Code did not answer within %d s of its start and was stopped", int(initializeLimit.Seconds()))
			e.Kind = KindOther
			return e
		case errors.Is(err, context.Canceled):
			return nil
		default:
			s.log.Info("initialize was refused", zap.Error(err)) // "Already initialized", harmless
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil
	}
	r.ready = true
	close(r.up)
	if controls := offered(r.adapter.Features()); !slices.Equal(controls, s.known.Controls) {
		s.known.Controls = controls
		s.tell(SessionChanged{Update{Controls: controls}})
	}
	r.catchUp()
	s.next() // before the state is told, which would be idle for a moment
	s.tellState()
	return nil
}

// catchUp tells the CLI what was set while it started: its command line said what was in force before. It repeats the mode of a
// resumed session, because before 2.1.132 one in plan mode is resumed in another, whatever the flag says. Called with mu held,
// before the first message.
func (r *Run) catchUp() {
	s, was, known := r.s, r.started, r.adapter.Features().Controls
	tell := func(subtype string, members any) {
		raw, _ := json.Marshal(members) // strings and numbers
		r.ask(adapters.Control{Subtype: subtype, Members: raw}, nil)
	}
	switch mode := s.options.PermissionMode; {
	case mode == was.PermissionMode && (!r.resumed || mode == "default"):
	case known["set_permission_mode"]:
		tell("set_permission_mode", map[string]string{"mode": mode})
	default:
		s.modeIs(was.PermissionMode) // it stays in that one
	}
	if s.options.Model != was.Model && known["set_model"] {
		tell("set_model", map[string]string{"model": s.options.Model})
	}
	if s.thinking != nil && *s.thinking != was.MaxThinkingTokens && known["set_max_thinking_tokens"] {
		tell("set_max_thinking_tokens", map[string]int{"max_thinking_tokens": *s.thinking})
	}
}

// send writes a line to the CLI, without waiting for it.
func (r *Run) send(line []byte) { r.in.put(line) }

// call sends a control request and waits for its answer.
func (r *Run) call(ctx context.Context, c adapters.Control) (json.RawMessage, error) {
	s := r.s
	answer := make(chan adapters.Response, 1)
	s.mu.Lock()
	id := r.ask(c, answer)
	s.mu.Unlock()
	select {
	case a := <-answer:
		switch {
		case a.Unsupported:
			return nil, unsupported(c.Subtype)
		case a.Error != "":
			return nil, &Error{Kind: KindOther, Message: a.Error}
		}
		return a.Body, nil
	case <-r.done:
		return nil, fail(KindClaudeExited, "Claude Code ended before it answered %s", c.Subtype)
	case <-ctx.Done():
		s.mu.Lock()
		delete(r.calls, id)
		s.mu.Unlock()
		return nil, ctx.Err()
	}
}

// ask sends a control request. The answer comes through the channel, which must have room for it, unless the process ends first; nil
// throws it away. Called with mu held.
func (r *Run) ask(c adapters.Control, answer chan<- adapters.Response) (id string) {
	r.lastCall++
	id = fmt.Sprintf("drawbridge-%d", r.lastCall)
	r.calls[id] = answer
	r.send(r.adapter.AppendControl(nil, id, c))
	return id
}

func unsupported(what string) *Error {
	return &Error{Kind: KindUnsupportedByCLI, Message: "This version of Claude Code does not support " + what + ".", Remedy: "Update Claude Code."}
}
