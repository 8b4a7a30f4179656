package scripted

import (
	"fmt"
	"sync/atomic"
)

// identifiers gives out the ids of one run. They are counters, so that a conversation replays byte for byte, and they
// carry the number of the run, so that a session that goes on in a second process (after a crash, with --resume)
// does not meet the message and tool ids of its first one again.
type identifiers struct {
	run, seed uint32
	uuids     atomic.Uint32
	messages  atomic.Uint32
	requests  atomic.Uint32
	tasks     atomic.Uint32
}

// uuidShape has the counter in front, where a flood can patch it in place.
const uuidShape = "%08x-%04x-4000-8000-%012x"

func (i *identifiers) uuid() string {
	return fmt.Sprintf(uuidShape, i.uuids.Add(1), i.run&0xffff, i.seed)
}

func (i *identifiers) message() string {
	return fmt.Sprintf("msg_%04d_%06d", i.run, i.messages.Add(1))
}

// request is the id of a control request of ours; the CLI uses random UUIDs there as well.
func (i *identifiers) request() string {
	return fmt.Sprintf("%08x-%04x-4000-9000-%012x", i.requests.Add(1), i.run&0xffff, i.seed)
}

// task is the id of a subagent or command and that of its run.
func (i *identifiers) task(prefix byte) (id, run string) {
	n := i.tasks.Add(1)
	return fmt.Sprintf("%c%04x%012x", prefix, i.run&0xffff, n), fmt.Sprintf("0scripted-%08x", n)
}
