package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/bridge/store"
)

func TestIDsAndCursorsThatAreNoneAreRefused(t *testing.T) {
	s := newShelf(t)
	secret := filepath.Join(filepath.Dir(s.dir), "secret.jsonl")
	var w lines
	w.user("one")
	s.put(conversation(1), w.Bytes())
	if err := os.WriteFile(secret, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "../secret", "../../secret", "/etc/passwd", conversation(1) + "/../x", strings.ToUpper("x") + conversation(1)[1:],
		"{" + conversation(1) + "}", "urn:uuid:" + conversation(1), conversation(1) + "\x00", conversation(2)} {
		if _, err := s.library().Find(context.Background(), id); !isKind(err, KindSessionNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, cursor := range []string{"x", "1", "-1..", "99999999..", "1.2.3.4", "a.b.c"} {
		_, err := s.library().History(context.Background(), HistoryQuery{ID: conversation(1), Cursor: cursor}, func(HistoryItem) error { return nil })
		if !isKind(err, KindInvalidParams) {
			t.Errorf("%q: %v", cursor, err)
		}
	}
	for _, cursor := range []string{"x", "x.y", "."} {
		if _, _, err := s.library().List(context.Background(), ListQuery{Cursor: cursor}); !isKind(err, KindInvalidParams) {
			t.Errorf("%q: %v", cursor, err)
		}
	}
}

func TestLinksOutOfTheProjectsDirectoryAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	s := newShelf(t)
	var w lines
	w.user("one")
	w.says("m", "1")
	inside := s.put(conversation(1), w.Bytes())
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{conversation(2): w.Bytes(), conversation(3): w.Bytes()} {
		if err := os.WriteFile(filepath.Join(outside, name+".jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		filepath.Join(s.dir, "-away"):                                        outside,
		filepath.Join(s.dir, "-home-user-project", conversation(3)+".jsonl"): filepath.Join(outside, conversation(3)+".jsonl"),
		filepath.Join(s.dir, "-home-user-project", conversation(4)+".jsonl"): filepath.Base(inside),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int]bool{1: true, 2: false, 3: false, 4: true} {
		if _, err := s.library().Find(context.Background(), conversation(n)); (err == nil) != want {
			t.Errorf("conversation %d: %v", n, err)
		}
	}
	list, _, err := s.library().List(context.Background(), ListQuery{})
	if err != nil || len(list) != 2 {
		t.Errorf("listed %+v, %v", list, err)
	}
}

func TestListGoesThroughAllPagesNewestFirst(t *testing.T) {
	s := newShelf(t)
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 25 {
		var w lines
		w.user(fmt.Sprintf("question\n  number %d", i))
		w.says("m", "answer")
		name := s.putIn(fmt.Sprintf("-p%d", i%3), conversation(i), w.Bytes())
		if err := os.Chtimes(name, begin, begin.Add(time.Duration(i/2)*time.Minute)); err != nil { // two of each time
			t.Fatal(err)
		}
	}
	s.put(conversation(99), []byte(`{"type":"summary","summary":"of another one","leafUuid":"x"}`+"\n")) // nothing was said in it
	l := s.library()
	var titles []string
	for cursor := ""; ; {
		page, next, err := l.List(context.Background(), ListQuery{Limit: 4, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			titles = append(titles, e.Title)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if len(titles) != 25 || titles[0] != "question number 24" || titles[24] != "question number 0" {
		t.Errorf("got %d: %q", len(titles), titles)
	}
}

func TestListOfADirectoryLeavesOthersOutThatShareItsName(t *testing.T) {
	s := newShelf(t)
	for i, cwd := range []string{"/home/user/my-app", "/home/user/my/app"} {
		data, _ := json.Marshal(cwd)
		s.putIn("-home-user-my-app", conversation(i), fmt.Appendf(nil, `{"uuid":"a","parentUuid":null,"cwd":%s,"type":"user","message":{"role":"user","content":"in %s"}}`+"\n", data, cwd))
	}
	list, _, err := s.library().List(context.Background(), ListQuery{CWD: "/home/user/my/app"})
	if err != nil || len(list) != 1 || list[0].Title != "in /home/user/my/app" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestTitlesModelsTurnsAndCostsComeFromTheTranscript(t *testing.T) {
	for file, want := range map[string]Entry{
		"2.1.329/queued":  {Title: "A title given by hand", Model: "claude-opus-5-5", Turns: 5, CostUSD: 0.0035199999999999997},
		"2.1.329/cleared": {Title: "after clear", Model: "claude-opus-5-5", Turns: 1, CostUSD: 0.00044},
		"2.1.329/rewound": {Title: "first", Model: "claude-opus-5-5", Turns: 2, CostUSD: 0.0022},
		"2.1.17/main":     {Title: "hello there, first question", Model: "claude-sonnet-4-5-20250929", Turns: 15},
		"2.0.0/resumed":   {Title: `{"title":"x","isNewTopic":true}`, Model: "claude-sonnet-4-5-20250929", Turns: 4},
		"2.0.0/forked":    {Title: "first", Model: "claude-sonnet-4-5-20250929", Turns: 5},
		"1.0.22/compact":  {Title: "hello", Model: "claude-sonnet-4-20250514", Turns: 7},
	} {
		data, err := os.ReadFile(filepath.Join(recorded, filepath.FromSlash(file)+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		s := newShelf(t)
		s.put(conversation(1), data)
		got, err := s.library().Find(context.Background(), conversation(1))
		if err != nil {
			t.Fatal(err)
		}
		if got.Title != want.Title || got.Model != want.Model || got.Turns != want.Turns || got.CostUSD != want.CostUSD || got.CWD != "/home/user/project" || got.Source != "claude" {
			t.Errorf("%s: got %+v, want %+v", file, got, want)
		}
	}
}

func TestASummaryIsReadAnewWhenTheFileHasGrown(t *testing.T) {
	s := newShelf(t)
	var w lines
	w.user("one")
	w.says("m1", "1")
	s.put(conversation(1), w.Bytes())
	l := s.library()
	ctx := context.Background()
	if e, err := l.Find(ctx, conversation(1)); err != nil || e.Turns != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	w.user("two")
	s.put(conversation(1), w.Bytes())
	if e, err := l.Find(ctx, conversation(1)); err != nil || e.Turns != 2 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestListJoinsTranscriptsAndStore(t *testing.T) {
	ctx := context.Background()
	s := newShelf(t)
	db := store.Open(filepath.Join(t.TempDir(), store.FileName), nil, func(_, _, m, _ string) { t.Error(m) })
	defer func() {
		if err := db.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	var w lines
	w.user("one")
	w.says("m1", "1")
	old := time.Now().Add(-time.Hour)
	here := conversation(1)   // led here, with a transcript
	gone := conversation(2)   // led here, its transcript was deleted since
	fresh := conversation(3)  // just begun, nothing written yet
	remote := conversation(4) // led on a machine whose transcripts are not here
	cleared := conversation(5)
	s.put(here, w.Bytes())
	s.put(cleared, w.Bytes())
	handle := conversation(100)
	for _, v := range []store.Session{
		{ID: handle, ClaudeID: cleared, CWD: "/home/user/project", Updated: old},
		{ID: handle, ClaudeID: here, CWD: "/home/user/project", Title: "of the store", Updated: old},
		{ID: gone, ClaudeID: gone, CWD: "/home/user/project", Updated: old},
		{ID: fresh, ClaudeID: fresh, CWD: "/home/user/project", Updated: time.Now()},
		{ID: remote, ClaudeID: remote, CWD: "/elsewhere", Updated: old},
	} {
		db.SaveSession(v)
	}
	db.SaveTurn(store.Turn{ID: "t", SessionID: handle, ClaudeID: here, CostUSD: 0.5})
	l := &Library{Projects: s.dir, Store: db}
	list, _, err := l.List(ctx, ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]Entry{}
	for _, e := range list {
		rows[e.ClaudeID] = e
	}
	if len(rows) != 4 || rows[gone].ClaudeID != "" {
		t.Errorf("listed %+v", list)
	}
	if e := rows[here]; e.Title != "of the store" || e.Source != "drawbridge" || e.CostUSD != 0.5 || e.Handle != handle || e.Transcript == "" {
		t.Errorf("%+v", e)
	}
	if e := rows[cleared]; e.Handle != handle || e.Source != "drawbridge" {
		t.Errorf("%+v", e)
	}
	// The handle leads to the conversation that the session has now; the title that the user gives wins.
	if err := l.Rename(ctx, handle, "mine"); err != nil {
		t.Fatal(err)
	}
	if e, err := l.Find(ctx, handle); err != nil || e.ClaudeID != here || e.Title != "mine" {
		t.Errorf("%+v, %v", e, err)
	}
	if err := l.Delete(ctx, here); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "-home-user-project", here+".jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the transcript is there: %v", err)
	}
	if _, err := l.History(ctx, HistoryQuery{ID: remote}, nil); !isKind(err, KindSessionNotFound) {
		t.Errorf("history of a remote conversation: %v", err)
	}
}

func TestALibraryWithoutAnythingIsEmpty(t *testing.T) {
	l := &Library{Projects: filepath.Join(t.TempDir(), "none")}
	list, next, err := l.List(context.Background(), ListQuery{CWD: "/p"})
	if err != nil || len(list) != 0 || next != "" {
		t.Errorf("got %v, %q, %v", list, next, err)
	}
}

func TestTurnsOfALongTranscriptAreUnknownUnlessItsEndTellsThem(t *testing.T) {
	for position, want := range map[string]int{`,"turnPosition":{"turnIndex":%d}`: 7, ``: 0} {
		var w lines
		for i := range 7 {
			turn := position
			if turn != "" {
				turn = fmt.Sprintf(turn, i+1)
			}
			w.add(`"type":"user","message":{"role":"user","content":"question %d"}%s`, i, turn)
			w.says(fmt.Sprint("m", i), strings.Repeat("answer ", 5000))
		}
		s := newShelf(t)
		s.put(conversation(1), w.Bytes())
		e, err := s.library().Find(context.Background(), conversation(1))
		if err != nil || e.Turns != want || e.Title != "question 0" || e.Model != "m" {
			t.Errorf("got %+v, %v, want %d turns", e, err, want)
		}
	}
}
