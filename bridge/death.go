package bridge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drawbridge/adapters"

	"github.com/google/uuid"
)

var (
	unknownOption = regexp.MustCompile(`unknown option '(--[a-z-]+)`)
	notFound      = "No conversation found"
)

// obituary says what the exit of the CLI means to the user.
func (r *Run) obituary(exit Exit) *Error {
	words := r.stderr.String()
	e := fail(KindClaudeExited, "")
	switch {
	case exit.Err != nil:
		e.Message = fmt.Sprintf("Claude Code could not be run: %v", exit.Err)
	case exit.Signal != "":
		e.Message = fmt.Sprintf("Claude Code was ended by signal %s", exit.Signal)
	default:
		e.Message = fmt.Sprintf("Claude Code exited with status %d", exit.Code)
		e.ExitCode = &exit.Code
	}
	if last := lastLine(words); last != "" {
		e.Message += ": " + last
		e.StderrTail = words
	}
	return e
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return line
}

// ranOut puts the session in order after the end of r. The turn that ran has failed, or was cancelled if we ended it; the next
// message starts a new run. Called with mu held.
func (s *Session) ranOut(r *Run, err *Error) {
	s.run = nil
	clear(r.calls)
	by := "claude"
	if s.closed {
		by = "session_closed"
	} else if s.turn != nil && s.turn.interrupted {
		by = "interrupt"
	}
	s.withdrawAll(by)
	clear(s.tasks)
	wanted := r.stopping
	if wanted {
		err = nil
	}
	if err != nil && !s.closed {
		if s.startsDifferently(r, err) {
			s.startRun() // also without a message: whoever started it wants it up
			return
		}
		s.exited = &State{State: "exited", ExitCode: err.ExitCode, Message: err.Message, Remedy: err.Remedy}
	}
	t := s.turn
	if t == nil && err != nil && s.holding == nil && len(s.queue) > 0 {
		t = s.queue[0]
		s.queue = s.queue[1:]
		if s.queueTold {
			s.tellQueue()
		}
		s.begin(t)
	}
	switch {
	case t == nil:
		s.tellState()
		s.next()
	case t.interrupted || err == nil:
		s.finish(t, nil, TurnResult{Status: cancelled, StopReason: cancelled})
	default:
		s.finish(t, nil, TurnResult{Status: failed, StopReason: "error", Error: err})
	}
}

// startsDifferently says whether the CLI refused to start the way it was started, and sees to it that the next start is another
// way: without a flag that this version does not know, or with a new conversation where there is none to resume.
func (s *Session) startsDifferently(r *Run, err *Error) bool {
	flag := unknownOption.FindStringSubmatch(err.StderrTail)
	var loses string
	dispensable := false
	if flag != nil {
		loses, dispensable = adapters.WithoutFlag(flag[1])
	}
	switch {
	case dispensable && !slices.Contains(s.without, flag[1]) && s.turn == nil:
		s.without = append(s.without, flag[1])
		s.noticeOnce("warning", "flag_dropped", "This Claude Code does not know the flag "+flag[1]+" and is started without it: "+loses+".", "Update Claude Code.")
	case r.resumed && strings.Contains(err.StderrTail+err.Message, notFound):
		s.spoken = false
		s.claudeIs(uuid.NewString())
		s.notice("warning", "conversation_lost", "Claude Code has nothing written of this conversation; it begins anew.", "")
		if s.turn != nil {
			return false // its message was sent: it has failed, and is sent again by the user
		}
	default:
		return false
	}
	return true
}
