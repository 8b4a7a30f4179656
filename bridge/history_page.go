package bridge

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"

	"drawbridge/adapters"
)

// A transcript is a tree: each line names the one it follows, and where the user went back, several follow the same. The conversation
// is the chain that ends in the last line. Parallel tools branch too: each result follows its own tool use, and only one of them is in
// the chain; the others belong to the conversation all the same.
//
// page follows the chain from the end of the file backwards until it has what a page should have, and keeps of each line where it is
// and how it hangs together, not what it says.

// place is where a page ends, and with it how the chain goes on from there. Its text is the cursor.
type place struct {
	end    int64
	want   string // the line that follows, going backwards; empty: the next that is part of a conversation
	linear bool   // there is no chain to follow: every line counts
	inside bool   // the page ends inside a turn
}

// spot is a line of the page.
type spot struct {
	at, length int64
	kind       adapters.TranscriptKind
	chained    bool
	message    string   // Said: the API's id of the message
	tools      []string // Said: the tool uses; Returned: those it answers
}

// The limits of a page. A turn is not cut in two unless it alone is more than turnBytes.
const (
	historyLimit = 200
	historyMax   = 5000
	pageBytes    = 4 << 20
	turnBytes    = 8 << 20
	turnSpots    = 4000
)

type pager struct {
	place
	limit int
	spots []spot // newest first
	shown int
	bytes int64
	next  *place // where the page before this one ends; nil: there is none

	f      io.ReaderAt
	line   adapters.TranscriptLine
	first  map[uint64]int64        // see firsts; nil: not needed so far
	behind adapters.TranscriptKind // of the line of the chain that was taken before
	broke  int                     // spots up to where the chain was last seen
	last   int64                   // where its last line begins
}

// page collects the lines of the page that ends at p.
func page(ctx context.Context, f io.ReaderAt, p place, limit int) (*pager, error) {
	pg := &pager{place: p, f: f, limit: limit, last: p.end}
	back := newBackward(f, p.end)
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		raw, at, length, err := back.next()
		if err == io.EOF {
			if pg.want == "" || pg.linear {
				break
			}
			// The line that should follow is nowhere: from the last one that was found on, all are taken as they stand.
			pg.linear, pg.want = true, ""
			pg.spots = pg.spots[:pg.broke]
			back = newBackward(f, pg.last)
			continue
		}
		if err != nil {
			return nil, err
		}
		if raw == nil {
			pg.tooLong(at, length)
			continue
		}
		done, err := pg.take(raw, at, length)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	pg.choose()
	return pg, nil
}

// take takes in a line and reports whether the page, or the conversation, begins with it.
func (pg *pager) take(raw []byte, at, length int64) (done bool, err error) {
	l := &pg.line
	l.Decode(raw)
	if l.UUID == "" || l.Sidechain {
		return false, nil
	}
	shows := l.Kind > adapters.Linked && l.Kind < adapters.Titled
	if strings.HasPrefix(l.Version, "1.") && shows {
		if pg.first == nil {
			if pg.first, err = firsts(pg.f, pg.end); err != nil {
				return false, err
			}
		}
		pg.linear = true
		if at != pg.first[keyOf(l)] {
			return false, nil
		}
	}
	chained := l.UUID == pg.want
	if pg.linear || pg.want == "" {
		chained = shows
	}
	if !chained {
		if shows && (l.Kind == adapters.Said || l.Kind == adapters.Returned) {
			pg.add(l, at, length, false)
		}
		return false, nil
	}
	if pg.behind == adapters.Said && l.Kind == adapters.Returned && (pg.bytes > turnBytes || len(pg.spots) > turnSpots) {
		// The turn is too large for a page. Between a tool's result and what the model says to it, nothing is torn.
		pg.next = &place{end: at + length, want: l.UUID, linear: pg.linear, inside: true}
		return true, nil
	}
	pg.want, pg.last = l.Parent, at
	if shows {
		pg.add(l, at, length, true)
		pg.behind = l.Kind
	}
	pg.broke = len(pg.spots)
	if l.Parent == "" && !pg.linear && l.Kind != adapters.Bounded {
		return true, nil
	}
	if l.Kind == adapters.Asked && (pg.shown >= pg.limit || pg.bytes >= pageBytes) {
		pg.next = &place{end: at, want: l.Parent, linear: pg.linear}
		return true, nil
	}
	return false, nil
}

