package fakeapi

import (
	"encoding/json"
	"strings"
	"time"
)

// Answer is what the model says to one request, or how it fails to.
type Answer struct {
	Blocks     []Block
	StopReason string        // "" means tool_use if a block calls a tool, else end_turn
	Delay      time.Duration // pause after every delta

	Status    int    // an HTTP error instead of a message, if not 0
	ErrorType string // of an HTTP error or of Fail == StreamError; "" means the usual one of the status
	Fail      Failure
	Times     int // how many attempts at this request fail, after which it is answered "Recovered."; 0 means all

	After string // script of the turn that announces the end of a background task begun here; "" means "Background done."
}

// Failure is how a stream breaks after its blocks' deltas.
type Failure int

// The ways a stream can break. They concern streamed answers only; asked again without streaming, as the CLI does, the
// answer is "Recovered."; except that Hang hangs either way.
const (
	None        Failure = iota
	Cut                 // the connection is closed in the middle of the message
	Hang                // nothing more comes
	StreamError         // an SSE error event
)

// fails tells whether the answer is no whole message.
func (a Answer) fails() bool { return a.Status != 0 || a.Fail != None }

// stopReason is the stop_reason of the message.
func (a Answer) stopReason() string {
	if a.StopReason != "" {
		return a.StopReason
	}
	for _, b := range a.Blocks {
		if b.kind == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

// Block is one content block; made by [Text], [Thinking] and [Tool].
type Block struct {
	kind   string
	text   string
	tool   string
	input  json.RawMessage
	then   string   // script to run when the tool's result comes
	deltas []string // JSON strings to send as they stand instead of the words of text
}

// Text is a text block, streamed word by word.
func Text(text string) Block { return Block{kind: "text", text: text} }

// Thinking is a thinking block with a signature.
func Thinking(text string) Block { return Block{kind: "thinking", text: text} }

// Tool is a call of a tool. Its input must be something encoding/json can write.
func Tool(name string, input any) Block {
	raw, err := json.Marshal(input)
	if err != nil {
		panic("fakeapi: input of " + name + ": " + err.Error()) // a mistake in the test itself
	}
	return Block{kind: "tool_use", tool: name, input: raw}
}

// say is an answer made of the blocks.
func say(blocks ...Block) Answer { return Answer{Blocks: blocks} }

// join makes one answer of several. Texts that meet become one, since the CLI's result carries the last text block only.
func join(answers []Answer) Answer {
	if len(answers) == 1 {
		return answers[0]
	}
	var all Answer
	for _, a := range answers {
		blocks := append(all.Blocks, a.Blocks...)
		if n := len(all.Blocks); n > 0 && len(a.Blocks) > 0 && blocks[n-1].isPlainText() && blocks[n].isPlainText() {
			merged := Text(blocks[n-1].text + "\n" + blocks[n].text)
			blocks = append(append(blocks[:n-1:n-1], merged), a.Blocks[1:]...)
		}
		all = a // how it stops, breaks and goes on is what the last one says
		all.Blocks = blocks
	}
	return all
}

func (b Block) isPlainText() bool { return b.kind == "text" && b.deltas == nil }

// words cuts text after each run of white space, losing nothing.
func words(text string) []string {
	var out []string
	for text != "" {
		end := strings.IndexAny(text, " \t\n")
		if end < 0 {
			return append(out, text)
		}
		for end < len(text) && strings.IndexByte(" \t\n", text[end]) >= 0 {
			end++
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return out
}
