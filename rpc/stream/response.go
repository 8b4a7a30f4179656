package stream

import (
	"bytes"
	"strconv"

	"go.lsp.dev/jsonrpc2"
)

// repair returns a response such that jsonrpc2 delivers it. In jsonrpc2 a call
// whose answer is unreadable waits for ever, or the connection ends; here it
// fails, with an error that says what is wrong with the answer.
func (s *Stream) repair(frame []byte, env *envelope) []byte {
	n, ok := callID(env.id)
	if !ok || !s.out.answered(n) {
		// jsonrpc2 drops it as well, if it can read it. It is passed on for
		// whoever reads frames without jsonrpc2's Conn.
		s.reject("a response to no open call", frame)
		if _, err := jsonrpc2.DecodeMessage(frame); err != nil {
			return nil
		}
		return frame
	}
	var why string
	hasResult := env.result != nil && (env.err == nil || !isNull(env.result))
	hasError := env.err != nil && !isNull(env.err)
	switch {
	case !overwrite(env.id, n): // "3" and 3.0 become 3
		why = "the answer's id is not written as the call's"
	case string(env.version) != `"2.0"`:
		why = `the answer's "jsonrpc" is not "2.0"`
	case hasResult && hasError:
		why = "the answer has both a result and an error"
	case hasError:
		if env.result == nil && s.isError(env.err) {
			return frame
		}
		return s.errorResponse(n, env.err)
	case env.result == nil:
		why = "the answer has neither result nor error"
	case env.err == nil:
		return frame
	default: // "error":null beside the result, as in JSON-RPC 1.0
		return jsonrpc2.AppendResponse(nil, jsonrpc2.NewNumberID(n), jsonrpc2.RawMessage(env.result), nil)
	}
	s.reject(why, frame)
	return failed(n, why)
}

// failed is a response that makes our call n fail.
func failed(n int64, why string) []byte {
	return jsonrpc2.AppendResponse(nil, jsonrpc2.NewNumberID(n), nil, jsonrpc2.NewError(jsonrpc2.InternalError, why))
}

// callID reads the id of one of our own calls, which are integers, from a
// response. Some editors echo it as 3.0 or "3".
func callID(span []byte) (n int64, ok bool) {
	return integer(bytes.Trim(span, `"`))
}

func isNull(span []byte) bool { return string(span) == "null" }

// rpcError holds the spans of an error object.
type rpcError struct{ code, message, data []byte }

func (e *rpcError) member(key, value []byte) {
	switch string(key) {
	case `"code"`:
		e.code = value
	case `"message"`:
		e.message = value
	case `"data"`:
		e.data = value
	}
}

func (s *Stream) scanError(span []byte) (e rpcError) {
	if span[0] == '{' {
		s.scan.data = span
		s.scan.members(0, 0, e.member)
	}
	return e
}

// isError says whether jsonrpc2 can read the error object.
func (s *Stream) isError(span []byte) bool {
	e := s.scanError(span)
	_, err := strconv.ParseInt(string(e.code), 10, 32)
	return span[0] == '{' && (e.code == nil || err == nil) && (e.message == nil || e.message[0] == '"')
}

// errorResponse makes a response of what an editor gave as error: a bare string,
// or an object whose code is 1.0 or whose message is null.
func (s *Stream) errorResponse(n int64, span []byte) []byte {
	e := s.scanError(span)
	code, ok := integer(e.code)
	if !ok || code != int64(int32(code)) {
		code = int64(jsonrpc2.InternalError)
	}
	message := e.message
	if span[0] == '"' {
		message = span
	}
	if len(message) == 0 || message[0] != '"' {
		message = []byte(`"the answer is an error without message"`)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), strconv.AppendInt(nil, n, 10)...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, code, 10)
	b = append(append(b, `,"message":`...), message...)
	if e.data != nil {
		b = append(append(b, `,"data":`...), e.data...)
	}
	return append(b, "}}"...)
}
