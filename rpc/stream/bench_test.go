package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// The params of an assistant_token of 95 bytes, in the pieces a pump has.
var (
	head  = []byte(`{"session_id":"s_1","message_id":"msg_01ABCDEFGHJK","block":0,"token":`)
	token = []byte(`" the quick brown fox"`)
	tail  = []byte(`}`)
	delta = bytes.Join([][]byte{head, token, tail}, nil)
)

func BenchmarkAppendNotification(b *testing.B) {
	for _, framing := range []Framing{NDJSON, LSP} {
		b.Run(framing.String(), func(b *testing.B) {
			s := New(strings.NewReader(""), io.Discard, Options{Framing: framing})
			defer s.Close()
			b.ReportAllocs()
			b.SetBytes(int64(len(delta)))
			for b.Loop() {
				if pending, _ := s.AppendNotification("assistant_token", head, token, tail); pending >= FlushAt {
					s.Flush()
				}
			}
		})
	}
}

// pipe is a pipe of the system whose far end is read by another goroutine.
func pipe(b *testing.B) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		defer r.Close()
		_, _ = io.Copy(io.Discard, r)
	}()
	return w
}

func BenchmarkAppendNotificationIntoPipe(b *testing.B) {
	for _, every := range []int{1, 10, 0} {
		b.Run(fmt.Sprintf("flush_every_%d", every), func(b *testing.B) {
			s := New(strings.NewReader(""), pipe(b), Options{Framing: NDJSON})
			defer s.Close()
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				pending, _ := s.AppendNotification("assistant_token", head, token, tail)
				if pending >= FlushAt || every > 0 && i%every == 0 {
					s.Flush()
					if err := s.Pace(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkConnNotify(b *testing.B) {
	ctx := context.Background()
	for _, to := range []string{"discard", "pipe"} {
		b.Run(to, func(b *testing.B) {
			var w io.Writer = io.Discard
			if to == "pipe" {
				w = pipe(b)
			}
			s := New(strings.NewReader(""), w, Options{Framing: NDJSON})
			conn := jsonrpc2.NewConn(s)
			defer conn.Close()
			b.ReportAllocs()
			for b.Loop() {
				if err := conn.Notify(ctx, "assistant_token", jsonrpc2.RawMessage(delta)); err != nil {
					b.Fatal(err)
				}
				if err := s.Pace(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat reads as b for ever.
type repeat struct {
	b []byte
	i int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.b[r.i:])
		n += c
		r.i = (r.i + c) % len(r.b)
	}
	return n, nil
}

func BenchmarkReadFrame(b *testing.B) {
	small := `{"jsonrpc":"2.0","id":7,"method":"user_message","params":{"session_id":"s_1","content":[{"type":"text","text":"hello"}]}}`
	image := `{"jsonrpc":"2.0","id":7,"method":"user_message","params":{"data":"` + strings.Repeat("iVBORw0KGgo", 100<<10) + `"}}`
	cjk := `{"jsonrpc":"2.0","id":7,"method":"user_message","params":{"text":"` + strings.Repeat("漢字仮名", 1<<10) + `"}}`
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, f := range []struct{ name, frame string }{{"small", small}, {"image", image}, {"cjk", cjk}} {
			b.Run(framing.String()+"/"+f.name, func(b *testing.B) {
				s := New(&repeat{b: []byte(framed(framing, f.frame))}, io.Discard, Options{Framing: framing})
				defer s.Close()
				b.ReportAllocs()
				b.SetBytes(int64(len(f.frame)))
				for b.Loop() {
					if _, _, err := s.ReadFrame(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFrameCheck(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":7,"method":"user_message","params":{"session_id":"s_1","content":[{"type":"text","text":"hello"}]}}`)
	s := new(scanner)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		var env envelope
		s.data = frame
		if s.members(0, 0, env.member) < 0 {
			b.Fatal(s.why)
		}
	}
}
