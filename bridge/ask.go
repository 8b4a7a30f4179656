package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drawbridge/adapters"

	"github.com/sourcegraph/conc/panics"
)

// open puts a question to the client, in a goroutine of its own. Called with mu held.
func (s *Session) open(ctx context.Context, withdraw context.CancelFunc, pr *prompt) {
	if s.prompts[pr.RequestID] != nil { // put twice: the answer to the first is the answer
		withdraw()
		return
	}
	pr.withdraw = withdraw
	s.prompts[pr.RequestID] = pr
	s.order = append(s.order, pr)
	switch {
	case pr.Questions != nil && !s.options.CanAnswer:
		s.noticeOnce("warning", "cannot_answer", "Claude asked a question, but this editor cannot show questions; it was declined.", "Use an editor plugin with the capability questions.")
		s.settle(pr, verdict{outcome: "declined", by: "error", message: cannotAnswer})
	case pr.Questions == nil && !s.options.CanAsk:
		s.noticeOnce("warning", "cannot_ask", "Claude asked for permission, but this editor cannot ask you; it was denied.", "Use an editor plugin with the capability permissions.")
		s.settle(pr, verdict{outcome: "denied", by: "error", message: cannotAsk})
	default:
		pr.asked = true
		s.tellState()
		ask := s.ask
		if pr.Questions != nil {
			ask = s.question
		}
		s.b.group.Go(func() {
			defer withdraw()
			v, ok := ask(ctx, pr)
			s.mu.Lock()
			defer s.mu.Unlock()
			if ok && s.prompts[pr.RequestID] == pr { // else withdrawn meanwhile
				s.settle(pr, v)
			}
		})
		return
	}
	withdraw()
}

// ask puts a permission question to the client until it has an answer that counts. ok is false if there is nothing to settle any
// more. Called without mu.
func (s *Session) ask(ctx context.Context, pr *prompt) (v verdict, ok bool) {
	for {
		asked := time.Now()
		var d Decision
		err := pr.put(func() (err error) { d, err = s.b.Client.Permission(ctx, s, pr.Prompt); return })
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return verdict{outcome: "denied", by: "timeout", message: saidNothing}, true
		case ctx.Err() != nil:
			return verdict{}, false
		case err != nil:
			s.tellLocked(Notice{Level: "warning", Kind: "prompt_failed", Message: fmt.Sprintf("The permission question for %s failed in the editor and was denied: %v", pr.Tool, err)})
			return verdict{outcome: "denied", by: "error", message: askingFailed}, true
		}
		v, again, err := s.judge(pr, d, time.Since(asked))
		if err != nil {
			s.tellLocked(Notice{Level: "warning", Kind: "answer_refused", Message: "The answer to the permission question for " + pr.Tool + " was taken as a no: " + err.Error() + ".",
				Remedy: "Report it to the author of the editor plugin."})
			return verdict{outcome: "denied", by: "error", message: badAnswer}, true
		}
		if again == "" {
			return v, true
		}
		if !s.askAnew(pr, again) {
			return verdict{}, false
		}
	}
}

// put has the client ask. A withdrawal waits with mu held until the client is done, so nothing in here may wait for mu. A client that
// panics has not said yes.
func (pr *prompt) put(ask func() error) (err error) {
	defer close(pr.returned)
	if caught := panics.Try(func() { err = ask() }); caught != nil {
		return caught.AsError()
	}
	return err
}

// askAnew changes a prompt into the one that is asked next, unless it was withdrawn meanwhile. Whoever holds the old one keeps it as it
// was. Called without mu.
func (s *Session) askAnew(pr *prompt, again string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompts[pr.RequestID] != pr {
		return false
	}
	next := *pr.Prompt
	next.Again = again
	pr.Prompt, pr.returned = &next, make(chan struct{})
	if again == fileChanged {
		s.showDiff(pr)
	}
	return true
}

func (s *Session) tellLocked(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(n)
}

// question puts questions to the client. Called without mu.
func (s *Session) question(ctx context.Context, pr *prompt) (verdict, bool) {
	var a Answers
	err := pr.put(func() (err error) { a, err = s.b.Client.Question(ctx, s, pr.Prompt); return })
	v := verdict{outcome: "declined", by: "user", message: a.Message}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return verdict{outcome: "declined", by: "timeout", message: saidNothing}, true
	case ctx.Err() != nil:
		return verdict{}, false
	case err != nil:
		s.tellLocked(Notice{Level: "warning", Kind: "prompt_failed", Message: fmt.Sprintf("The question failed in the editor and was declined: %v", err)})
		return verdict{outcome: "declined", by: "error", message: answersFailed}, true
	case a.Declined || a.Answers == nil:
	default:
		input, err := adapters.AnswerInput(pr.Input, a.Answers)
		if err != nil {
			s.tellLocked(Notice{Level: "warning", Kind: "answer_refused", Message: "The answers to the question were not taken: " + err.Error() + ".",
				Remedy: "Report it to the author of the editor plugin."})
			return verdict{outcome: "declined", by: "error", message: answersFailed}, true
		}
		return verdict{outcome: "answered", by: "user", input: input}, true
	}
	if v.message == "" {
		v.message = saidDecline
	}
	return v, true
}
