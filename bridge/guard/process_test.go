//go:build linux

package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTheExitStatusArrivesAsItWas(t *testing.T) {
	for _, c := range []struct {
		script string
		want   Exit
		text   string
	}{
		{"exit 0", Exit{}, "exit status 0"},
		{"exit 3", Exit{Code: 3}, "exit status 3"},
		{"exit 127", Exit{Code: 127}, "exit status 127"},
		{"exit 137", Exit{Code: 137}, "exit status 137"},
		{"kill -TERM $$", Exit{Code: 143, Signal: syscall.SIGTERM}, "signal: terminated"},
		{"kill -KILL $$", Exit{Code: 137, Signal: syscall.SIGKILL}, "signal: killed"},
		{"kill -PIPE $$", Exit{Code: 141, Signal: syscall.SIGPIPE}, "signal: broken pipe"},
	} {
		exit, err := shell(t, c.script).Wait()
		if err != nil || exit != c.want || exit.String() != c.text {
			t.Errorf("%s: %v (%+v), %v; want %v", c.script, exit, exit, err, c.want)
		}
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	missing := filepath.Join(dir, "missing")
	for _, c := range []struct {
		name string
		c    Command
		op   string
		is   error
		text string
	}{
		{"no such program", Command{Argv: []string{missing}}, "exec", fs.ErrNotExist, "exec " + missing + ": no such file or directory"},
		{"not executable", Command{Argv: []string{file("plain", "", 0o644)}}, "exec", fs.ErrPermission, "permission denied"},
		{"not a program", Command{Argv: []string{file("text", "hello", 0o755)}}, "exec", syscall.ENOEXEC, "exec format error"},
		{"no interpreter", Command{Argv: []string{file("script", "#!/nowhere/node\n", 0o755)}}, "exec", fs.ErrNotExist, "interpreter"},
		{"no such directory", Command{Argv: []string{"/bin/true"}, Dir: missing}, "chdir", fs.ErrNotExist, missing},
		{"a file for a directory", Command{Argv: []string{"/bin/true"}, Dir: file("file", "", 0o644)}, "chdir", syscall.ENOTDIR, "not a directory"},
	} {
		_, err := Start(c.c)
		var start *StartError
		if !errors.As(err, &start) || start.Op != c.op || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Start(Command{Argv: []string{"sh"}}); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("a relative path: %v", err)
	}
	if _, err := Start(Command{}); err == nil {
		t.Error("no program was started")
	}
	if _, err := Start(Command{Argv: []string{"/bin/true"}, Self: missing}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no guard: %v", err)
	}
}

func TestAGuardThatDiesBeforeTheCLIStartsIsAnError(t *testing.T) {
	_, err := Start(Command{Argv: []string{"/bin/sh"}, Self: "/bin/true"})
	if !errors.Is(err, ErrGuardKilled) {
		t.Errorf("got %v", err)
	}
}

func TestStdioGoesThroughAndEndsOnBothSides(t *testing.T) {
	p := shell(t, "cat; echo done >&2")
	go func() {
		io.WriteString(p.Stdin, strings.Repeat("0123456789\n", 100_000))
		p.Stdin.Close()
	}()
	out, err := io.ReadAll(p.Stdout)
	if err != nil || len(out) != 1_100_000 {
		t.Errorf("stdout: %d bytes, %v", len(out), err)
	}
	if text, err := io.ReadAll(p.Stderr); err != nil || string(text) != "done\n" {
		t.Errorf("stderr: %q, %v", text, err)
	}
	if exit, err := p.Wait(); exit != (Exit{}) || err != nil {
		t.Errorf("Wait: %v, %v", exit, err)
	}
}

func TestAPipeThatTheCLIClosesIsClosedForUsWhileItRuns(t *testing.T) {
	p := shell(t, "exec <&- >&- ; echo closed >&2; sleep 1000")
	readLine(t, p.Stderr)
	p.Stdout.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := p.Stdout.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("stdout: %d, %v", n, err)
	}
	if _, err := p.Stdin.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("stdin: %v", err)
	}
}

// signals reads a set of signals from the text of /proc/PID/status.
func signals(t *testing.T, status []byte, name string) (set uint64) {
	t.Helper()
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, name+":\t"); ok {
			if _, err := fmt.Sscanf(text, "%x", &set); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return set
		}
	}
	t.Fatalf("no %s in %s", name, status)
	return 0
}

