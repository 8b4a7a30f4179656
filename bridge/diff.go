package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/adapters"
)

// maxDiffText is how long a text of a diff may be, in bytes. Above it both are left out: no prompt can show them.
const maxDiffText = 1 << 20

// maxDiffFile is how long a file may be for a diff to be made at all, in bytes: the session waits for it.
const maxDiffFile = 8 << 20

// Diff is the whole file before and after a file tool, exactly as the tool would leave it. A byte order mark stands in the texts as
// U+FEFF, and line ends are those of the file, unless EOL says that they are unknown.
type Diff struct {
	Path         string    `json:"path"`               // absolute, as the tool was given it
	OldText      *string   `json:"old_text,omitempty"` // nil: there is no file yet, or it is too long
	NewText      *string   `json:"new_text,omitempty"` // nil: too long
	Exists       bool      `json:"exists"`
	Encoding     string    `json:"encoding"`      // utf-8, utf-16le
	EOL          [2]string `json:"eol"`           // before and after: none, lf, crlf, cr, mixed; after also unknown: the tool's choice
	FinalNewline [2]bool   `json:"final_newline"` // before and after
	// WhitespaceOnlyLines counts the lines of the new text that differ from one of the old text in nothing but white space.
	WhitespaceOnlyLines int    `json:"whitespace_only_lines"`
	SymlinkTarget       string `json:"symlink_target,omitempty"` // where links on the way from the session's directory lead
	OmittedBytes        int    `json:"omitted_bytes,omitempty"`  // of both texts together

	before fileText
	of     []generation // those that the CLI may be of
}

// proposeDiff says what a file tool would do to its file. An error says why that is not known, or that the tool would fail: then
// there is no diff to show. The Base is there in any case in which the place can be told, so that a file that is changed while the
// question is open is noticed without a diff, too.
//
// File tools differ by version; the zero Version is an unknown one. Where versions that it may behave like would leave different
// files, there is no diff.
func proposeDiff(version adapters.Version, tool string, input json.RawMessage, cwd string) (*Diff, *Base, error) {
	call, err := readFileCall(tool, input)
	if err != nil {
		return nil, nil, err
	}
	path, err := absolutePath(call.path, cwd)
	if err != nil {
		return nil, nil, err
	}
	base, content, err := lookAt(path)
	if err != nil {
		return nil, base, err
	}
	if len(content) > maxDiffFile {
		return nil, base, fmt.Errorf("%s is larger than %d MiB", path, maxDiffFile>>20)
	}
	before, err := decodeFile(base.seen.exists, content)
	if err != nil {
		return nil, base, err
	}
	before.link = base.seen.link
	of := generations(version)
	after, err := agreed(of, func(g generation) (string, error) { return g.run(call, before) })
	if err != nil {
		return nil, base, err
	}
	d := &Diff{Path: path, NewText: &after, Exists: before.exists, Encoding: before.encoding(),
		EOL: [2]string{eolOf(before.text), eolOf(after)}, FinalNewline: [2]bool{endsLine(before.text), endsLine(after)},
		before: before, of: of}
	if before.exists {
		d.OldText = &d.before.text
	}
	if slices.ContainsFunc(of, func(g generation) bool { return g.choosesEOL(call, before) }) {
		d.EOL[1] = "unknown"
	}
	if size := max(len(before.text), len(after)); size > maxDiffText {
		d.OmittedBytes = len(before.text) + len(after)
		d.OldText, d.NewText, d.before.text = nil, nil, ""
	} else {
		d.WhitespaceOnlyLines = whitespaceOnly(before.text, after)
	}
	if target := base.seen.real; target != withRealDir(path, cwd) {
		d.SymlinkTarget = target
	}
	return d, base, nil
}

// agreed is what all generations make of a call that can make anything of it: one that would have failed would not have asked.
func agreed(of []generation, run func(generation) (string, error)) (string, error) {
	var results []string
	var failure error
	for _, g := range of {
		after, err := run(g)
		if err != nil {
			failure = err
			continue
		}
		results = append(results, after)
	}
	if len(results) == 0 {
		return "", failure
	}
	if slices.ContainsFunc(results, func(r string) bool { return r != results[0] }) {
		return "", errors.New("versions of Claude Code differ in what they would make of this file, and it is not known which of them this one is like")
	}
	return results[0], nil
}

