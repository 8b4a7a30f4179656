package fakeapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// message is what an answer is called on the wire.
type message struct {
	id    string
	model string
}

// toolID is the id of the tool call in block i.
func (m message) toolID(i int) string {
	return fmt.Sprintf("toolu_%s_%d", strings.TrimPrefix(m.id, "msg_"), i)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK) // the CLI warms its connection up
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		s.countTokens(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		s.messagesRequest(w, r)
	default:
		writeError(w, http.StatusNotFound, "", r.Method+" "+r.URL.Path+" is not here")
	}
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, "", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(body)/4 + 1})
}

func (s *Server) messagesRequest(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, "", err.Error())
		return
	}
	req, err := decode(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "", err.Error())
		return
	}
	req.Path = r.URL.RequestURI()
	req.APIKey, req.UserAgent, req.Beta = r.Header.Get("X-Api-Key"), r.UserAgent(), r.Header.Get("Anthropic-Beta")
	if s.keepBodies {
		req.Body = body
	}
	req = s.record(req)
	m := message{s.messageID(), req.Model}
	w.Header().Set("Request-Id", "req_"+strings.TrimPrefix(m.id, "msg_"))

	// A stream hangs until the CLI goes away or the server closes, whichever is first.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	answer := s.settle(s.answer(req), req)
	s.remember(m, answer)
	err = s.reply(ctx, w, m, answer, req.Stream)
	if err != nil {
		s.finish(req.Seq, Abandoned)
	} else {
		s.finish(req.Seq, Answered)
	}
	if err != nil || answer.Fail == Cut {
		panic(http.ErrAbortHandler) // net/http's way to close the connection without ending the response
	}
}

// settle replaces a failure by the answer that follows it: after as many attempts as the script says, and, when a stream
// was to break, as soon as the CLI asks without streaming.
func (s *Server) settle(a Answer, r Request) Answer {
	if !a.fails() {
		return a
	}
	streamOnly := a.Fail == Cut || a.Fail == StreamError
	// The CLI retries the very same conversation; another session's, or a later prompt of this one, is another attempt.
	key := fmt.Sprint(r.UserID, len(r.Roles), r.Text(), r.ToolResults)
	if a.Times > 0 && s.attempt(key) > a.Times || streamOnly && !r.Stream {
		return say(Text("Recovered."))
	}
	return a
}

// remember notes for each tool called which script goes on when it is done.
func (s *Server) remember(m message, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range a.Blocks {
		if b.then != "" {
			s.then[m.toolID(i)] = b.then
		}
		if a.After != "" && b.kind == "tool_use" {
			s.after[m.toolID(i)] = a.After
		}
	}
}

// reply writes the answer; its error means that the CLI has gone away, or the server is closing.
func (s *Server) reply(ctx context.Context, w http.ResponseWriter, m message, a Answer, streaming bool) error {
	switch {
	case a.Status != 0:
		return writeError(w, a.Status, a.ErrorType, fmt.Sprintf("scripted failure %d", a.Status))
	case streaming:
		st := newStream(ctx, w, a.Delay)
		st.message(m, a)
		return st.err
	case a.Fail == Hang:
		<-ctx.Done()
		return ctx.Err()
	}
	if a.Delay > 0 {
		select {
		case <-time.After(a.Delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return writeJSON(w, http.StatusOK, whole(m, a))
}

// whole is the message as one JSON object.
func whole(m message, a Answer) map[string]any {
	content := make([]map[string]any, len(a.Blocks))
	for i, b := range a.Blocks {
		switch b.kind {
		case "text":
			content[i] = map[string]any{"type": "text", "text": b.text}
		case "thinking":
			content[i] = map[string]any{"type": "thinking", "thinking": b.text, "signature": json.RawMessage(signature)}
		case "tool_use":
			content[i] = map[string]any{"type": "tool_use", "id": m.toolID(i), "name": b.tool, "input": b.input}
		}
	}
	return map[string]any{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model, "content": content,
		"stop_reason": a.stopReason(), "stop_sequence": nil, "usage": json.RawMessage(usage(outputTokens)),
	}
}

func readBody(r *http.Request) ([]byte, error) {
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return io.ReadAll(r.Body)
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	default:
		return nil, fmt.Errorf("content encoding %q is unknown here", encoding)
	}
}

func writeError(w http.ResponseWriter, status int, kind, text string) error {
	if kind == "" {
		kind = errorType(status)
	}
	return writeJSON(w, status, map[string]any{
		"type":       "error",
		"error":      map[string]string{"type": kind, "message": text},
		"request_id": w.Header().Get("Request-Id"),
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(b)
	return err
}
