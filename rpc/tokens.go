package rpc

import (
	"bytes"
	"strconv"

	"drawbridge/adapters"
	"drawbridge/rpc/stream"
)

// tokens is the hot path: it turns the pieces of the model's answer into assistant_token and thinking_token. Within a block only
// the token differs, so everything before it is made once; the token itself goes from the CLI's line into the write buffer as it
// is, quotes and escapes included. Nothing is allocated.
//
// One thing is changed. A character outside the basic plane is two escapes in JSON, a surrogate pair, and the CLI may cut between
// them. Neovim throws a frame with half a pair away, so a high half at the end of a token waits for the next token of its block.
// A half without a partner becomes U+FFFD.
type tokens struct {
	out *stream.Stream

	method string
	prefix []byte // {"session_id":…,"message_id":…,"block":…,"token":
	kind   adapters.Kind
	id     string // of the message
	block  int

	half    [escape]byte // the high half that waits
	waiting bool
	joined  []byte // room for a token that had to be changed
}

const escape = len(`\ud83d`)

var (
	closeParams = []byte(`}`)
	quote       = []byte(`"`)
	replacement = []byte(`\ufffd`)
)

// append sends a piece of a block's text.
func (t *tokens) append(session string, m *adapters.Message) error {
	if m.Kind != t.kind || m.Block != t.block || m.MessageID != t.id {
		if err := t.flush(); err != nil {
			return err
		}
		t.begin(session, m)
	}
	token := []byte(m.Text)
	if t.waiting || bytes.Contains(token, []byte(`\u`)) {
		if token = t.pair(token); token == nil {
			return nil
		}
	}
	_, err := t.out.AppendNotification(t.method, t.prefix, token, closeParams)
	return err
}

// begin makes the prefix of a block.
func (t *tokens) begin(session string, m *adapters.Message) {
	t.kind, t.id, t.block = m.Kind, m.MessageID, m.Block
	t.method = assistantToken
	if m.Kind == adapters.Thinking {
		t.method = thinkingToken
	}
	b := append(t.prefix[:0], `{"session_id":`...)
	b = appendString(b, session)
	b = append(b, `,"message_id":`...)
	b = appendString(b, m.MessageID)
	b = append(b, `,"block":`...)
	b = strconv.AppendInt(b, int64(m.Block), 10)
	t.prefix = append(b, `,"token":`...)
}

// pair puts a half that waits before the token and takes one off its end. nil means that nothing is left to send.
func (t *tokens) pair(token []byte) []byte {
	if len(token) < len(`""`) {
		return token
	}
	b := append(t.joined[:0], '"')
	if t.waiting {
		b = append(b, t.half[:]...)
		t.waiting = false
	}
	b = append(b, token[1:]...)
	t.joined = b
	if end := len(b) - 1 - escape; end >= 1 && isHigh(b[end:len(b)-1]) && !isEscaped(b, end) {
		copy(t.half[:], b[end:])
		t.waiting = true
		if end == 1 {
			return nil
		}
		b = append(b[:end], '"')
	}
	return wholePairs(b)
}

// flush sends the half that waits: its block has ended, so it has no partner.
func (t *tokens) flush() error {
	if !t.waiting {
		return nil
	}
	t.waiting = false
	_, err := t.out.AppendNotification(t.method, t.prefix, quote, replacement, quote, closeParams)
	return err
}

// drop forgets the half that waits: its text has become void.
func (t *tokens) drop() { t.waiting = false }

// wholePairs replaces the halves without a partner in JSON, whatever it is. It returns b itself if there are none.
func wholePairs(b []byte) []byte {
	cloned := false
	for i := 0; ; {
		at := bytes.Index(b[i:], []byte(`\u`))
		if at < 0 {
			return b
		}
		i += at
		switch {
		case len(b)-i < escape:
			return b
		case isEscaped(b, i):
			i += 2
		case isHigh(b[i:i+escape]) && len(b)-i >= 2*escape && isLow(b[i+escape:i+2*escape]):
			i += 2 * escape
		case isHigh(b[i : i+escape]), isLow(b[i : i+escape]):
			if !cloned {
				b, cloned = bytes.Clone(b), true
			}
			i += copy(b[i:], replacement)
		default:
			i += escape
		}
	}
}

// isHigh and isLow tell what the escape s, \uXXXX, is: the first half of a surrogate pair (D800–DBFF) or the second (DC00–DFFF).
func isHigh(s []byte) bool { return isSurrogate(s) && s[3]|0x20 <= 'b' }
func isLow(s []byte) bool  { return isSurrogate(s) && s[3]|0x20 >= 'c' }

func isSurrogate(s []byte) bool {
	return s[0] == '\\' && s[1] == 'u' && s[2]|0x20 == 'd' && (s[3] == '8' || s[3] == '9' || s[3]|0x20 >= 'a' && s[3]|0x20 <= 'f')
}

// isEscaped reports whether the backslash at i belongs to an escape that began before it: `\\ud83d` is a backslash and four letters.
func isEscaped(b []byte, i int) bool {
	n := 0
	for i-n > 0 && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// appendString appends s as a JSON string. Ids are plain, so the quick way is the usual one.
func appendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := marshal(s)
			if err != nil {
				return append(dst, `""`...)
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
