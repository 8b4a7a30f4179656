package guard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Subcommand is the first argument of a guard process. main dispatches it to Main before it sets up anything else.
const Subcommand = "__guard"

// startLimit bounds how long Start waits for the guard's first words: a working directory on a dead network mount never answers.
const startLimit = 10 * time.Second

// lingerLimit bounds how long a CLI that has ended waits for the guard to clear up below it. Only a process in
// uninterruptible sleep takes that long; the guard stays until it is gone.
const lingerLimit = 5 * time.Second

// terminate is the byte on the lifeline that asks for TERM.
const terminate = 'T'

// ErrGuardKilled says that the guard died before it could report how the CLI ended. The CLI and everything below it has been ended.
var ErrGuardKilled = errors.New("the guard of the claude process was killed")

// Command is one CLI to run under a guard.
type Command struct {
	// Argv is the program and its arguments. Argv[0] is an absolute path: there is no PATH search here, so that a
	// program can never be taken from the workspace by accident.
	Argv []string
	// Dir is the working directory; empty means ours.
	Dir string
	// Env is the whole environment; nil means ours. DRAWBRIDGE_OWNER is set in any case.
	Env []string
	// Self is the path of the binary that dispatches Subcommand; empty means the running one, which on Linux is found
	// even after an upgrade replaced or removed the file.
	Self string
}

// StartError says why a CLI could not be started. Err is the system's error: errors.Is(err, fs.ErrNotExist) works.
type StartError struct {
	Op   string // "exec" or "chdir"
	Path string // the program or the directory
	Err  error
}

func (e *StartError) Error() string {
	text := e.Op + " " + e.Path + ": " + e.Err.Error()
	if e.Op == opExec && errors.Is(e.Err, fs.ErrNotExist) {
		// The kernel gives the same error for a script whose first line names a program that is not there.
		if _, err := os.Stat(e.Path); err == nil {
			text += " (the file is there, the interpreter it names is not)"
		}
	}
	return text
}

func (e *StartError) Unwrap() error { return e.Err }

// Exit is how a CLI ended.
type Exit struct {
	Code   int            // exit code; 128+n when signal n ended it
	Signal syscall.Signal // 0 when it exited by itself
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Process is a CLI and its guard. It corresponds to one fork and exec, and is used once.
//
// A Process that nobody refers to any more still lives until Kill, or until this process ends.
type Process struct {
	// Stdin, Stdout and Stderr are our ends of the CLI's pipes. The caller closes them. On unix they have deadlines.
	Stdin          *os.File
	Stdout, Stderr *os.File

	guard    *os.Process
	lifeline *os.File
	cli      cliID

	settle func() // closes done, once
	done   chan struct{}
	exit   Exit  // written before done is closed
	err    error // likewise
}

// Start runs c under a guard and returns once the CLI is running. The error is a *StartError when the program or the
// directory is at fault.
//
// On Linux the first Start makes this process a subreaper, for good: see ErrGuardKilled. From then on a child of ours in a
// session other than ours is taken for an orphan to end when a guard is killed, so start no child with Setsid elsewhere.
func Start(c Command) (*Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("start guard: no program given")
	}
	if !filepath.IsAbs(c.Argv[0]) {
		return nil, &StartError{opExec, c.Argv[0], errors.New("not an absolute path")}
	}
	self := c.Self
	if self == "" {
		var err error
		if self, err = executable(); err != nil {
			return nil, fmt.Errorf("start guard: %w", err)
		}
	}
	becomeReaper()

	var ends pipes
	p := &Process{done: make(chan struct{})}
	p.settle = sync.OnceFunc(func() { close(p.done) })
	theirStdin, p1 := ends.pipe()
	p2, theirStdout := ends.pipe()
	p3, theirStderr := ends.pipe()
	theirLifeline, p4 := ends.pipe()
	report, theirReport := ends.pipe()
	if ends.err != nil {
		ends.close()
		return nil, fmt.Errorf("start guard: %w", ends.err)
	}
	p.Stdin, p.Stdout, p.Stderr, p.lifeline = p1, p2, p3, p4

	attr := &os.ProcAttr{Env: ownedEnv(c.Env), Files: []*os.File{theirStdin, theirStdout, theirStderr}}
	argv := append([]string{"drawbridge", Subcommand}, handDown(attr, theirLifeline, theirReport)...)
	argv = append(append(argv, c.Dir), c.Argv...)
	var err error
	if p.guard, err = startGuard(self, argv, attr); err != nil {
		ends.close()
		return nil, fmt.Errorf("start guard: %w", err)
	}
	for _, f := range []*os.File{theirStdin, theirStdout, theirStderr, theirLifeline, theirReport} {
		f.Close()
	}

	words := bufio.NewReader(report)
	report.SetReadDeadline(time.Now().Add(startLimit)) // where pipes have no deadline, Start waits
	pid, err := readStarted(words, c)
	if err != nil {
		for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr, p.lifeline} {
			f.Close()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			go p.watch(report, words) // it ends by itself as soon as it can: its lifeline has
			return nil, fmt.Errorf("start %s: no answer within %v", c.Argv[0], startLimit)
		}
		p.watch(report, words)
		return nil, err
	}
	report.SetReadDeadline(time.Time{})
	p.cli = identify(pid)
	go p.watch(report, words) // joined by Wait; it also keeps p, and so the lifeline, from being collected
	return p, nil
}

// watch waits for the report of how the CLI ended and for the end of the guard. If the guard was killed it ends what the guard had below it.
func (p *Process) watch(report io.Closer, words *bufio.Reader) {
	defer report.Close()
	defer p.lifeline.Close()
	exit, err := readExit(words)
	p.exit, p.err = exit, err
	if err == nil {
		defer time.AfterFunc(lingerLimit, p.settle).Stop()
	}
	state, _ := p.guard.Wait()
	forgetGuard(p.guard.Pid)
	if state == nil || !state.Exited() || err != nil && p.cli.pid != 0 {
		endOrphans(p.cli)
	}
	p.settle()
}

// Pid is the process id of the guard.
func (p *Process) Pid() int { return p.guard.Pid }

// CLIPid is the process id of the CLI. It is for logs: once Wait may have returned, the number may belong to another process.
func (p *Process) CLIPid() int { return p.cli.pid }

// Wait blocks until the CLI has ended and nothing is left below its guard, and says how the CLI ended. The error is
// ErrGuardKilled or nil. If something below cannot be ended for five seconds, Wait does not wait for it any longer. Any
// number of goroutines may call it.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// Done is closed when Wait would return.
func (p *Process) Done() <-chan struct{} { return p.done }

// Terminate sends TERM to the CLI through the guard, which knows that the pid is still the CLI's. It does nothing once the CLI has ended.
func (p *Process) Terminate() {
	p.lifeline.Write([]byte{terminate}) // fails only if the guard is gone
	wake(p.guard)
}

// Kill makes the guard stop and then kill everything below it. It does not wait: Wait does.
func (p *Process) Kill() {
	p.lifeline.Close()
	wake(p.guard)
}

// pipes opens pipes and remembers the first error, so that Start has one place to give up.
type pipes struct {
	open []*os.File
	err  error
}

func (s *pipes) pipe() (r, w *os.File) {
	if s.err != nil {
		return nil, nil
	}
	r, w, s.err = os.Pipe() // close-on-exec: a Start that runs beside us must not hand our ends to its own CLI
	if s.err == nil {
		s.open = append(s.open, r, w)
	}
	return r, w
}

func (s *pipes) close() {
	for _, f := range s.open {
		f.Close()
	}
}
