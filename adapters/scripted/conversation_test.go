package scripted

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"
)

var rewrite = flag.Bool("update", false, "write what the agent says into testdata")

// TestConversations plays the host's side of each testdata/*.txtar and compares all that was said, in its order.
//
// The archive is a script with one file more, conversation:
//
//	$ --replay-user-messages           the command line
//	> {"type":"user",…}                the host says, once the agent is silent
//	>> {"type":"control_request",…}    the host says, in the same instant as the line before
//	> answer {"behavior":"allow"}      the host answers the newest control_request of the agent
//	> hi                               short for a user message; U1 hi gives it a uuid
//	> interrupt                        short for that control_request
//	> close                            the host closes stdin
//	= until tok3                       wait for a line that holds this; the next > does not wait for silence
//	< {"type":"system",…}              the agent says, without what is the same in every line or changes with it
//	! text                             on stderr, after the end
//	exit 0
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "conversation" })
			want := string(archive.Files[i].Data)
			script := *archive
			script.Files = slices.Delete(slices.Clone(archive.Files), i, i+1)
			var got string
			synctest.Test(t, func(t *testing.T) { got = converse(t, txtar.Format(&script), want) })
			if *rewrite {
				archive.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("the conversation went another way\n%s", firstDifference(want, got))
			}
		})
	}
}

// host is the other end of an agent that runs in this bubble.
type host struct {
	stdin  io.WriteCloser
	lines  chan string
	stderr *bytes.Buffer
	exit   chan int
}

