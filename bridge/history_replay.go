package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"drawbridge/adapters"
)

// HistoryQuery chooses a page of a conversation.
type HistoryQuery struct {
	ID     string // Claude's id, or a session's handle
	Limit  int    // how many items a page should have; it has more where a turn has; 0: historyLimit
	Cursor string // where the page before, which is the newer one, ended
	// Running: the conversation's last turn may be running now. Then it is not told to be cut off because it has no end yet.
	Running bool
}

// HistoryItem is a piece of a past conversation: exactly one of User, Line and Turn is set. It borrows what it holds and is valid
// until the function that it was handed to returns.
type HistoryItem struct {
	User *HistoryMessage
	// Line is a message of the CLI as it would have been decoded live, of Kind Assistant, ToolResults, CommandOutput or Compacted.
	Line *adapters.Message
	// Turn is the end of a turn. Its id is the user message's, or that of the line that began it; a turn of which an older page has
	// the beginning has none.
	Turn  *TurnCompleted
	Error *Error // why the Turn has failed
}

// HistoryMessage is a message of the user.
type HistoryMessage struct {
	ID        string          // user_message_id
	Content   json.RawMessage // a string or content blocks
	Timestamp string          // RFC 3339
}

// History replays a page of a past conversation, in order: the newest page without a cursor, the ones before it with next of the page
// before. A page begins at a user message, but where one turn is larger than a page may be. It reads the transcript twice, from the
// end and then line by line, and holds one line in memory.
func (l *Library) History(ctx context.Context, q HistoryQuery, yield func(HistoryItem) error) (next string, err error) {
	entry, err := l.Find(ctx, q.ID)
	if err != nil {
		return "", err
	}
	if entry.Transcript == "" {
		e := fail(KindSessionNotFound, "Claude has written nothing of the conversation %q on this machine", q.ID)
		e.Remedy = "Go on with it, if it runs elsewhere; its past is not there to be shown."
		return "", e
	}
	root, err := l.root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, info, err := openTranscript(root, entry.Transcript)
	if err != nil {
		return "", err
	}
	defer f.Close()
	place, err := parsePlace(q.Cursor, info.Size())
	if err != nil {
		return "", err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = historyLimit
	}
	pg, err := page(ctx, f, place, min(limit, historyMax))
	if err != nil {
		return "", err
	}
	r := replay{yield: yield, blocks: map[string]int{}, open: map[string]bool{}}
	if err := r.page(ctx, f, pg); err != nil {
		return "", err
	}
	if !place.inside && !(q.Running && q.Cursor == "" && r.cutOff()) {
		if err := r.end(); err != nil {
			return "", err
		}
	}
	return pg.next.cursor(), nil
}

// replay tells lines as what was told live.
type replay struct {
	yield func(HistoryItem) error
	buf   []byte
	line  adapters.TranscriptLine

	begun   bool // a turn
	turn    TurnCompleted
	command bool // begun by a command, to which there may be no answer
	aborted bool
	failure *adapters.Failure
	stop    string // of what was said last
	last    adapters.TranscriptKind
	blocks  map[string]int  // how many each message has had: a line has one
	open    map[string]bool // tool uses without a result
}

