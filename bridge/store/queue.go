package store

// The queue's limits. With a disk that works it holds a handful; they are for one that hangs for hours.
const (
	maxTurns    = 2048
	maxSessions = 512
	maxFolders  = 64
	maxNames    = 256
	maxDeleted  = 256
)

// queue is what is to be written. A session, a folder and a name take one place however often they are saved, so that they are not
// lost while the disk is slow; of turns the oldest are given up first.
type queue struct {
	sessions map[string]*Session
	order    []string // of sessions, oldest first
	turns    []Turn
	folders  map[string]Folder
	names    []naming
	deleted  []string
}

func (q *queue) empty() bool {
	return len(q.sessions) == 0 && len(q.turns) == 0 && len(q.folders) == 0 && len(q.names) == 0 && len(q.deleted) == 0
}

func (q *queue) session(s Session) (dropped int) {
	if q.sessions == nil {
		q.sessions = map[string]*Session{}
	}
	if known := q.sessions[s.ID]; known != nil {
		known.take(s)
		return 0
	}
	s.ClaudeIDs = nil
	q.sessions[s.ID] = &s
	q.order = append(q.order, s.ID)
	if len(q.order) > maxSessions {
		delete(q.sessions, q.order[0])
		q.order = q.order[1:]
		return 1
	}
	return 0
}

func (q *queue) turn(t Turn) (dropped int) {
	q.turns = append(q.turns, t)
	if over := len(q.turns) - maxTurns; over > 0 {
		q.turns = append(q.turns[:0], q.turns[over:]...)
		return over
	}
	return 0
}

func (q *queue) folder(f Folder) (dropped int) {
	if q.folders == nil {
		q.folders = map[string]Folder{}
	}
	if _, known := q.folders[f.CWD]; !known && len(q.folders) >= maxFolders {
		return 1
	}
	q.folders[f.CWD] = f
	return 0
}

func (q *queue) name(n naming) (dropped int) {
	if len(q.names) >= maxNames {
		return 1
	}
	q.names = append(q.names, n)
	return 0
}

func (q *queue) delete(id string) (dropped int) {
	if s := q.sessions[id]; s != nil {
		delete(q.sessions, id)
		for i, o := range q.order {
			if o == id {
				q.order = append(q.order[:i], q.order[i+1:]...)
				break
			}
		}
	}
	if len(q.deleted) >= maxDeleted {
		return 1
	}
	q.deleted = append(q.deleted, id)
	return 0
}

// putBack returns what could not be written to its place before what was saved since.
func (q *queue) putBack(old *queue) (dropped int) {
	since := *q
	*q = *old
	for _, id := range since.deleted {
		dropped += q.delete(id)
	}
	for _, id := range since.order {
		newer := since.sessions[id]
		for _, claude := range newer.ClaudeIDs {
			dropped += q.session(Session{ID: id, ClaudeID: claude})
		}
		dropped += q.session(*newer)
	}
	for _, t := range since.turns {
		dropped += q.turn(t)
	}
	for _, f := range since.folders {
		dropped += q.folder(f)
	}
	for _, n := range since.names {
		dropped += q.name(n)
	}
	return dropped
}
