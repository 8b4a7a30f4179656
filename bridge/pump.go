package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"drawbridge/adapters"

	"github.com/sourcegraph/conc/panics"
	"go.uber.org/zap"
)

const (
	readBuffer = 64 << 10 // one fill makes about 32 KiB of frames
	writtenBy  = time.Second
	keepBuffer = 1 << 20 // a longer line's buffer is given back
)

// pump reads the CLI's lines and deals with each. It never waits for a person; it waits for a slow editor (Flush), and for the
// answer of a turn to be out. It returns nil at the end of the output, and an error if a line made it panic.
func (r *Run) pump(stdout io.Reader) error {
	var line []byte
	caught := panics.Try(func() { r.handleLines(stdout, &line) })
	if caught == nil {
		return nil
	}
	r.s.log.Error("panic on a line of claude", zap.ByteString("line", line[:min(len(line), 2000)]), zap.String("stack", caught.String()))
	return caught.AsError()
}

// handleLines is the loop of pump; line is the one it is at.
func (r *Run) handleLines(stdout io.Reader, line *[]byte) {
	var m adapters.Message
	lines := lineReader{r: bufio.NewReaderSize(stdout, readBuffer)}
	for {
		next, err := lines.next()
		if *line = next; len(next) > 0 {
			r.s.b.Trace.line(r.s.id, fromCLI, next)
			r.handle(next, &m)
		}
		if err != nil || !lines.more() {
			r.flush()
			if lines.grew {
				lines.grew, lines.long, m, *line = false, nil, adapters.Message{}, nil
				// The runtime by itself keeps a huge line's memory for minutes. What was made of the line is on its way to the
				// editor for a moment yet.
				time.AfterFunc(writtenBy, debug.FreeOSMemory)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.s.log.Debug("claude's output has ended", zap.Error(err))
			}
			return
		}
	}
}

func (r *Run) flush() {
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	_ = r.s.b.Client.Flush(r.s) // an editor that is gone ends the bridge elsewhere
}

// handle deals with one line, once the answer of the turn before it is out.
func (r *Run) handle(line []byte, m *adapters.Message) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.holding != nil {
		answered := s.holding.answered
		s.mu.Unlock()
		<-answered
		s.mu.Lock()
	}
	r.adapter.Decode(line, m)
	s.heard = true

	switch m.Kind {
	case adapters.Token, adapters.Thinking:
		if s.turn == nil {
			s.beginBackground()
		}
		if s.retry != nil || s.quietTicks >= quietAfter {
			s.retry, s.quietTicks = nil, 0
			s.tellState()
		}
	case adapters.SystemInit:
		if s.turn == nil {
			s.beginBackground()
		}
	case adapters.Assistant:
		if s.turn == nil && m.Parent == "" && m.Origin == adapters.OriginModel {
			s.beginBackground()
		}
		if m.Parent == "" && s.turn != nil && m.Origin == adapters.OriginModel {
			s.turn.messageID = m.MessageID
			if m.Context > 0 {
				s.context = m.Context
			}
			s.retry = nil
		}
		for i := range m.Blocks {
			if use := &m.Blocks[i].ToolUse; m.Blocks[i].Type == "tool_use" {
				if _, waited := s.openTools[m.Parent]; waited || m.Parent == "" { // not those of a background agent: no turn waits for it
					s.openTools[use.ID] = use.Name
				}
				if use.Name == planTool {
					s.plan = adapters.Plan(use.Input)
				}
			}
		}
	case adapters.ToolResults:
		for i := range m.Results {
			res := &m.Results[i]
			s.answeredOtherwise(res.ToolUseID)
			if tool := s.openTools[res.ToolUseID]; tool == "Bash" && !res.IsError {
				s.missedHook(res.ToolUseID)
			}
			delete(s.openTools, res.ToolUseID)
			delete(s.hooked, res.ToolUseID)
			if diff := s.diffs[res.ToolUseID]; diff != nil {
				delete(s.diffs, res.ToolUseID)
				if !res.IsError {
					s.tell(ToolDone{res.ToolUseID, diff})
				}
			}
			if s.refused[res.ToolUseID] {
				delete(s.refused, res.ToolUseID)
				res.Denied = true
			}
		}
	case adapters.ToolDenied:
		s.refused[m.Denial.ToolUseID] = true
	}
	s.limit(m)
	if err := s.b.Client.Message(s, m); err != nil {
		s.log.Debug("the editor was not told", zap.Error(err))
	}
	switch m.Kind {
	case adapters.Token, adapters.Thinking, adapters.BlockStop, adapters.Skipped:
	case adapters.PermissionAsked:
		s.permission(r, m.Permission)
	case adapters.Cancel:
		s.takenBack(m.CancelID)
	case adapters.ControlRequest:
		s.request(r, m.Request)
	case adapters.ControlResponse:
		if answer, waited := r.calls[m.Response.RequestID]; waited {
			delete(r.calls, m.Response.RequestID)
			a := *m.Response
			a.Body = bytes.Clone(a.Body)
			select {
			case answer <- a:
			default: // whoever asked has had enough
			}
		}
	case adapters.TurnResult:
		if m.Err != nil {
			s.malformed(r, m)
		}
		s.ended(m.Result)
	case adapters.Log:
		s.log.Info("claude said", zap.ByteString("text", line[:min(len(line), 2000)]))
	case adapters.Unknown:
		s.unknown(m.Wire)
	case adapters.Malformed:
		s.malformed(r, m)
	default:
		s.learn(r, m)
	}
}

// answeredOtherwise ends the question about a tool use that has a result: the CLI does not take back those that fall with another
// one's denial, and a prompt ends before its tool use does. Called with mu held.
func (s *Session) answeredOtherwise(toolUse string) {
	for _, pr := range s.order {
		if pr.ToolUseID == toolUse {
			s.withdrawn(pr, promptEnd(s.turn))
			s.tellState()
			return
		}
	}
}

// request answers a control request of the CLI that is not about a permission. None is left without an answer: the CLI would wait
// for it, up to 60 s for an MCP server. Called with mu held.
func (s *Session) request(r *Run, q *adapters.Request) {
	switch q.Subtype {
	case "hook_callback":
		s.hook(r, q)
	case "elicitation":
		s.notice("warning", "elicitation", "An MCP server wanted to ask you something, which is not supported yet; it was told no.", "Use the server in a terminal.")
		r.send(r.adapter.AppendReply(nil, q.RequestID, []byte(`{"action":"decline"}`)))
	default:
		r.send(r.adapter.AppendRefusal(nil, q.RequestID, "not supported by this host: "+q.Subtype))
	}
}

// lineReader yields lines of any length. A line is valid until the next one is read.
type lineReader struct {
	r    *bufio.Reader
	long []byte // the line in pieces, if it is longer than the reader's buffer
	grew bool   // long has grown beyond what is kept
}

// next is the next line, without its end.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.read()
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line, err
}

func (l *lineReader) read() ([]byte, error) {
	if cap(l.long) > keepBuffer {
		l.long = nil
	}
	line, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, line...)
		line, err = l.r.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	l.grew = l.grew || cap(l.long) > keepBuffer
	return l.long, err
}

// more says whether a whole line is there already, so that the next read will not wait.
func (l *lineReader) more() bool {
	ahead, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}
