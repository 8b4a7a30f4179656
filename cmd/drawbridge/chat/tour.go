package chat

import (
	"time"
)

// visit is a stop of the tour: what the user says, and how what is asked then is answered.
type visit struct {
	say     string
	press   rune          // the key that answers a permission or a plan
	text    string        // what is typed then, or as the answer to a question
	hearing time.Duration // after so much of it the turn is interrupted; 0: never
}

// visits is the tour: each thing a session can do, in the scenes of the scripted agent's demo.
var visits = []visit{
	{say: "answer"},
	{say: "tool"},
	{say: "bash", press: 'y'},
	{say: "bash", press: 'n', text: "Not while the lamp is lit."},
	{say: "bash", press: 'e', text: "go test -count=1 ./lamp/..."},
	{say: "edit", press: 'y'},
	{say: "question", text: "2"},
	{say: "plan", press: 'n', text: "Put the horn on the roof."},
	{say: "plan", press: 'y'},
	{say: "agent"},
	{say: "todo"},
	{say: "limit"},
	{say: "long", hearing: 2 * time.Second},
}

const (
	greeting = "Welcome to Drawbridge. This is a tour: a scripted agent plays Claude, so it needs no account and no network, and " +
		"changes no file. All else is real: this is an editor that has launched a bridge and speaks its protocol."
	howToTour  = "Press Enter to see the next thing, or type something. Ctrl-C stops a turn that runs; at an empty line it ends the tour."
	tourPlays  = "There is no terminal, so the tour plays by itself."
	tourIsOver = "That was the tour. In a terminal you answer for yourself: drawbridge chat --demo. With your Claude Code: drawbridge chat."
)

// tour plays the user's part.
type tour struct {
	c  *conversation
	at int // of visits
}

func newTour(c *conversation) *tour { return &tour{c: c, at: -1} }

func (t *tour) greet() {
	say(t.c.t, normal, "", greeting)
	say(t.c.t, normal, "", tourPlays)
	t.c.t.last = "notice"
}

func (t *tour) end() {
	t.c.t.section("notice")
	say(t.c.t, normal, "", tourIsOver)
}

// lines sends what the user says.
func (t *tour) lines(to chan<- string, over <-chan struct{}) {
	defer close(to)
	for _, v := range visits {
		select {
		case to <- v.say:
		case <-over:
			return
		}
	}
}

// arrive is called when the user is about to say the next line.
func (t *tour) arrive() {
	t.at++
	if d := visits[t.at].hearing; d > 0 {
		t.interruptAfter(d)
	}
}

// interruptAfter stops the turn a while after it has begun to answer.
func (t *tour) interruptAfter(d time.Duration) {
	t.c.t.onToken = func() {
		t.c.t.onToken = nil
		time.AfterFunc(d, func() {
			t.c.post(func() {
				t.c.t.section("notice")
				say(t.c.t, ask, "", "^C")
				t.c.interrupt()
			})
		})
	}
}

// answer answers what is asked as the user does at this stop.
func (t *tour) answer(d *dialog) (looks string) {
	v := visits[t.at]
	return d.answer(v.press, v.text)
}
