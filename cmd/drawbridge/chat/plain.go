package chat

import (
	"bufio"
	"context"
	"io"
	"strings"

	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// plainChat converses without a terminal: each line of the input is a message, sent when the one before is answered. Nobody is there
// to be asked, and what is typed ahead must not answer, so permissions are denied unless the user has said otherwise, and questions
// declined.
type plainChat struct {
	*conversation
	allowAll bool
	tour     *tour // plays the user's part, in the demo
}

func runPlain(ctx context.Context, o Options) (code int, err error) {
	c := &plainChat{allowAll: o.AllowAll}
	c.conversation = newConversation(newTranscript(&page{out: o.Out, color: isTerminal(o.Out) && wantsColor()}), c)
	defer close(c.over)
	input := make(chan string)
	if o.Demo {
		c.tour = newTour(c.conversation)
		c.tour.greet()
		go c.tour.lines(input, c.over)
	} else {
		go readLines(o.In, input, c.over)
	}
	if err := c.launch(ctx, o); err != nil {
		return c.unlaunched(err)
	}
	c.converse(ctx, input)
	code, err = exitOf(c.shutdown())
	if code == 0 && c.failed && !o.Demo {
		code = 1
	}
	return code, err
}

// unlaunched ends a bridge that could not be initialized.
func (c *conversation) unlaunched(why error) (code int, err error) {
	code, err = exitOf(c.shutdown())
	if code == 0 {
		return 1, why
	}
	return code, err
}

// converse sends one line after the other until there are no more.
func (c *plainChat) converse(ctx context.Context, input <-chan string) {
	for {
		next := input
		if c.waiting > 0 {
			next = nil
		}
		select {
		case f := <-c.work:
			f()
		case text, more := <-next:
			if !more {
				if c.tour != nil {
					c.tour.end()
				}
				return
			}
			if c.tour != nil {
				c.tour.arrive()
			}
			c.send(text)
		case <-c.client.Ended():
			return
		case <-ctx.Done():
			return
		}
	}
}

// readLines sends the lines that are not blank.
func readLines(in io.Reader, to chan<- string, over <-chan struct{}) {
	defer close(to)
	r := bufio.NewReader(in)
	for {
		text, err := r.ReadString('\n')
		if text = strings.TrimSpace(text); text != "" {
			select {
			case to <- text:
			case <-over:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

const nobody = "The user is not at a terminal and cannot be asked."

func (c *plainChat) permission(ctx context.Context, p rpc.PermissionParams, reply func(editor.Decision)) {
	d := permissionDialog(ctx, c.t, p, reply)
	d.show(c.t)
	switch {
	case c.tour != nil:
		say(c.t, ask, "│ ", c.tour.answer(d))
	case c.allowAll:
		say(c.t, ask, "│ ", d.answer('y', ""))
	default:
		say(c.t, ask, "│ ", "There is no terminal to ask in, so this is denied. --answer=allow would allow it.")
		reply(editor.Decision{PromptID: p.PromptID, Decision: editor.Deny, Message: nobody})
	}
}

func (c *plainChat) question(ctx context.Context, q rpc.QuestionParams, reply func(editor.Answers)) {
	d := questionDialog(ctx, c.t, q, reply)
	d.show(c.t)
	if c.tour != nil {
		say(c.t, ask, "│ ", c.tour.answer(d))
		return
	}
	say(c.t, ask, "│ ", "There is no terminal to ask in, so this is declined.")
	reply(editor.Answers{Declined: true, Message: nobody})
}
