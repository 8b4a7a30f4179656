package stream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// editor is the far end of a jsonrpc2.Conn over a Stream, speaking raw bytes.
type editor struct {
	t       *testing.T
	framing Framing
	in      *io.PipeWriter
	out     *bufio.Reader
	stream  *Stream
	conn    jsonrpc2.Conn

	mu       sync.Mutex
	rejected []string
}

// connect starts a Conn whose methods are echo (answers its params) and note (a
// notification).
func connect(t *testing.T, opts Options) *editor {
	t.Helper()
	return connectHandler(t, opts, func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		switch r.Method() {
		case "echo":
			return r.Params(), nil
		case "note":
			return nil, nil
		}
		return jsonrpc2.MethodNotFoundHandler(ctx, r)
	})
}

func connectHandler(t *testing.T, opts Options, h jsonrpc2.Handler) *editor {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	e := &editor{t: t, framing: opts.Framing, in: inW, out: bufio.NewReader(outR)}
	opts.OnReject = func(why string, _ []byte) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.rejected = append(e.rejected, why)
	}
	e.stream = New(inR, outW, opts)
	e.conn = jsonrpc2.NewConn(e.stream)
	e.conn.Go(context.Background(), h)
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-e.conn.Done()
		<-e.stream.Done()
	})
	return e
}

// send writes bytes. It may run in a goroutine; if it fails, no answer comes.
func (e *editor) send(bytes string) { _, _ = io.WriteString(e.in, bytes) }

// receive returns the next frame.
func (e *editor) receive() string {
	e.t.Helper()
	frame, err := readFrame(e.out, e.framing)
	if err != nil {
		e.t.Fatalf("receive: %v", err)
	}
	return frame
}

func (e *editor) want(frame string) {
	e.t.Helper()
	if got := e.receive(); got != frame {
		e.t.Fatalf("received %s\nwant     %s", got, frame)
	}
}

// readFrame reads a frame in the plainest way, so as to be no mirror of the code
// under test.
func readFrame(r *bufio.Reader, f Framing) (string, error) {
	if f != LSP {
		line, err := r.ReadString('\n')
		return strings.TrimSuffix(line, "\n"), err
	}
	if _, err := r.Peek(1); err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
		return "", err
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return string(body), err
}

func framed(f Framing, frame string) string {
	if f == LSP {
		return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(frame), frame)
	}
	return frame + "\n"
}

func errorFrame(code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, message)
}

