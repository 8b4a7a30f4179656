package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters"
	"drawbridge/adapters/scripted"
)

// versionCLI is the scripted agent as another version of the CLI: found as that version, with what it prints put through mutate, and
// what it is sent written down.
type versionCLI struct {
	*stageCLI
	mutate func(line []byte) []byte
	sent   *transcript
}

// transcript is what all processes were sent.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *transcript) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (c *versionCLI) Find(context.Context, string) (Found, *Error) {
	return Found{ClaudeCode: describe([]string{"claude"}, c.version), Argv: []string{"claude"}}, nil
}

func (c *versionCLI) Start(l Launch) (Process, error) {
	p, err := c.stageCLI.Start(l)
	if err != nil {
		return nil, err
	}
	out := p.Stdout()
	if c.mutate != nil {
		lines := bufio.NewReader(out)
		r, w := io.Pipe()
		go func() {
			for {
				line, err := lines.ReadBytes('\n')
				if len(line) > 0 {
					_, _ = w.Write(c.mutate(line))
				}
				if err != nil {
					_ = w.Close()
					return
				}
			}
		}()
		out = r
	}
	return &versionProcess{p, out, &tee{p.Stdin(), c.sent}}, nil
}

type versionProcess struct {
	Process
	out io.Reader
	in  io.WriteCloser
}

func (p *versionProcess) Stdout() io.Reader     { return p.out }
func (p *versionProcess) Stdin() io.WriteCloser { return p.in }

type tee struct {
	io.WriteCloser
	copy io.Writer
}

func (t *tee) Write(b []byte) (int, error) {
	_, _ = t.copy.Write(b)
	return t.WriteCloser.Write(b)
}

// playVersion runs f on a stage whose CLI is a version of the CLI.
func playVersion(t *testing.T, version, script string, mutate func([]byte) []byte, f func(*stage, *versionCLI)) {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	o := SessionOptions{CWD: t.TempDir(), Trusted: true, Streaming: true, CanAsk: true, CanAnswer: true}
	synctest.Test(t, func(t *testing.T) {
		cli := &versionCLI{&stageCLI{script: parsed, version: version}, mutate, &transcript{}}
		g := &stage{t: t, cli: cli.stageCLI, editor: &logClient{permission: allow}}
		g.bridge = New(Options{Client: g.editor, CLI: cli, Version: "test"})
		g.session, err = g.bridge.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		f(g, cli)
		g.bridge.Close(context.Background())
		synctest.Wait()
	})
}

// fromTheFuture makes a line of the CLI as a version might print it that nobody has seen: numbers are strings, fields that are not
// needed have other names, and messages of new types come in between.
func fromTheFuture(line []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return line
	}
	renamed := map[string]string{"duration_ms": "elapsed_ms", "num_turns": "turn_count", "slash_commands": "commands",
		"modelUsage": "usage_by_model", "ttft_ms": "first_token_ms", "display_name": "shown_as", "permission_suggestions": "proposals"}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			return v.String()
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			other := map[string]any{}
			for name, member := range v {
				if to, ok := renamed[name]; ok {
					name = to
				}
				other[name] = walk(member)
			}
			return other
		}
		return v
	}
	out, _ := json.Marshal(walk(v))
	return append(out, "\n"+`{"type":"hologram","depth":"3"}`+"\n"+`{"type":"system","subtype":"weather","sky":"blue"}`+"\n"...)
}

