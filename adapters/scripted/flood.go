package scripted

import (
	"bytes"
	"fmt"
	"time"
)

// floodStep streams n tokens "t0000000 ", "t0000001 ", … as fast as the reader takes them, or one every so often.
type floodStep struct {
	n     int
	every time.Duration
}

// chunk is how much of an unpaced flood goes out in one Write. (A host that reads more slowly than the real CLI writes finds
// its lines piled up in the same way.)
const chunk = 32 << 10

// run does not build each line: it keeps one and writes the counter into the token and the uuid.
func (s floodStep) run(v *voice) error {
	if err := v.openBlock("text", emptyText); err != nil {
		return err
	}
	p, m := v.process, v.message
	m.lines = false
	const token, uuid = "t0000000 ", "FFFFFFFF"
	line := append(v.streamEvent(newObject().str("type", "content_block_delta").int("index", m.index).
		raw("delta", newObject().str("type", "text_delta").str("text", token).String())).str("api_message_id", m.id).end(), '\n')
	tokenAt := bytes.Index(line, []byte(token)) + 1
	uuidAt := bytes.LastIndex(line, []byte(`"uuid":"`)) + len(`"uuid":"`)

	buf, said := make([]byte, 0, chunk+len(line)), make([]byte, 0, chunk)
	flush := func() error {
		return v.saying(func() {
			if v.streams() {
				p.write(buf)
			}
			m.text.add(string(said)) // only what was printed is part of the answer
			m.deltas += len(said) / len(token)
			buf, said = buf[:0], said[:0]
		})
	}
	began := time.Now()
	for i := range s.n {
		decimal(line[tokenAt:tokenAt+7], i)
		hex(line[uuidAt:uuidAt+len(uuid)], p.ids.uuids.Add(1))
		buf = append(buf, line...)
		said = append(said, line[tokenAt-1:tokenAt+8]...)
		if s.every == 0 && len(buf) < chunk {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if s.every > 0 {
			if err := v.pause(time.Until(began.Add(time.Duration(i+1) * s.every))); err != nil {
				return err
			}
		}
	}
	return flush()
}

func decimal(dst []byte, n int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
}

func hex(dst []byte, n uint32) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = hexDigits[n&15]
		n >>= 4
	}
}

// paddingStep is one line of a type no one knows, of at least so many bytes.
type paddingStep struct{ bytes int }

func (s paddingStep) run(v *voice) error {
	return v.saying(func() {
		prefix := event("system").str("subtype", "padding").key("padding").buf
		v.process.putLong(append(prefix, '"'), &longText{parts: []stretch{{fill: s.bytes}}}, []byte(`"}`))
	})
}

// stderrStep writes to stderr.
type stderrStep struct {
	text  string
	bytes int
}

func (s stderrStep) run(v *voice) error {
	w := v.process.errOut
	for n := s.bytes; n > 0; n -= 1 << 10 {
		k := min(n, 1<<10)
		_, _ = w.Write(append(append([]byte{}, filler[:k-1]...), '\n'))
	}
	if s.bytes == 0 {
		fmt.Fprintln(w, v.text(s.text))
	}
	return v.halted()
}
