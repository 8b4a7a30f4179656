package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTranscriptsMeanWhatTheGoldenFilesSay decodes transcripts that real CLIs wrote: from 1.0.22 on, with rewinds, forks, interrupts,
// compaction and a death amid a tool. After a change that is meant, run it with -update and read the difference.
func TestTranscriptsMeanWhatTheGoldenFilesSay(t *testing.T) {
	for _, file := range transcriptFiles(t) {
		name, _ := filepath.Rel(filepath.Join("testdata", "transcripts"), strings.TrimSuffix(file, ".jsonl"))
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var l TranscriptLine
			var out bytes.Buffer
			for _, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
				l.Decode(line)
				dumpTranscript(&out, &l)
			}
			golden := strings.TrimSuffix(file, ".jsonl") + ".golden"
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			got, wanted := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
			for i := range max(len(got), len(wanted)) {
				if at(got, i) != at(wanted, i) {
					t.Fatalf("line %d\n got: %s\nwant: %s", i+1, at(got, i), at(wanted, i))
				}
			}
		})
	}
}

func transcriptFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*", "*.jsonl"))
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d transcripts (%v)", len(files), err)
	}
	return files
}

func dumpTranscript(w *bytes.Buffer, l *TranscriptLine) {
	short := func(id string) string { return id[:min(4, len(id))] }
	fmt.Fprintf(w, "%s", l.Kind)
	if l.UUID != "" {
		fmt.Fprintf(w, " %s<-%s", short(l.UUID), short(l.Parent))
	}
	for _, s := range []struct {
		is   bool
		name string
	}{{l.Sidechain, "sidechain"}, {l.Command, "command"}} {
		if s.is {
			fmt.Fprintf(w, " %s", s.name)
		}
	}
	if l.Kind == Linked || l.Kind == Other {
		fmt.Fprintln(w)
		return
	}
	for _, s := range []struct{ name, value string }{{"id", l.MessageID}, {"model", l.Model}, {"stop", l.StopReason}, {"content", string(l.Content)}, {"text", string(l.Text)}} {
		if s.value != "" {
			fmt.Fprintf(w, " %s=%s", s.name, s.value)
		}
	}
	for _, n := range []struct {
		name  string
		value any
		is    bool
	}{{"origin", l.Origin, l.Origin != 0}, {"turns", l.Turns, l.Turns != 0}, {"cost", l.CostUSD, l.CostUSD != 0}, {"title", l.Title, l.Kind == Titled}} {
		if n.is {
			fmt.Fprintf(w, " %s=%v", n.name, n.value)
		}
	}
	fields(w, l.Failure, l.Boundary)
	fmt.Fprintln(w)
	for _, b := range l.Blocks {
		fmt.Fprintf(w, "  block %d %s %s", b.Index, b.Type, []byte(b.Text))
		if b.Type == "tool_use" {
			fields(w, b.ToolUse)
		}
		fmt.Fprintln(w)
	}
	for _, r := range l.Results {
		fmt.Fprintf(w, "  result")
		fields(w, r)
		fmt.Fprintln(w)
	}
}

func TestTranscriptLineOfOddThings(t *testing.T) {
	for _, c := range []struct {
		line string
		kind TranscriptKind
	}{
		{``, Other},
		{`not json`, Other},
		{`[]`, Other},
		{`{"type":"user"`, Other},
		{`{"type":"user","uuid":"u"}`, Linked},
		{`{"type":"user","uuid":"u","message":{"content":7}}`, Linked},
		{`{"type":"user","uuid":"u","message":{"role":"user","content":[]}}`, Asked},
		{`{"type":"assistant","uuid":"u","message":{"id":"m","content":[]}}`, Linked},
		{`{"type":"assistant","uuid":"u","message":{"content":[{"type":"text","text":"x"}]}}`, Linked},
		{`{"type":"a-type-of-tomorrow","uuid":"u","parentUuid":"p"}`, Linked},
		{`{"type":"a-type-of-tomorrow"}`, Other},
		{`{"type":"user","uuid":"u","message":{"content":"<bash-input>ls</bash-input>"}}`, Asked},
		{`{"type":"user","uuid":"u","message":{"content":"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"}}`, Output},
		{`{"type":"user","uuid":"u","message":{"content":"<b>bold</b> words of the user"}}`, Asked},
		{`{"type":"user","uuid":"u","message":{"content":"<local-command-stdout></local-command-stdout>"}}`, Linked},
		{`{"type":"user","uuid":"u","isMeta":true,"message":{"content":"Caveat"}}`, Linked},
		{`{"type":"attachment","uuid":"u","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"x"}],"commandMode":"prompt"}}`, Folded},
		{`{"type":"attachment","uuid":"u","attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"}}`, Linked},
		{`{"type":"custom-title","customTitle":7}`, Other},
		{`{"type":"ai-title","aiTitle":"x"}`, Titled},
	} {
		var l TranscriptLine
		l.Decode([]byte(c.line))
		if l.Kind != c.kind {
			t.Errorf("%s: %s, want %s", c.line, l.Kind, c.kind)
		}
	}
}

func TestSlashCommandsReadAsTheUserTypedThem(t *testing.T) {
	for content, want := range map[string]string{
		"<command-name>/model</command-name>\n  <command-message>model</command-message>\n  <command-args>opus</command-args>": `"/model opus"`,
		"<command-name>compact</command-name><command-args></command-args>":                                                    `"/compact"`,
		"<command-message>review is running…</command-message>\n<command-name>/review</command-name>":                          `"/review"`,
		"<bash-input>git status</bash-input>":                                                                                  `"!git status"`,
	} {
		var l TranscriptLine
		l.Decode(fmt.Appendf(nil, `{"type":"user","uuid":"u","message":{"role":"user","content":%s}}`, appendString(nil, content)))
		if string(l.Content) != want {
			t.Errorf("%q: got %s, want %s", content, l.Content, want)
		}
	}
}

func FuzzTranscriptLine(f *testing.F) {
	for _, file := range transcriptFiles(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if i%7 == 0 {
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var l TranscriptLine
		l.Decode(line)
		if l.Kind != Other && !json.Valid(line) {
			t.Errorf("read as %s, though it is no JSON", l.Kind)
		}
		for _, b := range l.Blocks {
			if !json.Valid(b.Raw) {
				t.Errorf("a block that is no JSON: %q", b.Raw)
			}
		}
		if l.Content != nil && !json.Valid(l.Content) || l.Text != nil && !json.Valid(l.Text) {
			t.Errorf("content %q, text %q", l.Content, l.Text)
		}
	})
}

func BenchmarkTranscriptLine(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("testdata", "transcripts", "2.1.112", "main.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(data, []byte("\n"))
	var l TranscriptLine
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			l.Decode(line)
		}
	}
}
