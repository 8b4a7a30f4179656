//go:build linux

package guard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// brood is a CLI with every kind of descendant that a tool can be: a plain child, one in its own session, a daemon that
// forked twice, one without an environment, ones that are started again whenever they die, and a steady source of new
// daemons. All of it is deaf to TERM, INT and HUP.
const brood = `
trap '' TERM INT HUP
sleep $MARK &
setsid sleep $MARK &
(setsid sh -c 'sleep $MARK & sleep $MARK' &)
env -i /usr/bin/setsid /bin/sleep $MARK &
(setsid env -i M=$MARK /bin/sh -c '(/usr/bin/setsid /bin/sleep $M &); while :; do /bin/sleep $M; done' &)
(setsid sh -c 'while :; do sleep $MARK; done' &)
(setsid sh -c 'while :; do (setsid sleep $MARK &); sleep 0.02; done' &)
echo ready
while :; do sleep $MARK; done
`

// swarm forks as fast as it can.
const swarm = `
for i in 1 2; do (setsid sh -c 'while :; do (setsid sleep $MARK &); done' &); done
echo ready
sleep $MARK
`

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH { // gone already, with what was killed before it
		t.Fatal(err)
	}
}

func TestNothingIsLeftAfterAKill(t *testing.T) {
	for _, c := range []struct {
		name  string
		kill  func(t *testing.T, b *bridge)
		heard string // from the bridge, if it lives
	}{
		{"of the bridge", func(t *testing.T, b *bridge) { kill(t, b.self) }, ""},
		{"of the bridge's process group", func(t *testing.T, b *bridge) { kill(t, -b.self) }, ""},
		{"of the bridge and the CLI", func(t *testing.T, b *bridge) { kill(t, b.self); kill(t, b.cli) }, ""},
		{"of the guard", func(t *testing.T, b *bridge) { kill(t, b.guard) }, ErrGuardKilled.Error()},
		{"of the guard and the CLI", func(t *testing.T, b *bridge) { kill(t, b.guard); syscall.Kill(b.cli, syscall.SIGKILL) }, ErrGuardKilled.Error()},
		{"of the CLI", func(t *testing.T, b *bridge) { kill(t, b.cli) }, "ended signal: killed <nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range 20 {
				b := startBridge(t, brood)
				defer b.close()
				if i%2 == 0 { // every other time in the middle of its birth
					eventually(t, "the whole brood", func() bool { return len(carriers(b.marker, b.self, b.guard)) > 12 })
				}
				c.kill(t, b)
				if c.heard == "" {
					noneLeft(t, b.marker)
				} else {
					if line := b.line(); !strings.Contains(line, c.heard) {
						t.Fatalf("the bridge heard %q, want %q", line, c.heard)
					}
					// Wait has returned: there is nothing to wait for any more.
					if left := carriers(b.marker, b.self); len(left) > 0 {
						t.Fatalf("left when Wait returned:\n%s", strings.Join(left, "\n"))
					}
					noneLeft(t, b.marker, b.self)
				}
				b.close()
			}
		})
	}
}

func TestASwarmThatForksAsFastAsItCanIsEnded(t *testing.T) {
	for range 5 {
		b := startBridge(t, swarm)
		defer b.close()
		eventually(t, "fifty processes", func() bool { return len(carriers(b.marker)) > 50 })
		kill(t, b.self)
		noneLeft(t, b.marker)

		b = startBridge(t, swarm)
		defer b.close()
		eventually(t, "fifty processes", func() bool { return len(carriers(b.marker)) > 50 })
		kill(t, b.guard)
		noneLeft(t, b.marker, b.self)
		b.close()
	}
}

func TestBridgeAndGuardKilledAtOnceLeaveNothingToTheNextSweep(t *testing.T) {
	for range 20 {
		b := startBridge(t, brood)
		defer b.close()
		// Stopped first, so that neither sees the other die.
		syscall.Kill(b.self, syscall.SIGSTOP)
		syscall.Kill(b.guard, syscall.SIGSTOP)
		kill(t, b.self)
		kill(t, b.guard)
		b.cmd.Wait()
		// The CLI goes with its guard, without anybody's help.
		eventually(t, "the death of the CLI", func() bool { return !alive(b.cli) })
		if len(carriers(b.marker)) == 0 {
			t.Fatal("nothing was left, so this test shows nothing")
		}
		if _, err := Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		// What has cleared its environment and lost its parent is the hole in the hole.
		for _, c := range carriers(b.marker) {
			if !strings.Contains(c, "/bin/sleep") && !strings.Contains(c, "/bin/sh") {
				t.Fatalf("left after the sweep: %s", c)
			}
		}
		b.close()
	}
}

func TestWhatIsStartedAgainWhenItDiesIsStoppedFirst(t *testing.T) {
	for range 20 {
		m := marker()
		defer endMarked(m)
		// A parent that gets its child's death before its own starts another, which nobody has seen.
		cmd := exec.Command("/bin/sh", "-c", "for i in 1 2 3 4 5 6; do (setsid sh -c 'while :; do sleep "+m+"; done' &); done; while :; do sleep "+m+"; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "seven sleeps", func() bool { return len(carriers(m, cmd.Process.Pid)) >= 7+6 })
		if _, err := end(func(table []proc) []proc {
			return trees(table, func(p proc) bool {
				mark, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
				return p.pid != os.Getpid() && err == nil && bytes.Contains(mark, []byte(m))
			}, nil)
		}); err != nil {
			t.Fatal(err)
		}
		noneLeft(t, m)
		cmd.Wait()
	}
}

func TestAGuardThatSomebodyStoppedStillEndsItsCLI(t *testing.T) {
	m := marker()
	p := shell(t, brood, "MARK="+m)
	readLine(t, p.Stdout)
	syscall.Kill(p.Pid(), syscall.SIGSTOP)
	p.Kill()
	if exit, err := p.Wait(); exit.Signal != syscall.SIGKILL || err != nil {
		t.Errorf("Wait: %v, %v", exit, err)
	}
	noneLeft(t, m)
}
