//go:build unix

package scripted

import (
	"os"
	"os/exec"
	"syscall"
)

func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) }

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killSession kills the child and what it has started, unless that went on to a session of its own.
func killSession(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// killSelf is kill -9 of this process.
func killSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
