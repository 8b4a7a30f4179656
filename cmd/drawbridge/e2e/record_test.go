//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"drawbridge/rpc/editor"
)

// recordings is the folder that what the CLIs print is written to, a file for each scenario; empty: nothing is recorded. make record
// sets it.
var recordings = os.Getenv("DRAWBRIDGE_RECORD")

// record traces a world, and makes a recording of it when the scenario is over.
func record(w *world, serve *exec.Cmd, _ *editor.InitializeParams) {
	trace := filepath.Join(w.home, "trace.jsonl")
	serve.Args = append(serve.Args, "--trace", trace)
	w.Cleanup(func() {
		lines, err := printed(trace)
		if err != nil || len(lines) == 0 {
			w.Logf("nothing was recorded: %v", err)
			return
		}
		if err := os.MkdirAll(recordings, 0o755); err != nil {
			w.Error(err)
			return
		}
		if err := keep(snake(w.Name()), newSanitiser(w).text(thin(lines))); err != nil {
			w.Error(err)
		}
	})
}

// private are scenarios that show the model files of this machine.
var private = []string{"three_reads_ask_at_once_and_are_answered_in_reverse"}

// kept are the recordings of this run: where a version cannot do several scenarios, they all go the same way.
var kept struct {
	sync.Mutex
	texts map[string]bool
}

func keep(name string, text []byte) error {
	kept.Lock()
	defer kept.Unlock()
	if slices.Contains(private, name) || kept.texts[string(text)] {
		return nil
	}
	if kept.texts == nil {
		kept.texts = map[string]bool{}
	}
	kept.texts[string(text)] = true
	return os.WriteFile(free(filepath.Join(recordings, name)), text, 0o644)
}

// printed is what the CLI has printed, from a trace.
func printed(trace string) ([][]byte, error) {
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines [][]byte
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		var t struct {
			Side, Dir string
			Message   json.RawMessage
		}
		if json.Unmarshal(line, &t) == nil && t.Side == "claude" && t.Dir == "in" {
			lines = append(lines, t.Message)
		}
		if err != nil {
			return lines, nil
		}
	}
}

// keptTurns is how many turns of a scenario are kept: some repeat the same many times.
const keptTurns = 6

// thin leaves out later turns, and the deltas of inputs that hold a piece of a path: it may be spread over several, and then not be
// found. The text of answers stays whole: a test compares it with what the tokens make.
func thin(lines [][]byte) [][]byte {
	var list [][]byte
	turns := 0
	for _, line := range lines {
		if bytes.Contains(line, []byte(`"input_json_delta"`)) && bytes.ContainsAny(after(line, `"partial_json":`), `/`) {
			continue
		}
		list = append(list, line)
		if bytes.Contains(line, []byte(`"type":"result"`)) {
			if turns++; turns == keptTurns {
				break
			}
		}
	}
	return list
}

func after(line []byte, mark string) []byte {
	_, rest, _ := bytes.Cut(line, []byte(mark))
	return rest
}

// sanitiser takes out of recordings what is of this machine and this run.
type sanitiser struct {
	paths *strings.Replacer
	ids   map[string]string
}

func newSanitiser(w *world) *sanitiser {
	// Transcripts are kept in a folder named after the project, every odd character a dash.
	dashed := func(path string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return '-'
		}, path)
	}
	return &sanitiser{ids: map[string]string{}, paths: strings.NewReplacer(
		w.project, "/home/user/project", dashed(w.project), "-home-user-project",
		w.home, "/home/user", filepath.Dir(w.home), "/home", w.claude(), "/usr/local/bin/claude", cache, "/usr/local/lib", w.api.URL(), "http://127.0.0.1:1")}
}

var (
	uuids     = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	instants  = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	durations = regexp.MustCompile(`"((?:duration|duration_api|ttft|ttft_stream|time_to_request|first_content_frame|request_sent_wall|thinking_duration)_ms|pid)":[0-9.]+`)
	sockets   = regexp.MustCompile(`"messaging_socket_path":"[^"]*"`)
)

func (s *sanitiser) text(lines [][]byte) []byte {
	var b bytes.Buffer
	for _, line := range lines {
		text := string(shortened([]byte(s.paths.Replace(string(line)))))
		text = uuids.ReplaceAllStringFunc(text, s.id)
		text = instants.ReplaceAllString(text, "2026-01-01T00:00:00.000Z")
		text = durations.ReplaceAllString(text, `"$1":100`)
		text = sockets.ReplaceAllString(text, `"messaging_socket_path":"/home/user/socket"`)
		b.WriteString(text + "\n")
	}
	return b.Bytes()
}

// id numbers the ids in the order they are met, so that a recording differs from the last one only where the CLI does.
func (s *sanitiser) id(uuid string) string {
	known, ok := s.ids[uuid]
	if !ok {
		known = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.ids)+1)
		s.ids[uuid] = known
	}
	return known
}

var longStrings = regexp.MustCompile(`"(?:[^"\\]|\\.){400,}"`)

// shortened cuts long texts: descriptions of commands and agents, and contents of files.
func shortened(line []byte) []byte {
	return longStrings.ReplaceAllFunc(line, func(text []byte) []byte {
		cut := 60
		for text[cut-1] == '\\' || text[cut-1] >= 0x80 || bytes.LastIndexByte(text[:cut], '\\') > cut-7 {
			cut--
		}
		return append(text[:cut:cut], `…"`...)
	})
}

// snake is the scenario's name as a file's: TestAllowedBashRuns/2.0.0 becomes allowed_bash_runs.
func snake(test string) string {
	test, _, _ = strings.Cut(strings.TrimPrefix(test, "Test"), "/")
	words := regexp.MustCompile(`[A-Z]+s?(?:[A-Z][a-z]|$)|[A-Z][a-z]*|[0-9]+`)
	return strings.ToLower(strings.Trim(words.ReplaceAllStringFunc(test, func(word string) string {
		// An acronym ends where the next word begins.
		if n := len(word); n > 2 && unicode.IsUpper(rune(word[n-2])) && unicode.IsLower(rune(word[n-1])) && word[n-1] != 's' {
			return "_" + word[:n-2] + "_" + word[n-2:]
		}
		return "_" + word
	}), "_"))
}

// free is the first name that is not taken: a scenario may have several worlds.
func free(path string) string {
	for n := 1; ; n++ {
		name := path + ".jsonl"
		if n > 1 {
			name = fmt.Sprintf("%s_%d.jsonl", path, n)
		}
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}