func (pg *pager) add(l *adapters.TranscriptLine, at, length int64, chained bool) {
	s := spot{at: at, length: length, kind: l.Kind, chained: chained}
	switch l.Kind {
	case adapters.Said:
		s.message = l.MessageID
		for i := range l.Blocks {
			if id := l.Blocks[i].ToolUse.ID; id != "" {
				s.tools = append(s.tools, id)
			}
		}
	case adapters.Returned:
		for i := range l.Results {
			s.tools = append(s.tools, l.Results[i].ToolUseID)
		}
	}
	pg.spots = append(pg.spots, s)
	pg.shown++
	if chained {
		pg.bytes += length
	}
}

// firsts finds where each block of the model, tool result and other line of the conversation stands for the first time. 1.0.x begins
// its chain anew with each turn and writes what was said so far again, under other ids and without the user's messages, so that there
// is no chain to follow, only lines to leave out.
func firsts(f io.ReaderAt, end int64) (map[uint64]int64, error) {
	first := map[uint64]int64{}
	var l adapters.TranscriptLine
	back := newBackward(f, end)
	for {
		raw, at, _, err := back.next()
		switch {
		case err == io.EOF:
			return first, nil
		case err != nil:
			return nil, err
		}
		if l.Decode(raw); l.UUID != "" && !l.Sidechain && l.Kind > adapters.Linked {
			first[keyOf(&l)] = at
		}
	}
}

var keySeed = maphash.MakeSeed()

// keyOf is the same for a line and what is written of it again.
func keyOf(l *adapters.TranscriptLine) uint64 {
	var h maphash.Hash
	h.SetSeed(keySeed)
	switch {
	case len(l.Results) > 0:
		h.WriteString(l.Results[0].ToolUseID)
	case l.MessageID != "" && len(l.Blocks) > 0:
		h.WriteString(l.MessageID)
		h.Write(l.Blocks[0].Raw)
	default:
		h.WriteString(l.UUID)
	}
	return h.Sum64()
}

// tooLong notes a line that is not read. The chain may have gone through it.
func (pg *pager) tooLong(at, length int64) {
	pg.spots = append(pg.spots, spot{at: at, length: length, kind: adapters.Other, chained: true})
	pg.broke, pg.last = len(pg.spots), at
}

// choose puts the lines of the conversation in their order and leaves out those of branches that were given up.
func (pg *pager) choose() {
	slices.Reverse(pg.spots)
	messages, tools := map[string]bool{}, map[string]bool{}
	for _, s := range pg.spots {
		if s.chained && s.message != "" {
			messages[s.message] = true
		}
	}
	pg.spots = slices.DeleteFunc(pg.spots, func(s spot) bool {
		switch {
		case s.kind == adapters.Said && (s.chained || messages[s.message]):
			for _, id := range s.tools {
				tools[id] = true
			}
			return false
		case s.kind == adapters.Returned && !s.chained:
			return !slices.ContainsFunc(s.tools, func(id string) bool { return tools[id] })
		}
		return !s.chained
	})
}

func (p *place) cursor() string {
	if p == nil {
		return ""
	}
	flags := ""
	if p.linear {
		flags += "l"
	}
	if p.inside {
		flags += "i"
	}
	return fmt.Sprintf("%d.%s.%s", p.end, p.want, flags)
}

// parsePlace reads a cursor; without one the page is the last of a file of that size.
func parsePlace(cursor string, size int64) (place, error) {
	if cursor == "" {
		return place{end: size}, nil
	}
	parts := strings.Split(cursor, ".")
	if len(parts) == 3 {
		end, err := strconv.ParseInt(parts[0], 10, 64)
		if err == nil && end >= 0 && end <= size {
			return place{end: end, want: parts[1], linear: strings.Contains(parts[2], "l"), inside: strings.Contains(parts[2], "i")}, nil
		}
	}
	return place{}, fail(KindInvalidParams, "%q is no cursor of this conversation's session_history", cursor)
}
