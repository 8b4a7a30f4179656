package guard

import (
	"math"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// executable is the running binary by the kernel's own link, which outlives the file.
func executable() (string, error) { return "/proc/self/exe", nil }

// becomeReaper makes this process the one to whom descendants fall when their parent dies. It cannot fail since Linux 3.4.
var becomeReaper = sync.OnceFunc(func() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// sealDescriptors keeps lifeline and report from the CLI, and with them whatever an editor leaked to the bridge.
func sealDescriptors() {
	if unix.CloseRange(lifelineFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) != nil { // Linux 5.11
		syscall.CloseOnExec(lifelineFD)
		syscall.CloseOnExec(reportFD)
	}
}

func cliAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// outliveSignals keeps the guard alive through what ends a program politely. (What stops one, like SIGTSTP, does nothing
// in a session without a terminal whose leader's parent is outside.) os/signal would hand each
// signal to another thread and back, which takes longer than all the rest of Main. The runtime goes on believing that its
// own handlers are in place, so its fork sets the signals back to their defaults in the CLI; exec alone would leave
// them ignored. (A test holds both.)
func outliveSignals() {
	ignore := struct{ handler, flags, restorer, mask uintptr }{handler: 1} // struct sigaction with SIG_IGN
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGALRM, syscall.SIGUSR1, syscall.SIGUSR2} {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
}

// awaitChild blocks until a child has ended, and does not reap it.
func awaitChild() {
	for unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// watch has nothing to do: every descendant that loses its parent becomes our child.
func (g *guarded) watch() {}

// outsideWait says whether there may be kin that wait does not tell of.
func (k *kin) outsideWait() bool { return false }

// cliID is what is remembered of a CLI.
type cliID struct{ pid int }

func identify(pid int) cliID { return cliID{pid} }

// guards are the guards that this process has running, by pid. A guard is born under the mutex, so that endOrphans
// never takes one that is not entered yet for an orphan.
var guards = struct {
	sync.Mutex
	running map[int]bool
}{running: make(map[int]bool)}

func noteGuard(start func() (*os.Process, error)) (*os.Process, error) {
	guards.Lock()
	defer guards.Unlock()
	p, err := start()
	if err == nil {
		guards.running[p.Pid] = true
	}
	return p, err
}

func forgetGuard(pid int) {
	guards.Lock()
	defer guards.Unlock()
	delete(guards.running, pid)
}

// endOrphans ends what a dead guard left to us: children that are in a session other than ours and are no guard. A
// guard is born into its own session, so nothing below one is ever in ours, and a child that os/exec started is. The
// latter's status is somebody else's to wait for, so each orphan is reaped by its pid.
func endOrphans(cliID) {
	self := os.Getpid()
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	orphan := func(p proc) bool {
		if p.ppid != self || guards.running[p.pid] {
			return false
		}
		theirs, err := unix.Getsid(p.pid)
		return err == nil && theirs != session
	}
	pass := func() (left bool) {
		guards.Lock()
		defer guards.Unlock()
		var found []proc
		ended, err := end(func(table []proc) []proc {
			found = trees(table, orphan, nil)
			return found
		})
		for _, p := range found {
			if p.ppid == self {
				if pid, _ := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil); pid == p.pid {
					left = true // what was below it is ours now
				}
			}
		}
		return err == nil && (left || len(ended) > 0)
	}
	for began := time.Now(); pass() && time.Since(began) < lingerLimit; {
		time.Sleep(time.Millisecond)
	}
}
