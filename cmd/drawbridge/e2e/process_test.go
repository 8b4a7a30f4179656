//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var marks atomic.Int64

// nextMark is a number of seconds to sleep that is this test's own, so that its processes can be told from others'.
func nextMark() string {
	return fmt.Sprintf("%d.%d", 100000+os.Getpid(), marks.Add(1))
}

// alive lists the processes whose command line holds mark.
func alive(mark string) []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")); err == nil && bytes.Contains(line, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until no process with the mark is left.
func (w *world) gone(mark string, limit time.Duration) {
	w.Helper()
	deadline := time.Now().Add(limit)
	for {
		left := alive(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Errorf("%s: %d processes are left after %v: %v", w.version, len(left), limit, left)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (w *world) awaitFile(name string) {
	w.Helper()
	deadline := time.Now().Add(patience)
	for !w.exists(name) {
		if time.Now().After(deadline) {
			w.Fatalf("%s: the file %s never came", w.version, name)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processes lists what runs for this world: its home is in the environment of each.
func (w *world) processes() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(env, []byte("HOME="+w.home+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// guardOf is the guard of the bridge's claude, and the claude below it.
func (w *world) guardOf(bridge int) (guard, claude int) {
	w.Helper()
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", bridge))
	for _, task := range tasks {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", bridge, task.Name()))
		for _, word := range strings.Fields(string(list)) {
			pid, _ := strconv.Atoi(word)
			for _, sub := range w.childrenOf(pid) {
				return pid, sub
			}
		}
	}
	w.Fatalf("the bridge %d has no guard with a claude", bridge)
	return 0, 0
}

func (w *world) childrenOf(pid int) []int {
	var pids []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, word := range strings.Fields(string(list)) {
			n, _ := strconv.Atoi(word)
			pids = append(pids, n)
		}
	}
	return pids
}

func TestNothingIsLeftAfterAKill(t *testing.T) {
	const rounds = 20
	for _, version := range []string{newest, "2.0.0"} {
		for _, victim := range []string{"bridge", "group", "guard", "claude"} {
			t.Run(version+" "+victim, func(t *testing.T) {
				t.Parallel()
				for range rounds {
					w := outside(t, version)
					w.start(ownGroup)
					mark := nextMark()
					answer := w.send("bash: touch started; sleep " + mark + " & sleep " + mark)
					w.awaitFile("started")
					bridge := w.process.Process.Pid
					guard, claude := w.guardOf(bridge)
					switch victim {
					case "bridge":
						w.kill(bridge)
					case "group":
						w.kill(-bridge)
					case "guard":
						w.kill(guard)
					case "claude":
						w.kill(claude)
					}
					w.gone(mark, 2*time.Second)
					if victim == "bridge" || victim == "group" {
						w.empty(2 * time.Second)
						continue
					}
					if r := w.await1(answer); r.Status != "failed" || r.Error == nil || r.Error.Kind != "claude_exited" || r.Error.Remedy == "" {
						t.Errorf("the answer is %v", r)
					}
					if r := w.say("next"); r.Status != "completed" {
						t.Errorf("next: %v", r)
					}
					if err := w.client.Shutdown(w.ctx); err != nil {
						t.Errorf("shutdown: %v", err)
					}
					w.empty(2 * time.Second)
				}
			})
		}
	}
}

// empty waits until nothing of this world runs any more.
func (w *world) empty(limit time.Duration) {
	w.Helper()
	deadline := time.Now().Add(limit)
	for {
		left := w.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Errorf("%s: processes are left after %v: %v", w.version, limit, left)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (w *world) kill(pid int) {
	w.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.Fatalf("kill %d: %v", pid, err)
	}
}

func TestTheNextServeEndsWhatAKilledBridgeAndGuardLeft(t *testing.T) {
	eachVersion(t, []string{newest, "2.0.0"}, func(t *testing.T, version string) {
		for range 5 {
			w := outside(t, version)
			w.start(ownGroup)
			mark := nextMark()
			w.send("bash: touch started; sleep " + mark)
			w.awaitFile("started")
			bridge := w.process.Process.Pid
			guard, _ := w.guardOf(bridge)
			_ = syscall.Kill(guard, syscall.SIGSTOP) // or it would notice the death of the bridge first
			w.kill(bridge)
			w.kill(guard)
			_ = w.client.Wait()
			again := outside(t, version)
			again.start()
			w.gone(mark, 2*time.Second)
			w.empty(2 * time.Second)
			if err := again.client.Shutdown(again.ctx); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		}
	})
}

func TestShutdownLeavesNothing(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		mark := nextMark()
		answer := w.send("bash: touch started; sleep " + mark)
		w.awaitFile("started")
		if err := w.client.Shutdown(w.ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Errorf("the answer is %v", r)
		}
		w.gone(mark, 2*time.Second)
		w.empty(2 * time.Second)
	})
}
