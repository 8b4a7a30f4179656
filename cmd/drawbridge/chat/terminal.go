package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// terminal converses with somebody at a terminal. All of it belongs to the goroutine of run.
type terminal struct {
	*conversation
	console     *console
	screen      *screen
	keys        chan key
	draft       line // of the next message
	history     history
	dialogs     []*dialog // what is asked, the first one shown
	suggestions []string  // what to say next, in the demo
	interrupted bool      // the running turn was told to stop
	quitting    bool
}

func runTerminal(ctx context.Context, o Options, console *console) (code int, err error) {
	defer console.close()
	c := &terminal{console: console, keys: make(chan key, 4096)}
	c.screen = &screen{out: console.out, color: wantsColor(), size: console.size, live: c.live}
	defer c.screen.close()
	c.conversation = newConversation(newTranscript(c.screen), c)
	defer close(c.over)
	go readKeys(console.in, c.keys) // until the process ends: reading a terminal cannot be stopped

	if o.Demo {
		for _, v := range visits {
			c.suggestions = append(c.suggestions, v.say)
		}
		c.suggestions = slices.Compact(c.suggestions)
		say(c.t, normal, "", greeting)
		say(c.t, normal, "", howToTour)
		c.t.last = "notice"
	} else if o.AskTrust != nil && !c.askTrust(ctx, &o) {
		return 0, nil
	}
	if err := c.launch(ctx, o); err != nil {
		return c.unlaunched(err)
	}
	c.loop(ctx, c.client.Ended(), func() bool { return false })
	return exitOf(c.shutdown())
}

// askTrust asks whether the folder is trusted, and says whether there was an answer.
func (c *terminal) askTrust(ctx context.Context, o *Options) (answered bool) {
	c.dialogs = []*dialog{trustDialog(o.CWD, func(trusted bool) {
		answered, o.Trusted = true, trusted
		said := "no: the project's own hooks, MCP servers and helpers stay off"
		if trusted {
			said = "yes"
		}
		say(c.t, normal, "└ ", said)
		if err := o.AskTrust(trusted); err != nil {
			c.t.notice(rpc.NoticeParams{Level: "warning", Message: err.Error(), Remedy: "You will be asked again."})
		}
	})}
	c.loop(ctx, nil, func() bool { return answered })
	return answered
}

// redraw is how often the elapsed times are brought up to date.
const redraw = 500 * time.Millisecond