func TestAVersionFromTheFutureCompletesItsTurns(t *testing.T) {
	playVersion(t, "2.9.0", scenes+`
-- broken --
match broken
raw {"type":"assistant","message":17}
raw {"type":"result_v2","fine":true}
text Still here.
`, fromTheFuture, func(g *stage, _ *versionCLI) {
		for text, answer := range map[string]string{"hello": "Echo: hello", "broken": "Still here."} {
			g.editor.texts.Reset()
			if r := g.say(text); r.Status != "completed" || r.Result == nil || *r.Result != answer {
				t.Errorf("%s: %+v %+v", text, r, r.Error)
			}
			if got := g.editor.texts.String(); got != answer {
				t.Errorf("%s: the tokens are %q", text, got)
			}
		}
		if r := g.say("bash touch x"); r.Status != "completed" || !strings.Contains(g.editor.told("prompt_resolved"), "allowed by user") {
			t.Errorf("bash: %+v", r)
		}
		want(t, g.editor.told("notice"), "notice warning claude_untested\nnotice warning unknown_messages")
		h := g.bridge.Health()
		if c := h.Counters; c.UnknownTypes["hologram"] < 10 || c.UnknownTypes["system/weather"] < 10 || c.UnknownTypes["result_v2"] != 1 || c.ParseErrorsTolerated != 1 || c.ParseErrors != 0 {
			t.Errorf("counters %+v", c)
		}
		if h.ClaudeCode.Level != "likely_compatible" || !strings.Contains(h.ClaudeCode.Message, "2.9.0") || !strings.Contains(h.ClaudeCode.Message, adapters.Tested.String()) {
			t.Errorf("claude %+v", h.ClaudeCode)
		}
	})
}

const badResults = `
-- renamed --
match renamed
raw {"type":"result","outcome":"fine","result":"All done."}
hang
-- cut --
match cut
raw {"type":"result","subtype":"succ
hang
-- odd --
match odd
raw {"type":"assistant","message":17}
text Done.
`

func TestAResultThatCannotBeReadFailsTheTurnOfATestedVersion(t *testing.T) {
	for _, c := range []struct{ version, says, status, notices string }{
		{"2.1.329", "renamed", "failed", "notice error malformed_line"},
		{"2.1.329", "cut", "failed", "notice error malformed_line"},
		{"2.1.329", "odd", "completed", "notice error malformed_line"},
		{"2.9.0", "renamed", "completed", "notice warning claude_untested"},
		{"2.9.0", "cut", "failed", "notice warning claude_untested"},
		{"2.9.0", "odd", "completed", "notice warning claude_untested"},
	} {
		t.Run(c.version+" "+c.says, func(t *testing.T) {
			playVersion(t, c.version, badResults, nil, func(g *stage, _ *versionCLI) {
				r := g.say(c.says)
				if r.Status != c.status || (r.Error == nil) != (c.status != "failed") {
					t.Errorf("%+v", r)
				}
				if r.Error != nil && (r.Error.Kind != KindInternal || r.Error.Message == "") {
					t.Errorf("error %+v", r.Error)
				}
				want(t, g.editor.told("notice"), c.notices)
				tolerated := int64(0)
				if c.version == "2.9.0" {
					tolerated = 1
				}
				if h := g.bridge.Health().Counters; h.ParseErrorsTolerated != tolerated || h.ParseErrors != 1-tolerated {
					t.Errorf("counters %+v", h)
				}
			})
		})
	}
}

func TestMissingToolsAreToldOnce(t *testing.T) {
	playVersion(t, "2.1.329", "-- x --\nmatch x\nraw {\"type\":\"system\",\"subtype\":\"init\",\"tools\":[\"Read\",\"Edit\",\"Write\"],\"session_id\":\"s\"}\ntext Done.\n", nil, func(g *stage, _ *versionCLI) {
		g.say("x")
		g.say("x")
		want(t, g.editor.told("notice"), "notice warning missing_features")
		if got := fmt.Sprint(g.bridge.Health().Counters.MissingFeatures); got != "[the tool Bash]" {
			t.Errorf("missing %s", got)
		}
	})
}

func TestTheLevelsAreToldInWords(t *testing.T) {
	for version, c := range map[string]struct{ level, says, remedy string }{
		"1.0.10":  {"incompatible", "1.0.10 is too old; drawbridge needs 1.0.20", "claude update"},
		"1.0.22":  {"degraded", "permission prompts", "claude update"},
		"1.0.110": {"degraded", "not trusted", "claude update"},
		"2.0.0":   {"fully_compatible", "(tested)", ""},
		"2.1.329": {"fully_compatible", "(tested)", ""},
		"2.9.0":   {"likely_compatible", "newer than 2.1.329", "Update drawbridge"},
		"hello":   {"unknown", `it said "hello"`, "--version"},
	} {
		got := describe([]string{"/bin/claude"}, version)
		if got.Level != c.level || !strings.Contains(got.Message, c.says) || !strings.Contains(got.Remedy, c.remedy) || (got.Remedy == "") != (c.remedy == "") {
			t.Errorf("%s: %+v", version, got)
		}
	}
}

