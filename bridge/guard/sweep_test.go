//go:build linux

package guard

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sleeper runs a sleep with an owner in its environment.
func sleeper(t *testing.T, owner string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 1000 & echo ready; wait")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if owner != "" {
		cmd.Env = append(cmd.Env, OwnerVariable+"="+owner)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// deadOwner had our pid before us.
func deadOwner() string { return formatOwner(os.Getpid(), ownStart()-1) }

func alive(pid int) bool {
	p, ok := processByPid(pid)
	return ok && !p.dead
}

func TestSweepEndsWhatADeadOwnerLeftAndNothingElse(t *testing.T) {
	left := sleeper(t, deadOwner())
	spared := map[string]*exec.Cmd{
		"no owner":           sleeper(t, ""),
		"this process":       sleeper(t, Owner()),
		"another that lives": sleeper(t, ownerOf(t, os.Getppid())),
		"an unknown owner":   sleeper(t, formatOwner(os.Getpid(), 0)),
		"somebody's text":    sleeper(t, "the platform team"),
	}
	ended, err := Sweep(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(ended, left.Process.Pid) || alive(left.Process.Pid) {
		t.Errorf("%d is still there, ended %v", left.Process.Pid, ended)
	}
	for name, cmd := range spared {
		if !alive(cmd.Process.Pid) || slices.Contains(ended, cmd.Process.Pid) {
			t.Errorf("%s: ended", name)
		}
	}
	if again, err := Sweep(context.Background()); err != nil || slices.Contains(again, left.Process.Pid) {
		t.Errorf("a second sweep: %v, %v", again, err)
	}
}

func ownerOf(t *testing.T, pid int) string {
	p, ok := processByPid(pid)
	if !ok {
		t.Fatalf("no process %d", pid)
	}
	return formatOwner(p.pid, p.start)
}

func TestSweepTakesAnOwnerThatNobodyHasReapedForDead(t *testing.T) {
	owner := exec.Command("/bin/sh", "-c", "read x")
	in, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	name := ownerOf(t, owner.Process.Pid)
	left := sleeper(t, name)
	if _, err := Sweep(context.Background()); err != nil || !alive(left.Process.Pid) {
		t.Fatalf("swept while the owner lives: %v", err)
	}
	in.Close()
	eventually(t, "a zombie", func() bool { return !alive(owner.Process.Pid) })
	if _, err := Sweep(context.Background()); err != nil || alive(left.Process.Pid) {
		t.Errorf("not swept: %v", err)
	}
	owner.Wait()
}

func TestSweepGoesBelowWhatItEnds(t *testing.T) {
	m := marker()
	defer endMarked(m)
	cmd := exec.Command("/bin/sh", "-c", "env -i setsid sleep "+m+" & env -u "+OwnerVariable+" setsid sleep "+m+" & echo ready; wait")
	cmd.Env = append(os.Environ(), OwnerVariable+"="+deadOwner())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 6))
	eventually(t, "two sleeps", func() bool { return len(carriers(m, cmd.Process.Pid)) == 2 })
	if _, err := Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	noneLeft(t, m)
	cmd.Wait()
}

func TestSweepSparesTheBranchItSitsOn(t *testing.T) {
	// A shell that has a dead owner runs a bridge, and has a child beside it.
	cmd := exec.Command("/bin/sh", "-c", `sleep 1000 & "$0" sweep; kill -0 $! && echo sibling lives; kill $!`, "/proc/self/exe")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args[3] = exe
	cmd.Env = append(os.Environ(), OwnerVariable+"="+deadOwner(), partVariable+"=sweeper")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "swept <nil>") || !strings.Contains(string(out), "sibling lives") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestSweepSparesWhatRunsInAContainer(t *testing.T) {
	m := marker()
	defer endMarked(m)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", "echo ready; exec sleep "+m)
	cmd.Env = append(os.Environ(), OwnerVariable+"="+deadOwner())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no unshare here")
	}
	if n, _ := out.Read(make([]byte, 6)); n != 6 {
		cmd.Wait()
		t.Skip("no pid namespaces here")
	}
	var inside int
	eventually(t, "the sleep", func() bool {
		table, _ := processTable()
		i := slices.IndexFunc(table, func(p proc) bool { return p.ppid == cmd.Process.Pid })
		if i >= 0 {
			inside = table[i].pid
		}
		return inside != 0
	})
	if _, ok := readMark(inside); ok {
		t.Error("the owner of a process in another pid namespace was taken for one of ours")
	}
	cmd.Process.Kill()
	cmd.Wait()
}

func TestSweepLetsAGuardFinishAndEndsOneThatIsStuck(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		b := startBridge(t, brood)
		defer b.close()
		syscall.Kill(b.guard, syscall.SIGSTOP) // the bridge dies while its guard cannot see it
		kill(t, b.self)
		b.cmd.Wait()
		s := sweep{began: time.Now(), marks: make(map[proc]mark)}
		if stuck {
			s.began = s.began.Add(-2 * guardGrace)
		}
		table, err := processTable()
		if err != nil {
			t.Fatal(err)
		}
		picked := slices.ContainsFunc(s.pick(table), func(p proc) bool { return p.pid == b.guard })
		if picked != stuck || s.waiting == stuck {
			t.Errorf("stuck %v: picked %v, waiting %v", stuck, picked, s.waiting)
		}
		if _, err := Sweep(context.Background()); err != nil {
			t.Error(err)
		}
		noneLeft(t, b.marker)
	}
}

func TestSweepStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sleeper(t, deadOwner())
	if _, err := Sweep(ctx); err == nil {
		t.Error("no error")
	}
}
