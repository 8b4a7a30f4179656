package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters/scripted"
	"drawbridge/bridge"
)

// The fault suite at the editor's end: random conversations over the wire with an editor that sends nonsense, stalls, dies, answers
// prompts late, twice and wrongly, on a synthetic clock. The laws of the protocol are checked at every frame. See package bridge for
// the CLI's faults.
//
//	go test ./rpc -run TestChaos -chaos.seed 4711
//	go test ./rpc -run TestChaos -chaos.time 10m
var (
	chaosSeed = flag.Uint64("chaos.seed", 0, "play the one script of this seed")
	chaosTime = flag.Duration("chaos.time", 3*time.Second, "play random scripts for so long")
)

// hangLimit is real time: a script takes milliseconds. A lock that is never released stops the synthetic clock, too.
const hangLimit = time.Minute

func TestChaos(t *testing.T) {
	script, err := scripted.Parse([]byte(chaosScenes))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if *chaosSeed != 0 {
		new(chaosCount).play(t, *chaosSeed, script, dir)
		return
	}
	first := rand.Uint64() >> 16
	var count chaosCount
	for deadline := time.Now().Add(*chaosTime); time.Now().Before(deadline) && !t.Failed(); first++ {
		count.play(t, first, script, dir)
	}
	t.Logf("%d scripts, %d steps, %d frames, %d prompts", count.scripts.Load(), count.steps.Load(), count.frames.Load(), count.prompts.Load())
}

// chaosCount says how much was tried.
type chaosCount struct{ scripts, steps, frames, prompts atomic.Int64 }

// play plays one script.
func (n *chaosCount) play(t *testing.T, seed uint64, script *scripted.Script, dir string) {
	hang := time.AfterFunc(hangLimit, func() {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", buf[:runtime.Stack(buf, true)])
		panic(fmt.Sprintf("chaos: the script of seed %d hangs", seed))
	})
	defer hang.Stop()
	defer func() {
		if t.Failed() {
			t.Logf("chaos: replay with -run TestChaos -chaos.seed %d", seed)
		}
		if p := recover(); p != nil {
			panic(fmt.Sprintf("chaos: seed %d: %v", seed, p))
		}
	}()
	n.scripts.Add(1)
	// jsonrpc2 pools channels, and a channel of one bubble may not be used in another: two collections empty a sync.Pool.
	runtime.GC()
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		c := &chaos{T: t, n: n, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), sent: map[string]*chaosRequest{},
			views: map[string]*chaosView{}, prompts: map[string]*chaosPrompt{}}
		c.run(script, dir)
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, c.story())
		}
	})
}

const chaosScenes = `
latency 1ms
-- bash --
match bash
bash touch a
takes 20ms
text Ran it.
-- three --
match three
parallel {
	tool Read {"file_path":"/etc/a"}
	ask
	tool Read {"file_path":"/etc/b"}
	ask
	tool Read {"file_path":"/etc/c"}
	ask
}
text All read.
-- long --
match long
tokens 100 every 10ms
-- flood --
match flood
tokens 1500
-- question --
match question
question [DB] Which database? | PostgreSQL: server | SQLite: embedded
text You said: $ANSWER
-- plan --
match plan
mode plan
plan 1. do it
text Planned.
-- background --
match background
subagent background general-purpose Look around {
	bash touch inside
	delay 300ms
} then {
	text The agent is back.
}
text Started.
-- fail --
match fail
text Half of
fail 529 scripted failure
-- abandon --
match abandon
text One two three
abandon
text Again.
-- halves --
match halves
token "\ud83d"
token "\ude00 and \ud83d"
token "\ude00"
-- die --
match die
text Some words
die
-- quit --
match quit
text Nearly
half
exit 0
-- deaf --
match deaf
ignore interrupt
ignore term
tokens 100 every 100ms
-- odd --
match odd
raw null
raw {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"odd","name":"Bash","input":{"command":tru}}]}}
raw this is no JSON
text Still here.
`

