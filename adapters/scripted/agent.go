package scripted

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Agent is a pretended `claude` that has not been started yet.
type Agent struct {
	Script *Script
	Args   []string // what follows the program's name on the CLI's command line

	// Dir is the working directory; empty means that of this process.
	Dir string
	// Signals delivers what the operating system would: SIGINT ends the turn and the process as the CLI does,
	// SIGTERM ends it with 143 (unless the script says `ignore term`). It may be nil.
	Signals <-chan os.Signal
	// Kill ends this operating system process abruptly, for the directive `die`. Without it
	// Run returns 137, as if killed.
	Kill func()
	// Number tells runs of one script apart in the ids they make up; 0 means: count them.
	Number int
}

// Run plays the CLI: it reads NDJSON user messages and control messages from stdin, writes lines to stdout and returns the exit code.
// Ending ctx is SIGKILL: Run returns 137 and leaves behind what the tools have started.
//
// Everything waits on timers and channels, so that Run works in a synctest bubble over io.Pipe. Where stdin, stdout or
// stderr is an end of an io.Pipe, Run closes it on return, as the end of a process would.
func Run(ctx context.Context, script *Script, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Agent{Script: script, Args: args}.Run(ctx, stdin, stdout, stderr)
}

// Run is [Run] for an agent with its own directory and signals.
func (ag Agent) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	closeEnds := func() {
		for _, end := range []any{stdin, stdout, stderr} {
			switch end := end.(type) {
			case *io.PipeReader:
				end.Close()
			case *io.PipeWriter:
				end.Close()
			}
		}
	}
	defer closeEnds()
	args := parseArguments(ag.Args)
	if code, done := args.answer(ag.Script, stdout, stderr); done {
		return code
	}
	p := newProcess(ctx, ag, args, stdout, stderr)

	var reader, others sync.WaitGroup
	reader.Go(func() { p.read(stdin) })
	others.Go(p.dispatch)
	others.Go(p.serve)
	if ag.Signals != nil {
		others.Go(func() { p.obey(ag.Signals) })
	}
	<-p.ctx.Done()

	// The end does not wait for a write that nobody reads: a pipe of ours is closed, the operating system's dies with the process.
	ended := make(chan struct{})
	go func() {
		others.Wait()
		p.work.Wait()
		close(ended)
	}()
	closeEnds()
	if _, real := stdout.(*os.File); real {
		select {
		case <-ended:
		case <-time.After(100 * time.Millisecond):
		}
		return p.exitCode()
	}
	<-ended
	if _, pipe := stdin.(*io.PipeReader); pipe {
		reader.Wait()
	}
	return p.exitCode()
}

// process is one life of the pretended CLI.
type process struct {
	script *Script
	args   arguments
	dir    string
	kill   func()
	ids    identifiers
	began  time.Time
	out    io.Writer
	errOut io.Writer

	ctx   context.Context
	leave func(code int) // ends the process; the first code counts
	work  sync.WaitGroup // background agents
	lines chan []byte    // stdin
	wake  chan struct{}  // something changed for serve
	deaf  atomic.Bool    // SIGINT and SIGTERM are ignored

	children children

	// baton is the lock of all that follows and of stdout. It is a channel because waiting for a channel lets
	// the clock of a synctest bubble move on, and waiting for a mutex does not.
	baton chan struct{}

	session     string
	model       string
	mode        string
	initialized bool
	hooks       map[string][]hook
	rules       []rule
	servers     []server
	prompts     map[string]*prompt
	queue       []userMessage
	turn        *turn // running, or about to
	tasks       []*task
	notices     []*task // finished background agents nobody has been told of
	spent       ledger
	reported    ledger // what the results so far have told
	results     int
	stats       agentStats
	refusals    int
	failed      bool // the last result was an error: the exit code after end of input
	ignoring    map[string]bool
	eof         bool
}

