//go:build linux

// Package e2e tests the whole: an editor's client, the drawbridge binary, the real claude CLI in several versions, and a scripted
// Messages API on loopback. It needs DRAWBRIDGE_E2E, the folder that `make deps` fills.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"drawbridge/adapters/fakeapi"
	"drawbridge/rpc"
	"drawbridge/rpc/editor"
	"drawbridge/rpc/stream"

	"github.com/google/uuid"
)

var (
	cache  = os.Getenv("DRAWBRIDGE_E2E")
	binary string
)

func TestMain(m *testing.M) {
	if cache == "" {
		fmt.Println("end-to-end tests are left out: DRAWBRIDGE_E2E is not set; make e2e sets it")
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "drawbridge-e2e")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "drawbridge")
	if out, err := exec.Command("go", "build", "-o", binary, "drawbridge/cmd/drawbridge").CombinedOutput(); err != nil {
		fmt.Printf("%s%v\n", out, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := writeMatrix(filepath.Join(cache, "matrix.txt")); err != nil {
		fmt.Println(err)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newest is the version that everything is shown with.
const newest = "2.1.329"

// patience bounds what a real process may take on a busy machine. Nothing is expected to take so long.
const patience = 60 * time.Second

// world is a user's machine with one editor: a home, a project, a claude, an API, a bridge.
type world struct {
	*testing.T
	ctx     context.Context
	api     *fakeapi.Server
	home    string
	project string
	version string
	client  *editor.Client
	process *exec.Cmd
	stderr  *bytes.Buffer
	fails   bool // the bridge is meant to exit with an error

	permission func(context.Context, rpc.PermissionParams) (editor.Decision, error)
	question   func(context.Context, rpc.QuestionParams) (editor.Answers, error)

	mu   sync.Mutex
	told []message
	news chan struct{} // closed and made anew with each message
}

// message is a notification, or a request of the bridge.
type message struct {
	method string
	params json.RawMessage
}

func (m message) get(path ...string) string {
	var v any
	if json.Unmarshal(m.params, &v) != nil {
		return ""
	}
	for _, p := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = o[p]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// setup changes a world before its bridge starts.
type setup func(w *world, serve *exec.Cmd, p *editor.InitializeParams)

func arguments(args ...string) setup {
	return func(_ *world, serve *exec.Cmd, _ *editor.InitializeParams) { serve.Args = append(serve.Args, args...) }
}

func environment(vars ...string) setup {
	return func(_ *world, serve *exec.Cmd, _ *editor.InitializeParams) { serve.Env = append(serve.Env, vars...) }
}

// ownGroup starts the bridge as the leader of a process group, as an editor's job control does.
func ownGroup(_ *world, serve *exec.Cmd, _ *editor.InitializeParams) {
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func option(name string, value any) setup {
	return func(_ *world, _ *exec.Cmd, p *editor.InitializeParams) { p.Options[name] = value }
}

// enter makes a world with a version of the CLI and a bridge that is initialized. All prompts are allowed until the test says else.
func enter(t *testing.T, version string, setups ...setup) *world {
	t.Helper()
	w := outside(t, version)
	w.start(setups...)
	return w
}

// outside makes a world without a bridge.
func outside(t *testing.T, version string) *world {
	t.Helper()
	api, err := fakeapi.Start(fakeapi.WithBodies())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, ctx: ctx, api: api, home: filepath.Join(root, "home"), project: filepath.Join(root, "project"), version: version,
		news: make(chan struct{}), stderr: &bytes.Buffer{}}
	for _, dir := range []string{w.home, w.project} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.permission = func(_ context.Context, p rpc.PermissionParams) (editor.Decision, error) { return w.allow(p), nil }
	return w
}

func (w *world) claude() string {
	return filepath.Join(cache, "claude-"+w.version, "node_modules", ".bin", "claude")
}

func (w *world) allow(p rpc.PermissionParams) editor.Decision {
	return editor.Decision{PromptID: p.PromptID, Decision: editor.Allow}
}

// env is a clean environment: nothing of the machine's own claude or settings gets in.
func (w *world) env() []string {
	return append(w.api.Env(w.home), "XDG_CONFIG_HOME="+filepath.Join(w.home, ".config"), "XDG_STATE_HOME="+filepath.Join(w.home, ".state"))
}

// start starts a bridge and initializes it.
func (w *world) start(setups ...setup) {
	w.Helper()
	serve := exec.Command(binary, "serve", "--claude", w.claude())
	serve.Dir = w.project
	serve.Env = w.env()
	serve.Stderr = w.stderr
	params := editor.InitializeParams{
		ClientInfo:   rpc.Peer{Name: "e2e", Version: "1"},
		CWD:          w.project,
		Capabilities: rpc.Capabilities{Streaming: true, Permissions: true, Progress: true, Thinking: true, Questions: true},
		Options:      map[string]any{"trusted": true},
	}
	if recordings != "" {
		setups = append(setups, record)
	}
	for _, s := range setups {
		s(w, serve, &params)
	}
	w.process = serve
	handler := editor.Handler{
		Notification: func(method string, p json.RawMessage) { w.note(strings.Clone(method), bytes.Clone(p)) },
		Permission: func(ctx context.Context, p rpc.PermissionParams) (editor.Decision, error) {
			raw, _ := json.Marshal(p)
			w.note("permission_request", raw)
			return w.permission(ctx, p)
		},
		Question: func(ctx context.Context, q rpc.QuestionParams) (editor.Answers, error) {
			raw, _ := json.Marshal(q)
			w.note("ask_user_question", raw)
			if w.question == nil {
				return editor.Answers{Declined: true}, nil
			}
			return w.question(ctx, q)
		},
	}
	client, err := editor.Launch(w.ctx, serve, handler, editor.Options{Framing: stream.NDJSON})
	if err != nil {
		w.Fatal(err)
	}
	w.client = client
	w.Cleanup(func() {
		if err := client.Shutdown(context.Background()); err != nil && !w.Failed() && !w.expectsDeath() {
			w.Errorf("shutdown: %v\n%s", err, w.stderr)
		}
		if w.Failed() {
			w.Logf("stderr:\n%s", w.stderr)
			w.Logf("told:\n%s", w.story())
		}
	})
	if _, err := client.Initialize(w.ctx, params); err != nil {
		w.Fatalf("initialize: %v\n%s", err, w.stderr)
	}
}

// expectsDeath says whether the bridge was killed by the test, or is meant to exit with an error.
func (w *world) expectsDeath() bool {
	return w.fails || w.process.ProcessState != nil && !w.process.ProcessState.Exited()
}

func (w *world) note(method string, params json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, message{method, params})
	close(w.news)
	w.news = make(chan struct{})
}

// mark is a place in what was told.
func (w *world) mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.told)
}

// since is everything told from a place on, of the methods named.
func (w *world) since(from int, methods ...string) []message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []message
	for _, m := range w.told[from:] {
		if len(methods) == 0 || contains(methods, m.method) {
			list = append(list, m)
		}
	}
	return list
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// await waits until a message from a place on fits.
func (w *world) await(from int, what string, fits func(message) bool) message {
	w.Helper()
	limit := time.After(patience)
	for {
		w.mu.Lock()
		for _, m := range w.told[from:] {
			if fits(m) {
				w.mu.Unlock()
				return m
			}
		}
		news := w.news
		w.mu.Unlock()
		select {
		case <-news:
		case <-limit:
			w.Fatalf("%s: waited %v for %s", w.version, patience, what)
		}
	}
}

func method(name string) func(message) bool { return func(m message) bool { return m.method == name } }

func state(name string) func(message) bool {
	return func(m message) bool { return m.method == "status_change" && m.get("state") == name }
}

// tokens are the tokens told from a place on, joined by message and block.
func (w *world) tokens(from int) string {
	var b strings.Builder
	for _, m := range w.since(from, "assistant_token") {
		b.WriteString(m.get("token"))
	}
	return b.String()
}

// story is what was told, a line each, tokens left out.
func (w *world) story() string {
	var b strings.Builder
	for _, m := range w.since(0) {
		if m.method == "assistant_token" {
			continue
		}
		line := string(m.params)
		if len(line) > 400 {
			line = line[:400] + "…"
		}
		fmt.Fprintf(&b, "%s %s\n", m.method, line)
	}
	return b.String()
}

// say sends a message and waits for its answer.
func (w *world) say(text string) turn {
	w.Helper()
	return w.await1(w.send(text))
}

// turn is the answer to a user message.
type turn struct {
	Status        string `json:"status"`
	StopReason    string `json:"stop_reason"`
	UserMessageID string `json:"user_message_id"`
	TurnID        string `json:"turn_id"`
	Result        string `json:"result"`
	Error         *struct {
		Kind, Message, Remedy string
	} `json:"error"`
	err error
}

func (t turn) String() string {
	if t.err != nil {
		return t.err.Error()
	}
	if t.Error != nil {
		return fmt.Sprintf("%s/%s %s: %s (%s)", t.Status, t.StopReason, t.Error.Kind, t.Error.Message, t.Error.Remedy)
	}
	return fmt.Sprintf("%s/%s %q", t.Status, t.StopReason, t.Result)
}

// send sends a message; its answer comes through the channel.
func (w *world) send(text string) <-chan turn { return w.sendTo("", text) }

func (w *world) sendTo(session, text string) <-chan turn {
	c := make(chan turn, 1)
	sent := make(chan struct{})
	go func() {
		close(sent)
		var t turn
		t.err = w.client.Call(w.ctx, "user_message", map[string]string{"content": text, "session_id": session}, &t)
		c <- t
	}()
	<-sent
	return c
}

// sendInOrder sends a message and returns when the bridge has it, so that the next one comes after it.
func (w *world) sendInOrder(text string) <-chan turn {
	w.Helper()
	id := uuid.NewString()
	c := make(chan turn, 1)
	from := w.mark()
	go func() {
		var t turn
		t.err = w.client.Call(w.ctx, "user_message", map[string]string{"content": text, "user_message_id": id}, &t)
		c <- t
	}()
	w.await(from, "the message to arrive", func(m message) bool {
		return (m.method == "turn_start" || m.method == "session_update") && strings.Contains(string(m.params), id) ||
			m.method == "status_change" && m.get("state") == "starting"
	})
	return c
}

func (w *world) await1(c <-chan turn) turn {
	w.Helper()
	select {
	case t := <-c:
		return t
	case <-time.After(patience):
		w.Fatalf("%s: no answer within %v", w.version, patience)
	}
	return turn{}
}

func (w *world) completed(t turn) {
	w.Helper()
	if t.err != nil || t.Status != "completed" {
		w.Errorf("%s: the answer is %v", w.version, t)
	}
}

func (w *world) interrupt() {
	w.Helper()
	if err := w.client.Call(w.ctx, "interrupt", map[string]string{}, nil); err != nil {
		w.Errorf("%s: interrupt: %v", w.version, err)
	}
}

func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.project, name))
	return err == nil
}

// toldModel waits until the API has been sent a tool result that holds text.
func (w *world) toldModel(text string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	_, err := w.api.Wait(ctx, func(r fakeapi.Request) bool {
		for _, res := range r.ToolResults {
			if strings.Contains(fmt.Sprint(res), text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		w.Errorf("%s: the model was never told %q: %v", w.version, text, err)
	}
}

var errWithdrawn = errors.New("withdrawn")

// never is a user who does not answer.
func never(ctx context.Context, _ rpc.PermissionParams) (editor.Decision, error) {
	<-ctx.Done()
	return editor.Decision{}, errWithdrawn
}
