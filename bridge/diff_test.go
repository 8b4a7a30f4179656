package bridge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/adapters"
)

func version(t *testing.T, s string) adapters.Version {
	t.Helper()
	v, ok := adapters.ParseVersion(s)
	if !ok {
		t.Fatalf("no version: %s", s)
	}
	return v
}

func fileInput(t *testing.T, members map[string]any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheDiffIsWhatWasMeasured(t *testing.T) {
	dir := realTempDir(t)
	for i, m := range measured {
		for n, v := range []string{"2.1.17", "2.1.112", "2.1.329"} {
			want := m.after[min(n, len(m.after)-1)]
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.ipynb", i, n))
			if m.before != "-" {
				if err := os.WriteFile(path, []byte(m.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			input := map[string]any{"file_path": path, "old_string": m.old, "new_string": m.new, "replace_all": m.all}
			switch m.tool {
			case "Write":
				input = map[string]any{"file_path": path, "content": m.new}
			case "NotebookEdit":
				input = map[string]any{"notebook_path": path, "cell_id": m.old, "new_source": m.new}
			}
			d, base, err := proposeDiff(version(t, v), m.tool, fileInput(t, input), dir)
			switch {
			case base == nil:
				t.Errorf("%s (%s): there is no base: %v", m.name, v, err)
			case want == "!" && err == nil:
				t.Errorf("%s (%s): the tool fails, but there is a diff: %q", m.name, v, *d.NewText)
			case want == "!":
			case err != nil:
				t.Errorf("%s (%s): %v", m.name, v, err)
			case *d.NewText != want:
				t.Errorf("%s (%s): %q, want %q", m.name, v, *d.NewText, want)
			}
		}
	}
}

func TestTheDiffSaysWhatCannotBeSeenInTheTexts(t *testing.T) {
	dir := realTempDir(t)
	path := filepath.Join(dir, "f.txt")
	propose := func(before, after string) *Diff {
		t.Helper()
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		d, _, err := proposeDiff(version(t, "2.1.329"), "Write", fileInput(t, map[string]any{"file_path": "f.txt", "content": after}), dir)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := propose("a\r\n b\r\nc\r\nx\r\n", "a\nb\nC\n x  ")
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"path":` + string(marshal(path)) + `,"old_text":"a\r\n b\r\nc\r\nx\r\n","new_text":"a\nb\nC\n x  ","exists":true,"encoding":"utf-8",` +
		`"eol":["crlf","lf"],"final_newline":[true,false],"whitespace_only_lines":2}`
	if string(raw) != want {
		t.Errorf("%s\nwant\n%s", raw, want)
	}
	if d := propose(utf16le("\ufeffa"), "\ufeffb"); d.Encoding != "utf-16le" || d.EOL != [2]string{"none", "none"} {
		t.Errorf("UTF-16 is shown as %s %v", d.Encoding, d.EOL)
	}
	long := strings.Repeat("line\n", maxDiffText/5+1)
	if d := propose(long, "short"); d.OldText != nil || d.NewText != nil || d.OmittedBytes != len(long)+5 || !d.Exists {
		t.Errorf("a long file is shown with %d bytes omitted", d.OmittedBytes)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	input := fileInput(t, map[string]any{"file_path": "f.txt", "content": "a\nb"})
	d, base, err := proposeDiff(version(t, "2.1.17"), "Write", input, dir)
	if err != nil || d.OldText != nil || d.Exists || d.EOL[1] != "unknown" || base.SHA256 != "" {
		t.Errorf("a new file is shown as %+v (%v)", d, err)
	}
}

func TestVersionsThatMayDifferHaveADiffOnlyWhereTheyAgree(t *testing.T) {
	dir := realTempDir(t)
	for name, content := range map[string]string{"lf": "a\n", "crlf": "a\r\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []adapters.Version{{}, version(t, "2.1.60")} {
		for name, agree := range map[string]bool{"lf": true, "crlf": false} {
			_, _, err := proposeDiff(v, "Write", fileInput(t, map[string]any{"file_path": name, "content": "b\n"}), dir)
			if (err == nil) != agree {
				t.Errorf("%s with version %s: %v", name, v, err)
			}
		}
	}
	if _, _, err := proposeDiff(adapters.Version{}, "Write", fileInput(t, map[string]any{"file_path": "lf", "content": "b\n"}), dir); err != nil {
		t.Error(err)
	}
}

func TestALinkIsShownByWhereItLeads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := realTempDir(t)
	project, outside := filepath.Join(dir, "project"), filepath.Join(dir, "outside")
	for _, d := range []string{project, outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(project, filepath.Join(dir, "alias"))
	link("../outside", filepath.Join(project, "sub"))
	link("../outside/new.txt", filepath.Join(project, "nowhere"))
	for _, c := range []struct{ cwd, path, version, target string }{
		{project, "plain.txt", "2.1.329", ""},
		{filepath.Join(dir, "alias"), "plain.txt", "2.1.329", ""}, // how the project is reached is no news
		{project, "sub/x.txt", "2.1.329", filepath.Join(outside, "x.txt")},
		{project, "nowhere", "2.1.112", filepath.Join(outside, "new.txt")},
		{project, "nowhere", "2.1.329", "!"}, // refuses
	} {
		d, _, err := proposeDiff(version(t, c.version), "Write", fileInput(t, map[string]any{"file_path": c.path, "content": "x"}), c.cwd)
		switch {
		case c.target == "!" && err == nil:
			t.Errorf("%s: there is a diff", c.path)
		case c.target == "!":
		case err != nil:
			t.Errorf("%s: %v", c.path, err)
		case d.SymlinkTarget != c.target:
			t.Errorf("%s from %s leads to %q, want %q", c.path, c.cwd, d.SymlinkTarget, c.target)
		}
	}
}

func TestAFileThatIsNotTheSameAnyMoreIsNoticed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	root := realTempDir(t)
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, content string) { t.Helper(); do(os.WriteFile(at(name), []byte(content), 0o600)) }
	for _, c := range []struct {
		name    string
		path    string
		change  func()
		changed bool
	}{
		{"nothing", "d/f", func() {}, false},
		{"the same content again", "d/f", func() { write("d/f", "text") }, false},
		{"another content of the same length", "d/f", func() { write("d/f", "tEXt") }, true},
		{"the file is gone", "d/f", func() { do(os.Remove(at("d/f"))) }, true},
		{"the file has come", "d/new", func() { write("d/new", "") }, true},
		{"the file has become a link to its like", "d/f", func() { write("other", "text"); do(os.Remove(at("d/f"))); do(os.Symlink(at("other"), at("d/f"))) }, true},
		{"the directory has become a link", "d/f", func() { do(os.Rename(at("d"), at("e"))); do(os.Symlink(at("e"), at("d"))) }, true},
		{"the directory of a new file has become a link", "d/new", func() { do(os.Rename(at("d"), at("e"))); do(os.Symlink(at("e"), at("d"))) }, true},
		{"the file has become a directory", "d/f", func() { do(os.Remove(at("d/f"))); do(os.Mkdir(at("d/f"), 0o700)) }, true},
		{"a loop of links", "d/f", func() { do(os.Remove(at("d/f"))); do(os.Symlink("f", at("d/f"))) }, true},
		{"binary, changed", "bin", func() { write("bin", "\x00\x02") }, true},
		{"binary, not changed", "bin", func() {}, false},
	} {
		for _, name := range []string{"d", "e", "other", "bin"} {
			do(os.RemoveAll(at(name)))
		}
		do(os.Mkdir(at("d"), 0o700))
		write("d/f", "text")
		write("bin", "\x00\x01")
		_, base, err := proposeDiff(adapters.Version{}, "Write", fileInput(t, map[string]any{"file_path": at(c.path), "content": "x"}), root)
		if base == nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.change(); base.changed() != c.changed {
			t.Errorf("%s: changed is %v", c.name, !c.changed)
		}
	}
}

func TestTheUsersTextIsWhatTheToolThenWrites(t *testing.T) {
	dir := realTempDir(t)
	path := filepath.Join(dir, "f.txt")
	for _, c := range []struct{ before, tool, version, text, want, input string }{
		{"a\nb\n", "Edit", "2.1.329", "x\n<y>\n", "x\n<y>\n", `{"file_path":"f.txt", "old_string":"a\nb\n","new_string":"x\n<y>\n" ,"replace_all":false}`},
		{"a\r\nb\r\n", "Edit", "2.1.329", "x\r\ny", "x\r\ny", `{"file_path":"f.txt", "old_string":"a\nb\n","new_string":"x\ny" ,"replace_all":false}`},
		{"a\r\nb\r\n", "Edit", "2.0.0", "x\ny", "x\r\ny", `{"file_path":"f.txt", "old_string":"a\nb\n","new_string":"x\ny" ,"replace_all":false}`},
		{"a\r\nb\r\n", "Edit", "2.0.0", "x\r\ny\nz", "!", ""}, // mixed line ends cannot be written
		{"a\nb\n", "Edit", "2.0.0", "x\r\ny\nz", "x\r\ny\nz", `{"file_path":"f.txt", "old_string":"a\nb\n","new_string":"x\r\ny\nz" ,"replace_all":false}`},
		{"\ufeffb\n", "Edit", "2.1.329", "x", "x", `{"file_path":"f.txt", "old_string":"` + "\ufeff" + `b\n","new_string":"x" ,"replace_all":false}`},
		{"a\nb\n", "Edit", "2.1.329", "a\nb\n", "!", ""}, // nothing would change
		{"a\nb\n", "Edit", "2.1.329", "x\xff", "!", ""},
		{"a\nb\n", "Edit", "2.1.329", "a\nB\n", "a\nB\n", `{"file_path":"f.txt", "old_string":"b","new_string":"B" ,"replace_all":false}`}, // as proposed
		{"a\nb\n", "MultiEdit", "1.0.128", "x", "x", `{"edits":[{"old_string":"a\nb\n","new_string":"x"}],"file_path":"f.txt"}`},
		{"a\r\n", "Write", "2.1.329", "x\ny", "x\ny", `{"content":"x\ny","file_path":"f.txt"}`},
		{"a\r\n", "Write", "2.0.0", "x\r\ny", "x\r\ny", `{"content":"x\ny","file_path":"f.txt"}`},
		{"\ufeffa\n", "Write", "2.1.329", "x", "!", ""}, // it would keep the mark
		{"-", "Write", "2.1.329", "x\r\ny\n", "x\r\ny\n", `{"content":"x\r\ny\n","file_path":"f.txt"}`},
		{"-", "Write", "2.1.17", "x\r\ny\r\n", "x\ny\n", `{"content":"x\ny\n","file_path":"f.txt"}`}, // the tool chooses the line ends
		{"-", "Write", "2.1.17", "x\r\ny\n", "!", ""},
	} {
		_ = os.Remove(path)
		if c.before != "-" {
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		input := map[string]string{
			"Edit":      `{"file_path":"f.txt", "old_string":"b","new_string":"B" ,"replace_all":false}`,
			"MultiEdit": `{"edits":[ {"old_string":"b","new_string":"B"} ],"file_path":"f.txt"}`,
			"Write":     `{"content":"w","file_path":"f.txt"}`,
		}[c.tool]
		d, _, err := proposeDiff(version(t, c.version), c.tool, json.RawMessage(input), dir)
		if err != nil {
			t.Fatalf("%s %q: %v", c.tool, c.before, err)
		}
		got, err := applyText(c.tool, json.RawMessage(input), d, c.text)
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s %q: %q is taken, as %s", c.tool, c.before, c.text, got)
			}
			continue
		}
		if err != nil || string(got) != c.input {
			t.Errorf("%s %q with %q: %s (%v), want %s", c.tool, c.before, c.text, got, err, c.input)
			continue
		}
		call, err := readFileCall(c.tool, got)
		if err != nil {
			t.Fatal(err)
		}
		call.unchecked = true
		if after, err := d.of[0].run(call, d.before); err != nil || after != c.want {
			t.Errorf("%s %q with %q leaves %q (%v), want %q", c.tool, c.before, c.text, after, err, c.want)
		}
	}
}

func TestAnInputThatIsNotPlainHasNoDiff(t *testing.T) {
	dir := realTempDir(t)
	for _, input := range []string{
		``, `[]`, `null`, `{"file_path":7,"content":"x"}`, `{"content":"x"}`, `{"file_path":"","content":"x"}`, `{"file_path":"a\u0000b","content":"x"}`,
		`{"file_path":"a","content":"\ud800x"}`, `{"file_path":"a","content":["x"]}`,
	} {
		if d, _, err := proposeDiff(adapters.Version{}, "Write", json.RawMessage(input), dir); err == nil {
			t.Errorf("%s has a diff: %+v", input, d)
		}
	}
	// Names are exact: JavaScript does not take Content for content.
	d, _, err := proposeDiff(adapters.Version{}, "Write", json.RawMessage(`{"file_path":"a","content":"x","Content":"y"}`), dir)
	if err != nil || *d.NewText != "x" {
		t.Errorf("%v", err)
	}
	if _, base, err := proposeDiff(adapters.Version{}, "Bash", json.RawMessage(`{"command":"ls"}`), dir); err == nil || base != nil {
		t.Error("Bash has a diff")
	}
}

// TestAWholeReplacementIsExactForAnyText holds applyText to the model of the tools, for random files and texts: either it refuses, or
// the tool leaves exactly the text.
func TestAWholeReplacementIsExactForAnyText(t *testing.T) {
	dir := realTempDir(t)
	r := rand.New(rand.NewPCG(1, 2))
	made := 0
	for i := range 3000 {
		tr := randomTrial(r, true)
		if tr.tool == "NotebookEdit" {
			continue
		}
		path := filepath.Join(dir, "f")
		_ = os.Remove(path)
		if tr.before != nil {
			if err := os.WriteFile(path, []byte(*tr.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tr.input["file_path"] = path
		v := version(t, []string{"2.0.0", "2.1.112", "2.1.329"}[i%3])
		input := fileInput(t, tr.input)
		d, _, err := proposeDiff(v, tr.tool, input, dir)
		if err != nil {
			continue
		}
		if !utf8.ValidString(*d.NewText) {
			t.Fatalf("%q", *d.NewText)
		}
		text := randomText(r, 8)
		edited, err := applyText(tr.tool, input, d, text)
		if err != nil {
			continue
		}
		made++
		call, err := readFileCall(tr.tool, edited)
		if err != nil {
			t.Fatal(err)
		}
		call.unchecked = true
		after, err := d.of[0].run(call, d.before)
		if err != nil || strings.ReplaceAll(after, "\r\n", "\n") != text {
			t.Errorf("%q: %q becomes %q (%v)", d.before.text, text, after, err)
		}
	}
	if made < 500 {
		t.Errorf("only %d texts were exchanged", made)
	}
}

func FuzzNoInputMakesTheDiffPanic(f *testing.F) {
	f.Add("Edit", `{"file_path":"x","old_string":"“a","new_string":"b"}`, "a\r\n“a")
	f.Add("NotebookEdit", `{"notebook_path":"x.ipynb","cell_id":"cell-0","new_source":"b"}`, `{"cells":[{}],"metadata":{}}`)
	f.Add("MultiEdit", `{"file_path":"x","edits":[{"old_string":"a","new_string":""}]}`, "\xff\xfea\x00")
	f.Fuzz(func(t *testing.T, tool, input, content string) {
		before, err := decodeFile(true, []byte(content))
		if err != nil {
			return
		}
		call, err := readFileCall(tool, json.RawMessage(input))
		if err != nil {
			return
		}
		for _, g := range []generation{to2_1_17, like2_1_112, from2_1_329} {
			if after, err := g.run(call, before); err == nil && utf8.ValidString(content) && !utf8.ValidString(after) {
				t.Errorf("%q is no text", after)
			}
		}
	})
}