func newProcess(ctx context.Context, ag Agent, args arguments, stdout, stderr io.Writer) *process {
	p := &process{
		script: ag.Script, args: args, dir: ag.Dir, kill: ag.Kill, began: time.Now(), out: stdout, errOut: stderr,
		lines: make(chan []byte, 1024), wake: make(chan struct{}, 1), baton: make(chan struct{}, 1),
		model: args.model, mode: args.mode, session: args.session,
		hooks: map[string][]hook{}, prompts: map[string]*prompt{}, ignoring: map[string]bool{},
	}
	p.ids.seed = ag.Script.seed
	p.ids.run = uint32(ag.Number)
	if p.ids.run == 0 {
		p.ids.run = ag.Script.runs.Add(1)
	}
	if p.dir == "" {
		p.dir, _ = os.Getwd()
	}
	if p.model == "" {
		p.model = ag.Script.model
	}
	if p.session == "" {
		p.session = p.ids.uuid()
	}
	for name := range ag.Script.ignore {
		p.ignore(name)
	}
	p.servers = append(p.servers, ag.Script.servers...)
	ctx, cancel := context.WithCancelCause(ctx)
	p.ctx, p.leave = ctx, func(code int) { cancel(exitError(code)) }
	return p
}

// ignore makes the process deaf to interrupt, term, eof or initialize.
func (p *process) ignore(what string) {
	p.ignoring[what] = true
	if what == "term" {
		p.deaf.Store(true)
	}
}

// exitError is why a process ended by itself.
type exitError int

func (exitError) Error() string { return "exited" }

const killed = 128 + int(syscall.SIGKILL)

func (p *process) exitCode() int {
	var exit exitError
	if errors.As(context.Cause(p.ctx), &exit) {
		return int(exit)
	}
	return killed
}

func (p *process) lock()   { p.baton <- struct{}{} }
func (p *process) unlock() { <-p.baton }

// put writes one line, whole, in one Write. The caller holds the lock. A host that has closed our stdout is
// not noticed: 2.1.17 and later stay alive then.
func (p *process) put(line []byte) {
	if p.ctx.Err() != nil {
		return
	}
	_, _ = p.out.Write(append(line, '\n'))
}

func (p *process) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// serve runs one turn after the other until the process ends.
func (p *process) serve() {
	if p.script.start != nil {
		v := &voice{process: p, stop: make(chan struct{})}
		_ = v.run(p.script.start.steps)
	}
	for p.ctx.Err() == nil {
		p.lock()
		if p.turn == nil {
			p.turn = p.nextTurn()
		}
		t := p.turn
		over := t == nil && p.eof && len(p.tasks) == 0 && !p.ignoring["eof"]
		code := 0
		if p.failed {
			code = 1
		}
		p.unlock()
		switch {
		case t != nil:
			t.play()
		case over:
			p.leave(code)
		default:
			select {
			case <-p.wake:
			case <-p.ctx.Done():
			}
		}
	}
}

// nextTurn joins all that was queued into one turn, as 2.1.112 and later do; a finished background agent gets a turn when
// nothing else waits. The caller holds the lock.
func (p *process) nextTurn() *turn {
	if len(p.queue) > 0 {
		messages := p.queue
		p.queue = nil
		return p.newTurn(messages)
	}
	if len(p.notices) > 0 {
		done := p.notices[0]
		p.notices = p.notices[1:]
		t := p.newTurn(nil)
		t.origin = done
		return t
	}
	return nil
}

// obey handles signals as the CLI does. SIGINT interrupts first and exits 0; SIGTERM ends its tools and exits 143, also when
// stdout is stuck, so it does without the lock.
func (p *process) obey(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			switch {
			case p.deaf.Load():
			case s == os.Interrupt:
				p.interrupted()
				p.leave(0)
			default:
				p.children.kill()
				p.leave(128 + int(syscall.SIGTERM))
			}
		case <-p.ctx.Done():
			return
		}
	}
}

// interrupted stops the turn and waits for its last line.
func (p *process) interrupted() {
	p.lock()
	t := p.turn
	p.stopTurn()
	p.unlock()
	if t == nil {
		return
	}
	select {
	case <-t.done:
	case <-p.ctx.Done():
	}
}
