package fakeapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// reply is what a client made of one answer.
type reply struct {
	id       string
	kinds    []string // of the content blocks
	text     string   // of the text blocks, joined
	thinking string
	calls    []toolCall
	stop     string
	deltas   int
	failure  string // type of an SSE error event
	complete bool   // message_stop came
}

type toolCall struct {
	ID    string
	Name  string
	Input json.RawMessage
}

func start(t *testing.T, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// turn is a message of a conversation; content is a string or a list of blocks.
type turn struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func user(content any) turn      { return turn{"user", content} }
func assistant(content any) turn { return turn{"assistant", content} }
func text(s string) any          { return map[string]any{"type": "text", "text": s} }
func result(id, content string) any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": content}
}

// defaultTools are tools as 2.1.x offers them, as far as scripts look at them.
var defaultTools = []any{
	map[string]any{"name": "Bash", "input_schema": map[string]any{"properties": map[string]any{"run_in_background": true}}},
	map[string]any{"name": "Agent", "input_schema": map[string]any{"properties": map[string]any{"run_in_background": true}}},
	map[string]any{"name": "TodoWrite"},
}

func body(t *testing.T, stream bool, messages ...turn) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"model": "claude-test", "max_tokens": 100, "stream": stream, "messages": messages, "tools": defaultTools,
		"metadata": map[string]string{"user_id": t.Name()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func post(t *testing.T, s *Server, body []byte, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages?beta=true", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// converse sends the conversation and reads the streamed answer, checking that its events come in a valid order.
func converse(t *testing.T, s *Server, messages ...turn) reply {
	t.Helper()
	res := post(t, s, body(t, true, messages...))
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("status %d: %s", res.StatusCode, b)
	}
	if got := res.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Fatalf("content type %q", got)
	}
	return readStream(t, res.Body)
}

// readStream reads server-sent events as the CLI does and fails the test where their order is not the one the Messages API
// documents.
func readStream(t *testing.T, r io.Reader) reply {
	t.Helper()
	var (
		got        reply
		started    bool
		open       = -1
		texts, ths strings.Builder // JSON strings without quotes, so that halves of surrogate pairs meet
		input      strings.Builder
		call       toolCall
		named      string
	)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a cut is seen by what is missing
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			named = strings.TrimSpace(name)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Index   int
			Message struct{ ID string }
			Block   struct{ Type, ID, Name string } `json:"content_block"`
			Delta   struct {
				Type           string
				Text, Thinking json.RawMessage
				PartialJSON    string `json:"partial_json"`
				StopReason     string `json:"stop_reason"`
			}
			Error struct{ Type string }
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event is no JSON: %v: %s", err, data)
		}
		if e.Type != named {
			t.Fatalf("event named %q has type %q", named, e.Type)
		}
		if got.complete || (e.Type == "message_start") == started {
			t.Fatalf("%s out of place", e.Type)
		}
		switch e.Type {
		case "message_start":
			started, got.id = true, e.Message.ID
		case "content_block_start":
			if open >= 0 || e.Index != len(got.kinds) {
				t.Fatalf("block %d starts while block %d is open, after %d blocks", e.Index, open, len(got.kinds))
			}
			open = e.Index
			got.kinds = append(got.kinds, e.Block.Type)
			call = toolCall{ID: e.Block.ID, Name: e.Block.Name}
			input.Reset()
		case "content_block_delta":
			if e.Index != open {
				t.Fatalf("delta of block %d while block %d is open", e.Index, open)
			}
			got.deltas++
			texts.WriteString(inside(e.Delta.Text))
			ths.WriteString(inside(e.Delta.Thinking))
			input.WriteString(e.Delta.PartialJSON)
		case "content_block_stop":
			if e.Index != open {
				t.Fatalf("block %d stops while block %d is open", e.Index, open)
			}
			open = -1
			if call.ID != "" {
				call.Input = json.RawMessage(input.String())
				got.calls = append(got.calls, call)
			}
		case "message_delta":
			if open >= 0 {
				t.Fatal("message_delta inside a block")
			}
			got.stop = e.Delta.StopReason
		case "message_stop":
			if got.stop == "" {
				t.Fatal("message_stop without message_delta")
			}
			got.complete = true
		case "error":
			got.failure = e.Error.Type
		case "ping":
		default:
			t.Fatalf("unknown event %q", e.Type)
		}
	}
	got.text, got.thinking = unquote(t, texts.String()), unquote(t, ths.String())
	return got
}

// inside is a JSON string without its quotation marks.
func inside(raw json.RawMessage) string {
	if len(raw) < 2 {
		return ""
	}
	return string(raw[1 : len(raw)-1])
}

func unquote(t *testing.T, inside string) (s string) {
	t.Helper()
	if err := json.Unmarshal([]byte(`"`+inside+`"`), &s); err != nil {
		t.Fatalf("joined deltas are no JSON string: %v", err)
	}
	return s
}