func (r *replay) page(ctx context.Context, f io.ReaderAt, pg *pager) error {
	r.begun = pg.next != nil && pg.next.inside
	r.turn.Origin = fromUser
	for _, s := range pg.spots {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.kind == adapters.Other {
			r.last = adapters.Said // most likely
			if err := r.leftOut(s.length); err != nil {
				return err
			}
			continue
		}
		if int64(cap(r.buf)) < s.length {
			r.buf = make([]byte, s.length)
		}
		r.buf = r.buf[:s.length]
		if err := readFull(f, r.buf, s.at); err != nil {
			return err
		}
		r.line.Decode(r.buf)
		if err := r.tell(&r.line); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) tell(l *adapters.TranscriptLine) error {
	switch l.Kind {
	case adapters.Asked, adapters.Woken:
		if err := r.end(); err != nil {
			return err
		}
		r.begin(l)
	case adapters.Bounded:
		if l.Boundary.Trigger != "auto" { // an automatic one is inside the turn that needed the room
			if err := r.end(); err != nil {
				return err
			}
		}
	}
	if l.Kind != adapters.Bounded {
		r.last = l.Kind
	}
	switch l.Kind {
	case adapters.Asked:
		return r.yield(HistoryItem{User: &HistoryMessage{l.UUID, l.Content, l.Timestamp}})
	case adapters.Folded:
		id := l.MessageID
		if id == "" {
			id = l.UUID
		}
		return r.yield(HistoryItem{User: &HistoryMessage{id, l.Content, l.Timestamp}})
	case adapters.Said:
		return r.said(l)
	case adapters.Returned:
		for i := range l.Results {
			delete(r.open, l.Results[i].ToolUseID)
		}
		return r.yield(HistoryItem{Line: &adapters.Message{Kind: adapters.ToolResults, Wire: "user", Results: l.Results}})
	case adapters.Output:
		return r.yield(HistoryItem{Line: &adapters.Message{Kind: adapters.CommandOutput, Wire: "user", Text: l.Text}})
	case adapters.Bounded:
		return r.yield(HistoryItem{Line: &adapters.Message{Kind: adapters.Compacted, Wire: "system/compact_boundary", Boundary: l.Boundary}})
	case adapters.Aborted:
		r.aborted = true
	}
	return nil
}

func (r *replay) begin(l *adapters.TranscriptLine) {
	r.begun, r.command, r.aborted, r.failure, r.stop = true, l.Command, false, nil, ""
	clear(r.blocks)
	clear(r.open)
	r.turn = TurnCompleted{TurnID: l.UUID, Origin: fromUser, UserMessageID: l.UUID}
	if l.Kind == adapters.Woken {
		r.turn.Origin, r.turn.UserMessageID = fromBackground, ""
	}
}

func (r *replay) said(l *adapters.TranscriptLine) error {
	r.stop, r.failure = l.StopReason, l.Failure
	if l.Origin == adapters.OriginError {
		return nil // its text is the turn's error
	}
	r.begun = true
	for i := range l.Blocks {
		b := &l.Blocks[i]
		b.Index = r.blocks[l.MessageID]
		r.blocks[l.MessageID]++
		if b.ToolUse.ID != "" {
			r.open[b.ToolUse.ID] = true
		}
	}
	return r.yield(HistoryItem{Line: &adapters.Message{Kind: adapters.Assistant, Wire: "assistant", MessageID: l.MessageID, Blocks: l.Blocks, Origin: l.Origin}})
}

// cutOff reports whether the turn stops without an end: because its process died, or because it is running.
func (r *replay) cutOff() bool {
	answered := r.last == adapters.Said || r.last == adapters.Output || r.last == adapters.Asked && r.command
	return r.begun && !r.aborted && r.failure == nil && (len(r.open) > 0 || !answered)
}

// end tells the end of the turn that was replayed, if there is one.
func (r *replay) end() error {
	if !r.begun {
		return nil
	}
	t := r.turn
	var why *Error
	switch {
	case r.aborted, r.cutOff():
		t.Status, t.StopReason = cancelled, cancelled
	case r.failure != nil:
		t.Status, t.StopReason = failed, "error"
		why = fail(r.failure.Kind, "%s", r.failure.Message)
		why.APIStatus = r.failure.APIStatus
	default:
		t.Status, t.StopReason = completed, "end_turn"
		if r.stop == "max_tokens" || r.stop == "refusal" {
			t.StopReason = r.stop
		}
	}
	r.begun, r.turn = false, TurnCompleted{Origin: fromUser}
	return r.yield(HistoryItem{Turn: &t, Error: why})
}

// leftOut stands for a line that is too long to be read.
func (r *replay) leftOut(length int64) error {
	text, _ := json.Marshal(fmt.Sprintf("(a message of %d MB is left out here)", (length+1<<19)>>20))
	return r.yield(HistoryItem{Line: &adapters.Message{Kind: adapters.CommandOutput, Wire: "user", Text: text}})
}
