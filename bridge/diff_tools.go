package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"drawbridge/adapters"
)

// What the file tools do was measured by running 1.0.128, 2.0.0, 2.1.17, 2.1.112 and 2.1.329 against files of all kinds; the test
// TestTheDiffIsWhatTheRealToolsDo does it again. Trailing blanks of new_string, relative paths and the like need no care here: the
// CLI has dealt with them before it asks.

// generation is a range of versions whose file tools behave alike.
type generation int

const (
	to2_1_17    generation = iota // seen from 1.0.128 to 2.1.17
	like2_1_112                   // Write keeps the line ends it is given; quotes follow the file's
	from2_1_329                   // files that are not UTF-8 and links are refused; byte order marks are kept
)

// generations are those that a version may be of. Where one ends between two measured versions is not known, so the versions between
// may be of either.
func generations(v adapters.Version) []generation {
	switch {
	case v == adapters.Version{}:
		return []generation{to2_1_17, like2_1_112, from2_1_329}
	case v.Compare(adapters.Version{Major: 2, Minor: 1, Patch: 17}) <= 0:
		return []generation{to2_1_17}
	case v.Compare(adapters.Version{Major: 2, Minor: 1, Patch: 112}) < 0:
		return []generation{to2_1_17, like2_1_112}
	case v.Compare(adapters.Version{Major: 2, Minor: 1, Patch: 112}) == 0:
		return []generation{like2_1_112}
	case v.Compare(adapters.Version{Major: 2, Minor: 1, Patch: 329}) < 0:
		return []generation{like2_1_112, from2_1_329}
	}
	return []generation{from2_1_329}
}

// fileCall is the input of a file tool.
type fileCall struct {
	tool      string
	path      string
	content   string // Write
	edits     []edit // Edit has one
	cell      cellEdit
	unchecked bool // the input is not the model's but the user's, which the CLI carries out without a look
}

type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all,omitempty"`
}

func readFileCall(tool string, input json.RawMessage) (fileCall, error) {
	c := fileCall{tool: tool}
	members := map[string]json.RawMessage{} // a struct would also take "Content" for "content"
	if err := json.Unmarshal(input, &members); err != nil {
		return c, fmt.Errorf("the input cannot be read: %w", err)
	}
	if halfPair(input) {
		return c, errors.New("the input holds half a surrogate pair")
	}
	var err error
	take := func(from map[string]json.RawMessage, name string, into any) {
		raw, ok := from[name]
		if !ok || err != nil {
			return
		}
		if e := json.Unmarshal(raw, into); e != nil {
			err = fmt.Errorf("%q cannot be read: %w", name, e)
		}
	}
	takeEdit := func(from map[string]json.RawMessage) {
		var e edit
		take(from, "old_string", &e.Old)
		take(from, "new_string", &e.New)
		take(from, "replace_all", &e.All)
		c.edits = append(c.edits, e)
	}
	name := "file_path"
	switch tool {
	case "Write":
		take(members, "content", &c.content)
	case "Edit":
		takeEdit(members)
	case "MultiEdit":
		var list []map[string]json.RawMessage
		take(members, "edits", &list)
		for _, e := range list {
			takeEdit(e)
		}
	case "NotebookEdit":
		name = "notebook_path"
		c.cell.read(members, take)
	default:
		return c, fmt.Errorf("%s is no tool that writes a file", tool)
	}
	take(members, name, &c.path)
	return c, err
}

// run is the text that the tool leaves in the file, or why it would fail.
func (g generation) run(c fileCall, f fileText) (string, error) {
	if g == from2_1_329 && f.link {
		return "", errors.New("Claude Code does not write through a symbolic link")
	}
	var after string
	var err error
	switch c.tool {
	case "Write":
		if g.choosesEOL(c, f) && strings.Contains(c.content, "\r\n") {
			return "", errors.New("Claude Code up to 2.1.17 chooses the line ends of a new file, and CRLF may become CR CR LF")
		}
		after = g.write(c, f)
	case "NotebookEdit":
		after, err = g.editNotebook(c.cell, c.path, f)
	default:
		after, err = g.editText(c, f)
	}
	if g == to2_1_17 && f.exists && f.text == "" && strings.ContainsFunc(after, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errors.New("into an empty file, Claude Code up to 2.0.0 writes one byte a character, which loses some")
	}
	return after, err
}

