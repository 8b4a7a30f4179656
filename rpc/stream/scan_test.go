package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

func validFrame(frame []byte) bool {
	s := scanner{data: frame}
	end := s.value(0, 0)
	return end >= 0 && skipSpace(frame, end) == len(frame)
}

// FuzzFrameCheck holds the scanner to encoding/json.
func FuzzFrameCheck(f *testing.F) {
	for _, row := range badFrames {
		if len(row.frame) < 1<<12 {
			f.Add([]byte(row.frame))
		}
	}
	for _, s := range []string{
		`{"a":[1,2.5e-7,-0,{"b":null}],"c":"\u00e9\ud83d\ude00é","d":true,"e":false}`,
		`01`, `-`, `1.`, `1e`, `.5`, `+1`, `[1,]`, `{"a":}`, `{"a":1,}`, `{,}`, `[[]`, `]`, `"\x"`, `"\u12"`, "\"\x1f\"", "\"a\x80\"", "\"1234567\xc3\"",
		`"12345678\"`, `"é234567890123456é"`, "\"\u2028\"", `nul`, `truee`, ` {} `, `{"a" : [ ] , "b":{ }}`, `"\ud83d"`, "\"\xed\xa0\x80\"", strings.Repeat("[", 70) + strings.Repeat("]", 70),
		strings.Repeat(`{"":[`, 40) + strings.Repeat(`]}`, 40),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		want := json.Valid(frame) && utf8.Valid(frame)
		if got := validFrame(frame); got != want {
			t.Errorf("valid(%q) = %v, want %v", frame, got, want)
		}
		i := skipSpace(frame, 0)
		if i == len(frame) || frame[i] != '{' {
			return
		}
		s := scanner{data: frame}
		var last []byte
		end := s.members(i, 0, func(key, value []byte) { last = value })
		if got := end >= 0 && skipSpace(frame, end) == len(frame); got != want {
			t.Errorf("as an object: valid(%q) = %v, want %v", frame, got, want)
		}
		if want && last != nil && !json.Valid(last) {
			t.Errorf("member %q of %q", last, frame)
		}
	})
}

func TestEveryByteIsJudgedInEveryPlaceOfAString(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			frame := []byte(`"` + strings.Repeat("x", 20) + `"`)
			frame[1+at] = byte(c)
			want := json.Valid(frame) && utf8.Valid(frame)
			if got := validFrame(frame); got != want {
				t.Errorf("valid(%q) = %v, want %v", frame, got, want)
			}
		}
	}
}

func TestNestingIsBoundedWhereEncodingJSONBoundsIt(t *testing.T) {
	for _, depth := range []int{maxDepth - 1, maxDepth, maxDepth + 1} {
		for _, nest := range [][2]string{{"[", "]"}, {`{"":`, `}`}} {
			frame := []byte(strings.Repeat(nest[0], depth) + "1" + strings.Repeat(nest[1], depth))
			if got, want := validFrame(frame), json.Valid(frame); got != want {
				t.Errorf("%d of %s: valid %v, want %v", depth, nest[0], got, want)
			}
		}
	}
}

// FuzzStream feeds any bytes to a Conn over a Stream. It must neither panic nor
// hang, must answer only with valid frames, and as NDJSON must serve a good line
// that follows.
func FuzzStream(f *testing.F) {
	for _, row := range badFrames {
		if len(row.frame) < 1<<12 {
			f.Add([]byte(row.frame), byte(0))
			f.Add([]byte(framed(LSP, row.frame)+framed(LSP, ping)), byte(1))
		}
	}
	f.Add([]byte("Content-Length: 10\r\n"), byte(2))
	f.Add([]byte("\xef\xbb"), byte(2))
	f.Add([]byte("[{\"id\":1.0,\"error\":{}}]\n{\"id\":1,\"error\":\"x\"}\n"+strings.Repeat("y", 5000)), byte(3))
	f.Fuzz(func(t *testing.T, input []byte, mode byte) {
		framing := []Framing{NDJSON, LSP, Auto}[mode%3]
		const last = `{"jsonrpc":"2.0","id":"last","method":"echo","params":["last"]}`
		var in io.Reader = io.MultiReader(bytes.NewReader(input), strings.NewReader("\n"+last))
		if mode&4 != 0 {
			in = iotest.OneByteReader(in)
		}
		outR, outW := io.Pipe()
		s := New(in, outW, Options{Framing: framing, MaxFrame: 4 << 10})
		conn := jsonrpc2.NewConn(s)
		// A call is open, so that a response may meet it.
		go conn.Call(context.Background(), "ask", nil, nil)
		out := bufio.NewReader(outR)
		if call, err := readFrame(out, framing); err != nil {
			t.Fatalf("the call %q: %v", call, err)
		}
		conn.Go(context.Background(), func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			if r.Method() == "echo" {
				return r.Params(), nil
			}
			return nil, nil
		})
		served := false
		for {
			if framing == Auto {
				c, err := out.Peek(1)
				if err != nil {
					break
				}
				if c[0] == 'C' {
					framing = LSP
				}
			}
			frame, err := readFrame(out, framing)
			if err != nil {
				if err != io.EOF {
					t.Fatalf("output ends with %q: %v", frame, err)
				}
				break
			}
			if !json.Valid([]byte(frame)) {
				t.Fatalf("wrote %q", frame)
			}
			served = served || strings.Contains(frame, `"id":"last","result":["last"]`)
		}
		<-conn.Done()
		<-s.Done()
		if mode%3 == 0 && !served {
			t.Errorf("the good line was not served: %v", conn.Err())
		}
	})
}
