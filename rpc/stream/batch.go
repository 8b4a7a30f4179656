package stream

import (
	"bytes"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// maxBatch is how many members a batch may have. Each is answered, and
// "[1,1,1,…]" would be answered with forty times its size.
const maxBatch = 1000

// splitBatch queues what jsonrpc2 is to see of a batch, which is valid JSON: the
// responses first, one by one, since jsonrpc2 delivers none that comes in a
// batch; then the requests, still a batch, so that they are answered as one.
func (s *Stream) splitBatch(frame []byte) {
	var requests [][]byte
	same := true // the requests are the whole batch as it came
	n := 0
	for i := skipSpace(frame, 1); frame[i] != ']'; n++ {
		if n == maxBatch {
			s.refuse(frame, jsonrpc2.InvalidRequest, fmt.Sprintf("batch of more than %d messages", maxBatch))
			return
		}
		var env envelope
		var end int
		s.scan.data = frame
		if frame[i] == '{' {
			end = s.scan.members(i, 1, env.member)
		} else {
			end = s.scan.value(i, 1)
		}
		member := frame[i:end:end]
		if i = skipSpace(frame, end); frame[i] == ',' {
			i = skipSpace(frame, i+1)
		}

		if member[0] == '{' && s.isResponse(&env) {
			same = false
			if r := s.repair(member, &env); r != nil {
				s.queue = append(s.queue, r)
			}
			continue
		}
		why := "a member of a batch must be an object"
		if member[0] == '{' {
			why = checkRequest(&env)
		}
		if why != "" {
			// jsonrpc2 answers {} with -32600 in the member's place. What it
			// makes of the member itself is not always that.
			s.reject(why, member)
			member, same = []byte("{}"), false
		}
		requests = append(requests, member)
	}
	switch {
	case same: // also the empty batch, which jsonrpc2 answers with -32600
		s.queue = append(s.queue, frame)
	case len(requests) > 0:
		b := append([]byte{'['}, bytes.Join(requests, []byte{','})...)
		s.queue = append(s.queue, append(b, ']'))
	}
}
