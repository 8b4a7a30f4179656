package main

import (
	"io"
	"strings"
	"time"

	"drawbridge/adapters"
	"drawbridge/rpc/stream"
)

// measureSplit says where the cost of a delta goes, by doing its two computing parts here: reading the line and making the frame.
// What is left of the flood's figure is the system: read, write, wake-ups.
func measureSplit(w *world, t *table) error {
	n := w.sizes.split
	a, m := adapters.For(claudeVersion)(), adapters.Message{}
	line := []byte(token("msg_000001", numbered(1)))
	decode := perCall(n, func() { a.Decode(line, &m) })

	s := stream.New(strings.NewReader(""), io.Discard, stream.Options{Framing: stream.NDJSON})
	defer s.Close()
	prefix := []byte(`{"session_id":"` + sessionID + `","message_id":"msg_000001","block":0,"token":`)
	text, end := []byte(m.Text), []byte(`}`)
	frame := perCall(n, func() {
		if pending, _ := s.AppendNotification("assistant_token", prefix, text, end); pending >= stream.FlushAt {
			_ = s.Flush() // nowhere, which cannot fail
		}
	})
	t.value("of a delta's CPU: decoding the line", "µs", decode, 0)
	t.value("of a delta's CPU: making the frame", "µs", frame, 0)
	return nil
}

// perCall is how long f takes, in µs: the best of five, since whatever disturbs only adds.
func perCall(n int, f func()) float64 {
	best := time.Duration(1 << 62)
	for range 5 {
		began := time.Now()
		for range n / 5 {
			f()
		}
		best = min(best, time.Since(began))
	}
	return float64(best.Nanoseconds()) / 1e3 / float64(n/5)
}
