package rpc

import (
	"context"
	"sync"

	"drawbridge/bridge"
	"drawbridge/rpc/stream"

	"go.lsp.dev/jsonrpc2"
)

// endedPrompts remembers which sessions the last prompts were about, by the id of their request: an answer that comes when the prompt
// has ended is ignored by the library, and the user is told so.
type endedPrompts struct {
	mu       sync.Mutex
	sessions map[int64]string
	order    []int64
}

const rememberedPrompts = 100

func (e *endedPrompts) add(id jsonrpc2.ID, session string) {
	n, ok := id.Number()
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions == nil {
		e.sessions = map[int64]string{}
	}
	e.sessions[n] = session
	e.order = append(e.order, n)
	if len(e.order) > rememberedPrompts {
		delete(e.sessions, e.order[0])
		e.order = e.order[1:]
	}
}

func (e *endedPrompts) session(id int64) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	session, ok := e.sessions[id]
	return session, ok
}

func (e *endedPrompts) any() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.order) > 0
}

// answerWatch is the stream as the library sees it. It notices answers to prompts that have ended.
type answerWatch struct {
	*stream.Stream
	s *Server
}

// longestAnswer is how long a frame may be to be looked into: an answer is no longer, a user message with images may well be.
const longestAnswer = 1 << 20

// ReadFrame passes the next frame on.
func (w *answerWatch) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	frame, n, err := w.Stream.ReadFrame(ctx)
	if err == nil && len(frame) <= longestAnswer && w.s.prompts.any() {
		w.watch(frame)
	}
	return frame, n, err
}

func (w *answerWatch) watch(frame []byte) {
	message, err := jsonrpc2.ScanMessageView(frame)
	if err != nil || message.Kind != jsonrpc2.MessageViewResponseResult {
		return // a withdrawn request is answered by an error, as it should be
	}
	id, _ := message.ID.Number() // ours begin at 1
	name, ended := w.s.prompts.session(id)
	if !ended {
		return
	}
	if session, err := w.s.bridge.Session(name); err == nil { // the session knows when it may be told
		session.Tell(bridge.Notice{Level: "warning", Kind: "late_answer",
			Message: "An answer came when its question was closed already. It was ignored."})
	}
}
