package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/adapters"
	"drawbridge/rpc/stream"
)

// told runs f on tokens and returns what the editor gets, one line a frame.
func told(t *testing.T, f func(*tokens)) []string {
	t.Helper()
	var out bytes.Buffer
	s := stream.New(strings.NewReader(""), &out, stream.Options{Framing: stream.NDJSON})
	f(&tokens{out: s})
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	<-s.Done()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if lines[0] == "" {
		return nil
	}
	return lines
}

// texts are the tokens of frames, as they stand on the wire.
func texts(t *testing.T, frames []string) string {
	t.Helper()
	var all []string
	for _, f := range frames {
		var m struct {
			Params struct{ Token json.RawMessage }
		}
		if err := json.Unmarshal([]byte(f), &m); err != nil {
			t.Fatalf("%v: %s", err, f)
		}
		all = append(all, string(m.Params.Token))
	}
	return strings.Join(all, " ")
}

func token(text string) *adapters.Message {
	return &adapters.Message{Kind: adapters.Token, MessageID: "msg_1", Text: adapters.Text(text)}
}

func TestATokenIsPassedOnVerbatim(t *testing.T) {
	raw := `"a\u00e9\/\"<&> \u2028 \n\\ud83d é"`
	frames := told(t, func(tk *tokens) {
		_ = tk.append("s1", token(raw))
		_ = tk.append("s1", &adapters.Message{Kind: adapters.Thinking, MessageID: "msg_1", Block: 1, Text: adapters.Text(`"hm"`)})
	})
	want := []string{
		`{"jsonrpc":"2.0","method":"assistant_token","params":{"session_id":"s1","message_id":"msg_1","block":0,"token":` + raw + `}}`,
		`{"jsonrpc":"2.0","method":"thinking_token","params":{"session_id":"s1","message_id":"msg_1","block":1,"token":"hm"}}`,
	}
	if strings.Join(frames, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(frames, "\n"), strings.Join(want, "\n"))
	}
}

func TestNoFrameHoldsHalfASurrogatePair(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a pair cut in two", `"a\ud83d" "\ude00b"`, `"a" "\ud83d\ude00b"`},
		{"a half alone in a token", `"a" "\ud83d" "\ude00"`, `"a" "\ud83d\ude00"`},
		{"upper case", `"\uD83D" "\uDE00"`, `"\uD83D\uDE00"`},
		{"a whole pair", `"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{"two pairs, cut", `"\ud83d\ude00\ud83d" "\ude01"`, `"\ud83d\ude00" "\ud83d\ude01"`},
		{"a high half without partner", `"a\ud83d" "b"`, `"a" "\ufffdb"`},
		{"a high half at the end", `"a\ud83d"`, `"a" "\ufffd"`},
		{"a low half without partner", `"\ude00b"`, `"\ufffdb"`},
		{"two high halves", `"\ud83d" "\ud83d" "\ude00"`, `"\ufffd" "\ud83d\ude00"`},
		{"a high half in the middle", `"a\ud83db"`, `"a\ufffdb"`},
		{"an escaped backslash before it", `"a\\ud83d" "b"`, `"a\\ud83d" "b"`},
		{"two escaped backslashes", `"\\\\\ud83d" "\ude00"`, `"\\\\" "\ud83d\ude00"`},
		{"empty tokens", `"" "\ud83d" "" "\ude00"`, `"" "\ud83d\ude00"`},
		{"other escapes", `"\u00e9\ud7ff\ue000"`, `"\u00e9\ud7ff\ue000"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := texts(t, told(t, func(tk *tokens) {
				for _, text := range strings.Fields(c.in) {
					_ = tk.append("s", token(text))
				}
				_ = tk.flush()
			}))
			if got != c.want {
				t.Errorf("%s became %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestAHalfWaitsForItsOwnBlockOnly(t *testing.T) {
	frames := told(t, func(tk *tokens) {
		_ = tk.append("s", token(`"\ud83d"`))
		other := token(`"\ude00"`)
		other.Block = 1
		_ = tk.append("s", other)
	})
	if got := texts(t, frames); got != `"\ufffd" "\ufffd"` {
		t.Errorf("got %s", got)
	}
	if len(told(t, func(tk *tokens) { _ = tk.append("s", token(`"\ud83d"`)); tk.drop(); _ = tk.flush() })) != 0 {
		t.Error("a half of a discarded text was told")
	}
}

func TestHalvesInRawMembersAreReplaced(t *testing.T) {
	b, err := codec{}.Marshal(map[string]json.RawMessage{"input": json.RawMessage(`{"a":"\ud83d","b":"\ud83d\ude00","c":"\\ud83d <&>"}`)})
	if want := `{"input":{"a":"\ufffd","b":"\ud83d\ude00","c":"\\ud83d <&>"}}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v; want %s", b, err, want)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("a\\ud83d", "\\ude00b")
	f.Add("\\\\", "\\ud83d\\ud83d")
	f.Add("\\uDBFF\\udC00", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		if !utf8.ValidString(first) || !utf8.ValidString(second) {
			t.Skip() // the CLI's lines are UTF-8
		}
		first, second = `"`+first+`"`, `"`+second+`"`
		var a, b string
		if json.Unmarshal([]byte(first), &a) != nil || json.Unmarshal([]byte(second), &b) != nil {
			t.Skip()
		}
		frames := told(t, func(tk *tokens) {
			_ = tk.append("s", token(first))
			_ = tk.append("s", token(second))
			_ = tk.flush()
		})
		var got strings.Builder
		for _, frame := range frames {
			if string(wholePairs([]byte(frame))) != frame {
				t.Errorf("half a pair in %s", frame)
			}
			var m struct{ Params struct{ Token string } }
			if err := json.Unmarshal([]byte(frame), &m); err != nil {
				t.Fatalf("%v in %s", err, frame)
			}
			got.WriteString(m.Params.Token)
		}
		var want string // what one token of both would be
		if err := json.Unmarshal([]byte(first[:len(first)-1]+second[1:]), &want); err != nil {
			t.Skip()
		}
		if got.String() != want {
			t.Errorf("%s %s: got %q, want %q", first, second, got.String(), want)
		}
	})
}

func BenchmarkToken(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain", `" quite an ordinary token"`}, {"escapes", `"\n\tif x != \"\u00e9\" {"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := stream.New(strings.NewReader(""), io.Discard, stream.Options{Framing: stream.NDJSON})
			defer s.Close()
			tk := &tokens{out: s}
			m := token(c.text)
			m.MessageID = "msg_01WNZbGJcVhTxtW1PfBxXyRS"
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := tk.append("6f1c2f9e-6f0a-4d0e-9d0a-0f2f6f1c2f9e", m); err != nil {
					b.Fatal(err)
				}
				if i%200 == 0 {
					_ = s.Flush()
				}
			}
		})
	}
}