func play(ctx context.Context, t testing.TB, script *Script, args ...string) *host {
	t.Helper()
	if !slices.Contains(args, "--quiet") {
		args = append(args, "--include-partial-messages")
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{stdin: inW, lines: make(chan string, 1<<16), stderr: &bytes.Buffer{}, exit: make(chan int, 1)}
	go func() { h.exit <- Run(ctx, script, args, inR, outW, h.stderr) }()
	go func() {
		defer close(h.lines)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				h.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return h
}

func parse(t testing.TB, archive string) *Script {
	t.Helper()
	s, err := Parse([]byte(archive))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func converse(t *testing.T, script []byte, conversation string) string {
	var said []string
	var args []string
	steps := strings.Split(conversation, "\n")
	if rest, found := strings.CutPrefix(steps[0], "$ "); found {
		args = strings.Fields(rest)
		said = append(said, steps[0])
	}
	s := parse(t, string(script))
	h := play(t.Context(), t, s, args...)
	var asked string
	hear := func(line string) {
		if strings.HasPrefix(line, `{"type":"control_request"`) {
			asked = line
		}
		if short := summary(line); len(said) > 0 && sameDelta(said[len(said)-1], short) {
			return // of a row of deltas the first one is shown
		} else {
			said = append(said, "< "+short)
		}
	}
	silence := func() {
		time.Sleep(time.Hour) // of the bubble: all timers have fired
		synctest.Wait()
		for len(h.lines) > 0 {
			hear(<-h.lines)
		}
	}
	impatient := false
	for _, step := range steps {
		mark, text, _ := strings.Cut(step, " ")
		switch mark {
		case ">", ">>":
			if mark == ">" && !impatient {
				silence()
			}
			impatient = false
			said = append(said, step)
			first, rest, _ := strings.Cut(text, " ")
			switch {
			case text == "interrupt":
				text = `{"type":"control_request","request_id":"int-1","request":{"subtype":"interrupt"}}`
			case len(first) == 2 && first[0] == 'U':
				text = `{"type":"user","message":{"role":"user","content":` + quoted(rest) + `},"uuid":"` + first + `"}`
			case text != "close" && first != "answer" && text[0] != '{':
				text = `{"type":"user","message":{"role":"user","content":` + quoted(text) + `}}`
			}
			switch {
			case text == "close":
				h.stdin.Close()
			case strings.HasPrefix(text, "answer "):
				fmt.Fprintf(h.stdin, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`+"\n",
					field([]byte(asked), "request_id"), text[len("answer "):])
			default:
				_, _ = io.WriteString(h.stdin, strings.ReplaceAll(text, `"U`, `"aaaaaaaa-0000-4000-8000-00000000000`)+"\n")
			}
		case "=":
			impatient = true
			said = append(said, step)
			for {
				select {
				case line, open := <-h.lines:
					if !open {
						t.Fatalf("the agent ended before it said %s", text)
					}
					hear(line)
					if strings.Contains(line, strings.TrimPrefix(text, "until ")) {
						goto heard
					}
				case <-time.After(time.Hour):
					t.Fatalf("the agent never said %s", text)
				}
			}
		heard:
			synctest.Wait() // the rest of this instant
			for len(h.lines) > 0 {
				hear(<-h.lines)
			}
		}
	}
	silence()
	h.stdin.Close()
	code := <-h.exit
	for line := range h.lines {
		hear(line)
	}
	for _, line := range strings.Split(strings.TrimSuffix(h.stderr.String(), "\n"), "\n") {
		if line != "" {
			said = append(said, "! "+line)
		}
	}
	return strings.Join(append(said, fmt.Sprintf("exit %d", code)), "\n") + "\n"
}

// sameDelta says whether two lines are deltas of one row.
func sameDelta(a, b string) bool {
	for _, kind := range []string{`"text_delta"`, `"thinking_delta"`, `"input_json_delta"`, `"thinking_tokens"`} {
		if strings.Contains(a, kind) && strings.Contains(b, `_delta"`) && strings.HasPrefix(a, "< ") {
			return true
		}
		if strings.Contains(a, `"thinking_delta"`) && strings.Contains(b, `"thinking_tokens"`) {
			return true
		}
	}
	return false
}

// dull are the members a reader of a conversation need not see.
var dull = []string{"uuid", "session_id", "timestamp", "api_message_id", "ttft_ms", "thinking_display", "request_id", "usage", "modelUsage",
	"model_usage_since_last_result", "fast_mode_state", "fast_mode_disabled_reason", "subagent_stats", "duration_ms", "duration_api_ms",
	"ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms", "request_sent_wall_ms", "context_management", "stop_sequence",
	"model", "first_request_input_tokens", "first_request_cache_read_input_tokens", "queued_turn_count", "safety_stops", "run_id",
	"thinking_duration_ms", "owed_rows", "end_time", "output_file", "transcript_path", "prompt_id", "effort", "runId", "producer",
	"diagnostics", "container", "stop_details", "role", "resolvedModel"}

func summary(line string) string {
	return strings.ReplaceAll(shorten(line), "aaaaaaaa-0000-4000-8000-00000000000", "U")
}

func shorten(line string) string {
	raw := []byte(line)
	all := members(raw)
	if !json.Valid(raw) || len(all) == 0 {
		return line
	}
	if field(raw, "subtype") == "init" {
		o := event("system").str("subtype", "init").str("permissionMode", field(raw, "permissionMode"))
		if u := field(raw, "user_message_uuids"); u != "" {
			o.raw("user_message_uuids", u)
		}
		return o.String()
	}
	if strings.Contains(line, `"commands":[`) {
		return `{"type":"control_response","response":{"…":"of initialize"}}`
	}
	return brief(raw, field(raw, "isReplay") == "true", field(raw, "type") == "control_request" || field(raw, "type") == "control_cancel_request")
}

func brief(raw []byte, keepUUID, keepRequest bool) string {
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		var all []string
		for _, r := range list {
			all = append(all, brief(r, keepUUID, keepRequest))
		}
		return array(all)
	}
	if len(raw) == 0 || raw[0] != '{' {
		return string(raw)
	}
	o := newObject()
	for _, m := range members(raw) {
		keep := m.name == "uuid" && keepUUID || m.name == "request_id" && keepRequest
		if !keep && slices.Contains(dull, m.name) {
			continue
		}
		if m.name == "stop_reason" && string(m.value) == "null" || m.name == "parent_tool_use_id" && string(m.value) == "null" {
			continue
		}
		o.raw(m.name, brief(m.value, keepUUID, keepRequest))
	}
	return o.String()
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d of the conversation\nwant %s\ngot  %s\n\nall of it:\n%s", i+1, a, b, got)
		}
	}
	return ""
}
