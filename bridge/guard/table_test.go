//go:build linux

package guard

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"
)

func TestAProcessNameMayHoldSpacesAndParentheses(t *testing.T) {
	const tail = " 100 200 300 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456789 1000 200"
	for line, want := range map[string]proc{
		"42 (sh) S" + tail:                {pid: 42, ppid: 100, start: 123456789},
		"42 (a b) R 7 (c)) T" + tail:      {pid: 42, ppid: 100, start: 123456789, stopped: true},
		"42 (tmux: server) Z" + tail:      {pid: 42, ppid: 100, start: 123456789, dead: true},
		"42 (\n) 1 2 (x) t" + tail + "\n": {pid: 42, ppid: 100, start: 123456789, stopped: true},
	} {
		if got, ok := parseStat([]byte(line)); !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "42", "42 (sh", "42 (sh) S 1 2", ") 42 ("} {
		if got, ok := parseStat([]byte(line)); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestAZombieWithRunningThreadsIsNotDead(t *testing.T) {
	const line = "42 (node) Z 100 200 300 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456789 1000 200"
	if p, ok := parseStat([]byte(line)); !ok || p.dead {
		t.Errorf("%+v, %v", p, ok)
	}
}

func TestAProcessOnItsWayOutIsNotWaitedFor(t *testing.T) {
	const line = "42 (node) R 100 200 300 0 -1 4194308 1 2 3 4 5 6 7 8 20 0 1 0 123456789 1000 200"
	if p, ok := parseStat([]byte(line)); !ok || p.dead || !p.exiting {
		t.Errorf("%+v, %v", p, ok)
	}
}

func TestTheProcessTableHoldsUs(t *testing.T) {
	table, err := processTable()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(table, func(p proc) bool { return p.pid == os.Getpid() })
	if i < 0 || table[i].ppid != os.Getppid() || table[i].start != ownStart() || table[i].dead {
		t.Errorf("at %d of %d", i, len(table))
	}
}

func TestTreesComeParentsFirstAndStopAtWhatIsSpared(t *testing.T) {
	table := []proc{{pid: 5, ppid: 4}, {pid: 4, ppid: 2}, {pid: 2, ppid: 1}, {pid: 3, ppid: 1}, {pid: 6, ppid: 3}, {pid: 9, ppid: 8}}
	pids := func(ps []proc) (n []int) {
		for _, p := range ps {
			n = append(n, p.pid)
		}
		return n
	}
	root := func(p proc) bool { return p.ppid == 1 }
	if got := pids(trees(table, root, nil)); !reflect.DeepEqual(got, []int{2, 3, 4, 6, 5}) {
		t.Errorf("got %v", got)
	}
	if got := pids(trees(table, root, func(p proc) bool { return p.pid == 4 })); !reflect.DeepEqual(got, []int{2, 3, 6}) {
		t.Errorf("got %v", got)
	}
}

// The way of macOS, where what loses its parent falls to launchd.
func TestADescendantThatWasSeenIsStillKinWhenItsParentIsGone(t *testing.T) {
	k := kin{parent: 10, known: map[int]uint64{30: 3, 40: 4}}
	table := []proc{
		{pid: 20, ppid: 10, start: 2},
		{pid: 30, ppid: 1, start: 3}, // lost its parent
		{pid: 31, ppid: 30, start: 5},
		{pid: 40, ppid: 1, start: 9}, // another process by now
	}
	if got := k.below(table); len(got) != 3 || got[0].pid != 20 || got[1].pid != 30 || got[2].pid != 31 {
		t.Errorf("got %+v", got)
	}
}

func TestALookRemembersWhatRunsAndForgetsWhatIsGone(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	k := kin{parent: cmd.Process.Pid}
	k.look()
	p, ok := processByPid(child)
	if !ok || len(k.known) != 1 || k.known[child] != p.start {
		t.Errorf("known: %v", k.known)
	}
	cmd.Process.Kill() // the child falls to another
	cmd.Wait()
	if _, err := end(k.below); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child's end", func() bool { return !alive(child) })
	if k.look(); len(k.known) != 0 {
		t.Errorf("still known: %v", k.known)
	}
}

func TestArgumentsOfAMacOSProcessAreTold(t *testing.T) {
	raw := "\x02\x00\x00\x00/bin/claude\x00\x00\x00\x00claude\x00\x00A=1\x00DRAWBRIDGE_OWNER=7-8\x00\x00junk=1\x00"
	argv, env := parseProcargs([]byte(raw))
	if !reflect.DeepEqual(argv, []string{"claude", ""}) || !reflect.DeepEqual(env, []string{"A=1", "DRAWBRIDGE_OWNER=7-8"}) {
		t.Errorf("argv %q, env %q", argv, env)
	}
	if m := newMark(argv, env); m.owner != "7-8" || m.guard {
		t.Errorf("%+v", m)
	}
	for n := range raw {
		parseProcargs([]byte(raw[:n])) // a short answer must not panic
	}
}

func TestOwnersAreReadAsTheyAreWritten(t *testing.T) {
	if pid, start, ok := parseOwner(Owner()); !ok || pid != os.Getpid() || start != ownStart() || start == 0 {
		t.Errorf("%s: %d, %d, %v", Owner(), pid, start, ok)
	}
	for _, s := range []string{"", "1", "1-", "-1-2", "1-0", "0-1", "a-b", "1-2-3", "1--2"} {
		if _, _, ok := parseOwner(s); ok {
			t.Errorf("%q is taken for an owner", s)
		}
	}
}
