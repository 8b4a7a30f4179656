//go:build unix

package scripted

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is the program when this variable is set.
const asProgram = "SCRIPTED_AGENT_IS_THE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program starts Main in a process of its own.
func program(t *testing.T, script string, args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.txtar")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], append([]string{file}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, stdin, bufio.NewReader(stdout)
}

func until(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("it ended before it said %s", text)
		}
	}
}

func say(w io.Writer, prompt string) {
	fmt.Fprintf(w, `{"type":"user","message":{"role":"user","content":%q}}`+"\n", prompt)
}

func TestDieIsKillMinusNine(t *testing.T) {
	cmd, stdin, out := program(t, "-- x --\ntext half a\nhalf\ndie\n")
	say(stdin, "x")
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

func TestTERMEndsAProgramThatNobodyReads(t *testing.T) {
	cmd, stdin, out := program(t, "-- x --\ntokens 3000000\n", "--include-partial-messages")
	say(stdin, "x")
	until(t, out, "t0000000")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if state, err := cmd.Process.Wait(); err != nil || state.ExitCode() != 143 {
		t.Errorf("it ended with %v (%v)", state, err)
	}
}

// TestAChildOfAToolIsAnOrphanOnlyAfterAKill: as with the CLI, an interrupt and SIGTERM take it along, SIGKILL does not.
func TestAChildOfAToolIsAnOrphanOnlyAfterAKill(t *testing.T) {
	const script = "-- x --\nbash sleep\nrun\nspawn echo $$$$ > pid; exec sleep 100\n"
	for name, end := range map[string]func(*exec.Cmd, io.Writer){
		"interrupt": func(_ *exec.Cmd, w io.Writer) {
			fmt.Fprintln(w, `{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}`)
		},
		"term": func(cmd *exec.Cmd, _ io.Writer) { _ = cmd.Process.Signal(syscall.SIGTERM) },
		"kill": func(cmd *exec.Cmd, _ io.Writer) { _ = cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			cmd, stdin, _ := program(t, script)
			say(stdin, "x")
			pid := waitForPID(t, "pid")
			if sid, _ := getsid(pid); sid != pid {
				t.Errorf("the child's session is %d, not its own", sid)
			}
			end(cmd, stdin)
			if name != "kill" {
				waitGone(t, pid)
				return
			}
			_ = cmd.Wait()
			if syscall.Kill(pid, 0) != nil {
				t.Error("the child has not survived")
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
		})
	}
}

// poll waits for a condition of another process, for at most ten seconds.
func poll(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s never came about", what)
		}
	}
}

func waitForPID(t *testing.T, file string) (pid int) {
	t.Helper()
	poll(t, "a child", func() bool {
		content, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(content)))
		return pid > 0
	})
	return pid
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	poll(t, "the end of the child", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
}

// zombie: a child of a process that is gone waits for an init that may not reap.
func zombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func getsid(pid int) (int, error) {
	sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sid), nil
}
