package adapters

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzDecode: no line, and no sequence of lines, may end the process or touch the line.
func FuzzDecode(f *testing.F) {
	for _, tr := range transcripts(f) {
		for i, line := range tr.lines {
			if i%11 == 0 {
				f.Add(line)
			}
		}
	}
	f.Add([]byte(start + "\n" + open0 + "\n" + delta("msg_1", 0, `"a"`) + "\n" + said("msg_2", `"b"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		for _, version := range []string{"2.0.0", "2.1.329"} {
			a, m := For(version)(), Message{}
			for _, line := range bytes.Split(data, []byte("\n")) {
				a.Decode(line, &m)
				if !bytes.Equal(m.Raw, line) {
					t.Fatalf("Raw of %q is %q", line, m.Raw)
				}
				for _, span := range spans(&m) {
					if span != nil && !json.Valid(span) {
						t.Fatalf("%q of %q is no JSON", span, line)
					}
				}
			}
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the line was changed")
		}
	})
}

// spans are the pieces of a message that are put verbatim into frames for the editor.
func spans(m *Message) [][]byte {
	list := [][]byte{m.Text}
	for _, b := range m.Blocks {
		list = append(list, b.Raw, b.Text, b.ToolUse.Input)
	}
	for _, r := range m.Results {
		list = append(list, r.Content, r.Structured)
	}
	if p := m.Permission; p != nil {
		list = append(list, p.Input)
	}
	if r := m.Result; r != nil {
		list = append(list, r.Text, r.ModelUsage, r.PermissionDenials)
	}
	if r := m.Response; r != nil {
		list = append(list, r.Body)
	}
	return list
}

func BenchmarkDecodeDelta(b *testing.B) {
	a, m := For("2.1.329")(), Message{}
	a.Decode([]byte(start), &m)
	a.Decode([]byte(open0), &m)
	line := []byte(delta("msg_1", 0, `"security "`))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		a.Decode(line, &m)
	}
	if m.Kind != Token {
		b.Fatal(m.Kind)
	}
}

func BenchmarkDecodeLargeLine(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("some output\n", 4<<20))
	line := []byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":` + string(text) + `}]},"tool_use_result":{"stdout":""}}`)
	a, m := For("2.1.329")(), Message{}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		a.Decode(line, &m)
	}
}

func TestADeltaIsDecodedWithoutAllocation(t *testing.T) {
	a, m := For("2.1.329")(), Message{}
	a.Decode([]byte(start), &m)
	a.Decode([]byte(open0), &m)
	line := []byte(delta("msg_1", 0, `"security "`))
	if n := testing.AllocsPerRun(100, func() { a.Decode(line, &m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
