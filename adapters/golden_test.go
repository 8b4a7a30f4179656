package adapters

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// transcript is a recorded conversation: what a real CLI printed, a line each.
type transcript struct {
	name    string // version/scenario
	version string
	lines   [][]byte
}

func transcripts(t testing.TB) []transcript {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.jsonl"))
	if err != nil || len(files) < 50 {
		t.Fatalf("found %d transcripts (%v)", len(files), err)
	}
	var list []transcript
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version := filepath.Base(filepath.Dir(file))
		list = append(list, transcript{
			name:    version + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl"),
			version: version,
			lines:   bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")),
		})
	}
	return list
}

// TestRecordedLinesMeanWhatTheGoldenFilesSay decodes every transcript with the adapter of its version. After a change that is meant,
// run it with -update and read the difference.
func TestRecordedLinesMeanWhatTheGoldenFilesSay(t *testing.T) {
	for _, tr := range transcripts(t) {
		t.Run(tr.name, func(t *testing.T) {
			a, m, out := For(tr.version)(), Message{}, &bytes.Buffer{}
			for _, line := range tr.lines {
				a.Decode(line, &m)
				dump(out, &m)
			}
			golden := filepath.Join("testdata", filepath.FromSlash(tr.name)+".golden")
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
				if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
					t.Fatalf("line %d\n got: %s\nwant: %s", i+1, at(got, i), at(wanted, i))
				}
			}
		})
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(nothing)"
}

// dump writes a message in a line or a few. What is skipped, and a control request's body, is named only.
func dump(w *bytes.Buffer, m *Message) {
	if m.Discarded != nil {
		fmt.Fprintf(w, "  discarded %s from %d\n", m.Discarded.MessageID, m.Discarded.FromBlock)
	}
	fmt.Fprintf(w, "%s", m.Kind)
	if m.Parent != "" {
		fmt.Fprintf(w, " <%s>", m.Parent)
	}
	switch m.Kind {
	case Skipped, Unknown, Malformed, Log:
		fmt.Fprintf(w, " %s", m.Wire)
	case Token, Thinking:
		fmt.Fprintf(w, " %s/%d", m.MessageID, m.Block)
	case BlockStop:
		fmt.Fprintf(w, " %s/%d", m.MessageID, m.Block)
	case Assistant:
		fmt.Fprintf(w, " %s origin=%d", m.MessageID, m.Origin)
	}
	if m.Text != nil {
		fmt.Fprintf(w, " %s", []byte(m.Text))
	}
	if m.Level != "" {
		fmt.Fprintf(w, " level=%s", m.Level)
	}
	if m.Err != nil {
		fmt.Fprintf(w, " err=%v", m.Err)
	}
	for _, s := range []struct{ name, value string }{{"uuid", m.UUID}, {"title", m.Title}, {"cancel", m.CancelID}} {
		if s.value != "" {
			fmt.Fprintf(w, " %s=%s", s.name, s.value)
		}
	}
	fields(w, m.Init, m.Status, m.Retry, m.Boundary, m.Task, m.Progress, m.Denial, m.Permission, m.Response, m.Result)
	if m.Request != nil {
		fmt.Fprintf(w, " %s %s", m.Request.RequestID, m.Request.Subtype)
		fields(w, m.Request.Hook)
	}
	w.WriteByte('\n')
	for _, b := range m.Blocks {
		fmt.Fprintf(w, "  block %d %s streamed=%t", b.Index, b.Type, b.Streamed)
		if b.Text != nil {
			fmt.Fprintf(w, " %s", []byte(b.Text))
		}
		if b.Type == "tool_use" {
			fields(w, b.ToolUse)
		}
		w.WriteByte('\n')
	}
	for _, r := range m.Results {
		fmt.Fprintf(w, "  result")
		fields(w, r)
		w.WriteByte('\n')
	}
	for _, t := range m.Tasks {
		fmt.Fprintf(w, "  task")
		fields(w, t)
		w.WriteByte('\n')
	}
}

func writeDump(w io.Writer, m *Message) {
	var b bytes.Buffer
	dump(&b, m)
	w.Write(b.Bytes())
}

// fields writes what is not empty of structs, as JSON.
func fields(w *bytes.Buffer, list ...any) {
	for _, v := range list {
		data, err := json.Marshal(v)
		if err != nil {
			fmt.Fprintf(w, " !%v", err)
			continue
		}
		if string(data) == "null" {
			continue
		}
		w.WriteString(" {")
		n := 0
		for o := object(data); o.next(); {
			if !present(o.val) || string(o.val) == `""` || string(o.val) == "false" || string(o.val) == "0" {
				continue
			}
			if n > 0 {
				w.WriteByte(' ')
			}
			n++
			val := o.val
			if len(val) > 300 {
				val = append(bytes.Clone(val[:300]), "…"...)
			}
			fmt.Fprintf(w, "%s:%s", o.key, val)
		}
		w.WriteByte('}')
	}
}
