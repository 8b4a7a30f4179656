package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// claudeName is the name under which this program plays the CLI.
const claudeName = "claude"

// claude is the CLI's end of a conversation. What the user says is the load it plays:
//
//	first STAMP    an answer of one token; its result tells when the message arrived
//	pace N         N tokens, one per ms, each the time at which it was written
//	ask N          N permission questions, one after the other; the result tells when each answer arrived
//	flood N        N tokens, numbered, as fast as they are taken; N 0 means until an interrupt, and its result tells when that came
//
// A stamp is monotonic nanoseconds.
type claude struct {
	out     io.Writer
	in      chan input
	message string // uuid of the user message
	answers int
}

// input is a line of stdin, with the time at which it was read.
type input struct {
	at   int64
	line []byte
}

// playClaude is the process. It answers as version 2.1.329 would.
func playClaude(args []string, in io.Reader, out io.Writer) int {
	if slices.Contains(args, "--version") {
		fmt.Fprintln(out, claudeVersion+" (Claude Code)")
		return 0
	}
	c := &claude{out: out, in: make(chan input, 64)}
	go func() {
		defer close(c.in)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			c.in <- input{monotonic(), bytes.Clone(line)}
		}
	}()
	for i := range c.in {
		if err := c.hear(i); err != nil {
			fmt.Fprintln(os.Stderr, "claude:", err)
			return 1
		}
	}
	return 0
}

// heard is what is read of a line of stdin.
type heard struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

func (c *claude) hear(i input) error {
	var h heard
	if err := json.Unmarshal(i.line, &h); err != nil {
		return err
	}
	switch h.Type {
	case "control_request":
		return c.acknowledge(h)
	case "user":
		c.message = h.UUID
		return c.play(said(h.Message.Content), i.at)
	}
	return nil
}

func (c *claude) acknowledge(h heard) error {
	body := "{}"
	if h.Request.Subtype == "initialize" {
		body = initializeAnswer
	}
	return c.write(fmt.Sprintf(controlResponse, h.RequestID, body))
}

// said is the text of a message's content: a string, or a list of blocks.
func said(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &blocks) // nothing said is an unknown load
	for _, b := range blocks {
		text += b.Text
	}
	return text
}

func (c *claude) write(lines ...string) error {
	for _, line := range lines { // one write a line, as the CLI does
		if _, err := io.WriteString(c.out, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// play answers a user message with the load it asks for.
func (c *claude) play(text string, arrived int64) error {
	c.answers++
	id := fmt.Sprintf("msg_%06d", c.answers)
	if err := c.write(systemInit, fmt.Sprintf(echo, quote(text), c.message), statusLine); err != nil {
		return err
	}
	name, argument, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseInt(argument, 10, 64)
	if err != nil {
		return fmt.Errorf("no load: %q", text)
	}
	result := ""
	switch name {
	case "first":
		time.Sleep(5 * time.Millisecond) // the model, on a very good day
		if err = c.open(id); err == nil {
			err = c.write(token(id, stamp(monotonic())))
		}
		time.Sleep(2 * time.Millisecond) // the second token is not there yet
		result = stamp(arrived)
	case "pace":
		err = c.pace(id, int(n))
	case "ask":
		result, err = c.asks(id, int(n))
	case "flood":
		result, err = c.flood(id, int(n))
	}
	if err != nil {
		return err
	}
	return c.write(fmt.Sprintf(blockStop, id), fmt.Sprintf(turnResult, quote(result), c.message))
}

func (c *claude) open(id string) error {
	return c.write(fmt.Sprintf(messageStart, id), fmt.Sprintf(blockStart, id))
}

func (c *claude) pace(id string, n int) error {
	if err := c.open(id); err != nil {
		return err
	}
	due := monotonic()
	for range n {
		due += int64(time.Millisecond)
		sleepUntil(due)
		if err := c.write(token(id, stamp(monotonic()))); err != nil {
			return err
		}
	}
	return nil
}

// asks puts each question when the one before is answered, and a moment for the tool has passed.
func (c *claude) asks(id string, n int) (result string, err error) {
	var arrived []string
	for i := range n {
		use := fmt.Sprintf("toolu_%s_%d", id, i)
		time.Sleep(2 * time.Millisecond)
		if err := c.write(fmt.Sprintf(toolUse, id, use)); err != nil {
			return "", err
		}
		time.Sleep(time.Millisecond)
		if err := c.write(fmt.Sprintf(question, use, stamp(monotonic()), use)); err != nil {
			return "", err
		}
		answer, ok := <-c.in
		if !ok || !bytes.Contains(answer.line, []byte(`"allow"`)) {
			return "", fmt.Errorf("question %d: not allowed: %s", i, answer.line)
		}
		arrived = append(arrived, stamp(answer.at))
		if err := c.write(fmt.Sprintf(toolResult, use)); err != nil {
			return "", err
		}
	}
	return strings.Join(arrived, " "), nil
}

// flood writes many lines at once, as a reader finds them that is slower than the CLI. It keeps one line and changes the number in
// it. The result is how many were sent, and when an interrupt came.
func (c *claude) flood(id string, n int) (result string, err error) {
	if err := c.open(id); err != nil {
		return "", err
	}
	const chunk = 32 << 10
	line := []byte(token(id, numbered(0)) + "\n")
	at := bytes.Index(line, []byte(numbered(0))) + 1
	buf := make([]byte, 0, chunk)
	for i := 0; n == 0 || i < n; {
		for buf = buf[:0]; len(buf)+len(line) <= chunk && (n == 0 || i < n); i++ {
			putDecimal(line[at:at+numberLen], i)
			buf = append(buf, line...)
		}
		if _, err := c.out.Write(buf); err != nil {
			return "", err
		}
		select {
		case in, ok := <-c.in:
			var h heard
			if !ok || json.Unmarshal(in.line, &h) != nil || h.Request.Subtype != "interrupt" {
				return "", fmt.Errorf("unexpected in a flood: %s", in.line)
			}
			return fmt.Sprintf("%d %d", i, in.at), c.acknowledge(h)
		default:
		}
	}
	return strconv.Itoa(n), nil
}
