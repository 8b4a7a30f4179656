package adapters

import (
	"reflect"
	"strings"
	"testing"
)

// A line that repeats the one before it is read like one that does not: each is decoded behind an equal one and behind none.
func TestARepeatedDeltaIsReadLikeAFirstOne(t *testing.T) {
	first := delta("msg_1", 0, `"a"`)
	for name, line := range map[string]string{
		"another text":              delta("msg_1", 0, `"security "`),
		"escapes":                   delta("msg_1", 0, `"\"}\\ \ud83d"`),
		"no text":                   delta("msg_1", 0, `""`),
		"a text that is no string":  delta("msg_1", 0, `7`),
		"a text without end":        delta("msg_1", 0, `"a`),
		"a control character":       delta("msg_1", 0, "\"a\x01\""),
		"another uuid":              strings.Replace(first, "51712b79", "00000000", 1),
		"an escape in the uuid":     strings.Replace(first, "51712b79-48b8", `\u0041712b7-8`, 1),
		"a quote in the uuid":       strings.Replace(first, "51712b79", `5171","b`, 1),
		"another block":             delta("msg_1", 1, `"a"`),
		"another message":           delta("msg_2", 0, `"a"`),
		"a subagent":                strings.Replace(first, `"parent_tool_use_id":null`, `"parent_tool_use_id":"t1"`, 1),
		"more behind it":            first + "}",
		"less":                      first[:len(first)-1],
		"a blank behind it":         first + " ",
		"the beginning and no more": first[:90],
	} {
		read := func(lines ...string) Message {
			a, m := For("2.1.329")(), Message{}
			for _, l := range append([]string{start, open0}, lines...) {
				a.Decode([]byte(l), &m)
			}
			m.Blocks, m.Results, m.Tasks, m.Discarded = nil, nil, nil, nil
			return m
		}
		// A thinking delta between them leaves the same stream and forgets the line.
		between := strings.Replace(first, "text_delta", "citations_delta", 1)
		if fast, slow := read(first, line), read(first, between, line); !reflect.DeepEqual(fast, slow) {
			t.Errorf("%s: read as\n%+v\nwithout the line before as\n%+v", name, fast, slow)
		}
	}
}

func TestADeltaBehindADiscardedBlockIsNotRepeated(t *testing.T) {
	a, m := For("2.1.329")(), Message{}
	for _, line := range []string{start, open0, delta("msg_1", 0, `"a"`),
		`{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"from_block_index":0},"parent_tool_use_id":null,"uuid":"u"}`,
		delta("msg_1", 0, `"b"`)} {
		a.Decode([]byte(line), &m)
	}
	if m.Kind != Skipped {
		t.Errorf("a token of a block that was discarded is told: %v %s", m.Kind, m.Text)
	}
}