var chaosWords = []string{"hello there", "bash", "bash", "three", "three", "long", "flood", "question", "plan", "background", "fail", "abandon", "halves",
	"die", "quit", "deaf", "odd", "/clear", "/cost"}

// chaos is one conversation: an editor, and the laws.
type chaos struct {
	*testing.T
	n      *chaosCount
	seed   uint64
	random *rand.Rand
	lsp    bool // framing

	mu       sync.Mutex
	lines    []string
	nextID   int
	sent     map[string]*chaosRequest // by id
	sessions []string
	views    map[string]*chaosView
	prompts  map[string]*chaosPrompt // by prompt id
	asked    []*chaosPrompt          // in the order of their requests
	stall    chan struct{}           // not nil: nothing is read until it is closed
	calm     bool
	greeted  bool
	ended    bool // shutdown is answered
	out      chan string
	hungUp   bool // out is closed
}

type chaosRequest struct {
	method   string
	session  string
	answered int
}

type chaosView struct {
	turn     string
	awaiting string
	tools    map[string]bool
	blocks   map[string]string
	order    []string
	whole    bool
	batched  bool // the answers of a batch come all at once, so they follow no turn_complete
}

func newChaosView() *chaosView {
	return &chaosView{tools: map[string]bool{}, blocks: map[string]string{}}
}

type chaosPrompt struct {
	id, request, session, tool string
	answered                   bool // by the editor
	takenBack                  bool // $/cancelRequest came
	resolved                   int
}

func (c *chaos) intN(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *chaos) chance(percent int) bool { return c.intN(100) < percent }

func (c *chaos) pause() time.Duration {
	return []time.Duration{0, 0, 0, time.Millisecond, 2 * time.Millisecond, 21 * time.Millisecond, 100 * time.Millisecond,
		time.Second, 2 * time.Second, 6 * time.Second}[c.intN(10)]
}

func (c *chaos) log(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	c.lines = append(c.lines, fmt.Sprintf("%9.3f %.400s", float64(time.Now().UnixMicro()%1e9)/1e6, line))
}

func (c *chaos) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines[max(0, len(c.lines)-300):], "\n")
}

// broken reports a law that does not hold. Called with mu held.
func (c *chaos) broken(format string, args ...any) {
	c.log("LAW BROKEN: "+format, args...)
	c.Errorf("seed %d: %.600s", c.seed, fmt.Sprintf(format, args...))
}

func (c *chaos) run(script *scripted.Script, dir string) {
	c.lsp = c.chance(30)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	o := Options{Bridge: bridge.Options{CLI: &stageCLI{script: script}, Version: "test"}, Session: bridge.SessionOptions{CWD: dir, Trusted: true}}
	exit := make(chan Exit, 1)
	go func() { exit <- Serve(context.Background(), in, out, o) }()
	read := make(chan struct{})
	go func() { defer close(read); c.read(bufio.NewReader(fromServer)) }()
	c.out = make(chan string, 10000)
	wrote := make(chan struct{})
	go func() { // an editor does not wait until its requests are read
		defer close(wrote)
		for frame := range c.out {
			if c.lsp {
				frame = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(frame), frame)
			} else {
				frame += "\n"
			}
			if _, err := io.WriteString(toServer, frame); err != nil {
				break
			}
		}
		_ = toServer.Close()
	}()
	c.request("initialize", "", `{"protocol_version":"1.0","capabilities":{"streaming":true,"permissions":true,"progress":true,"thinking":true,"questions":true,"diffs":true}}`)
	synctest.Wait()
	for range 3 + c.intN(25) {
		c.n.steps.Add(1)
		c.step()
		time.Sleep(c.pause())
	}
	way := c.intN(10)
	c.end(way, fromServer)
	began := time.Now()
	x := <-exit
	if took := time.Since(began); took > closeLimit+drainLimit+time.Second {
		c.Errorf("seed %d: the end took %v", c.seed, took)
	}
	if !x.Initialized {
		c.Errorf("seed %d: exit %+v", c.seed, x)
	}
	c.resume()
	if way < 8 {
		<-read // the server has closed its output
		c.check()
	}
	_ = fromServer.Close()
	_ = in.Close()
	<-read
	c.hangUp()
	<-wrote
}

