package chat

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// user sits at a pseudo-terminal and chats.
type user struct {
	t      *testing.T
	pty    *os.File // the far end: what is written here is typed
	tty    *os.File
	before *unix.Termios
	code   chan int

	mu   sync.Mutex
	text string // all that came
	seen int    // how much of it has been looked at
}

// sitDown opens a terminal of 100 columns and starts a chat in it.
func sitDown(t *testing.T, script string, change ...func(*Options)) *user {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, pty: pty, tty: tty, code: make(chan int, 1)}
	if u.before, err = unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm")
	go u.look()
	o := Options{Bridge: scriptedBridge(t, script), CWD: t.TempDir(), In: tty, Out: tty, Version: "test"}
	for _, f := range change {
		f(&o)
	}
	go func() {
		code, err := Run(context.Background(), o)
		if err != nil {
			t.Error(err)
		}
		u.code <- code
	}()
	t.Cleanup(func() { // the pty ends with its last descriptor, and so does whoever reads it
		if t.Failed() {
			t.Logf("the screen:\n%s", u.all())
		}
		_ = tty.Close()
		_ = pty.Close()
	})
	return u
}

// look reads what comes on the screen.
func (u *user) look() {
	buf := make([]byte, 1<<16)
	for {
		n, err := u.pty.Read(buf)
		if err != nil {
			return
		}
		u.mu.Lock()
		u.text += string(buf[:n])
		u.mu.Unlock()
	}
}

func (u *user) all() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.text
}

// has says whether one of the texts has come since the last one that was seen.
func (u *user) has(texts ...string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, text := range texts {
		if i := strings.Index(u.text[u.seen:], text); i >= 0 {
			u.seen += i + len(text)
			return true
		}
	}
	return false
}

