package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.uber.org/zap"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// file is the database file as run has it. It belongs to run's goroutine.
type file struct {
	path   string
	log    *zap.Logger
	notice Notice

	conn    *connection
	info    fs.FileInfo // of the file that is open, or was tried last
	trouble trouble     // what the user was told last; none after a success
	asides  int         // damaged files that were set aside
}

// connection is an open and current database.
type connection struct{ *sqlite.Conn }

// maxAsides bounds the damaged files one bridge leaves behind: a disk that destroys every file is not helped by more.
const maxAsides = 3

// busyLimit is how long another bridge, or a person with a database tool, may keep the file locked.
const busyLimit = 3 * time.Second

// do runs use with a connection. A damaged file is set aside, and use gets a new one; it must bear to be run again. What went wrong is told to the user once.
func (f *file) do(use func(*connection) error) error {
	for {
		err := f.try(use)
		if err == nil {
			f.recovered()
			return nil
		}
		t := troubleOf(err)
		if t != locked {
			f.disconnect()
		}
		if t != damaged || f.asides >= maxAsides {
			f.tell(t, err)
			return err
		}
		if aerr := f.setAside(err); aerr != nil {
			f.tell(unusable, aerr)
			return aerr
		}
	}
}

// exists reports whether there is anything to read.
func (f *file) exists() bool {
	_, err := os.Stat(f.path)
	return !errors.Is(err, fs.ErrNotExist)
}

// try connects and runs use. A panic out of the database's code is an error of the file: it happens on no whole one.
func (f *file) try(use func(*connection) error) (err error) {
	// The index of the log is mapped into memory: if another process cuts it short, that is a fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			f.conn = nil // not closed: who knows what state it is in
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	if err := f.connect(); err != nil {
		return err
	}
	return use(f.conn)
}

// connect opens the file, unless it is open and still the one at path.
func (f *file) connect() error {
	if f.conn != nil {
		if now, err := os.Stat(f.path); err == nil && os.SameFile(now, f.info) {
			return nil
		}
		f.disconnect() // it was deleted, or set aside by another bridge
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	// The log and the index of the database get the permissions of the file. It is only opened here if it is new: to close a second
	// descriptor of it would give up the locks that the process has on it.
	created, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = created.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if f.info, err = os.Stat(f.path); err != nil {
		return err
	}
	if !f.info.IsDir() && f.info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(f.path, 0o600)
	}
	if why := misplaced(f.path); why != nil {
		return why
	}
	conn, err := sqlite.OpenConn(f.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	if err := prepare(conn); err != nil {
		_ = conn.Close()
		return err
	}
	f.conn = &connection{conn}
	return nil
}

// misplaced says what SQLite would not: that something else stands where one of its files should, that the file ends inside a page,
// or that it has been emptied while its log was not, which SQLite would take for a reason to delete the log.
func misplaced(path string) error {
	var beside [3]int64
	for i, suffix := range []string{"-wal", "-journal", "-shm"} {
		info, err := os.Stat(path + suffix)
		switch {
		case err != nil:
		case info.IsDir():
			return fmt.Errorf("%w: its %s is a directory", errMisplaced, suffix)
		default:
			beside[i] = info.Size()
		}
	}
	// The file is looked at last: another bridge that begins one writes it before its log.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: it is a directory", errMisplaced)
	case info.Size() == 0 && beside[0] > 0:
		return fmt.Errorf("%w: it is empty", errMisplaced)
	case info.Size()%minPage != 0 && beside[0] == 0 && beside[1] == 0: // else the rest of the page is in the log
		return fmt.Errorf("%w: it ends inside a page", errMisplaced)
	}
	return nil
}

// minPage is the smallest page a database may have; all sizes are multiples of it.
const minPage = 512

// prepare sets a connection up. It keeps little in memory: an idle bridge is to weigh nothing. A file system without shared memory
// cannot have a write-ahead log and does without.
func prepare(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(busyLimit)
	for _, pragma := range []string{
		"PRAGMA cache_size = -128",
		"PRAGMA journal_mode = wal",
		"PRAGMA synchronous = normal",
		"PRAGMA wal_autocheckpoint = 128",
		"PRAGMA journal_size_limit = 1048576",
	} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil && troubleOf(err) == damaged {
			return err
		}
	}
	return migrate(conn)
}

func (f *file) disconnect() {
	if f.conn == nil {
		return
	}
	if err := f.conn.Close(); err != nil {
		f.log.Debug("closing the store", zap.Error(err))
	}
	f.conn = nil
}
