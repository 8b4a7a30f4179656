package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// UserMessage is what the user says, as the editor sends it.
type UserMessage struct {
	ID      string          // a UUID; empty: the bridge chooses one
	Content json.RawMessage // a string, or content blocks
	Context []ContextItem
	Reject  bool // an error instead of a place in the queue while a turn runs
}

// ContextItem is a piece of the user's editor that goes along with a message, because the user said so.
type ContextItem struct {
	URI   string `json:"uri"` // or an absolute path
	Range *Range `json:"range"`
	Text  string `json:"text"`
	Kind  string `json:"kind"` // selection, file, diagnostics
}

// Range is an LSP range: zero-based, in UTF-16 units.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is an LSP position.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// render makes the content that the CLI gets: a string stays a string; blocks stay as they are, but for resources, which the
// Messages API does not know; context follows as text blocks. A slash command stays the first thing in the message.
func (m *UserMessage) render() (json.RawMessage, error) {
	var text string
	var blocks []json.RawMessage
	switch {
	case json.Unmarshal(m.Content, &text) == nil && len(m.Content) > 0 && m.Content[0] == '"':
		if len(m.Context) == 0 {
			if strings.TrimSpace(text) == "" {
				return nil, invalidContent("it is empty")
			}
			return m.Content, nil
		}
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, textBlock(text))
		}
	case json.Unmarshal(m.Content, &blocks) == nil && blocks != nil:
		for i, b := range blocks {
			rendered, err := renderBlock(b)
			if err != nil {
				return nil, err
			}
			blocks[i] = rendered
		}
	default:
		return nil, invalidContent("it is neither a string nor a list of content blocks")
	}
	for _, c := range m.Context {
		blocks = append(blocks, textBlock(c.String()))
	}
	if len(blocks) == 0 {
		return nil, invalidContent("it is empty")
	}
	return json.Marshal(blocks)
}

func invalidContent(why string) error {
	e := fail(KindInvalidParams, "the content of the user message cannot be sent: %s", why)
	e.Remedy = `Give a string, or blocks like {"type":"text","text":"…"}.`
	return e
}

func renderBlock(raw json.RawMessage) (json.RawMessage, error) {
	var b struct {
		Type   string  `json:"type"`
		Text   *string `json:"text"`
		URI    string  `json:"uri"`
		Source json.RawMessage
	}
	if json.Unmarshal(raw, &b) != nil {
		return nil, invalidContent("a block is not an object")
	}
	switch b.Type {
	case "text":
		if b.Text == nil {
			return nil, invalidContent("a text block has no text")
		}
	case "resource":
		if b.URI == "" {
			return nil, invalidContent("a resource block has no uri")
		}
		c := ContextItem{URI: b.URI, Kind: "file"}
		if b.Text != nil {
			c.Text = *b.Text
		}
		return textBlock(c.String()), nil
	case "":
		return nil, invalidContent("a block has no type")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, invalidContent("a block is no JSON")
	}
	return compact.Bytes(), nil
}

func textBlock(text string) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	return bytes.TrimSpace(buf.Bytes())
}

// String is the item as the model reads it. Lines are named as people name them, from 1.
func (c ContextItem) String() string {
	var b strings.Builder
	kind := c.Kind
	if kind == "" {
		kind = "file"
	}
	fmt.Fprintf(&b, "<context kind=%q path=%q", kind, pathOf(c.URI))
	if c.Range != nil {
		last := c.Range.End.Line
		if c.Range.End.Character == 0 && last > c.Range.Start.Line {
			last-- // the range ends before the first character of its last line
		}
		fmt.Fprintf(&b, ` lines="%d-%d"`, c.Range.Start.Line+1, last+1)
	}
	if c.Text == "" {
		b.WriteString(" />")
		return b.String()
	}
	b.WriteString(">\n")
	b.WriteString(c.Text)
	if !strings.HasSuffix(c.Text, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("</context>")
	return b.String()
}

// pathOf is the path of a file URI; anything else stays as it is.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	return path
}
