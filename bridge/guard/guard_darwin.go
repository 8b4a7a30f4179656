package guard

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// lookInterval is how often a guard reads the process table: the hole that doc.go speaks of.
const lookInterval = 250 * time.Millisecond

func executable() (string, error) { return os.Executable() }

func becomeReaper() {} // macOS knows no subreaper

func sealDescriptors() {
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(reportFD)
}

func cliAttr() *syscall.SysProcAttr { return nil } // nor a signal at the death of the parent

// outliveSignals keeps the guard alive through what ends or stops a program politely. The signals are caught and dropped:
// an ignored signal would stay ignored in the CLI, a caught one is reset by exec.
func outliveSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGALRM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	signal.Notify(children, syscall.SIGCHLD) // before there is a child, so that none is missed
}

var children = make(chan os.Signal, 1)

// awaitChild blocks until a child may have ended.
func awaitChild() { <-children }

// watch remembers what is below, for when it has lost its parent.
func (g *guarded) watch() {
	for range time.Tick(lookInterval) {
		g.mu.Lock()
		g.kin.look()
		g.mu.Unlock()
	}
}

func (k *kin) outsideWait() bool { return true }

// cliID is what is remembered of a CLI, to find it again when its guard was killed.
type cliID struct {
	pid   int
	start uint64
}

func identify(pid int) cliID {
	p, _ := processByPid(pid)
	return cliID{pid, p.start}
}

func noteGuard(start func() (*os.Process, error)) (*os.Process, error) { return start() }

func forgetGuard(int) {}

// endOrphans ends a CLI whose guard was killed and what is below it. What had lost its parent before is out of
// reach until the next Sweep.
func endOrphans(cli cliID) {
	if cli.pid == 0 {
		return // it was never started
	}
	k := kin{parent: -1, known: map[int]uint64{cli.pid: cli.start}}
	for began := time.Now(); time.Since(began) < lingerLimit; time.Sleep(time.Millisecond) {
		k.look() // a child whose parent dies between two passes stays known
		if ended, err := end(k.below); err != nil || len(ended) == 0 {
			return
		}
	}
}