const (
	notObject  = "a message is an object, and a batch an array of them"
	badVersion = `"jsonrpc" must be "2.0"`
	noMethod   = `"method" is missing`
	badMethod  = `"method" must be a string`
	badID      = `"id" must be an integer, a string or null`
	mixed      = "a message is either a request or a response"

	invalidMember = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"JSON-RPC invalid request"}}`
)

// badFrames are frames and what they are answered with. Everything is answered
// the same in both framings.
var badFrames = []struct {
	name, frame string
	want        []string
}{
	{"malformed", `{"jsonrpc":"2.0","id":1,`, []string{errorFrame(-32700, "not JSON: expected a member name in quotes at byte 24")}},
	{"garbage", `hello`, []string{errorFrame(-32700, "not JSON: expected a value at byte 0")}},
	{"number", `42`, []string{errorFrame(-32600, notObject)}},
	{"string", `"hello"`, []string{errorFrame(-32600, notObject)}},
	{"null", `null`, []string{errorFrame(-32600, notObject)}},
	{"two values", `{} {}`, []string{errorFrame(-32700, "not JSON: something follows the value at byte 2")}},
	{"params balanced but invalid", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1,,}}`,
		[]string{errorFrame(-32700, "not JSON: expected a member name in quotes at byte 56")}},
	{"brackets crossed", `{"jsonrpc":"2.0","id":1,"method":"echo","params":[{]}}`,
		[]string{errorFrame(-32700, "not JSON: expected a member name in quotes at byte 51")}},
	{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"\xff\"]}",
		[]string{errorFrame(-32700, "not JSON: invalid UTF-8 in a string at byte 51")}},
	{"no jsonrpc", `{"id":1,"method":"echo"}`, []string{errorFrame(-32600, badVersion)}},
	{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"echo"}`, []string{errorFrame(-32600, badVersion)}},
	{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"echo"}`, []string{errorFrame(-32600, badVersion)}},
	{"neither method nor id", `{"jsonrpc":"2.0"}`, []string{errorFrame(-32600, noMethod)}},
	{"empty object", `{}`, []string{errorFrame(-32600, badVersion)}},
	{"id but no method", `{"jsonrpc":"2.0","id":5}`, []string{errorFrame(-32600, noMethod)}},
	{"method a number", `{"jsonrpc":"2.0","id":1,"method":1}`, []string{errorFrame(-32600, badMethod)}},
	{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, []string{errorFrame(-32600, badMethod)}},
	{"method and result", `{"jsonrpc":"2.0","id":1,"method":"echo","result":1}`, []string{errorFrame(-32600, mixed)}},
	{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, []string{errorFrame(-32600, badID)}},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"echo"}`, []string{errorFrame(-32600, badID)}},
	{"id an object", `{"jsonrpc":"2.0","id":{},"method":"echo"}`, []string{errorFrame(-32600, badID)}},
	{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"echo"}`, []string{errorFrame(-32600, badID)}},
	{"id beyond int64", `{"jsonrpc":"2.0","id":92233720368547758080,"method":"echo"}`, []string{errorFrame(-32600, badID)}},
	{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"echo","params":["a"]}`, []string{`{"jsonrpc":"2.0","id":1,"result":["a"]}`}},
	{"id 10e-1", `{"jsonrpc":"2.0","id":10e-1,"method":"echo","params":["a"]}`, []string{`{"jsonrpc":"2.0","id":1,"result":["a"]}`}},
	{"id a string", `{"jsonrpc":"2.0","id":"x\"1","method":"echo","params":["a"]}`, []string{`{"jsonrpc":"2.0","id":"x\"1","result":["a"]}`}},
	{"id null is a notification", `{"jsonrpc":"2.0","id":null,"method":"note"}`, nil},
	{"duplicate id, the last counts", `{"jsonrpc":"2.0","id":1,"method":"echo","id":2.0,"params":[]}`, []string{`{"jsonrpc":"2.0","id":2,"result":[]}`}},
	{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`,
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"\"nope\": JSON-RPC method not found"}}`}},
	{"unknown notification", `{"jsonrpc":"2.0","method":"nope"}`, nil},
	{"byte order mark", "\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, []string{`{"jsonrpc":"2.0","id":1,"result":[]}`}},
	{"white space around", "\t " + `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}` + " \r", []string{`{"jsonrpc":"2.0","id":1,"result":[]}`}},

	{"empty batch", `[]`, []string{invalidMember}},
	{"broken batch", `[{"jsonrpc":"2.0","id":1,"method":"echo"},{]`, []string{errorFrame(-32700, "not JSON: expected a member name in quotes at byte 43")}},
	{"batch of no objects", `[1,"a",[]]`, []string{"[" + invalidMember + "," + invalidMember + "," + invalidMember + "]"}},
	{"mixed batch", `[{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]},{"jsonrpc":"2.0","method":"note"},7,{"foo":"boo"},{"jsonrpc":"2.0","id":"2","method":"echo","params":[2]}]`,
		[]string{`[{"jsonrpc":"2.0","id":1,"result":[1]},` + invalidMember + `,` + invalidMember + `,{"jsonrpc":"2.0","id":"2","result":[2]}]`}},
	{"batch with id 1.0 and 1.5", `[{"jsonrpc":"2.0","id":1.0,"method":"echo","params":[1]},{"jsonrpc":"2.0","id":1.5,"method":"echo"}]`,
		[]string{`[{"jsonrpc":"2.0","id":1,"result":[1]},` + invalidMember + `]`}},
	{"batch of notifications", `[{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","method":"note"}]`, nil},
	{"batch too large", "[1" + strings.Repeat(",1", maxBatch) + "]", []string{errorFrame(-32600, "batch of more than 1000 messages")}},

	{"response to no call", `{"jsonrpc":"2.0","id":77,"result":1}`, nil},
	{"response with id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`, nil},
	{"response with id 1.5", `{"jsonrpc":"2.0","id":1.5,"result":1}`, nil},
	{"response with id true", `{"jsonrpc":"2.0","id":true,"result":1}`, nil},
	{"response without id", `{"jsonrpc":"2.0","error":"no"}`, nil},
	{"response without jsonrpc", `{"id":77,"result":1}`, nil},
	{"batch of responses to no call", `[{"jsonrpc":"2.0","id":77,"result":1},{"id":78,"error":true}]`, nil},

	{"nested too deep", `{"jsonrpc":"2.0","id":1,"method":"echo","params":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`,
		[]string{errorFrame(-32700, "not JSON: nested too deep at byte 10048")}},
	{"brackets without end", strings.Repeat("[", 1<<20), []string{errorFrame(-32700, "not JSON: nested too deep at byte 10000")}},
}

func TestEveryBadFrameIsAnsweredAndTheConnectionLives(t *testing.T) {
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, row := range badFrames {
			t.Run(framing.String()+"/"+row.name, func(t *testing.T) {
				e := connect(t, Options{Framing: framing})
				go e.send(framed(framing, row.frame) +
					framed(framing, `{"jsonrpc":"2.0","id":99,"method":"echo","params":["alive"]}`))
				for _, want := range row.want {
					e.want(want)
				}
				e.want(`{"jsonrpc":"2.0","id":99,"result":["alive"]}`)
			})
		}
	}
}

const ping, pong = `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`, `{"jsonrpc":"2.0","id":1,"result":[1]}`

func TestFramingIsDetectedFromTheFirstMessageAndUsedInBothDirections(t *testing.T) {
	const header = "Content-Length: 53\r\n\r\n"
	tests := []struct {
		name, input string
		answered    Framing
	}{
		{"object", ping + "\n", NDJSON},
		{"batch", "[" + ping + "]\n", NDJSON},
		{"header", header + ping, LSP},
		{"blank before object", " \r\n\t\n" + ping + "\n", NDJSON},
		{"blank before header", "\r\n\n" + header + ping, LSP},
		{"mark before object", "\uFEFF" + ping + "\n", NDJSON},
		{"mark before header", "\uFEFF" + header + ping, LSP},
		{"other header first", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + header + ping, LSP},
		{"any case", "content-LENGTH:53\r\n\r\n" + ping, LSP},
		{"LF alone", "Content-Length: 53\n\n" + ping, LSP},
		{"unknown header", "Content-Length: 53\r\nX-Unknown: 1\r\n\r\n" + ping, LSP},
		{"lone Content-Type", "Content-Type: x\r\n\r\n" + header + ping, LSP},
		{"line break after the body", header + ping + "\r\n", LSP},
		{"CRLF", ping + "\r\n", NDJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := connect(t, Options{})
			e.framing = tt.answered
			go e.send(tt.input + framed(tt.answered, `{"jsonrpc":"2.0","id":2,"method":"echo","params":[2]}`))
			if first := e.receive(); strings.Trim(first, "[]") != strings.Trim(pong, "[]") {
				t.Fatalf("received %s", first)
			}
			e.want(`{"jsonrpc":"2.0","id":2,"result":[2]}`)
		})
	}
}

