package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxAuditRecord bounds a line of the audit file, in bytes.
	maxAuditRecord = 64 << 10
	// maxAuditFile is how large the audit file may get before it is put aside, and keptAudits how many of those are kept.
	maxAuditFile = 8 << 20
	keptAudits   = 8
)

// AuditRecord is a decision about a tool use, as it is written down.
type AuditRecord struct {
	Time      time.Time `json:"time"`
	SessionID string    `json:"session_id"`
	PromptID  string    `json:"prompt_id,omitempty"` // if the user was asked
	ToolUseID string    `json:"tool_use_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"` // of a subagent
	CWD       string    `json:"cwd,omitempty"`
	Tool      string    `json:"tool"`
	Outcome   string    `json:"outcome"`           // allowed, denied, answered, declined, withdrawn
	By        string    `json:"by"`                // user, rule, grant, hook, claude, timeout, interrupt, session_closed, error
	Rule      string    `json:"rule,omitempty"`    // that decided, or that the user was asked for
	File      string    `json:"file,omitempty"`    // where the rule stands
	Scope     string    `json:"scope,omitempty"`   // how long the user let it hold
	OpenMS    int64     `json:"open_ms,omitempty"` // how long the question was open, in milliseconds
	// Input is what would run, without secrets. If it is too long it is a string, the beginning of the input, and InputBytes says
	// how long the input is.
	Input      json.RawMessage `json:"input,omitempty"`
	InputBytes int             `json:"input_bytes,omitempty"`
}

// Audit is the file that every decision is written to, a JSON object a line. Several bridges append to it: each line is one write(2)
// with O_APPEND. It is the user's alone to read, and never a link. Nothing is ever taken out of it; a file that has grown large is
// renamed, to a name of its own, so that of two bridges that do it at once none removes what the other has put aside.
// A nil Audit writes nothing.
type Audit struct {
	path string

	mu   sync.Mutex // guards f
	f    *os.File   // nil: not open
	torn bool       // the file ends in a piece of a line
}

// OpenAudit makes an Audit of the file path, which is opened, and made, with the first record.
func OpenAudit(path string) *Audit { return &Audit{path: path} }

// Write appends a record. An error means that it is not in the file, or not as a whole.
func (a *Audit) Write(r AuditRecord) error {
	if a == nil {
		return nil
	}
	line := r.line()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if a.torn {
		line = append([]byte("\n"), line...)
	}
	if _, err := a.f.Write(line); err != nil {
		a.close() // a piece may have been written: the next open looks
		return fmt.Errorf("audit: %w", err)
	}
	a.torn = false
	if st, err := a.f.Stat(); err == nil && st.Size() > maxAuditFile {
		a.putAside()
	}
	return nil
}

// Close closes the file. The next Write opens it again.
func (a *Audit) Close() error {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.close()
	}
	return nil
}

func (a *Audit) close() {
	if a.f != nil {
		_ = a.f.Close() // nothing is buffered
		a.f = nil
	}
}

// open opens the file unless it is open and still the one with that name: another bridge may have put it aside.
func (a *Audit) open() error {
	now, err := os.Lstat(a.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if a.f != nil {
		if st, err := a.f.Stat(); err == nil && now != nil && os.SameFile(st, now) {
			return nil
		}
		a.close()
	}
	if now != nil && !now.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", a.path)
	}
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
			return err
		}
		// O_EXCL follows no link, not even one to nowhere.
		f, err = os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) { // another bridge was faster
			f, err = os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0)
		}
	}
	if err != nil {
		return err
	}
	if err := a.accept(f); err != nil {
		_ = f.Close()
		return err
	}
	a.f = f
	return nil
}