func TestTheCLIInheritsThreeBlockingPipesAndNoSignalState(t *testing.T) {
	// What an editor might have leaked to its bridge.
	leak, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	fd, err := syscall.Dup(int(leak.Fd())) // dup clears close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)

	p := shell(t, "echo ready; read x") // a shell blocks signals for a moment whenever it starts a command: read what it is when it waits
	readLine(t, p.Stdout)
	for fd := range 3 {
		info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", p.CLIPid(), fd))
		if err != nil {
			t.Fatal(err)
		}
		var pos, flags int
		if _, err := fmt.Sscanf(string(info), "pos: %d\nflags: %o", &pos, &flags); err != nil || flags&syscall.O_NONBLOCK != 0 {
			t.Errorf("descriptor %d: %s, %v", fd, info, err)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.CLIPid()))
	if err != nil {
		t.Fatal(err)
	}
	// What this test was itself started with, by nohup or in the background of a shell, is handed down.
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if blocked := signals(t, status, "SigBlk"); blocked != 0 {
		t.Errorf("signals %#x are blocked", blocked)
	}
	if ignored := signals(t, status, "SigIgn") &^ signals(t, own, "SigIgn"); ignored != 0 {
		t.Errorf("signals %#x are ignored", ignored)
	}
	if fds := descriptors(t, p.CLIPid()); len(fds) != 3 {
		t.Errorf("descriptors: %v", fds)
	}
}

func TestTheCLICarriesItsOwnerAndNoOtherBridges(t *testing.T) {
	p := shell(t, `tr '\0' '\n' </proc/$$/environ | grep ^`+OwnerVariable+`= ; tr '\0' '\n' </proc/$PPID/environ | grep ^`+OwnerVariable+`=`,
		OwnerVariable+"=1-1", OwnerVariable+"=2-2")
	out, _ := io.ReadAll(p.Stdout)
	line := OwnerVariable + "=" + Owner() + "\n"
	if string(out) != line+line { // the guard carries it as well, for the case that it is stuck
		t.Errorf("got %q, want twice %q", out, line)
	}
}