// sees waits for a text.
func (u *user) sees(text string) {
	u.t.Helper()
	for end := time.Now().Add(patience); !u.has(text); {
		if time.Now().After(end) {
			u.t.Fatalf("%q did not come", text)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (u *user) types(keys string) {
	u.t.Helper()
	if _, err := u.pty.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

// presses presses a key until it counts: until the text comes.
func (u *user) presses(keys, text string) {
	u.t.Helper()
	for end := time.Now().Add(patience); ; {
		time.Sleep(2 * quiet)
		u.types(keys)
		for next := time.Now().Add(time.Second); time.Now().Before(next); time.Sleep(5 * time.Millisecond) {
			if u.has(text) {
				return
			}
		}
		if time.Now().After(end) {
			u.t.Fatalf("%q did not come", text)
		}
	}
}

// leaves waits for the end and checks that the terminal is as it was.
func (u *user) leaves() {
	u.t.Helper()
	select {
	case code := <-u.code:
		if code != 0 {
			u.t.Errorf("exit code %d", code)
		}
	case <-time.After(patience):
		u.t.Fatal("the chat did not end")
	}
	after, err := unix.IoctlGetTermios(int(u.tty.Fd()), unix.TCGETS)
	if err != nil || *after != *u.before {
		u.t.Errorf("the terminal was not given back: %v", err)
	}
	u.sees(pasteOff) // bracketed paste, too
}

const asking = `
-- default --
tool Bash {"command":"make build","description":"Build"}
ask
on allow {
	text It ran $INPUT.command.
}
on deny {
	text Told: $REASON
}
-- slow --
text Wait for it
delay 300ms
tool Bash {"command":"make build"}
ask
on allow {
	text It ran.
}
on deny {
	text Told: $REASON
}
`

func TestAConversationInATerminal(t *testing.T) {
	u := sitDown(t, "-- hello --\ntext Hello to you.\n-- default --\ntext You said: $PROMPT\n")
	u.sees("› ")
	u.types("hello\r")
	u.sees("Hello to you.")
	u.sees("— completed")
	u.types("helloo\x7f\x7f, \x1b[200~two\nlines\x1b[201~\r")
	u.sees("You said: hell, two")
	u.sees("lines")
	u.sees("— completed")
	u.types("\x1b[A\x1b[A\r") // the one before the last
	u.sees("Hello to you.")
	u.sees("— completed")
	u.types("draft\x03") // Ctrl-C empties the line first
	u.types("\x03")
	u.leaves()
}

func TestAPromptIsAllowedByAKey(t *testing.T) {
	u := sitDown(t, asking)
	u.types("go\r")
	u.sees("y allow once")
	u.presses("y", "└ allowed")
	u.sees("It ran make build.")
	u.sees("— completed")
	u.types("\x04")
	u.leaves()
}

func TestAPromptIsDeniedWithAReason(t *testing.T) {
	u := sitDown(t, asking)
	u.types("go\r")
	u.sees("n deny")
	u.presses("n", "Why not?")
	u.types("not on a friday\r")
	u.sees("└ denied: not on a friday")
	u.sees("Told: not on a friday")
	u.sees("— completed")
	u.types("\x04")
	u.leaves()
}

func TestTheCommandIsEditedBeforeItRuns(t *testing.T) {
	u := sitDown(t, asking)
	u.types("go\r")
	u.sees("e edit the command")
	u.presses("e", "Run:")
	u.types(" -n\r")
	u.sees("as it was changed:")
	u.sees("It ran make build -n.")
	u.types("\x04")
	u.leaves()
}

func TestKeysThatWereTypedAheadDoNotAnswer(t *testing.T) {
	u := sitDown(t, asking)
	u.types("slow\r")
	u.sees("Wait for it")
	u.types("yyyy")
	u.sees("y allow once")
	u.types("yyyy")
	u.presses("n", "Why not?") // nothing has answered it
	u.types("\r")
	u.sees("└ denied")
	u.sees("— completed")
	u.sees("yyyy") // what was typed before the prompt is the next message
	u.types("\x03\x04")
	u.leaves()
}

func TestAQuestionIsAnsweredByItsNumber(t *testing.T) {
	u := sitDown(t, "-- default --\nquestion [Color] Which one? | Red: warm | Blue: cold\non allow {\n\ttext $ANSWER it is.\n}\non deny {\n\ttext Declined.\n}\n")
	u.types("go\r")
	u.sees("Which one?")
	u.presses("9\r", "There is no choice")
	u.types("\x15" + "2\r")
	u.sees("└ answered")
	u.sees("Blue it is.")
	u.types("again\r")
	u.sees("Which one?")
	u.presses("\x1b", "└ declined")
	u.sees("Declined.")
	u.sees("— completed")
	u.types("\x04")
	u.leaves()
}

func TestAPlanIsSentBackAndApproved(t *testing.T) {
	u := sitDown(t, "-- default --\nplan <<END\n\t# The plan\n\tStep one.\nEND\non allow {\n\ttext Going on.\n}\non deny {\n\ttext Told: $REASON\n}\n")
	u.types("go\r")
	u.sees("Step one.")
	u.presses("n", "What should be different?")
	u.types("two steps\r")
	u.sees("Told: two steps")
	u.sees("— completed")
	u.types("go\r")
	u.sees("Step one.")
	u.presses("a", "└ allowed")
	u.sees("permission mode: acceptEdits")
	u.sees("Going on.")
	u.types("\x04")
	u.leaves()
}

func TestCtrlCStopsATurnAndTheNextMessageWorks(t *testing.T) {
	u := sitDown(t, "-- hang --\ntext working\nhang\n-- default --\ntext You said: $PROMPT\n"+asking[strings.Index(asking, "-- slow"):])
	u.types("hang\r")
	u.sees("working")
	u.types("next\r")
	u.sees("waiting: next")
	u.types("\x03")
	u.sees("— cancelled")
	u.sees("You said: next")
	u.sees("— completed")
	u.types("slow\r")
	u.sees("y allow once")
	u.types("\x03") // at once, whatever is asked
	u.sees("└ withdrawn")
	u.sees("— cancelled")
	u.types("still there?\r")
	u.sees("You said: still there?")
	u.types("\x04")
	u.leaves()
}

func TestASecondCtrlCQuits(t *testing.T) {
	u := sitDown(t, "ignore interrupt\n-- default --\ntext working\nhang\n")
	u.types("hang\r")
	u.sees("working")
	u.types("\x03")
	u.sees("stopping")
	u.types("\x03")
	u.leaves()
}

func TestTrustIsAskedBeforeAnythingStarts(t *testing.T) {
	for key, want := range map[string]bool{"y": true, "n": false} {
		answer := make(chan bool, 1)
		u := sitDown(t, "-- default --\ntext You said: $PROMPT\n", func(o *Options) {
			o.AskTrust = func(trusted bool) error { answer <- trusted; return nil }
		})
		u.sees("Do you trust this folder?")
		u.sees("y yes")
		u.presses(key, "└ ")
		if got := <-answer; got != want {
			t.Errorf("%s means %v", key, got)
		}
		u.types("hello\r")
		u.sees("You said: hello")
		u.types("\x04")
		u.leaves()
	}
}

func TestTheDemoGreetsAndSuggests(t *testing.T) {
	u := sitDown(t, "-- default --\ntext You said: $PROMPT\n", func(o *Options) { o.Demo = true })
	u.sees("Welcome to Drawbridge")
	u.sees("answer  (Enter)")
	u.types("\r")
	u.sees("You said: answer")
	u.sees("tool  (Enter)")
	u.types("bash\r") // a suggestion that is taken early
	u.sees("You said: bash")
	u.sees("edit  (Enter)")
	u.types("\x03")
	u.leaves()
}
