package fakeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// stream writes one message as server-sent events (https://docs.anthropic.com/en/api/messages-streaming). The JSON is
// built by hand, because deltas may be halves of surrogate pairs, which encoding/json would not write.
type stream struct {
	ctx   context.Context // ends when the CLI is gone or the server closes
	w     *bufio.Writer
	flush func() error
	delay time.Duration
	err   error // the first; after it nothing is written
}

func newStream(ctx context.Context, w http.ResponseWriter, delay time.Duration) *stream {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{ctx: ctx, w: bufio.NewWriterSize(w, 32<<10), flush: http.NewResponseController(w).Flush, delay: delay}
}

// event writes one event; data is the inside of its JSON object after "type".
func (s *stream) event(kind, data string) {
	if s.err != nil {
		return
	}
	if data != "" {
		data = "," + data
	}
	if _, err := s.w.WriteString("event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + data + "}\n\n"); err != nil {
		s.err = err
	}
}

// delta writes one delta of block i and waits as long as the answer asks for.
func (s *stream) delta(i int, kind, field, jsonString string) {
	s.event("content_block_delta", `"index":`+strconv.Itoa(i)+`,"delta":{"type":"`+kind+`","`+field+`":`+jsonString+`}`)
	if s.delay > 0 {
		s.send()
		select {
		case <-time.After(s.delay):
		case <-s.ctx.Done():
			s.fail(s.ctx.Err())
		}
	}
}

// send puts what has been written on the wire.
func (s *stream) send() {
	if s.err == nil {
		s.fail(s.w.Flush())
	}
	if s.err == nil {
		s.fail(s.flush())
	}
}

func (s *stream) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// message writes a whole message, or as much of it as comes before its scripted failure.
func (s *stream) message(m message, a Answer) {
	s.event("message_start", fmt.Sprintf(`"message":{"id":%q,"type":"message","role":"assistant","model":%s,"content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":%s}`, m.id, quote(m.model), usage(1)))
	s.event("ping", "")
	for i, b := range a.Blocks {
		s.block(i, b, m.toolID(i), a.Fail == None)
	}
	if a.Fail == None {
		s.event("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`, a.stopReason(), outputTokens))
		s.event("message_stop", "")
	}
	if a.Fail == StreamError {
		s.event("error", fmt.Sprintf(`"error":{"type":%s,"message":"scripted stream error"}`, quote(a.ErrorType)))
	}
	s.send()
	if a.Fail == Hang {
		<-s.ctx.Done()
		s.fail(s.ctx.Err())
	}
}

// block writes content block i; one that breaks off has no stop.
func (s *stream) block(i int, b Block, toolID string, stop bool) {
	start := func(block string) {
		s.event("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, i, block))
	}
	switch b.kind {
	case "text":
		start(`{"type":"text","text":""}`)
		for _, d := range b.pieces() {
			s.delta(i, "text_delta", "text", d)
		}
	case "thinking":
		start(`{"type":"thinking","thinking":"","signature":""}`)
		for _, d := range b.pieces() {
			s.delta(i, "thinking_delta", "thinking", d)
		}
		s.delta(i, "signature_delta", "signature", signature)
	case "tool_use":
		start(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%s,"input":{}}`, toolID, quote(b.tool)))
		s.delta(i, "input_json_delta", "partial_json", `""`) // the real API begins so
		for _, piece := range portions(string(b.input)) {
			s.delta(i, "input_json_delta", "partial_json", quote(piece))
		}
	}
	if stop {
		s.event("content_block_stop", `"index":`+strconv.Itoa(i))
	}
}

const (
	signature    = `"c2lnbmF0dXJl"`
	inputTokens  = 10 // small whatever was said, or the CLI would find its context full and compact it
	outputTokens = 5
)

func usage(output int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}`, inputTokens, output)
}

// pieces are the JSON strings of the deltas of a text or thinking block.
func (b Block) pieces() []string {
	if b.deltas != nil {
		return b.deltas
	}
	pieces := words(b.text)
	for i, w := range pieces {
		pieces[i] = quote(w)
	}
	return pieces
}

// portions cuts a tool's input into pieces of a few dozen bytes, or of some kilobytes if it is long, between characters.
func portions(input string) []string {
	size := 20
	if len(input) > 20_000 {
		size = 2_000
	}
	var out []string
	for len(input) > size {
		end := size
		for !utf8.RuneStart(input[end]) {
			end--
		}
		out, input = append(out, input[:end]), input[end:]
	}
	return append(out, input)
}

// quote writes s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("fakeapi: a string that JSON cannot say: " + err.Error()) // encoding/json writes every string
	}
	return string(b)
}
