//go:build linux

package guard

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The test binary plays every part: a guard, and with the variable below a bridge or a sweeper in a process of its own.
const partVariable = "GUARD_TEST_PART"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		os.Exit(Main(os.Args[2:]))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or every guard of a race build sleeps a second before it exits
	part := os.Getenv(partVariable)
	os.Unsetenv(partVariable)
	switch part {
	case "bridge":
		os.Exit(playBridge(os.Args[1]))
	case "sweeper":
		os.Exit(playSweeper())
	}
	os.Exit(m.Run())
}

// playBridge runs a shell script as its CLI, and says how it is going.
func playBridge(script string) int {
	p, err := Start(Command{Argv: []string{"/bin/sh", "-c", script}})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	bufio.NewReader(p.Stdout).ReadString('\n')
	fmt.Println("ready", p.Pid(), p.CLIPid())
	exit, err := p.Wait()
	fmt.Println("ended", exit, err)
	time.Sleep(time.Hour) // until it is killed
	return 0
}

func playSweeper() int {
	ended, err := Sweep(context.Background())
	fmt.Println("swept", err, len(ended))
	return 0
}

// marker is a number that no other process has in its arguments or environment, and that sleep takes.
func marker() string {
	return fmt.Sprintf("9%07d%03d", os.Getpid(), markers.Add(1))
}

var markers atomic.Int64

// carriers returns the processes that carry the marker, but not those in except. Zombies carry nothing.
func carriers(marker string, except ...int) (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || contains(except, pid) {
			continue
		}
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		if bytes.Contains(cmdline, []byte(marker)) || bytes.Contains(environ, []byte(marker)) {
			found = append(found, fmt.Sprintf("%d %q", pid, cmdline))
		}
	}
	return found
}

func contains(pids []int, pid int) bool {
	for _, p := range pids {
		if p == pid {
			return true
		}
	}
	return false
}

// noneLeft waits until no process carries the marker, and fails after two seconds.
func noneLeft(t *testing.T, marker string, except ...int) {
	t.Helper()
	var left []string
	empty := 0 // a process in the middle of an exec shows neither arguments nor environment: look twice
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if left = carriers(marker, except...); len(left) > 0 {
			empty = 0
		} else if empty++; empty == 2 {
			return
		}
	}
	t.Fatalf("still there after 2 s:\n%s", strings.Join(left, "\n"))
}

// eventually waits for a condition on real processes.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// endMarked is for the end of a test that failed: it leaves nothing on the machine.
func endMarked(marker string) {
	for _, c := range carriers(marker) {
		pid, _ := strconv.Atoi(strings.Fields(c)[0])
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// bridge is a bridge in a process of its own, the leader of a process group.
type bridge struct {
	cmd              *exec.Cmd
	out              *bufio.Reader
	marker           string
	self, guard, cli int
}

func startBridge(t *testing.T, script string) *bridge {
	t.Helper()
	b := &bridge{marker: marker()}
	b.cmd = exec.Command("/proc/self/exe", script)
	b.cmd.Env = append(os.Environ(), partVariable+"=bridge", "MARK="+b.marker)
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.cmd.Stderr = os.Stderr
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.out = bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.self = b.cmd.Process.Pid
	line := b.line()
	if _, err := fmt.Sscanf(line, "ready %d %d", &b.guard, &b.cli); err != nil {
		t.Fatalf("bridge said %q", line)
	}
	return b
}

func (b *bridge) line() string {
	s, _ := b.out.ReadString('\n')
	return strings.TrimSpace(s)
}

// close ends the bridge and whatever a failed test has left.
func (b *bridge) close() {
	b.cmd.Process.Kill()
	b.cmd.Wait()
	endMarked(b.marker)
}

// shell starts a script under a guard of this process.
func shell(t *testing.T, script string, env ...string) *Process {
	t.Helper()
	p, err := Start(Command{Argv: []string{"/bin/sh", "-c", script}, Env: append(os.Environ(), env...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.Wait()
		p.Stdin.Close()
		p.Stdout.Close()
		p.Stderr.Close()
	})
	return p
}

// descriptors returns what each descriptor of a process refers to.
func descriptors(t *testing.T, pid int) map[string]string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fds := make(map[string]string)
	for _, e := range entries {
		fds[e.Name()], _ = os.Readlink(dir + "/" + e.Name())
	}
	return fds
}

func readLine(t *testing.T, f *os.File) string {
	t.Helper()
	f.SetReadDeadline(time.Now().Add(5 * time.Second))
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := f.Read(b); err != nil {
			t.Fatalf("after %q: %v", line, err)
		}
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}
