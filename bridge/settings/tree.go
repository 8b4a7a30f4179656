package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxFileBytes = 1 << 20
	// maxValues bounds what a hostile project's file of 1 MiB can make us hold: about 15 MB.
	maxValues = 100_000
)

// node is one JSON value and where it stands in the text.
type node struct {
	kind         jsontext.Kind
	start, end   int // byte offsets, end exclusive
	line, column int // of start, from 1; columns are characters
	text         string
	members      []member
}

// member is a member of an object, or an element of an array, which has no name.
type member struct {
	name  *node
	value *node
}

func (m member) start() int {
	if m.name != nil {
		return m.name.start
	}
	return m.value.start
}

func (n *node) isObject() bool { return n.kind == '{' }
func (n *node) isArray() bool  { return n.kind == '[' }
func (n *node) isString() bool { return n.kind == '"' }

// syntaxError says where and why a text is no JSON.
type syntaxError struct {
	line, column int
	reason       string
}

func (e *syntaxError) Error() string { return e.reason }

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads exactly one JSON value. Names that appear twice are kept: the reader names them and the editor refuses.
func parse(text []byte) (*node, error) {
	begin := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		begin = len(byteOrderMark)
	}
	p := &parser{text: text, begin: begin, at: begin, line: 1, column: 1}
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(text[begin:]), jsontext.AllowDuplicateNames(true))
	root, err := p.value()
	if err != nil {
		return nil, p.explain(err)
	}
	if rest := bytes.TrimLeft(text[root.end:], " \t\r\n"); len(rest) > 0 {
		return nil, p.failure(len(text)-len(rest), "there is more text after the end of the settings")
	}
	return root, nil
}

type parser struct {
	dec          *jsontext.Decoder
	text         []byte
	begin        int // length of the byte order mark
	at           int // the offset that line and column belong to
	line, column int
	values       int
}

var errTooManyValues = errors.New("too many values")

// value is recursive; the decoder refuses more than 10,000 levels.
func (p *parser) value() (*node, error) {
	if p.values++; p.values > maxValues {
		return nil, errTooManyValues
	}
	n := &node{kind: p.dec.PeekKind()}
	switch n.kind {
	case '{', '[':
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, err
		}
		p.place(n, 1)
		for k := p.dec.PeekKind(); k != '}' && k != ']'; k = p.dec.PeekKind() {
			m, err := p.member(n.isObject())
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, err
		}
		n.end = p.offset()
		return n, nil
	}
	raw, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	p.place(n, len(raw))
	n.text = string(raw)
	if n.isString() {
		decoded, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, err
		}
		n.text = string(decoded)
	}
	return n, nil
}

func (p *parser) member(named bool) (m member, err error) {
	if named {
		if m.name, err = p.value(); err != nil {
			return m, err
		}
	}
	m.value, err = p.value()
	return m, err
}

func (p *parser) offset() int { return int(p.dec.InputOffset()) + p.begin }

// place gives n the span of the size bytes just read. Values come in the order of the text, so that counting lines
// costs one pass over it.
func (p *parser) place(n *node, size int) {
	n.end = p.offset()
	n.start = n.end - size
	p.moveTo(n.start)
	n.line, n.column = p.line, p.column
}

func (p *parser) moveTo(offset int) {
	for p.at < offset && p.at < len(p.text) {
		if p.text[p.at] == '\n' {
			p.line, p.column = p.line+1, 1
			p.at++
			continue
		}
		_, size := utf8.DecodeRune(p.text[p.at:])
		p.at += size
		p.column++
	}
}

func (p *parser) failure(offset int, reason string) *syntaxError {
	p.moveTo(offset)
	return &syntaxError{p.line, p.column, reason}
}

// explain turns the decoder's error into what a person who edits the file needs: the place and the usual cause.
func (p *parser) explain(err error) *syntaxError {
	rest := bytes.TrimSpace(p.text[p.begin:])
	switch {
	case len(rest) == 0:
		return p.failure(p.begin, "the file is empty; the least it may hold is {}")
	case bytes.HasPrefix(p.text, []byte("\xff\xfe")), bytes.HasPrefix(p.text, []byte("\xfe\xff")):
		return p.failure(0, "the file is UTF-16; save it as UTF-8")
	case errors.Is(err, errTooManyValues):
		return p.failure(p.offset(), fmt.Sprintf("the file holds more than %d values", maxValues))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.failure(len(p.text), "the file ends too early: a bracket or a quote is not closed")
	}
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) {
		return p.failure(p.offset(), plain(err.Error()))
	}
	offset := min(int(bad.ByteOffset)+p.begin, len(p.text))
	reason := "it is no JSON"
	if bad.Err != nil {
		reason = plain(bad.Err.Error())
	}
	if hint := usualCause(p.text[offset:]); hint != "" {
		reason += ": " + hint
	}
	return p.failure(offset, reason)
}

func usualCause(rest []byte) string {
	if len(rest) == 0 {
		return ""
	}
	switch c := rest[0]; {
	case c == '/' || c == '#':
		return "JSON has no comments"
	case c == ',':
		if after := bytes.TrimLeft(rest[1:], " \t\r\n"); len(after) > 0 && (after[0] == '}' || after[0] == ']') {
			return "no comma before a closing bracket"
		}
	case c == '\'' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return "names and strings stand in double quotes"
	case c == '"':
		return "a comma or a colon is missing before it"
	}
	return ""
}
