package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// damage is a way to ruin a store of 300 sessions with 600 turns.
type damage struct {
	name string
	ruin func(t *testing.T, path string)
	kept bool  // nothing is lost, or nothing can be seen: the file stays
	rows int64 // sessions and turns that are taken over at least
}

var damages = []damage{
	{name: "empty", ruin: truncate(0), kept: true, rows: 0}, // an empty file is a new database
	{name: "emptied beside its log", ruin: func(t *testing.T, p string) { write(t, p+"-wal", garbage(8192)); truncate(0)(t, p) }},
	{name: "cut in the header", ruin: truncate(50)},
	{name: "cut after the first page", ruin: truncate(4096)},
	{name: "cut in half", ruin: func(t *testing.T, p string) { truncate(size(t, p)/2)(t, p) }, rows: 300},
	{name: "cut inside a page", ruin: func(t *testing.T, p string) { truncate(size(t, p)-1000)(t, p) }, rows: 850},
	{name: "wrong magic", ruin: overwrite(0, []byte("not a database!!"))},
	{name: "text", ruin: func(t *testing.T, p string) { write(t, p, []byte(strings.Repeat("hello world\n", 2000))) }},
	{name: "garbage", ruin: func(t *testing.T, p string) { write(t, p, garbage(40960)) }},
	{name: "zeros", ruin: func(t *testing.T, p string) { write(t, p, make([]byte, 40960)) }},
	{name: "zeroed schema", ruin: overwrite(100, make([]byte, 3996))},
	{name: "garbage schema", ruin: overwrite(100, garbage(3996))},
	{name: "page size of nonsense", ruin: overwrite(16, []byte{0x13, 0x37})},
	{name: "version of a format that does not exist", ruin: overwrite(18, []byte{9, 9})},
	{name: "zeroed tables", ruin: func(t *testing.T, p string) { overwrite(4096, make([]byte, int(size(t, p))-4096))(t, p) }},
	{name: "garbage tables", ruin: func(t *testing.T, p string) { overwrite(4096, garbage(int(size(t, p))-4096))(t, p) }},
	{name: "a ruined stretch in the middle", ruin: func(t *testing.T, p string) { overwrite(int64(size(t, p)/2), garbage(8*4096))(t, p) }, rows: 600},
	{name: "flipped bits in every page", ruin: func(t *testing.T, p string) {
		data := read(t, p)
		for i := 4096; i < len(data); i += 4096 {
			data[i] ^= 0xff
		}
		write(t, p, data)
	}},
	{name: "garbage log", ruin: func(t *testing.T, p string) { write(t, p+"-wal", garbage(20000)) }, kept: true, rows: 900},
	{name: "garbage log and index", ruin: func(t *testing.T, p string) { write(t, p+"-wal", garbage(20000)); write(t, p+"-shm", garbage(32768)) }, kept: true, rows: 900},
	{name: "garbage journal", ruin: func(t *testing.T, p string) { write(t, p+"-journal", garbage(20000)) }, kept: true, rows: 900},
	{name: "a directory in its place", ruin: func(t *testing.T, p string) { remove(t, p); mkdir(t, p) }},
	{name: "a full directory in its place", ruin: func(t *testing.T, p string) { remove(t, p); mkdir(t, p); write(t, filepath.Join(p, "x"), garbage(10)) }},
	{name: "a directory in place of its log", ruin: func(t *testing.T, p string) { mkdir(t, p+"-wal") }},
	{name: "another program's database", ruin: func(t *testing.T, p string) {
		remove(t, p)
		write(t, p, nil)
		execute(t, p, "CREATE TABLE sessions (x); INSERT INTO sessions VALUES (1)")
	}},
	{name: "a table is missing", ruin: func(t *testing.T, p string) { execute(t, p, "DROP TABLE turns") }, rows: 300},
	{name: "a column is missing", ruin: func(t *testing.T, p string) { execute(t, p, "ALTER TABLE sessions DROP COLUMN model") }, rows: 600},
	{name: "a table is a view", ruin: func(t *testing.T, p string) {
		execute(t, p, "DROP TABLE folders; CREATE VIEW folders AS SELECT 1 AS cwd")
	}, rows: 900},
}