func TestGarbageBeforeTheFirstMessageDecidesNoFraming(t *testing.T) {
	for _, framing := range []Framing{NDJSON, LSP} {
		e := connect(t, Options{})
		go e.send("hello\n\"a string\"\n" + framed(framing, ping))
		e.want(errorFrame(-32700, "not JSON: expected a value at byte 0"))
		e.want(errorFrame(-32600, notObject))
		e.framing = framing
		e.want(pong)
	}
}

func TestALineOfAnotherFramingIsAnsweredInNDJSON(t *testing.T) {
	e := connect(t, Options{Framing: NDJSON})
	go e.send("Content-Length: 53\r\n\r\n" + ping + "\n")
	e.want(errorFrame(-32700, "not JSON: expected a value at byte 0"))
	e.want(pong)
}

func TestAFrameLargerThanTheLimitIsAnsweredAndSkipped(t *testing.T) {
	const limit = 100 << 10
	pad := strings.Repeat("x", limit)
	tooLarge := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"frame larger than 102400 bytes",` +
			`"data":{"kind":"payload_too_large","limit_bytes":102400,"remedy":"Send large files by path, and images in a smaller size."}}}`
	}
	tests := []struct{ name, frame, want string }{
		{"id in front", `{"jsonrpc":"2.0","id":7,"method":"echo","params":["` + pad + `"]}`, tooLarge("7")},
		{"string id", `{"jsonrpc":"2.0","method":"echo","id":"a\"b","params":["` + pad + `"]}`, tooLarge(`"a\"b"`)},
		{"id at the end", `{"jsonrpc":"2.0","method":"echo","params":["` + pad + `"],"id":8}`, tooLarge("8")},
		{"id only in the params", `{"jsonrpc":"2.0","method":"echo","params":{"a":"` + pad + `","id":8}}`, tooLarge("null")},
		{"garbage", pad + pad, tooLarge("null")},
		{"batch", `[{"jsonrpc":"2.0","id":7,"method":"echo","params":["` + pad + `"]}]`, tooLarge("null")},
	}
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, tt := range tests {
			t.Run(framing.String()+"/"+tt.name, func(t *testing.T) {
				e := connect(t, Options{Framing: framing, MaxFrame: limit})
				go e.send(framed(framing, tt.frame) + framed(framing, ping))
				e.want(tt.want)
				e.want(pong)
			})
		}
	}
}

func TestALongWordBeforeTheFirstMessageIsSkipped(t *testing.T) {
	e := connect(t, Options{MaxFrame: 10 << 10})
	e.framing = NDJSON
	go e.send(strings.Repeat("x", 200<<10) + "\n" + ping + "\n")
	if got := e.receive(); !strings.Contains(got, "frame larger than 10240 bytes") {
		t.Errorf("received %s", got)
	}
	e.want(pong)
}

func TestAFrameAsLargeAsTheLimitIsServed(t *testing.T) {
	const limit = 100 << 10
	for _, framing := range []Framing{NDJSON, LSP} {
		e := connect(t, Options{Framing: framing, MaxFrame: limit})
		head, tail := `{"jsonrpc":"2.0","id":7,"method":"note","params":["`, `"]}`
		go e.send(framed(framing, head+strings.Repeat("x", limit-len(head)-len(tail))+tail))
		e.want(`{"jsonrpc":"2.0","id":7,"result":null}`)
	}
}

func TestManyWritersKeepTheirFramesWholeAndInOrder(t *testing.T) {
	for _, framing := range []Framing{NDJSON, LSP} {
		e := connect(t, Options{Framing: framing})
		const writers, each = 8, 2000
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					p := jsonrpc2.RawMessage(fmt.Sprintf(`[%d,%d]`, w, i))
					if err := e.conn.Notify(context.Background(), "n", p); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		var next [writers]int
		for range writers * each {
			var w, i int
			frame := e.receive()
			if _, err := fmt.Sscanf(frame, `{"jsonrpc":"2.0","method":"n","params":[%d,%d]}`, &w, &i); err != nil {
				t.Fatalf("frame %q: %v", frame, err)
			}
			if next[w] != i {
				t.Fatalf("writer %d: frame %d came where %d was due", w, i, next[w])
			}
			next[w]++
		}
		wg.Wait()
	}
}