// accept checks that what was opened is the file of that name and no link, and that it is the user's own.
func (a *Audit) accept(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(a.path)
	if err != nil {
		return err
	}
	if !now.Mode().IsRegular() || !os.SameFile(st, now) {
		return fmt.Errorf("%s is no regular file", a.path)
	}
	if st.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		if err := f.Chmod(0o600); err != nil { // it is somebody else's
			return fmt.Errorf("%s may be read by others: %w", a.path, err)
		}
	}
	last := []byte("\n")
	if st.Size() > 0 {
		if _, err := f.ReadAt(last, st.Size()-1); err != nil {
			return err
		}
	}
	a.torn = last[0] != '\n'
	return nil
}

// putAside renames the file and removes the oldest of those that were. That it fails (on Windows, while another bridge has the file
// open) does no harm: the file goes on to grow.
func (a *Audit) putAside() {
	base := strings.TrimSuffix(a.path, ".jsonl")
	aside := fmt.Sprintf("%s-%s-%d.jsonl", base, time.Now().UTC().Format("20060102T150405.000000000"), os.Getpid())
	a.close()
	if os.Rename(a.path, aside) != nil {
		return
	}
	old := asides(a.path)
	for _, name := range old[:max(0, len(old)-keptAudits)] {
		_ = os.Remove(name)
	}
}

// asides are the files that were put aside, oldest first: their names begin with their time.
func asides(path string) []string {
	dir, base := filepath.Split(strings.TrimSuffix(path, ".jsonl"))
	entries, _ := os.ReadDir(filepath.Clean(dir + "."))
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+"-") && strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() {
			names = append(names, dir+e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// line is the record as it is written, at most maxAuditRecord bytes: without secrets, and with everything escaped that a terminal
// could take for an instruction or that would not be seen.
func (r AuditRecord) line() []byte {
	r.Time = r.Time.UTC().Round(time.Millisecond)
	for _, s := range []*string{&r.SessionID, &r.PromptID, &r.ToolUseID, &r.AgentID, &r.CWD, &r.Tool, &r.Rule, &r.File} {
		*s = shortened(*s, 1<<10)
	}
	input := r.Input
	for most := 3 * maxAuditRecord; ; most /= 2 {
		r.Input, r.InputBytes = input, 0
		if len(input) > most || !json.Valid(input) && len(input) > 0 {
			r.Input, r.InputBytes = marshal(shortened(string(input), most)), len(input)
		}
		r.Input = plainStrings(r.Input)
		line := redact(marshal(r))
		if !json.Valid(line) { // what was taken out has cut a string open
			r.Input, r.InputBytes = marshal(string(redact(r.Input))), len(input)
			line = marshal(r)
		}
		if line = append(printable(line), '\n'); len(line) <= maxAuditRecord {
			return line
		}
	}
}

// shortened is the beginning of s, with a marker if there is more. What may be half a secret at the end goes, too.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= most {
		return s
	}
	cut := strings.ToValidUTF8(s[:most], "")
	end := max(strings.LastIndexAny(cut, " \n\t\"'\\,;=:/&"), len(cut)-len(cut)/8)
	return strings.ToValidUTF8(cut[:end], "") + "… [cut]"
}

// plainStrings writes each string of a JSON text with no more escapes than it needs, so that the redactor sees what it says, and takes
// the blanks between values away.
func plainStrings(text json.RawMessage) json.RawMessage {
	var b []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			var s string
			if end >= len(text) || json.Unmarshal(text[i:end+1], &s) != nil {
				return marshal(string(text))
			}
			b = append(b, marshal(s)...)
			i = end
		default:
			b = append(b, c)
		}
	}
	return b
}

// printable escapes what is not to be printed as it is: DEL, C1, invisible and bidirectional characters, blanks other than the space.
// All of it stands in strings, where JSON has already escaped the lower controls.
func printable(line []byte) []byte {
	if !bytes.ContainsFunc(line, func(r rune) bool { return r >= 0x7f }) {
		return line
	}
	var b []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case r < 0x7f || unicode.IsPrint(r) && (r != utf8.RuneError || n > 1):
			b = append(b, line[:n]...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		}
		line = line[n:]
	}
	return b
}