func TestADamagedStoreIsSetAsideAndANewOneBegun(t *testing.T) {
	good := newPath(t)
	fill(t, good, 300)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			path := newPath(t)
			mkdir(t, filepath.Dir(path))
			write(t, path, read(t, good))
			d.ruin(t, path)
			before := fingerprint(t, path)

			s, heard := open(t, path)
			s.SaveSession(session("new", 5))
			s.SaveTurn(turn("new1", "new", 6))
			s.SaveFolder(Folder{CWD: "/new"})
			if _, _, err := s.Sessions(ctx(t), Filter{}); err != nil { // meets damage that writing does not
				t.Errorf("list: %v", err)
			}
			for _, by := range append(Groupings(), "") {
				if _, err := s.Usage(ctx(t), at(0), by); err != nil {
					t.Errorf("usage by %s: %v", by, err)
				}
			}
			s.SaveSession(session("newer", 7))
			s.SaveTurn(turn("newer1", "newer", 8))
			if got, err := s.Session(ctx(t), "newer"); err != nil || got.Turns != 1 {
				t.Fatalf("what was saved after the damage: %+v, %v", got, err)
			}
			aside := asides(t, path)
			if d.kept != (len(aside) == 0) {
				t.Errorf("set aside: %v", aside)
			}
			if len(aside) > 0 {
				if n := heard.all(); len(n) == 0 || !strings.Contains(n[0], "damaged") {
					t.Errorf("notices %q", n)
				}
				if !before(aside) {
					t.Error("the damaged file is not what it was")
				}
			}
			shut(t, s)
			if result := check(t, path); result != "ok" {
				t.Errorf("the store is now: %s", result)
			}
			if rows := number(t, path, "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM turns)"); rows < d.rows {
				t.Errorf("%d sessions and turns are left, want %d", rows, d.rows)
			}
		})
	}
}

func TestAStoreThatIsDeletedWhileItIsOpenIsBegunAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted")
	}
	path := newPath(t)
	s, heard := open(t, path)
	s.SaveSession(session("a", 1))
	if _, err := s.Session(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	s.SaveSession(session("b", 2))
	if got, err := s.Session(ctx(t), "b"); err != nil || got.ID != "b" || len(heard.all()) > 0 {
		t.Errorf("got %+v, %v, %v", got, err, heard.all())
	}
}

func TestAStoreThatIsRuinedWhileItIsOpenIsBegunAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed")
	}
	path := newPath(t)
	fill(t, path, 300)
	s, heard := open(t, path)
	s.SaveSession(session("a", 1))
	if _, err := s.Session(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		truncate(0)(t, path+suffix)
	}
	for i := range 3 {
		id := fmt.Sprint("after", i)
		s.SaveSession(session(id, 2))
		if got, err := s.Session(ctx(t), id); err != nil || got.ID != id {
			t.Errorf("got %+v, %v, %v", got, err, heard.all())
		}
	}
}

func TestTwoStoresMeetTheSameDamageAndGoOnTogether(t *testing.T) {
	path := newPath(t)
	fill(t, path, 50)
	write(t, path, garbage(20000))
	first, _ := open(t, path)
	second, _ := open(t, path)
	first.SaveSession(session("first", 1))
	second.SaveSession(session("second", 2))
	for range 2 { // the second time each sees what the other wrote
		for _, s := range []*Store{first, second} {
			if _, _, err := s.Sessions(ctx(t), Filter{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range []*Store{first, second} {
		s.SaveSession(session("third", 3))
		if list, _, err := s.Sessions(ctx(t), Filter{}); err != nil || len(list) < 2 {
			t.Errorf("%d sessions, %v", len(list), err)
		}
	}
}

func TestADirectoryThatCannotBeWrittenIsANoticeAndNoMore(t *testing.T) {
	for name, path := range map[string]string{
		"a file in place of the directory": filepath.Join(asFile(t), "state", FileName),
		"a path that is too long":          filepath.Join(t.TempDir(), strings.Repeat("x", 300), FileName),
	} {
		t.Run(name, func(t *testing.T) {
			e := &ear{}
			s := Open(path, nil, e.notice)
			s.SaveSession(session("a", 1))
			if got, err := s.Session(ctx(t), "a"); err == nil && got.ID != "" {
				t.Errorf("got %+v", got)
			}
			_ = s.Close(ctx(t))
			if n := e.all(); len(n) != 1 || !strings.HasPrefix(n[0], "warning store: ") {
				t.Errorf("notices %q", n)
			}
		})
	}
}

func asFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, nil)
	return name
}
