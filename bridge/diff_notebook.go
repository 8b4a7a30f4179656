package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// NotebookEdit reads the whole notebook, changes a cell and writes all of it anew, as JavaScript does: JSON.stringify(…, null, 1).
// So a notebook that another program has laid out differently changes all over, and the diff has to show that.

// cellEdit is the input of NotebookEdit.
type cellEdit struct {
	id     *string
	source string
	kind   string
	mode   string
}

func (e *cellEdit) read(members map[string]json.RawMessage, take func(map[string]json.RawMessage, string, any)) {
	take(members, "cell_id", &e.id)
	take(members, "new_source", &e.source)
	take(members, "cell_type", &e.kind)
	take(members, "edit_mode", &e.mode)
	e.mode = cmp.Or(e.mode, "replace")
}

func (g generation) editNotebook(e cellEdit, path string, f fileText) (string, error) {
	switch {
	case filepath.Ext(strings.TrimSpace(path)) != ".ipynb":
		return "", errors.New("the file is no notebook")
	case !f.exists:
		return "", errors.New("there is no such notebook")
	case f.utf16 || strings.HasPrefix(f.text, bom):
		return "", errors.New("the notebook begins with a byte order mark, which the tool cannot read")
	case halfPair([]byte(f.text)):
		return "", errors.New("the notebook holds half a surrogate pair")
	}
	book, err := parseJS(f.text)
	if err != nil {
		return "", fmt.Errorf("the notebook is no valid JSON: %w", err)
	}
	cells := book.member("cells")
	if cells == nil || cells.kind != '[' {
		return "", errors.New("the notebook has no cells")
	}
	if g != from2_1_329 && book.member("metadata") == nil {
		return "", errors.New("the notebook has no metadata")
	}
	at, err := e.find(cells)
	if err != nil {
		return "", err
	}
	switch e.mode {
	case "delete":
		cells.items = slices.Delete(cells.items, at, at+1)
	case "insert":
		cell, err := e.newCell(book)
		if err != nil {
			return "", err
		}
		cells.items = slices.Insert(cells.items, at+1, cell)
	case "replace":
		e.replace(cells.items[at])
	default:
		return "", fmt.Errorf("there is no edit_mode %q", e.mode)
	}
	var b strings.Builder
	book.write(&b, "\n")
	after := b.String()
	if g == from2_1_329 && strings.HasSuffix(f.text, "\n") {
		after += "\n"
	}
	if g.crlf(f) {
		after = strings.ReplaceAll(after, "\n", "\r\n")
	}
	return after, nil
}

// find is the place of the cell, -1 for before the first one.
func (e *cellEdit) find(cells *jsValue) (int, error) {
	if e.id == nil {
		if e.mode == "insert" {
			return -1, nil
		}
		return 0, errors.New("cell_id is missing")
	}
	for i, cell := range cells.items {
		if id := cell.member("id"); id != nil && id.kind == '"' && id.text == *e.id {
			return i, nil
		}
	}
	if digits, ok := strings.CutPrefix(*e.id, "cell-"); ok {
		if n, err := strconv.ParseUint(digits, 10, 31); err == nil && n < uint64(len(cells.items)) {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("there is no cell %q", *e.id)
}

func (e *cellEdit) replace(cell *jsValue) {
	code := cell.is("cell_type", "code")
	cell.set("source", jsString(e.source))
	if code {
		cell.set("execution_count", &jsValue{text: "null"})
		cell.set("outputs", &jsValue{kind: '['})
	}
	if e.kind != "" && !cell.is("cell_type", e.kind) {
		cell.set("cell_type", jsString(e.kind))
	}
}

func (e *cellEdit) newCell(book *jsValue) (*jsValue, error) {
	if e.kind == "" {
		return nil, errors.New("cell_type is missing")
	}
	if book.number("nbformat") > 4 || book.number("nbformat") == 4 && book.number("nbformat_minor") >= 5 {
		return nil, errors.New("the new cell gets a random id, so what is written is not known before")
	}
	cell := &jsValue{kind: '{'}
	cell.set("cell_type", jsString(e.kind))
	cell.set("source", jsString(e.source))
	cell.set("metadata", &jsValue{kind: '{'})
	if e.kind == "code" {
		cell.set("execution_count", &jsValue{text: "null"})
		cell.set("outputs", &jsValue{kind: '['})
	}
	return cell, nil
}