// loop does what comes until it is done, the user quits, or the bridge or ctx ends.
func (c *terminal) loop(ctx context.Context, ended <-chan struct{}, done func() bool) {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for !c.quitting && !done() {
		c.draw()
		select {
		case f := <-c.work:
			f()
			c.drain()
		case k, open := <-c.keys:
			if !open {
				return
			}
			c.press(k)
		case <-tick.C:
		case <-ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// draw shows the next dialog, if there is one, and brings the terminal up to date.
func (c *terminal) draw() {
	c.dialogs = slices.DeleteFunc(c.dialogs, func(d *dialog) bool { return d.ctx.Err() != nil })
	if len(c.dialogs) > 0 && c.dialogs[0].show != nil {
		c.dialogs[0].show(c.t)
		c.dialogs[0].show = nil
	}
	c.screen.flush()
	if len(c.dialogs) > 0 {
		c.dialogs[0].guard.shown(time.Now())
	}
}

// live are the rows below the transcript: what goes on, and the question or the draft.
func (c *terminal) live(columns int) (rows []string, row, column int) {
	if text := c.goingOn(); text != "" {
		rows = append(rows, paint(c.screen.color, dim, clip(text, columns)))
	}
	if len(c.dialogs) > 0 {
		asked, column := c.dialogs[0].rows(c.screen.color, columns)
		rows = append(rows, asked...)
		return rows, len(rows) - 1, column
	}
	var last string
	switch {
	case c.draft.empty() && len(c.suggestions) > 0 && c.waiting == 0:
		last, column = paint(c.screen.color, bold, "› ")+paint(c.screen.color, dim, clip(c.suggestions[0]+"  (Enter)", columns-2)), 2
	default:
		last, column = c.draft.view(columns - 2)
		last, column = paint(c.screen.color, bold, "› ")+last, column+2
	}
	rows = append(rows, last)
	return rows, len(rows) - 1, column
}

// goingOn says what Claude is at, and what waits.
func (c *terminal) goingOn() string {
	var parts []string
	state := c.t.state
	if len(c.dialogs) > 0 && c.dialogs[0].step.help != "" {
		parts = append(parts, c.dialogs[0].step.help)
	}
	switch {
	case len(c.dialogs) > 0 && !c.interrupted: // that Claude waits is plain to see
	case c.interrupted:
		parts = append(parts, "stopping · Ctrl-C again quits")
	case c.waiting == 0 && (state.State == "" || state.State == "idle" || state.State == "exited"):
	case state.State == "running" && state.QuietMS > 0:
		parts = append(parts, "nothing heard for "+seconds(time.Duration(state.QuietMS)*time.Millisecond))
	case state.State != "" && state.State != "idle":
		parts = append(parts, strings.ReplaceAll(oneLine(state.State), "_", " ")+c.elapsed())
	default:
		parts = append(parts, "running"+c.elapsed())
	}
	for _, u := range c.t.tools {
		if u.silent || len(c.dialogs) > 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d s", clip(u.title, 40), time.Since(u.began)/time.Second))
	}
	if n := len(c.t.sent); n > 0 && c.waiting > 1 {
		parts = append(parts, fmt.Sprintf("%d waiting: %s", n, clip(oneLine(c.t.sent[0].text), 30)))
	}
	if n := len(c.dialogs) - 1; n > 0 {
		parts = append(parts, plural(n, "more question")+" waiting")
	}
	if len(parts) > 0 && c.waiting > 0 && !c.interrupted {
		parts = append(parts, "Ctrl-C stops")
	}
	return strings.Join(parts, " · ")
}

func (c *terminal) elapsed() string {
	if c.t.began.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %d s", time.Since(c.t.began)/time.Second)
}

// busy: a turn runs or is about to, of the user's or of Claude's own.
func (c *terminal) busy() bool {
	switch c.t.state.State {
	case "", "idle", "exited", "starting":
		return c.waiting > 0
	}
	return true
}

// press does what a key does.
func (c *terminal) press(k key) {
	switch {
	case k.name == "ctrl-c":
		c.stop()
		return
	case k.name == "ctrl-l":
		c.screen.clear()
		return
	case len(c.dialogs) > 0:
		d := c.dialogs[0]
		counted, over := d.pressed(k)
		if over {
			c.dialogs = c.dialogs[1:]
		}
		if !counted && !c.draft.empty() { // the user was in the middle of a message
			c.draft.edit(k)
		}
		return
	}
	switch k.name {
	case "enter":
		c.enter(k)
	case "up", "ctrl-p":
		c.history.move(&c.draft, 1)
	case "down", "ctrl-n":
		c.history.move(&c.draft, -1)
	case "ctrl-d":
		if c.draft.empty() {
			c.quitting = true
			return
		}
		c.draft.edit(k)
	default:
		c.draft.edit(k)
	}
}

// enter sends the draft, or what the demo suggests.
func (c *terminal) enter(k key) {
	text := strings.TrimSpace(c.draft.String())
	if text == "" && len(c.suggestions) > 0 && c.waiting == 0 && k.alone {
		text = c.suggestions[0]
	}
	if i := slices.Index(c.suggestions, text); i >= 0 {
		c.suggestions = c.suggestions[i+1:]
	}
	if text == "" {
		return
	}
	c.history.add(text)
	c.draft = line{}
	c.send(text)
}

// stop is Ctrl-C: it stops a turn, or else empties the draft, or else quits.
func (c *terminal) stop() {
	switch {
	case c.interrupted || c.client == nil:
		c.quitting = true
	case c.busy():
		c.interrupted = true
		go func() {
			_ = c.client.Interrupt(context.Background(), c.session)
			c.post(func() { c.interrupted = false })
		}()
	case !c.draft.empty():
		c.draft = line{}
	default:
		c.quitting = true
	}
}

func (c *terminal) permission(ctx context.Context, p rpc.PermissionParams, reply func(editor.Decision)) {
	c.dialogs = append(c.dialogs, permissionDialog(ctx, c.t, p, reply))
}

func (c *terminal) question(ctx context.Context, q rpc.QuestionParams, reply func(editor.Answers)) {
	c.dialogs = append(c.dialogs, questionDialog(ctx, c.t, q, reply))
}
