package scripted

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

//go:embed doc.go
var docSource []byte

// next reads lines until one holds text.
func (h *host) next(t *testing.T, text string) string {
	t.Helper()
	for {
		select {
		case line, open := <-h.lines:
			if !open {
				t.Fatalf("the agent ended before it said %s", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-time.After(time.Hour):
			t.Fatalf("the agent never said %s", text)
		}
	}
}

func (h *host) say(format string, args ...any) { fmt.Fprintf(h.stdin, format+"\n", args...) }

func (h *host) user(text string) {
	h.say(`{"type":"user","message":{"role":"user","content":%s}}`, quoted(text))
}

func TestNothingIsSaidBeforeTheFirstLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := play(t.Context(), t, parse(t, ""))
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(h.lines) > 0 {
			t.Errorf("it said %s", <-h.lines)
		}
		h.stdin.Close()
		if code := <-h.exit; code != 0 {
			t.Errorf("exit %d", code)
		}
	})
}

func TestKilledItReturnsThoughNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kill := context.WithCancel(t.Context())
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		exit := make(chan int)
		go func() { exit <- Run(ctx, parse(t, "-- flood --\ntokens 1000000\n"), nil, inR, outW, io.Discard) }()
		fmt.Fprintln(inW, `{"type":"user","message":{"role":"user","content":"flood"}}`)
		synctest.Wait() // it is stuck in a write
		kill()
		if code := <-exit; code != 137 {
			t.Errorf("exit %d, want 137", code)
		}
		if _, err := outR.Read(make([]byte, 1)); err == nil {
			t.Error("its stdout is still open")
		}
		if _, err := inW.Write([]byte("x")); err == nil {
			t.Error("its stdin is still open")
		}
	})
}

func TestAnInterruptIsServedThoughNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		exit := make(chan int)
		go func() {
			exit <- Run(t.Context(), parse(t, "-- flood --\ntokens 1000000\n"), []string{"--include-partial-messages"}, inR, outW, io.Discard)
		}()
		fmt.Fprintln(inW, `{"type":"user","message":{"role":"user","content":"flood"}}`)
		lines, tokens, result := bufio.NewReader(outR), "", ""
		for !strings.Contains(tokens, "t0000000") {
			tokens, _ = lines.ReadString('\n')
		}
		tokens = "t0000000 "
		time.Sleep(time.Second)
		fmt.Fprintln(inW, `{"type":"control_request","request_id":"int","request":{"subtype":"interrupt"}}`) // does not block
		inW.Close()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			if delta := field([]byte(field([]byte(line), "event")), "delta"); strings.Contains(delta, "text_delta") {
				tokens += field([]byte(delta), "text")
			}
			if strings.Contains(line, `"aborted":true`) {
				result = line
			}
		}
		if code := <-exit; code != 1 {
			t.Errorf("exit %d, want 1 after an interrupted turn", code)
		}
		if n := len(tokens) / 9; n > 1000 {
			t.Errorf("%d tokens were said", n)
		}
		if !strings.Contains(result, `"text":"`+tokens+`"`) {
			t.Errorf("what was reported is not what was streamed:\n%.200s\n%.200s", result, tokens)
		}
	})
}

// TestTokensJoinedAreTheText checks the law a bridge relies on, for a flood.
func TestTokensJoinedAreTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := play(t.Context(), t, parse(t, "-- flood --\ntext Here they come:\ntokens 5000\ntokens 50 every 1ms\n"))
		h.user("flood")
		var joined strings.Builder
		for {
			line := []byte(h.next(t, ""))
			if delta := field([]byte(field(line, "event")), "delta"); strings.Contains(delta, "text_delta") {
				joined.WriteString(field([]byte(delta), "text"))
			}
			if field(line, "type") == "result" {
				if field(line, "result") != joined.String() || joined.Len() < 5050*9 {
					t.Errorf("%d bytes streamed, %d in the result", joined.Len(), len(field(line, "result")))
				}
				break
			}
		}
		h.stdin.Close()
		<-h.exit
	})
}

func TestEveryLineOfAFloodIsJSONWithItsOwnUUID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := play(t.Context(), t, parse(t, "-- flood --\ntokens 300\n"))
		h.user("flood")
		seen := map[string]bool{}
		for {
			line := []byte(h.next(t, ""))
			if !json.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
			uuid := field(line, "uuid")
			if !uuidPattern.MatchString(uuid) || seen[uuid] {
				t.Fatalf("uuid %q is no new one", uuid)
			}
			seen[uuid] = true
			if field(line, "type") == "result" {
				break
			}
		}
		h.stdin.Close()
		<-h.exit
	})
}

func TestSIGINTInterruptsAndExitsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		h, exit := playAgent(t, Agent{Script: parse(t, "-- x --\ntext a word\nhang\n"), Args: []string{"--include-partial-messages"}, Signals: signals})
		h.user("x")
		h.next(t, "word")
		signals <- os.Interrupt
		if line := h.next(t, `"type":"result"`); !strings.Contains(line, "aborted_streaming") {
			t.Errorf("the result is %s", line)
		}
		if code := <-exit; code != 0 {
			t.Errorf("exit %d", code)
		}
	})
}

func TestSIGTERMExits143UnlessIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		_, exit := playAgent(t, Agent{Script: parse(t, ""), Signals: signals})
		signals <- syscall.SIGTERM
		if code := <-exit; code != 143 {
			t.Errorf("exit %d", code)
		}
		h, exit := playAgent(t, Agent{Script: parse(t, "ignore term\n"), Signals: signals})
		signals <- syscall.SIGTERM
		h.user("still there?")
		h.next(t, "Echo: ")
		h.stdin.Close()
		if code := <-exit; code != 0 {
			t.Errorf("exit %d", code)
		}
	})
}

func playAgent(t *testing.T, ag Agent) (*host, chan int) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{stdin: inW, lines: make(chan string, 1<<16)}
	exit := make(chan int, 1)
	go func() { exit <- ag.Run(t.Context(), inR, outW, io.Discard) }()
	go func() {
		defer close(h.lines)
		for s := bufio.NewScanner(outR); s.Scan(); {
			h.lines <- s.Text()
		}
	}()
	return h, exit
}

func TestTheScriptMayIgnoreInterruptsAndInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := play(t.Context(), t, parse(t, "never initialize\nignore interrupt\n-- x --\ndelay 1s\ntext done\n"))
		h.say(`{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}`)
		h.user("x")
		h.say(`{"type":"control_request","request_id":"n","request":{"subtype":"interrupt"}}`)
		for {
			line := h.next(t, "")
			if strings.Contains(line, "control_response") {
				t.Errorf("it answered: %s", line)
			}
			if strings.Contains(line, `"result":"done"`) {
				break
			}
		}
		h.stdin.Close()
		<-h.exit
	})
}

func TestASecondRunOfASessionHasOtherIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const session = "11111111-2222-4333-8444-555555555555"
		s := parse(t, "")
		ids := map[string]bool{}
		for _, args := range [][]string{{"--session-id", session}, {"--resume", session}, {"--resume=" + session, "--fork-session"}} {
			h := play(t.Context(), t, s, args...)
			h.user("hi")
			line := []byte(h.next(t, `"type":"assistant"`))
			id := field([]byte(field(line, "message")), "id")
			if ids[id] {
				t.Errorf("%v gives the message id %s again", args, id)
			}
			ids[id] = true
			if same := field(line, "session_id") == session; same == (len(args) == 2 && args[1] == "--fork-session") {
				t.Errorf("%v runs session %s", args, field(line, "session_id"))
			}
			h.stdin.Close()
			<-h.exit
		}
	})
}

func TestCommandLinesThatNeverReachAConversation(t *testing.T) {
	for _, c := range []struct {
		script, args   string
		stdout, stderr string
		code           int
	}{
		{"version 2.9.0\n", "--version", "2.9.0 (Claude Code)\n", "", 0},
		{"", "-p --session-id nonsense", "", "Error: Invalid session ID. Must be a valid UUID.\n", 1},
		{"unknown option --effort\n", "-p --effort high", "", "error: unknown option '--effort'\n", 1},
	} {
		var out, errs strings.Builder
		code := Run(t.Context(), parse(t, c.script), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if out.String() != c.stdout || errs.String() != c.stderr || code != c.code {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.args, code, out.String(), errs.String())
		}
	}
	var out, errs strings.Builder
	code := Run(t.Context(), parse(t, "forget\n"), []string{"--resume", "11111111-2222-4333-8444-555555555555"}, strings.NewReader(""), &out, &errs)
	if code != 1 || !strings.Contains(out.String(), `"errors":["No conversation found`) || !strings.HasPrefix(errs.String(), "No conversation found") {
		t.Errorf("a lost conversation: exit %d, stdout %q, stderr %q", code, out.String(), errs.String())
	}
}

