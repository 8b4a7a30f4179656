package stream

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"go.lsp.dev/jsonrpc2"
)

// envelope holds the members of a message that say what it is, as spans of the
// frame; nil means absent. Of duplicates the last counts, as in jsonrpc2.
type envelope struct{ version, id, method, result, err []byte }

func (e *envelope) member(key, value []byte) {
	switch string(key) {
	case `"jsonrpc"`:
		e.version = value
	case `"id"`:
		e.id = value
	case `"method"`:
		e.method = value
	case `"result"`:
		e.result = value
	case `"error"`:
		e.err = value
	}
}

// admit returns the frame if jsonrpc2 can read it, changed in place where it
// takes a change, or nil if the frame has been dealt with: answered with an
// error, dropped, or put in the queue in pieces. frame is trimmed and not empty.
func (s *Stream) admit(frame []byte) []byte {
	var env envelope
	var end int
	s.scan.data = frame
	if frame[0] == '{' {
		end = s.scan.members(0, 0, env.member)
	} else {
		end = s.scan.value(0, 0)
	}
	if end >= 0 && end < len(frame) {
		end = s.scan.fail(end, "something follows the value")
	}
	switch {
	case end < 0:
		s.refuse(frame, jsonrpc2.ParseError, fmt.Sprintf("not JSON: %s at byte %d", s.scan.why, s.scan.at))
	case frame[0] == '[':
		s.splitBatch(frame)
	case frame[0] != '{':
		s.refuse(frame, jsonrpc2.InvalidRequest, "a message is an object, and a batch an array of them")
	case s.isResponse(&env):
		return s.repair(frame, &env)
	default:
		why := checkRequest(&env)
		if why == "" {
			return frame
		}
		s.refuse(frame, jsonrpc2.InvalidRequest, why)
	}
	return nil
}

// isResponse tells a response, however broken, from a request. A response is
// never answered, so that two peers cannot keep answering each other. What has
// neither method nor result nor error is a response if we wait for its id, as
// from a Lua editor that answered nil; else it is a request without method.
func (s *Stream) isResponse(env *envelope) bool {
	if env.method != nil {
		return false
	}
	if env.result != nil || env.err != nil {
		return true
	}
	n, ok := callID(env.id)
	return ok && s.out.isOpen(n)
}

// checkRequest says what keeps jsonrpc2 from reading the request, "" if nothing.
// An integral id such as 1.0, from editors that know no integers, is made one.
func checkRequest(env *envelope) (why string) {
	switch {
	case string(env.version) != `"2.0"`:
		return `"jsonrpc" must be "2.0"`
	case env.method == nil:
		return `"method" is missing`
	case env.method[0] != '"':
		return `"method" must be a string`
	case env.result != nil || env.err != nil:
		return "a message is either a request or a response"
	case env.id == nil || env.id[0] == '"' || env.id[0] == 'n':
		return ""
	}
	n, ok := integer(env.id)
	if !ok || !overwrite(env.id, n) {
		return `"id" must be an integer, a string or null`
	}
	return ""
}

// integer reads a JSON number of integral value: 3, 3.0 and 3e0 are the same.
func integer(span []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(span), 10, 64)
	if err == nil {
		return n, true
	}
	const exact = 1 << 53 // from here on a float64 stands for several integers
	f, err := strconv.ParseFloat(string(span), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= exact {
		return 0, false
	}
	return int64(f), true
}

// overwrite writes n over span, padded with white space. It fails if n is longer
// than the span, as with 1e9: no editor is known to write its ids so.
func overwrite(span []byte, n int64) bool {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if len(digits) > len(span) {
		return false
	}
	for i := copy(span, digits); i < len(span); i++ {
		span[i] = ' '
	}
	return true
}

// refuse answers a frame that is no request. Its id is null, even if there seems
// to be one: what is wrong may be what tells whose id it is.
func (s *Stream) refuse(frame []byte, code jsonrpc2.Code, why string) {
	s.reject(why, frame)
	s.answer(jsonrpc2.ID{}, jsonrpc2.NewError(code, why))
}

func (s *Stream) answer(id jsonrpc2.ID, e *jsonrpc2.Error) {
	// If the output has failed there is nobody to tell.
	_, _ = s.out.appendFrame(context.Background(), func(dst []byte) []byte { return jsonrpc2.AppendResponse(dst, id, nil, e) })
}

func (s *Stream) reject(why string, frame []byte) {
	if s.opts.OnReject != nil {
		s.opts.OnReject(why, frame)
	}
}

// refuseTooLarge deals with a frame of which only the two ends were kept.
func (s *Stream) refuseTooLarge(e excerpt) {
	var env envelope
	head := trimBlank(e.head)
	if len(head) > 0 && head[0] == '{' {
		s.scan.data = head
		s.scan.members(0, 0, env.member)
	}
	why := fmt.Sprintf("frame larger than %d bytes", s.in.limit)
	if env.method == nil && (env.result != nil || env.err != nil) {
		// An answer to us: whoever waits for it must not wait for ever.
		s.reject(why, head)
		if n, ok := callID(env.id); ok && s.out.answered(n) {
			s.queue = append(s.queue, failed(n, why))
		}
		return
	}
	if env.id == nil && env.method != nil {
		env.id = trailingID(trim(e.tail))
	}
	s.reject(why, head)
	s.answer(requestID(env.id), &jsonrpc2.Error{
		Code:    jsonrpc2.InvalidRequest,
		Message: why,
		Data: fmt.Appendf(nil, `{"kind":"payload_too_large","limit_bytes":%d,`+
			`"remedy":"Send large files by path, and images in a smaller size."}`, s.in.limit),
	})
}

// requestID decodes an id; the zero ID, null on the wire, if span is none.
func requestID(span []byte) jsonrpc2.ID {
	if n, ok := integer(span); ok {
		return jsonrpc2.NewNumberID(n)
	}
	frame := append([]byte(`{"jsonrpc":"2.0","method":"","id":`), span...)
	m, err := jsonrpc2.DecodeMessage(append(frame, '}'))
	if call, ok := m.(*jsonrpc2.Call); ok && err == nil {
		return call.ID()
	}
	return jsonrpc2.ID{}
}

// trailingID is the integer id at the very end of a message, where jsonrpc2
// itself puts a call's, or nil. There it can be no member of the params: those
// would be closed by another bracket or quote.
func trailingID(frame []byte) []byte {
	const member = `,"id":`
	end := len(frame) - 1
	if end < 0 || frame[end] != '}' {
		return nil
	}
	start := end
	for start > 0 && isDigit(frame[start-1]) {
		start--
	}
	if start == end || start < len(member) || string(frame[start-len(member):start]) != member {
		return nil
	}
	return frame[start:end]
}