// end ends the connection in one of the ways in which editors do.
func (c *chaos) end(way int, output *io.PipeReader) {
	c.mu.Lock()
	c.calm = true
	c.mu.Unlock()
	switch {
	case way < 2:
		c.resume()
		c.request("shutdown", "", "null")
		c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	case way < 6:
		c.resume()
		if c.chance(50) {
			c.request("shutdown", "", "null")
		}
		c.hangUp()
	case way < 8:
		c.resume()
		c.request("shutdown", "", "null")
		time.Sleep(20 * time.Second)
		c.mu.Lock()
		if !c.ended {
			c.broken("shutdown is not answered")
		}
		c.mu.Unlock()
		c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	case way == 8:
		c.note("> hangs up")
		_ = output.Close()
		c.request("user_message", "", `{"content":"long"}`)
		c.request("shutdown", "", "null")
		c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	default:
		c.note("> never reads again")
		c.mu.Lock()
		if c.stall == nil {
			c.stall = make(chan struct{})
		}
		c.mu.Unlock()
		c.request("shutdown", "", "null")
		c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	}
}

// check looks whether anything is left open.
func (c *chaos) check() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.sent {
		if r.answered != 1 {
			c.broken("request %s (%s) was answered %d times", id, r.method, r.answered)
		}
	}
	for id, p := range c.prompts {
		if p.resolved != 1 {
			c.broken("prompt %s was resolved %d times", id, p.resolved)
		}
	}
	for s, v := range c.views {
		if v.turn != "" || v.awaiting != "" {
			c.broken("session %s: turn %q has not ended, %q has no answer", s, v.turn, v.awaiting)
		}
	}
}

func (c *chaos) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log("%s", line)
}

func (c *chaos) send(frame string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log("> %s", frame)
	if !c.hungUp {
		c.out <- frame
	}
}

// hangUp ends the server's input.
func (c *chaos) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hungUp {
		c.hungUp = true
		close(c.out)
	}
}

// request sends a request. A session of "" is the default one.
func (c *chaos) request(method, session, params string) {
	c.mu.Lock()
	c.nextID++
	id := strconv.Itoa(c.nextID)
	if c.nextID%3 == 0 {
		id = `"s` + id + `"`
	}
	c.sent[id] = &chaosRequest{method: method, session: session}
	c.mu.Unlock()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

func (c *chaos) session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sessions) == 0 {
		return "none"
	}
	return c.sessions[c.random.IntN(len(c.sessions))]
}

