package rpc

import (
	"os"
	"time"

	"go.uber.org/zap"
)

// parentPoll is how often the editor's process is looked at. End of input is the usual sign that it is gone; this is for a pipe
// that somebody else still holds open.
const parentPoll = 2 * time.Second

// process is what tells one process from another that gets its pid later.
type process struct {
	parent int
	start  uint64 // in units of the system
}

// watchParent ends the connection when the process pid ends, if pid is an ancestor of this one. Any other pid is of another
// namespace (ssh, docker) or a mistake, and says nothing.
func (s *Server) watchParent(pid int) {
	if pid == 0 {
		return
	}
	editor, ok := ancestor(pid)
	if !ok {
		s.log.Info("process_id is not an ancestor of this process, so it is ignored", zap.Int("process_id", pid))
		return
	}
	s.group.Go(func() {
		tick := time.NewTicker(parentPoll)
		defer tick.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-tick.C:
				if now, ok := lookUp(pid); !ok || now.start != editor.start {
					s.log.Info("the editor's process is gone", zap.Int("process_id", pid))
					s.end()
					return
				}
			}
		}
	})
}

// ancestor finds pid among the ancestors of this process.
func ancestor(pid int) (process, bool) {
	const deepest = 100 // a process table that changes meanwhile must not make a circle
	at := os.Getppid()
	for range deepest {
		if at <= 0 {
			break
		}
		p, ok := lookUp(at)
		if !ok {
			break
		}
		if at == pid {
			return p, true
		}
		at = p.parent
	}
	return process{}, false
}