func TestTheOldestVersionIsInterruptedByItsEndAndResumed(t *testing.T) {
	playVersion(t, "1.0.22", scenes, nil, func(g *stage, cli *versionCLI) {
		answer := g.send(context.Background(), "long")
		time.Sleep(time.Second) // of the bubble's clock
		if err := g.session.Interrupt(context.Background(), false); err != nil {
			t.Error(err)
		}
		if r := <-answer; r.Status != "cancelled" {
			t.Errorf("%+v", r)
		}
		if r := g.say("hello"); r.Status != "completed" {
			t.Errorf("next: %+v", r)
		}
		if got := cli.sent.String(); strings.Contains(got, "control_request") || strings.Contains(got, "\n\n") {
			t.Errorf("it was sent %s", got)
		}
		if len(cli.starts) != 2 || !strings.Contains(strings.Join(cli.starts[1].Argv, " "), "--resume=") {
			t.Errorf("starts: %v", cli.starts)
		}
		want(t, g.editor.told("notice"), "notice warning claude_degraded")
	})
}

// captor keeps what it is told of tool results.
type captor struct {
	*logClient
	results []adapters.ToolResult
}

func (c *captor) Message(s *Session, m *adapters.Message) error {
	if m.Kind == adapters.ToolResults {
		c.results = append(c.results, m.Clone().Results...)
	}
	return c.logClient.Message(s, m)
}

func TestALongToolResultIsCutForTheEditor(t *testing.T) {
	playVersion(t, "2.1.329", "-- big --\nmatch big\ntool Bash {\"command\":\"cat big\"}\nrun\nresult bytes 30MB\ntext Done.\n", nil, func(g *stage, _ *versionCLI) {
		editor := &captor{logClient: g.editor}
		g.bridge.Client = editor
		if r := g.say("big"); r.Status != "completed" {
			t.Errorf("%+v", r)
		}
		if len(editor.results) != 1 {
			t.Fatalf("%d results", len(editor.results))
		}
		r := editor.results[0]
		if n := len(r.Content) + len(r.Structured); n > DefaultMaxPayload || n < DefaultMaxPayload/2 || !json.Valid(r.Content) {
			t.Errorf("the result has %d bytes", n)
		}
		if r.Original < 30_000_000 || !bytes.Contains(r.Content, []byte("[truncated: original_size=")) {
			t.Errorf("original %d", r.Original)
		}
		if n := g.bridge.Health().Counters.Truncations; n != 1 {
			t.Errorf("%d truncations", n)
		}
	})
}

func TestALongInputGoesBackByteForByte(t *testing.T) {
	content := strings.Repeat("0123456789abcd\\n", 2<<20/16)
	input := `{"file_path":"/tmp/a","content":"` + content + `"}`
	playVersion(t, "2.1.329", "-- big --\nmatch big\ntool Write "+input+"\nask\ntext Done.\n", nil, func(g *stage, cli *versionCLI) {
		g.bridge.MaxPayloadBytes = 1 << 20
		shown := 0
		g.editor.permission = func(ctx context.Context, p *Prompt) (Decision, error) {
			if string(p.Input) == input {
				shown++
			}
			return allow(ctx, p)
		}
		if r := g.say("big"); r.Status != "completed" {
			t.Errorf("%+v", r)
		}
		if shown != 1 {
			t.Error("the prompt does not show the whole input")
		}
		if !strings.Contains(cli.sent.String(), `"updatedInput":`+input) {
			t.Error("the input did not come back as it was")
		}
	})
}