func TestBadInputEndsTheProcessAsTheCLIDoes(t *testing.T) {
	for input, want := range map[string]string{
		"garb\n": "Error parsing streaming input line (type=unknown, 4 chars): SyntaxError\n",
		`{"type":"user","message":{"content":"x"}}` + "\n": "Error: Expected message role 'user', got 'undefined'\n",
		"\n[1]\n{}\n{\"type\":\"later\"}\n":                "",
	} {
		var errs strings.Builder
		code := Run(t.Context(), parse(t, ""), nil, strings.NewReader(input), io.Discard, &errs)
		if errs.String() != want || (code == 0) != (want == "") {
			t.Errorf("%q: exit %d, stderr %q", input, code, errs.String())
		}
	}
}

// TestAHugeLineIsNotHeld: the line of 50 MB is written without being built.
func TestAHugeLineIsNotHeld(t *testing.T) {
	script := parse(t, "-- x --\nline bytes 50MB\nbash ls\nrun\nresult bytes 50MB\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var written int
	code := Run(t.Context(), script, nil, strings.NewReader(`{"type":"user","message":{"role":"user","content":"x"}}`+"\n"),
		writer(func(p []byte) { written += len(p) }), io.Discard)
	runtime.ReadMemStats(&after)
	if code != 0 || written < 100<<20 {
		t.Errorf("exit %d after %d bytes", code, written)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes were allocated for it", grown)
	}
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestRealToolsChangeFiles(t *testing.T) {
	dir := t.TempDir()
	script := parse(t, `real
-- go --
write a.txt one two
run
tool Edit {"file_path":"a.txt","old_string":"two","new_string":"three"}
run
bash cat a.txt; exit 3
run
text $RESULT
read a.txt
text $RESULT
bash echo as shown
ask
text $RESULT
`)
	var out strings.Builder
	inR, inW := io.Pipe()
	lines := make(chan string, 1<<10)
	outW := writer(func(p []byte) {
		out.Write(p)
		if strings.Contains(string(p), "can_use_tool") {
			lines <- field(p, "request_id")
		}
	})
	go func() {
		fmt.Fprintln(inW, `{"type":"user","message":{"role":"user","content":"go"}}`)
		fmt.Fprintf(inW, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow","updatedInput":{"command":"echo edited > b.txt; cat b.txt"}}}}`+"\n", <-lines)
		inW.Close()
	}()
	if code := (Agent{Script: script, Dir: dir}).Run(t.Context(), inR, outW, os.Stderr); code != 0 {
		t.Errorf("exit %d", code)
	}
	for file, want := range map[string]string{"a.txt": "one three", "b.txt": "edited\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", file, got, err, want)
		}
	}
	for _, want := range []string{`Exit code 3\none three`, `1\tone three`, `"text":"edited"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nobody said %s:\n%s", want, out.String())
		}
	}
}

// TestTheTourPlays walks through the demo, allowing everything.
func TestTheTourPlays(t *testing.T) {
	prompts := []string{"hello", "answer", "tool", "bash", "edit", "question", "plan", "agent", "todo", "limit", "tour"}
	synctest.Test(t, func(t *testing.T) {
		h := play(t.Context(), t, Demo())
		for _, prompt := range prompts {
			began := time.Now()
			h.user(prompt)
			for {
				line := []byte(h.next(t, ""))
				switch field(line, "type") {
				case "control_request":
					request := []byte(field(line, "request"))
					input := []byte(field(request, "input"))
					if field(request, "tool_name") == "AskUserQuestion" {
						input = merge(input, []member{{"answers", json.RawMessage(`{"Which color should the lamp have?":"Red"}`)}})
					}
					h.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow","updatedInput":%s}}}`,
						field(line, "request_id"), input)
					continue
				case "result":
				default:
					continue
				}
				if failed := field(line, "is_error") == "true"; failed != (prompt == "limit") {
					t.Errorf("%s: %s", prompt, line)
				}
				if took := time.Since(began); took > 4*time.Second && prompt != "tour" {
					t.Errorf("%s takes %v", prompt, took)
				}
				break
			}
		}
		h.user("long")
		h.next(t, "in, ")
		h.say(`{"type":"control_request","request_id":"int","request":{"subtype":"interrupt"}}`)
		h.next(t, `"type":"result"`)
		h.stdin.Close()
		if code := <-h.exit; code != 1 {
			t.Errorf("exit %d", code)
		}
	})
}

// BenchmarkFlood is a million tokens through a pipe of the operating system.
func BenchmarkFlood(b *testing.B) {
	script := parse(b, "-- flood --\ntokens 1000000\n")
	for b.Loop() {
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			Run(b.Context(), script, []string{"--include-partial-messages"},
				strings.NewReader(`{"type":"user","message":{"role":"user","content":"flood"}}`+"\n"), w, io.Discard)
			w.Close()
		}()
		n, _ := io.Copy(io.Discard, r)
		b.SetBytes(n)
		r.Close()
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
