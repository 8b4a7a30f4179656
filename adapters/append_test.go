package adapters

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatIsWrittenToTheCLI(t *testing.T) {
	a := For("2.1.329")()
	p := &Permission{RequestID: "r1"}
	for name, c := range map[string]struct{ got, want string }{
		"user, text": {string(a.AppendUser(nil, UserMessage{UUID: "u-1", Content: json.RawMessage(`"hi"`)})),
			`{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":"","uuid":"u-1"}`},
		"user, blocks over lines": {string(a.AppendUser(nil, UserMessage{Content: json.RawMessage("[\n{\"type\":\"text\",\"text\":\"a\\nb\"}\r\n]")})),
			`{"type":"user","message":{"role":"user","content":[ {"type":"text","text":"a\nb"}  ]},"parent_tool_use_id":null,"session_id":""}`},
		"user, half a surrogate pair": {string(a.AppendUser(nil, UserMessage{Content: json.RawMessage(`"\ud83d"`)})),
			`{"type":"user","message":{"role":"user","content":"\ud83d"},"parent_tool_use_id":null,"session_id":""}`},
		"control": {string(a.AppendControl(nil, "c1", Control{Subtype: "set_permission_mode", Members: json.RawMessage(`{"mode": "plan", "n":{"a":1}}`)})),
			`{"type":"control_request","request_id":"c1","request":{"subtype":"set_permission_mode","mode":"plan","n":{"a":1}}}`},
		"control, no members": {string(a.AppendControl(nil, "c2", Control{Subtype: "interrupt"})),
			`{"type":"control_request","request_id":"c2","request":{"subtype":"interrupt"}}`},
		"control, its subtype cannot be replaced": {string(a.AppendControl(nil, "c2", Control{Subtype: "interrupt", Members: json.RawMessage(`{"subtype":"end_session"}`)})),
			`{"type":"control_request","request_id":"c2","request":{"subtype":"interrupt"}}`},
		"allow": {string(a.AppendAllow(nil, p, json.RawMessage(`{"command":"ls"}`), "")),
			`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{"command":"ls"}}}}`},
		"allow and change the mode": {string(a.AppendAllow(nil, p, json.RawMessage(`{}`), "acceptEdits")),
			`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}}}`},
		"deny": {string(a.AppendDeny(nil, p, "not \"now\"\n", false)),
			`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"not \"now\"\n"}}}`},
		"deny and stop, without a word": {string(a.AppendDeny(nil, p, "", true)),
			`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"The user did not allow this.","interrupt":true}}}`},
		"reply": {string(a.AppendReply(nil, "r2", json.RawMessage(`{}`))),
			`{"type":"control_response","response":{"subtype":"success","request_id":"r2","response":{}}}`},
		"refusal": {string(a.AppendRefusal(nil, "r2", "no")),
			`{"type":"control_response","response":{"subtype":"error","request_id":"r2","error":"no"}}`},
	} {
		if c.got != c.want+"\n" {
			t.Errorf("%s\n got %q\nwant %q", name, c.got, c.want+"\n")
		}
	}
}

func TestAnAllowWithUnreadableInputDenies(t *testing.T) {
	a := For("2.1.329")()
	for _, input := range []string{``, `null`, `"x"`, `[1]`, `{"a":`, "{\n", `{} {}`} {
		line := a.AppendAllow(nil, &Permission{RequestID: "r", Input: json.RawMessage(`{"command":"rm -rf /"}`)}, json.RawMessage(input), "bypassPermissions")
		if !bytes.Contains(line, []byte(`"behavior":"deny"`)) || bytes.Contains(line, []byte("rm -rf")) || bytes.Contains(line, []byte("bypass")) {
			t.Errorf("input %q: %s", input, line)
		}
	}
}

// FuzzAppend: whatever is handed in, one line of JSON comes out.
func FuzzAppend(f *testing.F) {
	f.Add("u", []byte(`"x"`))
	f.Add("a\nb\x00\"\\", []byte("{\"a\":[1,\n2]}"))
	f.Add("\u2028\xff", []byte("}\n{"))
	f.Add("", []byte(``))
	f.Fuzz(func(t *testing.T, s string, raw []byte) {
		a := For("2.0.0")()
		for i, line := range [][]byte{
			a.AppendUser(nil, UserMessage{UUID: s, Content: raw}),
			a.AppendControl(nil, s, Control{Subtype: s, Members: raw}),
			a.AppendAllow(nil, &Permission{RequestID: s}, raw, s),
			a.AppendDeny(nil, &Permission{RequestID: s}, s, true),
			a.AppendReply(nil, s, raw),
			a.AppendRefusal(nil, s, s),
		} {
			if !json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 || bytes.ContainsRune(line, '\r') {
				t.Errorf("%d: %q", i, line)
			}
		}
	})
}

func TestStringsAreEscapedAsEncodingJSONReadsThem(t *testing.T) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é😀\u2028\u2029", "a\ufffdb", "bad\xffbyte"} {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q came back as %q (%v)", s, back, err)
		}
	}
}
