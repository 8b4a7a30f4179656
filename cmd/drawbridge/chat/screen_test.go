package chat

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// grid is a terminal as far as a screen uses one.
type grid struct {
	rows     [][]rune
	row, col int
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9]*)([A-Za-z])`)

func (g *grid) Write(b []byte) (int, error) {
	s := string(b)
	for s != "" {
		if m := sequence.FindStringSubmatch(s); m != nil {
			g.control(m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		switch r {
		case '\r':
			g.col = 0
		case '\n':
			g.row++
		default:
			g.put(r)
		}
	}
	return len(b), nil
}

func (g *grid) control(number, letter string) {
	n, _ := strconv.Atoi(number)
	switch letter {
	case "A":
		g.row -= n
	case "C":
		g.col += n
	case "J":
		if g.row < len(g.rows) {
			g.rows = g.rows[:g.row]
		}
	}
}

func (g *grid) put(r rune) {
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, nil)
	}
	for len(g.rows[g.row]) < g.col+columns(r) {
		g.rows[g.row] = append(g.rows[g.row], ' ')
	}
	if columns(r) > 0 {
		g.rows[g.row][g.col] = r
		g.col += columns(r)
	}
}

func (g *grid) String() string {
	var b strings.Builder
	for _, r := range g.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return b.String()
}

// testScreen has n columns, of which one stays free, and the given live rows.
func testScreen(n int, live *[]string) (*screen, *grid) {
	g := new(grid)
	return &screen{out: g, color: true, size: func() (int, int) { return n, 24 },
		live: func(int) ([]string, int, int) { return *live, len(*live) - 1, width((*live)[len(*live)-1]) }}, g
}

func TestTheScreenWrapsAtWordsAndRepeatsTheBarsOfTheMargin(t *testing.T) {
	live := []string{"> "}
	s, g := testScreen(25, &live)
	say(s, normal, "", "The quick brown fox jumps over the lazy dog")
	say(s, bad, "● │ ", "one two three four five\nnew line")
	say(s, dim, "", strings.Repeat("x", 30))
	say(s, dim, "", strings.Repeat("漢", 13))
	s.flush()
	want := "The quick brown fox\njumps over the lazy dog\n● │ one two three four\n  │ five\n  │ new line\n" +
		strings.Repeat("x", 24) + "\nxxxxxx\n"
	if got := g.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n>\n") {
		t.Errorf("the screen shows\n%swant\n%s", got, want)
	}
}

func TestALineThatIsStillWrittenGoesOnWhereItWas(t *testing.T) {
	live := []string{"status", "> draft"}
	s, g := testScreen(30, &live)
	s.begin(normal, "")
	for i, word := range strings.SplitAfter("one two three four five six seven eight nine ten eleven twelve", " ") {
		s.print(normal, word)
		s.flush()
		if !strings.HasSuffix(g.String(), "\nstatus\n> draft\n") || strings.Count(g.String(), "status") != 1 {
			t.Fatalf("after word %d the screen shows\n%s", i+1, g)
		}
	}
	live = []string{"> draft"} // fewer rows than before
	s.flush()
	want := "one two three four five six\nseven eight nine ten eleven\ntwelve\n> draft\n"
	if g.String() != want {
		t.Errorf("the screen shows\n%swant\n%s", g, want)
	}
	if g.row != 3 || g.col != len("> draft") {
		t.Errorf("the cursor is at %d, %d", g.row, g.col)
	}
	s.close()
	if want := "one two three four five six\nseven eight nine ten eleven\ntwelve\n"; g.String() != want {
		t.Errorf("at the end the screen shows\n%swant\n%s", g, want)
	}
}

func TestAFloodIsDrawnWithoutLosingAnything(t *testing.T) {
	live := []string{"> "}
	s, g := testScreen(80, &live)
	s.begin(normal, "")
	var want strings.Builder
	for i := range 5000 {
		word := fmt.Sprintf("t%d ", i)
		want.WriteString(word)
		s.print(normal, word)
		if i%97 == 0 {
			s.flush()
		}
	}
	s.close()
	if got := strings.Join(strings.Fields(g.String()), " "); got != strings.TrimSpace(want.String()) {
		t.Error("the screen does not show what was written")
	}
}
