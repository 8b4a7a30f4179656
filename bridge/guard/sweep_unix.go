//go:build linux || darwin

package guard

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// guardGrace is how long Sweep leaves a guard whose bridge is dead to its own work. It knows what is below it
// better than the environment tells: a tool may have cleared its own.
const guardGrace = time.Second

// mark is what a process says about where it belongs.
type mark struct {
	owner string // value of OwnerVariable
	guard bool
}

func newMark(argv, env []string) mark {
	m := mark{guard: len(argv) > 1 && argv[1] == Subcommand}
	for _, v := range env {
		if owner, ok := strings.CutPrefix(v, OwnerVariable+"="); ok {
			m.owner = owner
			break
		}
	}
	return m
}

// Sweep ends every process of this user that carries an owner which is dead, and what is below it. It returns the pids it
// killed, once they are gone. The error is ctx's, or says that there is no process table to read.
//
// It spares this process, its ancestors, and everything that has the owner of one of these: a bridge that runs below a CLI
// does not cut the branch it sits on.
func Sweep(ctx context.Context) (ended []int, err error) {
	s := sweep{began: time.Now(), marks: make(map[proc]mark)}
	counted := make(map[int]bool)
	for {
		killed, err := end(s.pick)
		if err != nil {
			return ended, fmt.Errorf("sweep: %w", err)
		}
		for _, p := range killed {
			if !counted[p.pid] {
				counted[p.pid] = true
				ended = append(ended, p.pid)
			}
		}
		if len(killed) == 0 && !s.waiting {
			return ended, nil
		}
		select {
		case <-ctx.Done():
			return ended, fmt.Errorf("sweep: processes of a dead bridge are still there: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

type sweep struct {
	began   time.Time
	marks   map[proc]mark // of those that carry an owner. In the middle of an exec a process seems to carry none, so that is not kept
	waiting bool          // for guards to do it themselves
}

// pick chooses what is to be ended.
func (s *sweep) pick(table []proc) []proc {
	alive := make(map[string]bool, len(table))
	parent := make(map[int]int, len(table))
	for _, p := range table {
		if !p.dead {
			alive[formatOwner(p.pid, p.start)] = true
		}
		parent[p.pid] = p.ppid
	}
	ours := make(map[int]bool)
	for pid := os.Getpid(); pid > 0 && !ours[pid]; pid = parent[pid] {
		ours[pid] = true
	}
	for _, p := range table {
		if ours[p.pid] {
			alive[s.mark(p).owner] = true
		}
	}

	s.waiting = false
	dead := func(p proc) bool {
		owner := s.mark(p).owner
		_, _, ok := parseOwner(owner)
		return ok && !alive[owner]
	}
	spare := func(p proc) bool {
		m := s.mark(p)
		if m.guard && dead(p) && time.Since(s.began) < guardGrace {
			if !p.dead {
				s.waiting = true
				send(p, syscall.SIGCONT) // in case somebody stopped it
			}
			return true
		}
		return ours[p.pid] || m.owner != "" && alive[m.owner]
	}
	return trees(table, dead, spare)
}

func (s *sweep) mark(p proc) mark {
	key := proc{pid: p.pid, start: p.start}
	m, seen := s.marks[key]
	if !seen {
		var ok bool
		if m, ok = readMark(p.pid); ok {
			s.marks[key] = m
		}
	}
	return m
}

// parseOwner is the reverse of formatOwner. A value that is not ours to read is not ok.
func parseOwner(s string) (pid int, start uint64, ok bool) {
	a, b, found := strings.Cut(s, "-")
	pid, err1 := strconv.Atoi(a)
	start, err2 := strconv.ParseUint(b, 10, 64)
	return pid, start, found && err1 == nil && err2 == nil && pid > 0 && start > 0
}
