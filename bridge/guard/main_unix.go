//go:build linux || darwin

package guard

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of a guard besides the three that are the CLI's.
const (
	lifelineFD = 3
	reportFD   = 4
)

// Main is the guard. args are the working directory (empty: as it is) and the argv of the CLI; descriptors 0, 1 and 2 are
// the CLI's, 3 is the lifeline, 4 the report. It returns the exit code: the CLI's, 128+n if signal n ended it, 126 if the
// directory and 127 if the program was at fault, 2 if this is no call by Start.
//
// It stays on its thread to the end: Linux takes the death of the thread that started the CLI for the death of the parent.
func Main(args []string) int {
	if len(args) < 2 {
		os.Stderr.WriteString("drawbridge " + Subcommand + " is started by drawbridge, not by hand\n")
		return 2
	}
	dir, argv := args[0], args[1:]
	runtime.LockOSThread()
	sealDescriptors()
	becomeReaper()
	outliveSignals()

	if dir != "" {
		if err := syscall.Chdir(dir); err != nil {
			return refuse(opChdir, err, 126)
		}
	}
	cli, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: cliAttr()})
	if err != nil {
		return refuse(opExec, err, 127)
	}
	releaseStdio()
	syscall.Write(reportFD, appendReport(opStarted, cli))

	g := &guarded{cli: cli, kin: kin{parent: os.Getpid()}}
	go g.obey() // these two end with the process
	go g.watch()
	for g.running() {
		awaitChild()
		g.reap()
	}
	return g.clear()
}

// releaseStdio lets go of the CLI's stdio: as long as the guard had a copy, the bridge would see no end of stdout when the
// CLI is gone, and no EPIPE on stdin. The numbers stay taken, so that nothing else is ever opened as 0, 1 or 2.
func releaseStdio() {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup2(null, fd) != nil {
			syscall.Close(fd)
		}
	}
	if err == nil && null > 2 {
		syscall.Close(null)
	}
}

func refuse(op string, err error, code int) int {
	errno, _ := err.(syscall.Errno)
	syscall.Write(reportFD, appendReport(op, int(errno)))
	return code
}

// guarded is the CLI and everything below, as seen by the guard.
type guarded struct {
	// mu is held to signal, to reap and to look: a pid is only freed by reap, so whoever holds mu signals the process it means.
	mu   sync.Mutex
	cli  int // 0 once it is reaped
	code int // what the guard exits with
	kin  kin
}

// obey does what the lifeline says: a byte means TERM, its end means that the bridge is gone.
func (g *guarded) obey() {
	var b [1]byte
	for {
		n, err := syscall.Read(lifelineFD, b[:])
		switch {
		case err == syscall.EINTR:
		case err != nil || n == 0:
			g.end() // with the CLI among them, Main goes on to clear
			return
		case b[0] == terminate:
			g.signal(syscall.SIGTERM)
		}
	}
}

func (g *guarded) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cli != 0 {
		syscall.Kill(g.cli, sig)
	}
}

func (g *guarded) running() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cli != 0
}

// reap takes in every child that has ended, and reports the CLI. It says whether there may be more children.
func (g *guarded) reap() (more bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); {
		case err == syscall.EINTR:
		case err != nil:
			return false // ECHILD
		case pid == 0:
			return true
		case pid == g.cli:
			g.cli = 0
			if status.Signaled() {
				g.code = 128 + int(status.Signal())
				syscall.Write(reportFD, appendReport(opSignal, int(status.Signal())))
			} else {
				g.code = status.ExitStatus()
				syscall.Write(reportFD, appendReport(opExit, g.code))
			}
		}
	}
}

// end stops and kills everything below, and says how many there were.
func (g *guarded) end() int {
	g.mu.Lock()
	ended, err := end(g.kin.below)
	g.mu.Unlock()
	if err != nil {
		g.signal(syscall.SIGKILL) // without a process table the CLI is all we know
	}
	return len(ended)
}

// clear ends what is left below a CLI that has ended, and returns when no child is left. A process that may not be
// killed (another user's) is given up after a few looks that show nothing else.
func (g *guarded) clear() int {
	const looks = 5
	for idle, pause := 0, time.Millisecond; idle < looks; pause = min(2*pause, 100*time.Millisecond) {
		if !g.reap() && !g.kin.outsideWait() {
			break
		}
		if idle++; g.end() > 0 {
			idle = 0
		}
		time.Sleep(pause)
	}
	return g.code
}
