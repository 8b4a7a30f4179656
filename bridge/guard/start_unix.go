//go:build linux || darwin

package guard

import (
	"os"
	"syscall"
)

// startGuard runs a guard in a session of its own, so that neither a terminal nor a kill of our process group reaches it.
func startGuard(self string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{Setsid: true}
	return noteGuard(func() (*os.Process, error) { return os.StartProcess(self, argv, attr) })
}

// handDown gives the guard its descriptors 3 and 4.
func handDown(attr *os.ProcAttr, lifeline, report *os.File) (args []string) {
	attr.Files = append(attr.Files, lifeline, report)
	return nil
}

// wake lets a guard go on that somebody stopped.
func wake(guard *os.Process) { guard.Signal(syscall.SIGCONT) }
