package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/adapters"
	"drawbridge/adapters/fakeapi"
)

// fileCLI is a real claude that is made to call file tools and asks for each of them.
type fileCLI struct {
	t       *testing.T
	version string
	dir     string
	calls   []fakeapi.Block
	results []fakeapi.ToolResult
	lines   *bufio.Reader
	stdin   io.Writer
}

func startFileCLI(t *testing.T, cache, version string) *fileCLI {
	program := filepath.Join(cache, "claude-"+version, "node_modules", ".bin", "claude")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("Claude Code %s is not in DRAWBRIDGE_E2E", version)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	c := &fileCLI{t: t, version: version, dir: filepath.Join(root, "project")}
	for _, dir := range []string{home, c.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	api, err := fakeapi.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	api.Handle(func(r fakeapi.Request) (fakeapi.Answer, bool) {
		if len(r.Tools) == 0 {
			return fakeapi.Answer{}, false
		}
		c.results = append(c.results, r.ToolResults...)
		next := fakeapi.Text("done")
		if len(c.calls) > 0 {
			next, c.calls = c.calls[0], c.calls[1:]
		}
		return fakeapi.Answer{Blocks: []fakeapi.Block{next}}, true
	})
	cmd := exec.CommandContext(t.Context(), program, "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--permission-prompt-tool", "stdio", "--permission-mode", "default")
	cmd.Dir, cmd.Env = c.dir, api.Env(home)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	c.stdin, c.lines = stdin, bufio.NewReader(stdout)
	return c
}

func (c *fileCLI) send(v any) {
	c.t.Helper()
	if err := json.NewEncoder(c.stdin).Encode(v); err != nil {
		c.t.Fatal(err)
	}
}

// call has the file read and the tool called. answer gets the input when the CLI asks, and returns the one to be run; it is not
// called if the CLI finds fault with the call before it asks. failed says that the tool ended in an error.
func (c *fileCLI) call(tool string, input map[string]any, read bool, answer func(json.RawMessage) json.RawMessage) (failed bool, said string) {
	c.t.Helper()
	c.results = nil
	path := input["file_path"]
	if tool == "NotebookEdit" {
		path = input["notebook_path"]
	}
	if read {
		c.calls = append(c.calls, fakeapi.Tool("Read", map[string]any{"file_path": path}))
	}
	c.calls = append(c.calls, fakeapi.Tool(tool, input))
	c.send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "go"}})
	for {
		line, err := c.lines.ReadBytes('\n')
		if err != nil {
			c.t.Fatalf("the CLI ends: %v", err)
		}
		var m struct {
			Type      string
			RequestID string `json:"request_id"`
			Request   struct {
				Subtype string
				Tool    string `json:"tool_name"`
				Input   json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.Type == "result":
			if len(c.results) == 0 {
				c.t.Fatalf("%s has no result: %s", tool, line)
			}
			last := c.results[len(c.results)-1]
			return last.IsError, last.Content
		case m.Type == "control_request" && m.Request.Subtype == "can_use_tool":
			run := m.Request.Input
			if m.Request.Tool == tool {
				run = answer(bytes.Clone(run))
			}
			c.send(map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": m.RequestID,
				"response": map[string]any{"behavior": "allow", "updatedInput": run}}})
		}
	}
}

// trial is one call on one file.
type trial struct {
	before *string // raw content; nil: no file
	ext    string
	tool   string
	input  map[string]any
	text   *string // the user's version of the text, if it is exchanged
}

const trials = 60 // a version; a call takes a CLI a tenth of a second, or a second on a busy machine

// TestTheDiffIsWhatTheRealToolsDo makes random files and edits, some with a text that the user has changed, and compares what each
// real CLI leaves on the disk with the diff that was shown when it asked, byte for byte.
func TestTheDiffIsWhatTheRealToolsDo(t *testing.T) {
	cache := os.Getenv("DRAWBRIDGE_E2E")
	if cache == "" {
		t.Skip("DRAWBRIDGE_E2E is not set")
	}
	seed := uint64(time.Now().UnixNano())
	for _, version := range []string{"1.0.128", "2.0.0", "2.1.17", "2.1.112", "2.1.329"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			c := startFileCLI(t, cache, version)
			v, _ := adapters.ParseVersion(version)
			random := rand.New(rand.NewPCG(seed, 1))
			shown := 0
			for i := range trials {
				if c.try(v, i, randomTrial(random, version == "1.0.128")) {
					shown++
				}
			}
			t.Logf("%d of %d calls were asked about and had a diff", shown, trials)
			if shown < trials/3 {
				t.Errorf("only %d diffs were compared", shown)
			}
		})
	}
}