func (c *chaos) step() {
	s := c.session()
	in := fmt.Sprintf(`{"session_id":%q}`, s)
	switch dice := c.intN(100); {
	case dice < 45:
		more := ""
		if c.chance(5) {
			more = `,"when_busy":"reject"`
		}
		c.request("user_message", s, fmt.Sprintf(`{"session_id":%q,"content":%q%s}`, s, chaosWords[c.intN(len(chaosWords))], more))
	case dice < 55:
		c.request("interrupt", s, fmt.Sprintf(`{"session_id":%q,"queued":%q}`, s, []string{"keep", "cancel"}[c.intN(2)]))
	case dice < 62:
		c.mu.Lock()
		var open []string
		for id, r := range c.sent {
			if r.answered == 0 && r.method != "shutdown" {
				open = append(open, id)
			}
		}
		slices.Sort(open)
		c.mu.Unlock()
		if len(open) > 0 {
			c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + open[c.intN(len(open))] + `}}`)
		}
	case dice < 72:
		method := []string{"mcp_status", "context_usage", "session_get", "health", "no_such_method"}[c.intN(5)]
		c.request(method, s, in)
	case dice < 77:
		switch c.intN(3) {
		case 0:
			c.request("set_permission_mode", s, fmt.Sprintf(`{"session_id":%q,"mode":"acceptEdits"}`, s))
		case 1:
			c.request("set_model", s, fmt.Sprintf(`{"session_id":%q,"model":"haiku"}`, s))
		default:
			c.request("set_max_thinking_tokens", s, fmt.Sprintf(`{"session_id":%q,"max_thinking_tokens":1000}`, s))
		}
	case dice < 81:
		c.request("session_new", "", `{}`)
	case dice < 83:
		c.request("session_close", s, in)
	case dice < 87:
		c.note("> stalls")
		c.mu.Lock()
		if c.stall == nil {
			c.stall = make(chan struct{})
		}
		c.mu.Unlock()
	case dice < 92:
		c.resume()
	case dice < 95:
		c.answerAgain()
	case dice < 97:
		c.batch(s)
	default:
		c.send([]string{`garbage`, `{"jsonrpc":"2.0"`, `[]`, `[1,2]`, `{"jsonrpc":"2.0","id":1.5,"method":"health"}`, `"text"`,
			`{"jsonrpc":"2.0","id":4711,"result":{}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}`}[c.intN(8)])
	}
}

// batch sends two messages in one frame.
func (c *chaos) batch(session string) {
	c.mu.Lock()
	if c.views[session] == nil {
		c.views[session] = newChaosView()
	}
	c.views[session].batched = true
	var frames []string
	for range 2 {
		c.nextID++
		id := strconv.Itoa(c.nextID)
		c.sent[id] = &chaosRequest{method: "user_message", session: session}
		frames = append(frames, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"user_message","params":{"session_id":%q,"content":"batched"}}`, id, session))
	}
	c.mu.Unlock()
	c.send("[" + strings.Join(frames, ",") + "]")
}

// answerAgain answers a prompt that has been answered or is over.
func (c *chaos) answerAgain() {
	c.mu.Lock()
	var p *chaosPrompt
	if len(c.asked) > 0 {
		p = c.asked[c.random.IntN(len(c.asked))]
	}
	if p != nil {
		p.answered = true
	}
	c.mu.Unlock()
	if p != nil {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"prompt_id":%q,"decision":"allow"}}`, p.request, p.id))
	}
}

func (c *chaos) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stall != nil {
		c.log("> reads again")
		close(c.stall)
		c.stall = nil
	}
}

// read takes the server's frames.
func (c *chaos) read(r *bufio.Reader) {
	for {
		c.mu.Lock()
		stall := c.stall
		c.mu.Unlock()
		if stall != nil {
			<-stall
		}
		frame, err := c.frame(r)
		if err != nil {
			return
		}
		c.n.frames.Add(1)
		c.take(frame)
	}
}

func (c *chaos) frame(r *bufio.Reader) ([]byte, error) {
	if !c.lsp {
		return r.ReadBytes('\n')
	}
	n := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if length, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			n, _ = strconv.Atoi(length)
		}
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// chaosFrame is a frame of the server.
type chaosFrame struct {
	message
	params struct {
		SessionID     string          `json:"session_id"`
		TurnID        string          `json:"turn_id"`
		Origin        string          `json:"origin"`
		MessageID     string          `json:"message_id"`
		Block         int             `json:"block"`
		FromBlock     int             `json:"from_block"`
		Token         json.RawMessage `json:"token"`
		ToolUseID     string          `json:"tool_use_id"`
		PromptID      string          `json:"prompt_id"`
		Outcome       string          `json:"outcome"`
		ID            json.RawMessage `json:"id"`
		ParentToolUse string          `json:"parent_tool_use_id"`
	}
}

func (c *chaos) take(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log("%s", bytes.TrimSpace(frame))
	if frame[0] == '[' {
		var batch []json.RawMessage
		if err := json.Unmarshal(frame, &batch); err != nil {
			c.broken("a batch is no JSON: %v", err)
		}
		for _, one := range batch {
			c.one(one)
		}
		return
	}
	c.one(frame)
}

