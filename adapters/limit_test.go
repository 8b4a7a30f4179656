package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheLongestStringsAreCutAndMarked(t *testing.T) {
	long := strings.Repeat("x", 5000)
	values := []json.RawMessage{
		json.RawMessage(`[{"type":"text","text":"` + long + `"},{"type":"text","text":"short","n":1}]`),
		json.RawMessage(`{"stdout":"` + long + `","stderr":"a few words","` + strings.Repeat("k", 200) + `":true}`),
	}
	if !Limit(2000, values) {
		t.Fatal("nothing was cut")
	}
	total := 0
	for _, v := range values {
		total += len(v)
		if !json.Valid(v) {
			t.Fatalf("not JSON: %s", v)
		}
		if n := strings.Count(string(v), " [truncated: original_size=5000 bytes]\""); n != 1 {
			t.Errorf("%d marks in %s", n, v)
		}
	}
	if total > 2000 || total < 1900 {
		t.Errorf("%d bytes are left of 2000", total)
	}
	if all := string(values[0]) + string(values[1]); !strings.Contains(all, `"short","n":1`) || !strings.Contains(all, `"a few words"`) || !strings.Contains(all, strings.Repeat("k", 200)+`":true`) {
		t.Errorf("more than the longest was cut: %s", all)
	}
}

func TestWhatFitsStaysAsItIs(t *testing.T) {
	v := json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)
	values := []json.RawMessage{v, nil}
	if Limit(len(v), values) || &values[0][0] != &v[0] {
		t.Error("it was cut")
	}
}

func TestACutNeverFallsIntoACharacter(t *testing.T) {
	for _, letter := range []string{`é`, `漢`, `🚀`, `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude80`, `\ud83d`, `\uD83D\uDE80`} {
		content := strings.Repeat(letter, 400)
		for limit := 200; limit < 216; limit++ {
			original := json.RawMessage(`"` + content + `"`)
			values := []json.RawMessage{original}
			if !Limit(limit, values) || len(values[0]) > limit {
				t.Fatalf("%s at %d: %d bytes", letter, limit, len(values[0]))
			}
			if !json.Valid(values[0]) || !utf8.Valid(values[0]) {
				t.Fatalf("%s at %d: %s", letter, limit, values[0])
			}
			kept, mark, ok := strings.Cut(string(values[0][1:]), " [truncated")
			if !ok || len(kept)%len(letter) != 0 || !strings.HasPrefix(content, kept) {
				t.Fatalf("%s at %d: cut to %q", letter, limit, kept)
			}
			var decoded string
			_ = json.Unmarshal(original, &decoded)
			if want := fmt.Sprintf(": original_size=%d bytes]\"", len(decoded)); mark != want {
				t.Fatalf("%s: %s, want %s", letter, mark, want)
			}
		}
	}
}

func TestAValueThatIsAllStructureBecomesTheMark(t *testing.T) {
	values := []json.RawMessage{[]byte(`"kept"`), []byte("[" + strings.Repeat("1,", 5000) + "1]")}
	if !Limit(1000, values) || string(values[0]) != `"kept"` || string(values[1]) != `"[truncated: original_size=10003 bytes]"` {
		t.Errorf("%s %.100s", values[0], values[1])
	}
}

func TestTheInputOfAToolIsNeverCut(t *testing.T) {
	const limit = 1 << 20
	long := strings.Repeat("0123456789abcdef", 3<<20/16)
	input := `{"file_path":"/a","content":"` + long + `"}`
	a, m := For("2.1.329")(), Message{}
	for _, line := range []string{
		`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":` + input + `}]}}`,
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Write","tool_use_id":"t","input":` + input + `}}`,
	} {
		a.Decode([]byte(line), &m)
		if n := m.Limit(limit); n != 0 {
			t.Errorf("%s: %d bytes were cut", m.Kind, n)
		}
		got := json.RawMessage(nil)
		switch m.Kind {
		case Assistant:
			got = m.Blocks[0].ToolUse.Input
		case PermissionAsked:
			got = m.Permission.Input
		}
		if string(got) != input {
			t.Errorf("%s: the input is %d bytes, was %d", m.Kind, len(got), len(input))
		}
	}
}

func TestALongMessageIsToldWithinTheLimit(t *testing.T) {
	const limit = 64 << 10
	long := strings.Repeat("0123456789abcdef", 4*limit/16)
	a, m := For("2.1.329")(), Message{}
	decode := func(line string) {
		t.Helper()
		a.Decode([]byte(line), &m)
		if n := m.Limit(limit); n < len(long) {
			t.Fatalf("%s: %d bytes were cut", m.Kind, n)
		}
	}
	decode(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + long + `"}]},"tool_use_result":{"stdout":"` + long + `","interrupted":false}}`)
	r := m.Results[0]
	if n := len(r.Content) + len(r.Structured); n > limit || !json.Valid(r.Content) || !json.Valid(r.Structured) {
		t.Errorf("the result has %d bytes", n)
	}
	if want := 2*len(long) + len(`""{"stdout":"","interrupted":false}`); r.Original != want {
		t.Errorf("the original size is %d, want %d", r.Original, want)
	}
	decode(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"` + long + `"}]}}`)
	if b := m.Blocks[0]; len(b.Raw) > limit || !bytes.HasSuffix(b.Text, []byte(`bytes]"`)) || !bytes.Contains(b.Raw, b.Text) {
		t.Errorf("the block has %d bytes, its text ends %.40s", len(b.Raw), b.Text[len(b.Text)-40:])
	}
	decode(`{"type":"result","subtype":"success","is_error":false,"result":"` + long + `"}`)
	if len(m.Result.Text) > limit {
		t.Errorf("the final text has %d bytes", len(m.Result.Text))
	}
	decode(`{"type":"user","isReplay":true,"message":{"content":"<local-command-stdout>` + long + `</local-command-stdout>"}}`)
	if len(m.Text) > limit || m.Kind != CommandOutput {
		t.Errorf("%s has %d bytes", m.Kind, len(m.Text))
	}
}

func FuzzLimitKeepsJSONValid(f *testing.F) {
	f.Add(`{"a":"\ud83d\ude80é\\\"x","b":["",{"c":"long long long long long long long long long long long long long long long long long"}]}`, 40)
	f.Add(`["0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"]`, 90)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if !json.Valid([]byte(text)) || limit < 200 {
			t.Skip()
		}
		values := []json.RawMessage{json.RawMessage(text)}
		cut := Limit(limit, values)
		if cut != (len(text) > limit) || len(values[0]) > limit || !json.Valid(values[0]) {
			t.Errorf("limit %d: cut %t to %d bytes: %q", limit, cut, len(values[0]), values[0])
		}
	})
}