// choosesEOL says whether the line ends of what is written are the tool's own choice: up to 2.1.17, Write makes a new file with those
// that most files of the project have.
func (g generation) choosesEOL(c fileCall, f fileText) bool {
	return g == to2_1_17 && c.tool == "Write" && !f.exists && strings.Contains(c.content, "\n")
}

func (g generation) write(c fileCall, f fileText) string {
	text := c.content
	switch {
	case g == to2_1_17 && f.exists && g.crlf(f):
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case g == from2_1_329 && text != "" && strings.HasPrefix(f.text, bom) && !strings.HasPrefix(text, bom):
		text = bom + text
	}
	return text
}

// editText is Edit and MultiEdit. Each edit is checked against the file as it is; then they are carried out one after another.
func (g generation) editText(c fileCall, f fileText) (string, error) {
	text := strings.ReplaceAll(f.text, "\r\n", "\n")
	edits := c.edits
	if len(edits) == 0 {
		return "", errors.New("there are no edits")
	}
	for i, e := range edits {
		e, err := g.check(e, f, text, c.unchecked)
		if err != nil {
			return "", err
		}
		if c.tool == "Edit" { // MultiEdit looks for nothing but the text as it stands
			edits = []edit{e}
		}
		for _, before := range edits[:i] {
			if old := strings.TrimRight(c.edits[i].Old, "\n"); old != "" && strings.Contains(before.New, old) {
				return "", errors.New("old_string is part of what an edit before it puts in")
			}
		}
	}
	after := text
	for _, e := range edits {
		was := after
		if after = e.apply(after); after == was {
			return "", errors.New("old_string is not in the file, or the edit changes nothing")
		}
	}
	if g == from2_1_329 && edits[0].Old == "" && strings.HasPrefix(text, bom) && !strings.HasPrefix(after, bom) {
		after = bom + after
	}
	if f.exists && g.crlf(f) {
		if g != to2_1_17 {
			after = strings.ReplaceAll(after, "\r\n", "\n")
		}
		after = strings.ReplaceAll(after, "\n", "\r\n")
	}
	return after, nil
}

// check finds what an edit means in the text, or says why it cannot be carried out.
func (g generation) check(e edit, f fileText, text string, unchecked bool) (edit, error) {
	if e.Old == e.New {
		return e, errors.New("old_string and new_string are the same")
	}
	switch {
	case e.Old == "" && f.exists && strings.TrimFunc(text, blankInJS) != "":
		return e, errors.New("old_string is empty, but there is a file")
	case e.Old == "":
		return e, nil
	case !f.exists:
		return e, errors.New("there is no such file")
	}
	in := text
	if g == from2_1_329 && !unchecked {
		in = strings.TrimPrefix(in, bom)
	}
	found := e.Old
	if !strings.Contains(in, found) {
		if found = quotedOtherwise(in, e.Old); found == "" {
			// From 2.1.329 it may still be found with \u00e9 written for é, or the other way round; what new_string becomes then
			// is not worth guessing.
			return e, errors.New("old_string is not in the file as it stands")
		}
		if g != to2_1_17 {
			e.New = quotedLike(e.New, found)
		}
		e.Old = found
	}
	if n := strings.Count(in, found); n > 1 && !e.All {
		return e, fmt.Errorf("old_string is in the file %d times", n)
	}
	return e, nil
}

// apply carries the edit out. What is deleted takes the end of its line along.
func (e edit) apply(text string) string {
	old := e.Old
	switch {
	case old == "":
		return e.New
	case e.New == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n"):
		old += "\n"
	}
	if e.All {
		return strings.ReplaceAll(text, old, e.New)
	}
	return strings.Replace(text, old, e.New, 1)
}

// convertsText says whether the tool writes CRLF for every line end of what it is given.
func (g generation) convertsText(tool string, f fileText) bool {
	return f.exists && g.crlf(f) && (tool != "Write" || g == to2_1_17)
}
