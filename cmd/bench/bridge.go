package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// bridge starts drawbridge and initializes it. The session's CLI starts with the first message, or at once.
func (w *world) bridge(prewarm bool) (*conversation, error) {
	c, err := open(bridgeDialect, func(c *conversation, in, out *os.File) error {
		c.relay = exec.Command(w.binary)
		c.relay.Env = w.environ()
		return c.start(c.relay, in, out)
	})
	if err != nil {
		return nil, err
	}
	_, err = c.request("initialize", w.initializeParams(prewarm))
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (w *world) initializeParams(prewarm bool) string {
	return fmt.Sprintf(`{"protocol_version":"1.0","client_info":{"name":"bench","version":"1"},"cwd":%s,"capabilities":{"streaming":true,`+
		`"permissions":true,"progress":true,"thinking":true,"questions":true,"diffs":true},"options":{"trusted":true,"prewarm":%t}}`,
		quote(w.dir+"/project"), prewarm)
}

// request sends a request and waits for its answer.
func (c *conversation) request(method, params string) (json.RawMessage, error) {
	c.calls++
	if err := c.write(call(c.calls, method, params)); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if a, ok := answerTo(line, c.calls); ok {
			if a.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, a.Error)
			}
			return a.Result, nil
		}
	}
}

func call(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func answerTo(line []byte, id int) (a answer, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) || json.Unmarshal(line, &a) != nil {
		return a, false
	}
	return a, a.ID == id && (a.Result != nil || a.Error != nil)
}

var bridgeDialect = dialect{
	name:  "drawbridge",
	token: []byte(`"token":"`),
	ask:   []byte(`"method":"permission_request"`),
	message: func(id int, text string) string {
		return call(id, "user_message", `{"content":`+quote(text)+`}`)
	},
	allow: func(line []byte) (string, error) {
		var q struct {
			ID     int `json:"id"`
			Params struct {
				PromptID string `json:"prompt_id"`
			} `json:"params"`
		}
		err := json.Unmarshal(line, &q)
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"decision":"allow","scope":"once","prompt_id":%q}}`, q.ID, q.Params.PromptID), err
	},
	result: func(line []byte, id int) (string, bool, error) {
		a, ok := answerTo(line, id)
		if !ok {
			return "", false, nil
		}
		var r struct{ Status, Result string }
		if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || r.Status != "completed" {
			return "", true, fmt.Errorf("the turn did not complete: %s", line)
		}
		return r.Result, true, nil
	},
}
