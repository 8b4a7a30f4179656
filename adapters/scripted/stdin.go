package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// read hands over the lines of stdin. It is apart from dispatch so that a host that does not read our stdout can
// still write to us, as it can to the real CLI.
func (p *process) read(stdin io.Reader) {
	defer close(p.lines)
	r := bufio.NewReaderSize(stdin, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case p.lines <- line:
			case <-p.ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// userMessage is a line of type "user".
type userMessage struct {
	uuid    string          // "" where the host gave none
	message json.RawMessage // as sent, for the replay
	text    string
}

// input is every line the host may send, taken together.
type input struct {
	Type      string          `json:"type"`
	UUID      string          `json:"uuid"`
	Message   json.RawMessage `json:"message"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error"`
	} `json:"response"`
}

func (p *process) dispatch() {
	for {
		var line []byte
		var open bool
		select {
		case line, open = <-p.lines:
		case <-p.ctx.Done():
			return
		}
		if !open {
			p.endOfInput()
			return
		}
		if !json.Valid(line) {
			fmt.Fprintf(p.errOut, "Error parsing streaming input line (type=unknown, %d chars): SyntaxError\n", len(line))
			p.leave(1)
			return
		}
		var in input
		if json.Unmarshal(line, &in) != nil {
			continue // an array, a number, a member of another type: 2.1.329 ignores them
		}
		switch in.Type {
		case "user":
			p.userLine(in)
		case "control_request":
			p.lock()
			p.control(in.RequestID, in.Request)
			p.unlock()
		case "control_response":
			p.answered(in, line)
		}
	}
}

// endOfInput: the running turn goes on to its end, but what it asks the host can no longer be answered.
func (p *process) endOfInput() {
	p.lock()
	defer p.unlock()
	p.eof = true
	for id, q := range p.prompts {
		delete(p.prompts, id)
		q.answer <- answer{lost: "Tool permission stream closed before response received"}
	}
	p.notify()
}

func (p *process) userLine(in input) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(in.Message, &m)
	if m.Role != "user" {
		role := m.Role
		if role == "" {
			role = "undefined"
		}
		fmt.Fprintf(p.errOut, "Error: Expected message role 'user', got '%s'\n", role)
		p.leave(1)
		return
	}
	message := userMessage{uuid: in.UUID, message: in.Message, text: contentText(m.Content)}

	p.lock()
	defer p.unlock()
	p.lifecycle(message.uuid, "queued")
	if p.turn == nil && len(p.queue) == 0 {
		// The turn is this message's from now on; what comes before the turn has begun is queued behind it.
		p.turn = p.newTurn([]userMessage{message})
		p.turn.fresh = true
	} else {
		p.queue = append(p.queue, message)
	}
	p.notify()
}

// contentText is what a message says: a string, or its text blocks.
func contentText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(content, &blocks)
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// lifecycle tells what became of a message, if it has a uuid. The caller holds the lock.
func (p *process) lifecycle(uuid, state string) {
	if uuid != "" {
		p.put(event("command_lifecycle").str("command_uuid", uuid).str("state", state).
			str("uuid", p.ids.uuid()).str("session_id", p.session).end())
	}
}

// answer is what the host said to a control request of ours.
type answer struct {
	response json.RawMessage
	err      string // subtype "error"
	lost     string // the host can no longer answer
}

// prompt is an open control request of ours.
type prompt struct {
	id     string
	turn   *turn // withdrawn by this turn's interrupt; nil for a background agent's
	agent  *task // the subagent that asks
	answer chan answer
}

// ask sends a control request. The caller holds the lock.
func (v *voice) ask(request *object) *prompt {
	p := v.process
	q := &prompt{id: p.ids.request(), turn: v.ownTurn(), agent: v.agent, answer: make(chan answer, 1)}
	if p.eof {
		q.answer <- answer{lost: "Stream closed"}
		return q
	}
	p.prompts[q.id] = q
	p.put(event("control_request").str("request_id", q.id).bytes("request", request.end()).end())
	return q
}

// withdraw cancels a prompt that is still open. The caller holds the lock.
func (p *process) withdraw(q *prompt) {
	if _, open := p.prompts[q.id]; open {
		delete(p.prompts, q.id)
		p.put(event("control_cancel_request").str("request_id", q.id).end())
	}
}

// answered settles a prompt. An answer to an unknown, settled or withdrawn request is ignored. With
// --replay-user-messages 2.1.329 echoes the host's own control_response.
func (p *process) answered(in input, line []byte) {
	p.lock()
	defer p.unlock()
	q, open := p.prompts[in.Response.RequestID]
	if !open {
		return
	}
	delete(p.prompts, q.id)
	if p.args.replay {
		p.put(line)
	}
	a := answer{response: in.Response.Response}
	if in.Response.Subtype == "error" {
		a.err = in.Response.Error
		if a.err == "" {
			a.err = "Unknown error"
		}
	}
	q.answer <- a
}