// try runs one trial and says whether there was a diff to compare.
func (c *fileCLI) try(v adapters.Version, i int, tr trial) bool {
	c.t.Helper()
	path := filepath.Join(c.dir, fmt.Sprintf("f%d.%s", i, tr.ext))
	if tr.before != nil {
		if err := os.WriteFile(path, []byte(*tr.before), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	name := "file_path"
	if tr.tool == "NotebookEdit" {
		name = "notebook_path"
	}
	tr.input[name] = path
	asked := false
	var diff *Diff
	var no error
	var want string
	failed, said := c.call(tr.tool, tr.input, tr.before != nil, func(input json.RawMessage) json.RawMessage {
		asked = true
		if diff, _, no = proposeDiff(v, tr.tool, input, c.dir); no != nil {
			return input
		}
		want = *diff.NewText
		if tr.text == nil || tr.tool == "NotebookEdit" {
			return input
		}
		edited, err := applyText(tr.tool, input, diff, *tr.text)
		if err != nil {
			return input
		}
		if want = *tr.text; diff.of[0].convertsText(tr.tool, diff.before) {
			want = strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\n", "\r\n")
		}
		return edited
	})
	describe := func() string {
		raw, _ := json.Marshal(tr.input)
		before := "no file"
		if tr.before != nil {
			before = fmt.Sprintf("%q", *tr.before)
		}
		text := ""
		if tr.text != nil {
			text = fmt.Sprintf("\ntext %q", *tr.text)
		}
		return fmt.Sprintf("%s\n%s %s%s\nsaid %q", before, tr.tool, raw, text, said)
	}
	switch {
	case !asked:
		return false
	case no != nil:
		if !failed {
			c.t.Logf("no diff (%v) of\n%s", no, describe())
		}
		return false
	case failed:
		c.t.Errorf("there was a diff, but the tool fails: %s", describe())
		return true
	}
	content, err := os.ReadFile(path)
	if err != nil {
		c.t.Errorf("%v: %s", err, describe())
		return true
	}
	raw := want
	if diff.before.utf16 {
		raw = utf16le(want)
	}
	if diff.EOL[1] == "unknown" || diff.of[0].choosesEOL(fileCall{tool: tr.tool, content: want}, diff.before) {
		content, raw = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), strings.ReplaceAll(raw, "\r\n", "\n")
	}
	if string(content) != raw {
		c.t.Errorf("the file is  %q\nthe diff was %q\n%s", content, raw, describe())
	}
	return true
}

// pieces are what random files and edits are made of: few, so that edits often fit.
var pieces = []string{"a", "b", "ab", " ", "\t", "\n", "\n", "\n", "  \n", "\"q\"", "“q”", "it's", "it’s", "é", "漢", "😀", "x = 1", "$&", "\\u00e9", "(", "—", "<b>"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomTrial(r *rand.Rand, multi bool) trial {
	tr := trial{ext: []string{"txt", "md", "go"}[r.IntN(3)], input: map[string]any{}}
	text := randomText(r, 14)
	if r.IntN(5) == 0 {
		text += strings.Repeat("line\n", 900) // beyond what the tools look at for line ends
	}
	switch r.IntN(6) {
	case 0, 1:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		text = strings.Replace(text, "\n", "\r\n", 1)
	}
	if r.IntN(8) == 0 {
		text = bom + text
	}
	exists := r.IntN(7) > 0
	old := text
	if cut := []rune(strings.ReplaceAll(text, "\r\n", "\n")); len(cut) > 0 {
		from := r.IntN(len(cut))
		old = string(cut[from : from+1+r.IntN(min(6, len(cut)-from))])
	}
	if r.IntN(4) == 0 {
		old = straight.Replace(old)
	}
	if r.IntN(9) == 0 || !exists {
		old = ""
	}
	one := func(old string) map[string]any {
		return map[string]any{"old_string": old, "new_string": randomText(r, 5), "replace_all": r.IntN(2) == 0}
	}
	switch k := r.IntN(8); {
	case k < 2:
		tr.tool, tr.input["content"] = "Write", randomText(r, 10)
		if r.IntN(4) == 0 {
			tr.input["content"] = strings.ReplaceAll(tr.input["content"].(string), "\n", "\r\n")
		}
	case k == 2:
		return notebookTrial(r)
	case k == 3 && multi:
		tr.tool = "MultiEdit"
		tr.input["edits"] = []any{one(old), one(pieces[r.IntN(8)])}
	default:
		tr.tool, tr.input = "Edit", one(old)
	}
	if r.IntN(3) == 0 {
		text := randomText(r, 12)
		if r.IntN(3) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		tr.text = &text
	}
	if exists {
		content := text
		if r.IntN(10) == 0 {
			content = utf16le(bom + strings.TrimPrefix(text, bom))
		}
		tr.before = &content
	}
	return tr
}

func utf16le(text string) string {
	var b []byte
	for _, r := range text {
		if r > 0xffff {
			r -= 0x10000
			hi, lo := 0xd800+r>>10, 0xdc00+r&0x3ff
			b = append(b, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
			continue
		}
		b = append(b, byte(r), byte(r>>8))
	}
	return string(b)
}

func notebookTrial(r *rand.Rand) trial {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	cell := func(id string) string {
		members := []string{
			`"cell_type":"` + pick("code", "markdown", "raw") + `"`,
			`"id":"` + id + `"`,
			`"metadata":` + pick(`{}`, `{"b":1.50,"10":-0.0,"a":[],"2":{"x":1e400}}`, `{"tags":["x", 1e21, 1e-7, 12345678901234567890]}`),
			`"source":` + pick(`"x"`, `["a\n","b\u2028\\u2028\/"]`, `[]`),
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(append(members, `"outputs":[],"execution_count":3`), pick(",", ", ", ",\n ")) + "}"
	}
	text := `{"cells":[` + cell("aa") + "," + pick("", "\n") + cell("bb") + `],` + pick("", "\n") +
		`"metadata":` + pick(`{}`, `{"language_info":{"name":"python"},"é":"\u00e9\u001f\b"}`) + `,"nbformat":4,"nbformat_minor":` + pick("4", "4", "5") + "}" +
		pick("", "\n", "\n\n", "\n ", " ")
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	tr := trial{before: &text, ext: "ipynb", tool: "NotebookEdit", input: map[string]any{
		"cell_id": pick("aa", "bb", "cell-0", "cell-1", "cell-01", "zz"), "new_source": randomText(r, 6)}}
	if mode := pick("replace", "insert", "delete", ""); mode != "" {
		tr.input["edit_mode"] = mode
	}
	if kind := pick("code", "markdown", "", "code"); kind != "" {
		tr.input["cell_type"] = kind
	}
	if tr.input["edit_mode"] == "insert" && r.IntN(3) == 0 {
		delete(tr.input, "cell_id")
	}
	return tr
}