func (c *chaos) one(frame []byte) {
	f := chaosFrame{}
	if err := json.Unmarshal(frame, &f.message); err != nil {
		c.broken("a frame is no JSON: %v in %s", err, frame)
		return
	}
	if f.Params != nil {
		_ = json.Unmarshal(f.Params, &f.params)
	}
	if !c.greeted && (f.Method != "" || string(f.ID) != "1") {
		c.broken("%s came before the answer to initialize", f.Method)
	}
	if c.ended {
		c.broken("%s came after the answer to shutdown", frame)
	}
	v := c.views[f.params.SessionID]
	if v == nil {
		v = newChaosView()
		if f.params.SessionID != "" {
			c.views[f.params.SessionID] = v
		}
	}
	if v.awaiting != "" && f.Method != "" && !v.batched {
		c.broken("%s came between turn_complete and the answer", f.Method)
	}
	switch f.Method {
	case "":
		c.response(&f)
	case turnStart:
		if v.turn != "" {
			c.broken("a turn starts while another runs")
		}
		v.turn, v.order, v.whole = f.params.TurnID, nil, false
		clear(v.blocks)
	case turnComplete:
		if v.turn != f.params.TurnID {
			c.broken("turn %s is complete, %q runs", f.params.TurnID, v.turn)
		}
		v.turn = ""
		if f.params.Origin == "user" {
			v.awaiting = f.params.TurnID
		}
	case assistantToken, thinkingToken:
		if v.turn == "" {
			c.broken("a token without a turn")
		}
		if f.Method == assistantToken {
			key := fmt.Sprintf("%s/%d", f.params.MessageID, f.params.Block)
			if !slices.Contains(v.order, key) {
				v.order = append(v.order, key)
				v.blocks[key] = ""
			}
			v.blocks[key] += string(f.params.Token[1 : len(f.params.Token)-1])
		}
	case assistantMessage:
		v.whole = true
	case messageDiscarded:
		v.order = slices.DeleteFunc(v.order, func(key string) bool {
			id, block, _ := strings.Cut(key, "/")
			n, _ := strconv.Atoi(block)
			return id == f.params.MessageID && n >= f.params.FromBlock
		})
	case toolUseStart:
		v.tools[f.params.ToolUseID] = true
	case toolResult:
		for _, p := range c.prompts {
			if p.tool == f.params.ToolUseID && p.session == f.params.SessionID && p.resolved == 0 {
				c.broken("tool_result before the end of prompt %s", p.id)
			}
		}
	case permissionRequest, askUserQuestion:
		c.prompt(&f, v)
	case promptResolved:
		p := c.prompts[f.params.PromptID]
		if p == nil { // taken back before it was asked
			p = &chaosPrompt{id: f.params.PromptID}
			c.prompts[p.id] = p
		}
		if p.resolved++; p.resolved > 1 {
			c.broken("prompt %s is resolved again", p.id)
		}
		if f.params.Outcome == "withdrawn" && p.request != "" && !p.answered && !p.takenBack {
			c.broken("prompt %s is withdrawn without $/cancelRequest", p.id)
		}
	case "$/cancelRequest":
		for _, p := range c.asked {
			if p.request == string(f.params.ID) {
				p.takenBack = true
				if p.resolved > 0 {
					c.broken("$/cancelRequest of prompt %s comes after its end", p.id)
				}
			}
		}
	}
}

func (c *chaos) response(f *chaosFrame) {
	id := string(f.ID)
	if id == "null" {
		return // to nonsense
	}
	r := c.sent[id]
	if r == nil {
		c.broken("an answer to %s, which nobody asked: %s", id, f.frame)
		return
	}
	if r.answered++; r.answered > 1 {
		c.broken("%s is answered again", id)
	}
	switch r.method {
	case "initialize", "session_new":
		var s struct {
			SessionID string `json:"session_id"`
		}
		_ = json.Unmarshal(f.Result, &s)
		if s.SessionID != "" {
			c.sessions = append(c.sessions, s.SessionID)
		}
		c.greeted = true
	case "shutdown":
		c.ended = true
	case "user_message":
		if f.Error == nil {
			c.answered(f)
		}
	}
}

