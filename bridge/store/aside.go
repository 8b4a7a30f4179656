package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// setAside renames the damaged file and what belongs to it, and begins a new one with what can still be read of the old.
func (f *file) setAside(why error) error {
	now, err := os.Stat(f.path)
	if err != nil || f.info == nil || !os.SameFile(now, f.info) {
		return nil // another bridge was faster
	}
	f.asides++
	aside := f.path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000")
	if err := os.Rename(f.path, aside); err != nil {
		return fmt.Errorf("the damaged store could not be set aside: %w", err)
	}
	if moved, err := os.Stat(aside); err == nil && !os.SameFile(moved, f.info) {
		// Between the look and the renaming another bridge has put a new file there: it goes back.
		return os.Rename(aside, f.path)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Rename(f.path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("a part of the damaged store stays", zap.Error(err))
		}
	}
	f.log.Warn("the store was damaged", zap.String("aside", aside), zap.Error(why))
	kept := f.salvage(aside)
	f.notice("warning", Kind, fmt.Sprintf("Drawbridge's store was damaged and a new one was begun; %d of its sessions and %d of its turns could be kept.",
		kept["sessions"], kept["turns"]), "The old file is "+aside+"; delete it when you do not need it.")
	return nil
}

// salvageLimit is the size in bytes up to which a damaged file is copied to be read.
const salvageLimit = 64 << 20

// salvage copies what can be read of a damaged file into a new one and counts it by table. It reads a copy: to open a database is to
// change it.
func (f *file) salvage(aside string) (kept map[string]int) {
	kept = map[string]int{}
	defer func() {
		if p := recover(); p != nil {
			f.log.Warn("reading the damaged store failed", zap.Any("panic", p))
		}
	}()
	copied := f.path + ".salvage"
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(copied + suffix)
		}
	}()
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(aside+suffix, copied+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Info("the damaged store is not read", zap.Error(err))
			return kept
		}
	}
	complete(copied)
	old, err := sqlite.OpenConn(copied, sqlite.OpenReadWrite)
	if err != nil {
		return kept
	}
	defer old.Close()
	if id, err := count(old, "PRAGMA application_id"); err != nil || id != applicationID {
		return kept
	}
	_ = f.try(func(c *connection) error {
		for _, table := range []string{"sessions", "conversations", "turns", "model_usage", "folders"} {
			kept[table] = c.takeOver(old, table)
		}
		return nil
	})
	return kept
}

// takeOver copies the rows of a table that can be read: from the front up to the damage, and from the back.
func (c *connection) takeOver(old *sqlite.Conn, table string) (rows int) {
	var columns, values string
	err := sqlitex.ExecuteTransient(c.Conn, "SELECT name FROM pragma_table_info('"+table+"')", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if columns != "" {
				columns, values = columns+", ", values+", "
			}
			columns, values = columns+stmt.ColumnText(0), values+"?"
			return nil
		}})
	if err != nil || columns == "" {
		return 0
	}
	end, err := sqlitex.ImmediateTransaction(c.Conn)
	if err != nil {
		return 0
	}
	defer end(&err)
	insert := "INSERT OR IGNORE INTO " + table + " (" + columns + ") VALUES (" + values + ")"
	for _, order := range []string{"ASC", "DESC"} {
		query := "SELECT " + columns + " FROM " + table + " NOT INDEXED ORDER BY 1 " + order
		if table != "model_usage" { // which has no rowid
			query = "SELECT " + columns + " FROM " + table + " NOT INDEXED ORDER BY rowid " + order
		}
		damage := sqlitex.ExecuteTransient(old, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			args := make([]any, stmt.ColumnCount())
			for i := range args {
				switch stmt.ColumnType(i) {
				case sqlite.TypeInteger:
					args[i] = stmt.ColumnInt64(i)
				case sqlite.TypeFloat:
					args[i] = stmt.ColumnFloat(i)
				case sqlite.TypeText:
					args[i] = stmt.ColumnText(i)
				}
			}
			if sqlitex.Execute(c.Conn, insert, &sqlitex.ExecOptions{Args: args}) == nil {
				rows += c.Changes()
			}
			return nil
		}})
		if damage == nil {
			break
		}
	}
	return rows
}

// complete makes a file that was cut as long as its header says: the pages that are gone are damage like any other then, while of
// too short a file SQLite would read nothing.
func complete(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	var header [32]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	whole := page * int64(binary.BigEndian.Uint32(header[28:]))
	if info, err := f.Stat(); err == nil && info.Size() < whole && whole <= salvageLimit {
		_ = f.Truncate(whole)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > salvageLimit {
		return fmt.Errorf("%s is no file of up to %d bytes", from, salvageLimit)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
