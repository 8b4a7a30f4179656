package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"
)

// Trace writes the messages of both sides to a file, a JSON object a line:
//
//	{"time":"…","side":"claude","dir":"in","session_id":"…","message":{…}}
//
// side is editor or claude; dir is as drawbridge sees it. Secrets are taken out. A nil Trace writes nothing.
type Trace struct {
	mu  sync.Mutex
	w   io.WriteCloser
	buf []byte
}

// OpenTrace makes a trace that appends to the file path, readable by the user alone.
func OpenTrace(path string) (*Trace, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return &Trace{w: f}, nil
}

// Close ends the trace.
func (t *Trace) Close() error {
	if t == nil {
		return nil
	}
	return t.w.Close()
}

type direction string

const (
	fromCLI direction = "in"
	toCLI   direction = "out"
)

// Editor traces a frame to or from the editor.
func (t *Trace) Editor(incoming bool, frame []byte) {
	if t == nil {
		return
	}
	dir := toCLI
	if incoming {
		dir = fromCLI
	}
	t.write("editor", dir, "", frame)
}

// line traces a line to or from the CLI.
func (t *Trace) line(session string, dir direction, line []byte) {
	if t == nil {
		return
	}
	t.write("claude", dir, session, line)
}

func (t *Trace) write(side string, dir direction, session string, message []byte) {
	message = redact(bytes.TrimSpace(message))
	t.mu.Lock()
	defer t.mu.Unlock()
	b := append(t.buf[:0], `{"time":"`...)
	b = time.Now().UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(append(b, `","side":"`...), side...)
	b = append(append(b, `","dir":"`...), dir...)
	if session != "" {
		b = append(append(b, `","session_id":"`...), session...)
	}
	b = append(b, `","message":`...)
	if json.Valid(message) && bytes.IndexByte(message, '\n') < 0 {
		b = append(b, message...)
	} else {
		quoted, _ := json.Marshal(string(message)) // a string can always be marshalled
		b = append(b, quoted...)
	}
	b = append(b, "}\n"...)
	_, _ = t.w.Write(b) // a full disk does not stop the work
	if t.buf = b; cap(t.buf) > keepBuffer {
		t.buf = nil
	}
}

// secrets are what never gets into a log, a trace or the last words of a process: API keys and tokens by their shape, and the
// values of members, variables and headers by their names.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{8})[A-Za-z0-9_-]+`),
	regexp.MustCompile(`\b((?:ghp|gho|ghs|ghu|glpat|xox[abps])[-_])[A-Za-z0-9_-]{8,}`),
	regexp.MustCompile(`\b(AKIA)[A-Z0-9]{12,}`),
	regexp.MustCompile(`\b(eyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)("[a-z0-9_-]*(?:api[_-]?key|secret|token|password|passwd|authorization|cookie|credential)"\s*:\s*")(?:[^"\\]|\\.)+`),
	regexp.MustCompile(`(?i)(\b[a-z0-9_]*(?:api_?key|secret|token|password|passwd|credential)[a-z0-9_]*=)[^\s"'\\&]+`),
}

const redacted = "${1}[redacted]"

// redact takes the secrets out of text. The one redactor for everything that is written down.
func redact(text []byte) []byte {
	for _, s := range secrets {
		if s.Match(text) {
			text = s.ReplaceAll(text, []byte(redacted))
		}
	}
	return text
}
