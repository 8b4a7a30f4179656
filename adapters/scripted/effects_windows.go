package scripted

import (
	"os"
	"os/exec"
	"syscall"
)

func shell(command string) *exec.Cmd { return exec.Command("cmd", "/c", command) }

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killSession(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// killSelf ends this process without a last word.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
}
