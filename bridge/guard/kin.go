//go:build linux || darwin

package guard

import (
	"slices"
	"syscall"
)

// proc is a line of the process table.
type proc struct {
	pid, ppid int
	start     uint64 // start time; with the pid it names one process for good
	dead      bool   // a zombie: it only waits to be reaped
	exiting   bool   // on its way there and past any more mischief, but a large one takes a while; Linux only
	stopped   bool
}

// trees returns the processes for which root is true and everything below them, parents first. It does not go below
// nor return what spare is true for; spare may be nil.
func trees(table []proc, root, spare func(proc) bool) []proc {
	below := make(map[int][]proc, len(table))
	taken := make(map[int]bool)
	var found []proc
	take := func(p proc) {
		if !taken[p.pid] && (spare == nil || !spare(p)) {
			taken[p.pid] = true
			found = append(found, p)
		}
	}
	for _, p := range table {
		below[p.ppid] = append(below[p.ppid], p)
		if root(p) {
			take(p)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, p := range below[found[i].pid] {
			take(p)
		}
	}
	return found
}

// freezeRounds bounds the looks that end takes before it kills in any case. A process in uninterruptible sleep never
// shows as stopped, for one the parent in a vfork whose child was stopped first.
const freezeRounds = 20

// end stops every process that pick chooses from the process table until none of them moves any more, kills them, and
// returns those it killed or found dying. They are not reaped, and one look later there may be more: the caller repeats
// until there are none.
func end(pick func([]proc) []proc) ([]proc, error) {
	var found []proc
	for range freezeRounds {
		table, err := processTable()
		if err != nil {
			return nil, err
		}
		found = pick(table)
		if !freeze(found) {
			break
		}
	}
	// From the leaves up: the death of a parent wakes stopped children (SIGCONT to an orphaned process group),
	// which then must have their KILL already.
	var ended []proc
	for _, p := range slices.Backward(found) {
		if p.exiting || !p.dead && send(p, syscall.SIGKILL) == nil {
			ended = append(ended, p)
		}
	}
	return ended, nil
}

// freeze stops what still moves, and says whether there was any.
func freeze(ps []proc) (moving bool) {
	for _, p := range ps {
		if !p.dead && !p.exiting && !p.stopped && send(p, syscall.SIGSTOP) == nil {
			moving = true
		}
	}
	return moving
}

// kin finds what is below a guard.
type kin struct {
	parent int            // the guard
	known  map[int]uint64 // descendants seen before, pid → start; empty where there is a subreaper
}

// below is everything below the parent, and what is known to have been and everything below that.
func (k *kin) below(table []proc) []proc {
	return trees(table, func(p proc) bool {
		start, seen := k.known[p.pid]
		return p.ppid == k.parent || seen && start == p.start
	}, nil)
}

// look remembers what is below now and forgets what is gone.
func (k *kin) look() {
	table, err := processTable()
	if err != nil {
		return
	}
	known := make(map[int]uint64)
	for _, p := range k.below(table) {
		if !p.dead {
			known[p.pid] = p.start
		}
	}
	k.known = known
}
