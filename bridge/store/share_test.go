package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const perWriter = 60 // sessions that each writer of a shared store saves, with two turns each

// saveMany saves as a busy bridge would, waiting for the file now and then.
func saveMany(s *Store, name string) error {
	for i := range perWriter {
		id := fmt.Sprintf("%s-%d", name, i)
		s.SaveSession(session(id, i))
		s.SaveTurn(turn(id+"a", id, i))
		s.SaveTurn(turn(id+"b", id, i))
		s.SaveFolder(Folder{CWD: "/shared", Tools: []string{name}})
		if i%10 == 9 {
			if _, err := s.Session(context.Background(), id); err != nil {
				return fmt.Errorf("session %s: %w", id, err)
			}
		}
	}
	return nil
}

// writeAsAnotherProcess is the main of a process that shares the store of a test.
func writeAsAnotherProcess(path, name string) int {
	failed := 0
	s := Open(path, nil, func(level, kind, message, remedy string) {
		failed = 1
		fmt.Fprintln(os.Stderr, level, kind, message, remedy)
	})
	if err := saveMany(s, name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		failed = 1
	}
	c, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Close(c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return failed
}

func TestTwoStoresAndTwoProcessesShareOneFile(t *testing.T) {
	path := newPath(t)
	var group sync.WaitGroup
	for i := range 2 {
		s, heard := open(t, path)
		group.Go(func() {
			if err := saveMany(s, fmt.Sprintf("store%d", i)); err != nil || len(heard.all()) > 0 {
				t.Errorf("%v %v", err, heard.all())
			}
		})
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DRAWBRIDGE_STORE_WRITER="+path, fmt.Sprintf("DRAWBRIDGE_STORE_NAME=process%d", i))
		group.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	s, _ := open(t, path)
	list, _, err := s.Sessions(ctx(t), Filter{})
	if err != nil || len(list) != 4*perWriter {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, v := range list {
		if v.Turns != 2 {
			t.Errorf("%s has %d turns", v.ID, v.Turns)
		}
	}
	if len(asides(t, path)) > 0 {
		t.Errorf("set aside: %v", asides(t, path))
	}
}

func TestKilledProcessLeavesAFileThatOpens(t *testing.T) {
	path := newPath(t)
	fill(t, path, 3)
	for i := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DRAWBRIDGE_STORE_WRITER="+path, fmt.Sprintf("DRAWBRIDGE_STORE_NAME=killed%d", i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before := number(t, path, "SELECT count(*) FROM turns")
		for deadline := time.Now().Add(20 * time.Second); number(t, path, "SELECT count(*) FROM turns") == before && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s, heard := open(t, path)
		if _, err := s.Session(ctx(t), "s0001"); err != nil || len(heard.all()) > 0 {
			t.Errorf("%v %v", err, heard.all())
		}
	}
}

func TestAHangingDiskHoldsUpNobodyAndFillsNoMemory(t *testing.T) {
	path := newPath(t)
	fill(t, path, 1)
	lock := inside(t, path) // holds the store's goroutine as a disk that hangs would
	defer lock.Close()
	if _, err := count(lock, "PRAGMA locking_mode = exclusive"); err != nil {
		t.Fatal(err)
	}
	if _, err := count(lock, "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, path)
	for i := range maxTurns + 500 {
		s.SaveTurn(turn(fmt.Sprintf("t%d", i), "s0000", i%60))
		s.SaveSession(Session{ID: "s0000", Model: fmt.Sprint("m", i)})
		s.SaveSession(session(fmt.Sprint("x", i%(maxSessions+50)), 1))
		s.SaveFolder(Folder{CWD: fmt.Sprint("/", i%200)})
		s.Rename(fmt.Sprint(i), "t")
		s.Delete(fmt.Sprint(i))
	}
	s.mu.Lock()
	q := s.queue
	if len(q.turns) > maxTurns || len(q.sessions) > maxSessions || len(q.folders) > maxFolders || len(q.names) > maxNames || len(q.deleted) > maxDeleted {
		t.Errorf("queued: %d turns, %d sessions, %d folders, %d names, %d deleted", len(q.turns), len(q.sessions), len(q.folders), len(q.names), len(q.deleted))
	}
	s.mu.Unlock()
	if s.Dropped() == 0 {
		t.Error("nothing is said to be dropped")
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Session(gone, "s0000"); err == nil {
		t.Error("a reader that gave up got an answer")
	}
	if _, err := count(lock, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	// What is queued is written now, in the order of its saving.
	got, err := s.Session(ctx(t), "s0000")
	if err != nil || got.Model != fmt.Sprint("m", maxTurns+499) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestALockedStoreIsOneNoticeAndThenWritten(t *testing.T) {
	path := newPath(t)
	fill(t, path, 1)
	lock := inside(t, path)
	defer lock.Close()
	if _, err := count(lock, "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	s, heard := open(t, path)
	s.SaveTurn(turn("late", "s0000", 5))
	for deadline := time.Now().Add(30 * time.Second); len(heard.all()) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := count(lock, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(ctx(t), "s0000")
	if err != nil || got.Turns != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := heard.all(); len(n) != 2 || !strings.Contains(n[0], "locked") || !strings.Contains(n[1], "works again") {
		t.Errorf("notices %q", n)
	}
}

func TestCloseDoesNotWaitForADiskThatHangs(t *testing.T) {
	path := newPath(t)
	fill(t, path, 1)
	lock := inside(t, path)
	defer lock.Close()
	if _, err := count(lock, "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	s := Open(path, nil, nil)
	s.SaveTurn(turn("late", "s0000", 5))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Close(gone); err == nil {
		t.Error("closing says that all was written")
	}
	if _, err := count(lock, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	shut(t, s) // the turn was given the time that there was
	if n := number(t, path, "SELECT count(*) FROM turns WHERE id = 'late'"); n != 1 {
		t.Errorf("%d turns are there", n)
	}
}
