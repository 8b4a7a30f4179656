package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// ask makes a call and answers it with answer, in which ID stands for its id.
func ask(t *testing.T, opts Options, answer string) (result string, rejected []string, err error) {
	t.Helper()
	e := connect(t, opts)
	type outcome struct {
		result jsonrpc2.RawMessage
		err    error
	}
	done := make(chan outcome)
	go func() {
		var o outcome
		_, o.err = e.conn.Call(context.Background(), "ask", nil, &o.result)
		done <- o
	}()
	var call struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(e.receive()), &call); err != nil {
		t.Fatal(err)
	}
	go e.send(framed(opts.Framing, strings.ReplaceAll(answer, "ID", string(call.ID))))
	o := <-done
	go e.send(framed(opts.Framing, ping))
	e.want(pong)
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(o.result), e.rejected, o.err
}

func TestAnAnswerReachesItsCallHoweverItIsWritten(t *testing.T) {
	tests := []struct{ name, answer, result string }{
		{"plain", `{"jsonrpc":"2.0","id":ID,"result":{"a":1}}`, `{"a":1}`},
		{"id as a string", `{"jsonrpc":"2.0","id":"ID","result":{"a":1}}`, `{"a":1}`},
		{"id as a float", `{"jsonrpc":"2.0","id":ID.0,"result":{"a":1}}`, `{"a":1}`},
		{"error null beside it", `{"jsonrpc":"2.0","id":ID,"result":{"a":1},"error":null}`, `{"a":1}`},
		{"null with error null beside it", `{"jsonrpc":"2.0","id":ID,"error":null,"result":null}`, `null`},
		{"in a batch", `[{"jsonrpc":"2.0","id":ID,"result":{"a":1}}]`, `{"a":1}`},
		{"large", `{"jsonrpc":"2.0","id":ID,"result":"` + strings.Repeat("x", 100<<10) + `"}`, `"` + strings.Repeat("x", 100<<10) + `"`},
	}
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, tt := range tests {
			t.Run(framing.String()+"/"+tt.name, func(t *testing.T) {
				result, _, err := ask(t, Options{Framing: framing}, tt.answer)
				if err != nil || result != tt.result {
					t.Errorf("result %.80s, error %v; want %.80s", result, err, tt.result)
				}
			})
		}
	}
}

func TestABatchOfAnswersAndRequestsIsDivided(t *testing.T) {
	e := connect(t, Options{Framing: NDJSON})
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := e.conn.Call(context.Background(), "ask", nil, nil)
			done <- err
		}()
		e.receive()
	}
	go e.send(`[{"jsonrpc":"2.0","id":5,"method":"echo","params":[5]},{"jsonrpc":"2.0","id":1,"result":1},7,` +
		`{"jsonrpc":"2.0","id":"2","result":2},{"jsonrpc":"2.0","id":6.0,"method":"echo","params":[6]}]` + "\n")
	e.want(`[{"jsonrpc":"2.0","id":5,"result":[5]},` + invalidMember + `,{"jsonrpc":"2.0","id":6,"result":[6]}]`)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestAnUnreadableAnswerFailsItsCall(t *testing.T) {
	tests := []struct {
		name, answer string
		code         jsonrpc2.Code
		message      string
	}{
		{"an error", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32800,"message":"no"}}`, -32800, "no"},
		{"result null beside the error", `{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32800,"message":"no"}}`, -32800, "no"},
		{"code a float", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32800.0,"message":"no","data":[1]}}`, -32800, "no"},
		{"code a string", `{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"no"}}`, -32603, "no"},
		{"code too large", `{"jsonrpc":"2.0","id":ID,"error":{"code":99999999999,"message":"no"}}`, -32603, "no"},
		{"no code", `{"jsonrpc":"2.0","id":ID,"error":{"message":"no"}}`, 0, "no"},
		{"message null", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":null}}`, 1, "the answer is an error without message"},
		{"error a string", `{"jsonrpc":"2.0","id":ID,"error":"no \"way\""}`, -32603, `no "way"`},
		{"error a number", `{"jsonrpc":"2.0","id":ID,"error":7}`, -32603, "the answer is an error without message"},
		{"error null", `{"jsonrpc":"2.0","id":ID,"error":null}`, -32603, "the answer has neither result nor error"},
		{"neither", `{"jsonrpc":"2.0","id":ID}`, -32603, "the answer has neither result nor error"},
		{"neither, id a string", `{"jsonrpc":"2.0","id":"ID"}`, -32603, "the answer has neither result nor error"},
		{"both", `{"jsonrpc":"2.0","id":ID,"result":1,"error":{"code":1,"message":"no"}}`, -32603, "the answer has both a result and an error"},
		{"no jsonrpc", `{"id":ID,"result":1}`, -32603, `the answer's "jsonrpc" is not "2.0"`},
		{"too large", `{"jsonrpc":"2.0","id":ID,"result":"` + strings.Repeat("x", 200<<10) + `"}`, -32603, "frame larger than 131072 bytes"},
		{"in a batch", `[{"jsonrpc":"2.0","id":ID,"error":"no"}]`, -32603, "no"},
	}
	for _, framing := range []Framing{NDJSON, LSP} {
		for _, tt := range tests {
			t.Run(framing.String()+"/"+tt.name, func(t *testing.T) {
				_, _, err := ask(t, Options{Framing: framing, MaxFrame: 128 << 10}, tt.answer)
				var e *jsonrpc2.Error
				if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.message {
					t.Errorf("call failed with %#v; want code %d, message %q", err, tt.code, tt.message)
				}
			})
		}
	}
}

func TestASecondAnswerIsReportedAndReachesNobody(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":ID,"result":1}`
	_, rejected, err := ask(t, Options{Framing: NDJSON}, answer+"\n"+answer)
	if err != nil || len(rejected) != 1 || rejected[0] != "a response to no open call" {
		t.Errorf("rejected %q, error %v", rejected, err)
	}
}

func TestAnIDAtTheEndOfTheParamsIsNoCallID(t *testing.T) {
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"a","id":12}`:                   "12",
		`{"jsonrpc":"2.0","method":"a","params":{"b":1,"id":3}}`:   "",
		`{"jsonrpc":"2.0","method":"a","params":[{"b":1,"id":3}]}`: "",
		`{"jsonrpc":"2.0","method":"a","params":",\"id\":3"}`:      "",
		`{"jsonrpc":"2.0","method":"a","params":3}`:                "",
		`{"jsonrpc":"2.0","method":"a","id":"s"}`:                  "",
		`[{"jsonrpc":"2.0","method":"a","id":1}]`:                  "",
		`}`: "",
		``:  "",
		`{"jsonrpc":"2.0","method":"a","params":{"x":{}},"id":1234}`: "1234",
	} {
		if got := string(trailingID([]byte(frame))); got != want {
			t.Errorf("trailingID(%s) = %q, want %q", frame, got, want)
		}
	}
}