// answered checks the answer to a message.
func (c *chaos) answered(f *chaosFrame) {
	var a struct {
		Status    string `json:"status"`
		SessionID string `json:"session_id"`
		TurnID    string `json:"turn_id"`
		Result    string `json:"result"`
		Error     *struct{ Kind, Message string }
	}
	if err := json.Unmarshal(f.Result, &a); err != nil {
		c.broken("the answer cannot be read: %v", err)
		return
	}
	v := c.views[a.SessionID]
	switch {
	case a.Status == "failed" && (a.Error == nil || a.Error.Message == ""):
		c.broken("a failure does not say why")
	case a.TurnID == "" && a.Status != "cancelled":
		c.broken("a message without a turn is %s", a.Status)
	case a.TurnID == "" || v != nil && v.batched:
	case v == nil || v.awaiting != a.TurnID:
		c.broken("the answer of turn %s does not follow its turn_complete", a.TurnID)
	}
	if v == nil || a.TurnID == "" {
		return
	}
	if a.Status == "completed" && !v.whole && !v.batched {
		var text strings.Builder
		for _, key := range v.order {
			var s string
			if err := json.Unmarshal([]byte(`"`+v.blocks[key]+`"`), &s); err != nil {
				c.broken("the tokens are no text: %v", err)
			}
			text.WriteString(s)
		}
		if !strings.HasSuffix(text.String(), a.Result) {
			c.broken("the tokens are %q, the result is %q", text.String(), a.Result)
		}
	}
	v.awaiting = ""
}

// prompt is a question to the user, who answers in one of the ways in which users and editors do.
func (c *chaos) prompt(f *chaosFrame, v *chaosView) {
	c.n.prompts.Add(1)
	p := &chaosPrompt{id: f.params.PromptID, request: string(f.ID), session: f.params.SessionID, tool: f.params.ToolUseID}
	if known := c.prompts[p.id]; known != nil && known.resolved > 0 {
		c.broken("prompt %s is asked after its end", p.id)
	}
	if !v.tools[p.tool] {
		c.broken("prompt %s is about tool use %s, which was not told", p.id, p.tool)
	}
	c.prompts[p.id] = p
	c.asked = append(c.asked, p)
	result := fmt.Sprintf(`"result":{"prompt_id":%q,"decision":"allow"}`, p.id)
	if f.Method == askUserQuestion {
		result = `"result":{"declined":true}`
	}
	wait := time.Duration(0)
	if !c.calm {
		switch c.random.IntN(14) {
		case 0, 1, 2:
			wait = []time.Duration{0, time.Millisecond, 21 * time.Millisecond, 2 * time.Second}[c.random.IntN(4)]
		case 3:
			result = `"result":{"decision":"deny","message":"no"}`
		case 4:
			result = fmt.Sprintf(`"result":{"prompt_id":%q,"decision":"deny","interrupt":true}`, p.id)
		case 5:
			result = `"result":{"prompt_id":"p_0","decision":"allow"}`
		case 6:
			result = `"error":{"code":-32603,"message":"the editor failed"}`
		case 7:
			result = `"result":null`
		case 8:
			result = `"result":[]`
		case 9:
			result = `"result":{"prompt_id":7}`
		case 10, 11:
			return // never
		}
	}
	time.AfterFunc(wait, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if p.takenBack {
			result = `"error":{"code":-32800,"message":"cancelled"}`
		}
		p.answered = true
		frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, p.request, result)
		c.log("> %s", frame)
		if !c.hungUp {
			c.out <- frame
		}
	})
}