func TestTheWorkingDirectoryIsTheCommands(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	p, err := Start(Command{Argv: []string{"/bin/pwd", "-P"}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := io.ReadAll(p.Stdout); string(out) != dir+"\n" {
		t.Errorf("got %q", out)
	}
	p.Wait()
}

func TestTerminateReachesTheCLIAndNothingElse(t *testing.T) {
	// The shell gives a background job no stdin.
	p := shell(t, `exec 3<&0; (trap 'echo child' TERM; echo ready; read x <&3; echo child lives) &
trap 'echo got TERM; wait; exit 5' TERM
while :; do sleep 0.01; done`)
	readLine(t, p.Stdout)
	p.Terminate()
	if line := readLine(t, p.Stdout); line != "got TERM" {
		t.Errorf("got %q", line)
	}
	io.WriteString(p.Stdin, "go\n")
	if line := readLine(t, p.Stdout); line != "child lives" {
		t.Errorf("got %q", line)
	}
	if exit, err := p.Wait(); exit.Code != 5 || err != nil {
		t.Errorf("Wait: %v, %v", exit, err)
	}
	p.Terminate() // after the end: nothing happens
	p.Kill()
}

func TestTerminateEndsACLIThatDoesNotTrapIt(t *testing.T) {
	p := shell(t, "echo ready; exec sleep 1000")
	readLine(t, p.Stdout)
	p.Terminate()
	if exit, err := p.Wait(); exit.Signal != syscall.SIGTERM || err != nil {
		t.Errorf("Wait: %v, %v", exit, err)
	}
}

func TestTheGuardOutlivesPoliteSignals(t *testing.T) {
	p := shell(t, "echo ready; read x; echo $x; exit 4")
	readLine(t, p.Stdout)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
		if err := syscall.Kill(p.Pid(), sig); err != nil {
			t.Fatalf("%v: %v", sig, err)
		}
	}
	io.WriteString(p.Stdin, "hello\n")
	if line := readLine(t, p.Stdout); line != "hello" {
		t.Errorf("got %q", line)
	}
	if exit, err := p.Wait(); exit.Code != 4 || err != nil {
		t.Errorf("Wait: %v, %v", exit, err)
	}
}

func TestTheGuardHasASessionOfItsOwn(t *testing.T) {
	p := shell(t, "sleep 1000")
	if session, err := unix.Getsid(p.Pid()); err != nil || session != p.Pid() {
		t.Errorf("guard %d is in session %d, %v", p.Pid(), session, err)
	}
}

func TestWhatACLILeavesBehindIsGoneWhenWaitReturns(t *testing.T) {
	for range 5 {
		m := marker()
		p := shell(t, `(setsid sh -c 'while :; do sleep $MARK; done' &); env -i setsid sleep $MARK & echo ready; read x`, "MARK="+m)
		readLine(t, p.Stdout)
		p.Stdin.Close()
		if exit, err := p.Wait(); exit.Signal != 0 || err != nil {
			t.Errorf("Wait: %v, %v", exit, err)
		}
		if left := carriers(m); len(left) > 0 {
			t.Fatalf("left:\n%s", strings.Join(left, "\n"))
		}
	}
}

func TestParallelStartsShareNothing(t *testing.T) {
	var wg sync.WaitGroup
	ps := make([]*Process, 24)
	for i := range ps {
		wg.Go(func() {
			p, err := Start(Command{Argv: []string{"/bin/cat"}})
			if err != nil {
				t.Error(err)
			}
			ps[i] = p
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	ours := make(map[string]string) // pipe → the one guard that may hold it
	fds := descriptors(t, os.Getpid())
	target := func(f *os.File) (pipe string) {
		conn, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		conn.Control(func(fd uintptr) { pipe = fds[fmt.Sprint(fd)] })
		return pipe
	}
	for _, p := range ps {
		ours[target(p.lifeline)] = fmt.Sprintf("3 of %d", p.Pid())
		for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
			ours[target(f)] = "none"
		}
	}
	if len(ours) != 4*len(ps) {
		t.Fatalf("%d pipes", len(ours))
	}
	for _, p := range ps {
		if fds := descriptors(t, p.CLIPid()); len(fds) != 3 {
			t.Errorf("the CLI has %v", fds)
		}
		for fd, pipe := range descriptors(t, p.Pid()) {
			if holder, known := ours[pipe]; known && holder != fmt.Sprintf("%s of %d", fd, p.Pid()) {
				t.Errorf("guard %d has %s → %s, which is for %s", p.Pid(), fd, pipe, holder)
			}
		}
	}
	// Each ends by the end of its own stdin or lifeline while the others run.
	for i, p := range ps {
		want := Exit{}
		if i%2 == 0 {
			p.Stdin.Close()
		} else {
			want = Exit{Code: 137, Signal: syscall.SIGKILL}
			p.Kill()
		}
		if exit, err := p.Wait(); exit != want || err != nil {
			t.Errorf("%d: %v, %v", i, exit, err)
		}
	}
}

func TestTheDeathOfAGuardTakesNobodyElsesChild(t *testing.T) {
	other := shell(t, "read x; exit 6")
	var theirs []*exec.Cmd
	for range 5 {
		cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", "exit 7")
		if err := cmd.Start(); err != nil { // a zombie by the time the orphans are reaped
			t.Fatal(err)
		}
		theirs = append(theirs, cmd)
	}
	m := marker()
	p := shell(t, brood, "MARK="+m)
	readLine(t, p.Stdout)
	kill(t, p.Pid())
	if _, err := p.Wait(); !errors.Is(err, ErrGuardKilled) {
		t.Errorf("Wait: %v", err)
	}
	if left := carriers(m); len(left) > 0 {
		t.Errorf("left:\n%s", strings.Join(left, "\n"))
	}
	for _, cmd := range theirs {
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 7 {
			t.Errorf("a child of os/exec ended with %d", code)
		}
	}
	io.WriteString(other.Stdin, "go\n")
	if exit, err := other.Wait(); exit.Code != 6 || err != nil {
		t.Errorf("the other CLI: %v, %v", exit, err)
	}
	table, err := processTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		if c.ppid == os.Getpid() && c.dead {
			t.Errorf("zombie left: %+v", c)
		}
	}
}
