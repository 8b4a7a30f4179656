package store

import (
	"errors"
	"os"

	"go.uber.org/zap"
	"zombiezen.com/go/sqlite"
)

// trouble is why the store does not work, in the kinds that a user can do something about.
type trouble int

const (
	none     trouble = iota
	damaged          // what is in the file makes no sense
	full             // no room on the disk
	locked           // another program has it
	unusable         // it cannot be opened, read or written
)

var (
	errForeign   = errors.New("the file is another program's database")
	errMisplaced = errors.New("the file is not as it was left")
	errPanic     = errors.New("reading the file failed")
)

func troubleOf(err error) trouble {
	if errors.Is(err, errForeign) || errors.Is(err, errMisplaced) || errors.Is(err, errPanic) {
		return damaged
	}
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		return troubleOfSystem(pathErr)
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultFormat,
		sqlite.ResultError, sqlite.ResultMismatch, sqlite.ResultConstraint: // a table or a column is not as it was made
		return damaged
	case sqlite.ResultFull:
		return full
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol:
		return locked
	}
	return unusable
}

// tell reports trouble, once until there is other trouble or none.
func (f *file) tell(t trouble, err error) {
	f.log.Warn("the store does not work", zap.String("path", f.path), zap.Error(err))
	if t == f.trouble {
		return
	}
	f.trouble = t
	switch t {
	case full:
		f.notice("warning", Kind, "The disk is full, so drawbridge does not remember sessions and their usage.",
			"Make room on the disk that holds "+f.path+"; what is not written yet is written then.")
	case locked:
		f.notice("warning", Kind, "Another program has locked drawbridge's store, so sessions and their usage are not remembered for now.",
			"Close the program that has "+f.path+" open.")
	default:
		f.notice("warning", Kind, "Drawbridge's store cannot be used, so sessions and their usage are not remembered: "+err.Error()+".",
			"See to it that "+f.path+" and its folder can be read and written.")
	}
}

// recovered notes that the store works.
func (f *file) recovered() {
	if f.trouble == none {
		return
	}
	f.trouble = none
	f.log.Info("the store works again", zap.String("path", f.path))
	f.notice("info", Kind, "Drawbridge's store works again.", "")
}
