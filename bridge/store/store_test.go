package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"
)

func TestWhatIsSavedIsThereAfterClosing(t *testing.T) {
	path := newPath(t)
	s := Open(path, nil, nil)
	s.SaveSession(Session{ID: "h", ClaudeID: "c1", CWD: "/p", Title: "one", Model: "sonnet", PermissionMode: "plan", Options: []byte(`{"effort":"high"}`), Updated: at(1)})
	s.SaveTurn(turn("t1", "h", 2))
	shut(t, s)

	s, heard := open(t, path)
	got, err := s.Session(ctx(t), "h")
	if err != nil {
		t.Fatal(err)
	}
	if got.ClaudeID != "c1" || got.Title != "one" || got.PermissionMode != "plan" || string(got.Options) != `{"effort":"high"}` || got.Source != "drawbridge" {
		t.Errorf("got %+v", got)
	}
	if n := heard.all(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
}

func TestNothingTouchesTheDiskBeforeThereIsSomethingToRemember(t *testing.T) {
	path := newPath(t)
	s, _ := open(t, path)
	s.Preload("/p")
	if _, err := s.Session(ctx(t), "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if list, err := s.Usage(ctx(t), time.Time{}, "day"); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestFileAndDirectoryAreTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := newPath(t)
	s, _ := open(t, path)
	s.SaveSession(session("a", 1))
	if _, err := s.Session(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestAnEmptyFieldLeavesWhatIsKnown(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(session("a", 1))
	if _, err := s.Session(ctx(t), "a"); err != nil { // written
		t.Fatal(err)
	}
	s.SaveSession(Session{ID: "a", Model: "opus", Updated: at(3)})
	got, err := s.Session(ctx(t), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got.Model != "opus" || got.Title != "title of a" || got.CWD != "/p" || !got.Created.Equal(at(1)) {
		t.Errorf("got %+v", got)
	}
}

func TestClearedConversationsStayInTheListAndLeadToTheirSession(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(Session{ID: "h", ClaudeID: "c1", CWD: "/p", Updated: at(1)})
	s.SaveTurn(turn("t1", "c1", 2))
	s.SaveSession(Session{ID: "h", ClaudeID: "c2", Updated: at(3)})
	s.SaveSession(Session{ID: "h", ClaudeID: "c3", Updated: at(4)}) // three before one write
	for _, id := range []string{"h", "c1", "c2", "c3"} {
		got, err := s.Session(ctx(t), id)
		if err != nil || got.ID != "h" {
			t.Fatalf("%s: got %+v, %v", id, got, err)
		}
		if want := []string{"c1", "c2", "c3"}; !reflect.DeepEqual(got.ClaudeIDs, want) {
			t.Errorf("%s: ids %v, want %v", id, got.ClaudeIDs, want)
		}
	}
	list, _, err := s.Sessions(ctx(t), Filter{})
	if err != nil || len(list) != 3 || list[0].ClaudeID != "c3" || list[2].ClaudeID != "c1" {
		t.Errorf("got %+v, %v", list, err)
	}
	if list[2].Turns != 1 || list[2].CostUSD != 0.25 {
		t.Errorf("the turn is not counted: %+v", list[2])
	}
}

func TestListIsPagedNewestFirstAndByDirectory(t *testing.T) {
	s, _ := open(t, newPath(t))
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		v := session(id, i)
		if i%2 == 1 {
			v.CWD = "/other"
		}
		s.SaveSession(v)
	}
	var order string
	cursor, pages := "", 0
	for {
		list, next, err := s.Sessions(ctx(t), Filter{Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			order += v.ID
		}
		pages++
		if cursor = next; cursor == "" {
			break
		}
	}
	if order != "edcba" || pages != 3 {
		t.Errorf("got %s in %d pages", order, pages)
	}
	list, _, err := s.Sessions(ctx(t), Filter{CWD: "/other"})
	if err != nil || len(list) != 2 || list[0].ID != "d" {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, _, err := s.Sessions(ctx(t), Filter{Cursor: "nonsense"}); err == nil {
		t.Error("a cursor that is none was taken")
	}
}

func TestATitleOfTheUserWinsOverOneOfTheModel(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(session("a", 1))
	s.Rename("a", "mine")
	s.SaveSession(Session{ID: "a", Title: "the model's"})
	s.Rename("terminal", "of the terminal")
	if got, err := s.Session(ctx(t), "a"); err != nil || got.Title != "mine" {
		t.Errorf("got %+v, %v", got, err)
	}
	known, err := s.Known(ctx(t), []string{"a", "terminal", "nobody"})
	if err != nil || len(known) != 2 || known["terminal"].Title != "of the terminal" || known["terminal"].ID != "" || known["a"].Title != "mine" {
		t.Errorf("got %+v, %v", known, err)
	}
}

func TestDeletingASessionKeepsWhatItsTurnsHaveUsed(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(session("a", 1))
	s.SaveTurn(turn("t1", "a", 1))
	s.Delete("a")
	if _, err := s.Session(ctx(t), "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	sum, err := s.Usage(ctx(t), time.Time{}, "")
	if err != nil || len(sum) != 1 || sum[0].CostUSD != 0.25 {
		t.Errorf("got %+v, %v", sum, err)
	}
}

func TestDeletingOneOfTwoConversationsKeepsTheSession(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(Session{ID: "h", ClaudeID: "c1", CWD: "/p"})
	s.SaveSession(Session{ID: "h", ClaudeID: "c2"})
	if _, err := s.Session(ctx(t), "h"); err != nil {
		t.Fatal(err)
	}
	s.Delete("c1")
	got, err := s.Session(ctx(t), "h")
	if err != nil || len(got.ClaudeIDs) != 1 || got.ClaudeID != "c2" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLastSeenComesFromMemoryAndFromTheFileWhenPreloaded(t *testing.T) {
	path := newPath(t)
	s := Open(path, nil, nil)
	s.SaveFolder(Folder{CWD: "/p", Tools: []string{"Bash", "Read"}, MCPServers: 2})
	if tools, servers := s.LastSeen("/p"); len(tools) != 2 || servers != 2 {
		t.Errorf("before it is written: %v, %d", tools, servers)
	}
	shut(t, s)

	s, _ = open(t, path)
	if tools, _ := s.LastSeen("/p"); tools != nil {
		t.Errorf("without preload: %v", tools)
	}
	s.Preload("/p")
	if _, err := s.Session(ctx(t), "x"); !errors.Is(err, ErrNotFound) { // answered after the preload
		t.Fatal(err)
	}
	if tools, servers := s.LastSeen("/p"); len(tools) != 2 || servers != 2 {
		t.Errorf("after preload: %v, %d", tools, servers)
	}
}

func TestMigrationOfAnEmptyAndOfANewerFile(t *testing.T) {
	path := newPath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, path, 2)
	if v := number(t, path, "PRAGMA user_version"); v != int64(len(migrations)) {
		t.Errorf("user_version is %d", v)
	}
	execute(t, path, "PRAGMA user_version = 99; ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'; CREATE TABLE more (x)")
	s, heard := open(t, path)
	s.SaveSession(session("new", 50))
	if got, err := s.Session(ctx(t), "s0001"); err != nil || got.Turns != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if v := number(t, path, "PRAGMA user_version"); v != 99 {
		t.Errorf("user_version is now %d", v)
	}
	if len(asides(t, path)) != 0 || len(heard.all()) != 0 {
		t.Errorf("%v %v", asides(t, path), heard.all())
	}
}

func TestEveryMigrationIsMadeFromTheVersionBefore(t *testing.T) {
	for from := range migrations {
		path := newPath(t)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, m := range migrations[:from] {
			execute(t, path, m)
		}
		if from > 0 {
			execute(t, path, "PRAGMA application_id = 1685223266; PRAGMA user_version = "+string(rune('0'+from)))
		}
		s, heard := open(t, path)
		s.SaveSession(session("a", 1))
		if _, err := s.Session(ctx(t), "a"); err != nil || len(heard.all()) != 0 {
			t.Errorf("from %d: %v, %v", from, err, heard.all())
		}
	}
}

func TestAStoreThatIsClosedAnswersSo(t *testing.T) {
	s := Open(newPath(t), nil, nil)
	shut(t, s)
	s.SaveTurn(turn("t", "a", 1))
	if _, err := s.Session(ctx(t), "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if s.Dropped() != 1 {
		t.Errorf("dropped %d", s.Dropped())
	}
	shut(t, s)
}

func TestSizeCountsTheFileAndItsLog(t *testing.T) {
	path := newPath(t)
	s, _ := open(t, path)
	if s.Size() != 0 {
		t.Errorf("an absent file has %d bytes", s.Size())
	}
	s.SaveSession(session("a", 1))
	if _, err := s.Session(ctx(t), "a"); err != nil || s.Size() < 4096 {
		t.Errorf("%d bytes, %v", s.Size(), err)
	}
}