// applyText makes the input with which the tool leaves text in the file instead of d.NewText, every other member as it was. Where
// the tool writes CRLF for every line end, a text with LF alone gets CRLF, too; where it chooses the line ends of a new file, it does.
// An error says that the tool cannot write that text.
func applyText(tool string, input json.RawMessage, d *Diff, text string) (json.RawMessage, error) {
	switch {
	case d.NewText == nil:
		return nil, errors.New("the file is too long for its text to be exchanged")
	case !utf8.ValidString(text):
		return nil, errors.New("updated_text is no valid text")
	case text == *d.NewText:
		return input, nil
	case d.before.exists && text == d.before.text:
		return nil, errors.New("updated_text is the text of the file as it is; deny the tool instead")
	}
	given, want := text, []string{text}
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	switch {
	case slices.ContainsFunc(d.of, func(g generation) bool { return g.convertsText(tool, d.before) }):
		if given = lf; text == lf {
			want = []string{crlf}
		}
	case slices.ContainsFunc(d.of, func(g generation) bool { return g.choosesEOL(fileCall{tool: tool, content: text}, d.before) }):
		if given = lf; text == crlf {
			want = []string{lf}
		}
	}
	whole := strings.ReplaceAll(d.before.text, "\r\n", "\n")
	var edited json.RawMessage
	var err error
	switch tool {
	case "Write":
		edited, err = exchangeMember(input, "content", given)
	case "Edit":
		if edited, err = exchangeMember(input, "old_string", whole); err == nil {
			edited, err = exchangeMember(edited, "new_string", given)
		}
	case "MultiEdit":
		edited, err = exchangeMember(input, "edits", []edit{{Old: whole, New: given}})
	default:
		err = fmt.Errorf("updated_text cannot be made an input of %s", tool)
	}
	if err != nil {
		return nil, err
	}
	// What was made is checked as the tool will read it: nobody looks at it again.
	call, err := readFileCall(tool, edited)
	if err != nil {
		return nil, err
	}
	call.unchecked = true // the CLI does not check an input that was exchanged, so a replacement may hold a byte order mark
	after, err := agreed(d.of, func(g generation) (string, error) { return g.run(call, d.before) })
	if err != nil {
		return nil, err
	}
	if !slices.Contains(want, after) {
		return nil, errors.New("the tool cannot write exactly this text: the line ends are mixed, or the byte order mark is missing")
	}
	return edited, nil
}

// exchangeMember replaces the value of a member of a JSON object, every other byte as it was. The member must be there, once.
func exchangeMember(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the input is not a JSON object")
	}
	from, to := -1, -1
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		if key == name {
			if from >= 0 {
				return nil, fmt.Errorf("the input has %q twice", name)
			}
			to = int(dec.InputOffset())
			from = to - len(raw)
		}
	}
	if from < 0 {
		return nil, fmt.Errorf("the input has no %q", name)
	}
	return slices.Concat(object[:from], marshal(value), object[to:]), nil
}

// marshal writes a value as the CLI's own JSON looks: < and & stay what they are.
func marshal(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // strings and lists of them can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func eolOf(text string) string {
	crlf := strings.Count(text, "\r\n")
	lf := strings.Count(text, "\n") - crlf
	cr := strings.Count(text, "\r") - crlf
	switch {
	case crlf+lf+cr == 0:
		return "none"
	case lf+cr == 0:
		return "crlf"
	case crlf+cr == 0:
		return "lf"
	case crlf+lf == 0:
		return "cr"
	}
	return "mixed"
}

func endsLine(text string) bool { return strings.HasSuffix(text, "\n") }

// whitespaceOnly pairs each changed line of the new text with one of the old text that has the same letters; white space at the line
// ends is not looked at here but in EOL and FinalNewline.
func whitespaceOnly(before, after string) int {
	left := map[string]int{} // lines of the old text that are not in the new one
	for line := range strings.Lines(before) {
		left[strings.TrimRight(line, "\r\n")]++
	}
	var added []string
	for line := range strings.Lines(after) {
		line = strings.TrimRight(line, "\r\n")
		if left[line] > 0 {
			left[line]--
		} else {
			added = append(added, line)
		}
	}
	letters := map[string]int{}
	for line, n := range left {
		if n > 0 {
			letters[strings.Join(strings.Fields(line), "")] += n
		}
	}
	count := 0
	for _, line := range added {
		if l := strings.Join(strings.Fields(line), ""); letters[l] > 0 {
			letters[l]--
			count++
		}
	}
	return count
}

// withRealDir is path with the links in the session's own directory followed, as far as path lies in it: that the project is reached
// through a link (on macOS, all of /tmp is) is no news.
func withRealDir(path, cwd string) string {
	rel, err := filepath.Rel(cwd, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join(realPath(cwd), rel)
}
