package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

// ReadAudit reads the audit file path and those put aside from it, oldest first. each gets the records and their lines, safe to print
// and without a line end, which are borrowed; an error of its own ends the reading. What is no record is counted and left out: the last line of a bridge
// that was killed, or a line that somebody else wrote. That there is no file is no error.
func ReadAudit(path string, each func(r AuditRecord, line []byte) error) (foreign int, err error) {
	for _, name := range append(asides(path), path) {
		n, err := readAuditFile(name, each)
		foreign += n
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return foreign, err
		}
	}
	return foreign, nil
}

func readAuditFile(name string, each func(AuditRecord, []byte) error) (foreign int, err error) {
	st, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	f, err := openRegular(name, st)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, maxAuditRecord)
	for {
		line, err := lines.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) { // longer than any record
			long = true
			line, err = lines.ReadSlice('\n')
		}
		if len(line) > 0 || long {
			var r AuditRecord
			line = bytes.TrimSpace(line)
			switch {
			case len(line) == 0 && !long:
			case long || json.Unmarshal(line, &r) != nil || r.Time.IsZero() || r.Tool == "":
				foreign++
			default:
				if err := each(r, printable(line)); err != nil {
					return foreign, err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return foreign, nil
		}
		if err != nil {
			return foreign, err
		}
	}
}
