package chat

import (
	"context"
	"time"
)

// dialog is a question and the keys that answer it. Dialogs are shown one after the other, in the order they were asked.
type dialog struct {
	ctx   context.Context     // ends when nobody wants the answer any more
	show  func(t *transcript) // writes out what is asked
	step  step                // what is asked now
	guard guard
}

// step is one state of a dialog: keys, or a line of input.
type step struct {
	prompt string
	help   string // above the prompt
	keys   []choice

	input   *line
	done    func(text string) (next *step, problem string) // enter
	back    func() (next *step)                            // escape
	clears  bool                                           // escape empties the line first
	problem string                                         // with what was entered last
}

// choice is a key and what it does. It ends the dialog when it returns nil.
type choice struct {
	key   rune
	means string
	press func() (next *step)
}

// guard tells keys that answer a prompt from keys that were meant for something else.
type guard struct {
	quietSince time.Time // zero: not on the screen yet
	passed     bool      // a key has counted: the user has seen the prompt
}

// quiet is how long a prompt must have been on the screen, and no other key pressed, for a key to count.
const quiet = 300 * time.Millisecond

// shown says that the prompt is on the screen now, if it was not before.
func (g *guard) shown(now time.Time) {
	if g.quietSince.IsZero() {
		g.quietSince = now
	}
}

// passes says whether a key counts. One that does not begins the wait anew.
func (g *guard) passes(k key) bool {
	if g.quietSince.IsZero() || k.at.Before(g.quietSince.Add(quiet)) {
		g.disturbed(k)
		return false
	}
	return true
}

func (g *guard) disturbed(k key) {
	if k.at.After(g.quietSince) && !g.quietSince.IsZero() {
		g.quietSince = k.at
	}
}

// pressed does what a key does. It says whether the key counted, and whether the dialog is over.
func (d *dialog) pressed(k key) (counted, over bool) {
	if d.step.input != nil && d.guard.passed {
		return true, d.typed(k)
	}
	if !d.guard.passes(k) {
		return false, false
	}
	if d.step.input != nil {
		d.guard.passed = true
		return true, d.typed(k)
	}
	for _, c := range d.step.keys {
		if k.r == c.key && k.alone {
			d.guard.passed = true
			return true, d.goTo(c.press())
		}
	}
	d.guard.disturbed(k)
	return false, false
}

func (d *dialog) typed(k key) (over bool) {
	s := &d.step
	switch {
	case k.name == "enter":
		next, problem := s.done(s.input.String())
		if problem != "" {
			s.problem = problem
			return false
		}
		return d.goTo(next)
	case k.name == "escape" && s.clears && !s.input.empty():
		*s.input = line{}
	case k.name == "escape":
		return d.goTo(s.back())
	default:
		s.input.edit(k)
	}
	s.problem = ""
	return false
}

func (d *dialog) goTo(next *step) (over bool) {
	if next == nil {
		return true
	}
	d.step = *next
	return false
}

// answer plays a key and what is typed after it, without a guard, and says what that looks like. Without such a key it is the first.
func (d *dialog) answer(press rune, text string) (looks string) {
	if d.step.input == nil {
		c := d.step.keys[0]
		for _, k := range d.step.keys {
			if k.key == press {
				c = k
			}
		}
		looks = d.step.prompt + " " + string(c.key) + " (" + c.means + ")"
		if d.goTo(c.press()) {
			return looks
		}
		looks += ": "
	}
	_, _ = d.step.done(text)
	return looks + text
}

// rows are the live rows of the dialog, with the column of the cursor in the last one. No choice is ever cut off.
func (d *dialog) rows(color bool, columns int) (rows []string, column int) {
	s := &d.step
	prompt := s.prompt
	if s.problem != "" {
		prompt = s.problem + " " + prompt
	}
	if s.input != nil {
		prompt = clip(prompt, columns/2) // leaves room to type in
		text, at := s.input.view(columns - width(prompt) - 1)
		return []string{paint(color, ask, prompt) + " " + text}, width(prompt) + 1 + at
	}
	row := prompt + " "
	for i, c := range s.keys {
		means := " " + string(c.key) + " " + c.means
		if i < len(s.keys)-1 {
			means += " ·"
		}
		if width(row+means) > columns {
			rows = append(rows, paint(color, ask, row))
			row = " "
		}
		row += means
	}
	return append(rows, paint(color, ask, row)), 0
}
