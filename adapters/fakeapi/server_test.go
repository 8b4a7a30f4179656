package fakeapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func decodeJSON(t *testing.T, res *http.Response, into any) {
	t.Helper()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// soon bounds what a test waits for; nothing here takes as long unless it is broken.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestRequestsRecordWhatWasAsked(t *testing.T) {
	var log bytes.Buffer
	s := start(t, WithBodies(), WithLog(&log))
	sent := body(t, true, user("one"), assistant("two"), user("three"))
	readStream(t, post(t, s, sent, "X-Api-Key", "sk-ant-fake", "User-Agent", "claude-cli/9").Body)
	r, err := s.Wait(soon(t), func(r Request) bool { return r.State == Answered })
	if err != nil {
		t.Fatal(err)
	}
	if r.Seq != 1 || r.Path != "/v1/messages?beta=true" || r.Model != "claude-test" || !r.Stream || r.Text() != "three" || r.MaxTokens != 100 ||
		strings.Join(r.Roles, " ") != "user assistant user" || strings.Join(r.Tools, " ") != "Bash Agent TodoWrite" ||
		r.APIKey != "sk-ant-fake" || r.UserAgent != "claude-cli/9" || r.UserID != t.Name() || !bytes.Equal(r.Body, sent) {
		t.Errorf("%+v", r)
	}
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 || !json.Valid([]byte(lines[0])) || !strings.Contains(lines[1], `"state":"answered"`) {
		t.Errorf("log %q", lines)
	}
}

func TestWaitReturnsARequestThatComesLater(t *testing.T) {
	s := start(t)
	got := make(chan Request)
	go func() {
		r, _ := s.Wait(soon(t), func(r Request) bool { return r.Text() == "second" })
		got <- r
	}()
	converse(t, s, user("first"))
	converse(t, s, user("second"))
	if r := <-got; r.Seq != 2 {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Wait(ctx, func(Request) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestHandleComesBeforeTheScript(t *testing.T) {
	s := start(t)
	s.Handle(func(r Request) (Answer, bool) {
		return Answer{Blocks: []Block{Text("mine"), Tool("Bash", map[string]string{"command": "ls"})}}, r.Text() == "yours"
	})
	if got := converse(t, s, user("yours")); got.text != "mine" || len(got.calls) != 1 {
		t.Errorf("%+v", got)
	}
	if got := converse(t, s, user("hello")); got.text != "Echo: hello" {
		t.Errorf("%+v", got)
	}
}

func TestAnInterruptedRequestIsRecordedAsAbandoned(t *testing.T) {
	s := start(t)
	for i, script := range []string{"hang", "slow: 20000 1"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/messages", bytes.NewReader(body(t, true, user(script))))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		cancel()
		_ = res.Body.Close()
		if _, err := s.Wait(soon(t), func(r Request) bool { return r.Seq == i+1 && r.State == Abandoned }); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
	if got := converse(t, s, user("hello")); got.text != "Echo: hello" {
		t.Errorf("the next request: %+v", got)
	}
}

func TestCloseEndsHungStreams(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	res := post(t, s, body(t, true, user("hang")))
	unstreamed := make(chan error, 1)
	go func() {
		res, err := http.Post(s.URL()+"/v1/messages", "application/json", bytes.NewReader(body(t, false, user("hang"))))
		if err == nil {
			err = res.Body.Close()
		}
		unstreamed <- err
	}()
	if _, err := s.Wait(soon(t), func(r Request) bool { return r.Seq == 2 }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := readStream(t, res.Body); got.complete || got.text != "partial words here" {
		t.Errorf("%+v", got)
	}
	if err := <-unstreamed; err == nil {
		t.Error("the request that was not streamed was answered")
	}
	if _, err := s.Wait(soon(t), func(Request) bool { return false }); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
}

func TestRefuseRefusesAndComesBackAtTheSameURL(t *testing.T) {
	s := start(t)
	url := s.URL()
	hung := post(t, s, body(t, true, user("hang")))
	if err := errors.Join(s.Refuse(true), s.Refuse(true)); err != nil {
		t.Fatal(err)
	}
	if got := readStream(t, hung.Body); got.complete {
		t.Error("an open stream survived")
	}
	if res, err := http.Get(url); err == nil {
		t.Error("reached", res.Status, res.Body.Close())
	}
	if err := errors.Join(s.Refuse(false), s.Refuse(false)); err != nil {
		t.Fatal(err)
	}
	if got := converse(t, s, user("hello")); got.text != "Echo: hello" || s.URL() != url {
		t.Errorf("%+v at %s", got, s.URL())
	}
}

func TestNothingListensOnAnUnusedPort(t *testing.T) {
	port, err := UnusedPort()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
		_ = c.Close()
		t.Error("connected")
	}
}

func TestGzippedBodiesAreRead(t *testing.T) {
	s := start(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(body(t, true, user("hello")))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readStream(t, post(t, s, zipped.Bytes(), "Content-Encoding", "gzip").Body); got.text != "Echo: hello" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []struct{ body, encoding string }{{"no zip", "gzip"}, {"{}", "br"}, {"{half", ""}, {"[]", ""}} {
		if res := post(t, s, []byte(bad.body), "Content-Encoding", bad.encoding); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%q as %q: status %d", bad.body, bad.encoding, res.StatusCode)
		}
	}
}

func TestTokensAreCounted(t *testing.T) {
	s := start(t)
	res, err := http.Post(s.URL()+"/v1/messages/count_tokens?beta=true", "application/json", strings.NewReader(strings.Repeat("x", 400)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var n struct {
		InputTokens int `json:"input_tokens"`
	}
	decodeJSON(t, res, &n)
	if n.InputTokens != 101 || len(s.Requests()) != 0 {
		t.Errorf("%d tokens, %d message requests", n.InputTokens, len(s.Requests()))
	}
}

func TestManyClientsAtOnceGetTheirOwnAnswers(t *testing.T) {
	s := start(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for j := range 5 {
				prompt := "client " + strconv.Itoa(i) + " says " + strconv.Itoa(j)
				if got := converse(t, s, user(prompt)); got.text != "Echo: "+prompt {
					t.Errorf("%q got %q", prompt, got.text)
				}
			}
		})
	}
	wg.Wait()
	if n := len(s.Requests()); n != 100 {
		t.Errorf("%d requests", n)
	}
}

func TestEnvLeavesNothingOfTheMachineInIt(t *testing.T) {
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "real")
	t.Setenv("HTTPS_PROXY", "http://proxy")
	s := start(t)
	env := strings.Join(s.Env("/somewhere"), "\n")
	for _, want := range []string{"HOME=/somewhere\n", "ANTHROPIC_BASE_URL=" + s.URL() + "\n", "ANTHROPIC_API_KEY=sk-ant-fake\n", "CLAUDE_CODE_MAX_RETRIES=1\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("%q is missing in %s", want, env)
		}
	}
	if strings.Contains(env, "real") || strings.Contains(env, "proxy") {
		t.Errorf("inherited: %s", env)
	}
}
