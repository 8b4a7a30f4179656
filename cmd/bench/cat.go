package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// cats starts the CLI with a cat on either side of it.
func (w *world) cats() (*conversation, error) {
	return open(catDialect, func(c *conversation, in, out *os.File) error {
		toCLI, fromEditor, err := blockingPipe()
		if err != nil {
			return err
		}
		toEditor, fromCLI, err := blockingPipe()
		if err != nil {
			return err
		}
		defer func() {
			for _, f := range []*os.File{toCLI, fromEditor, toEditor, fromCLI} {
				_ = f.Close()
			}
		}()
		c.relay = exec.Command("cat")
		if err := c.start(c.relay, toEditor, out); err != nil {
			return err
		}
		if err := c.start(exec.Command("cat"), in, fromEditor); err != nil {
			return err
		}
		return c.start(exec.Command(w.claude), toCLI, fromCLI)
	})
}

var catDialect = dialect{
	name:  "cat",
	token: []byte(`"text_delta","text":"`),
	ask:   []byte(`"subtype":"can_use_tool"`),
	message: func(_ int, text string) string {
		return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s},"uuid":%q}`, quote(text), lineID)
	},
	allow: func(line []byte) (string, error) {
		var h heard
		err := json.Unmarshal(line, &h)
		return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow",`+
			`"updatedInput":{"command":"touch it","description":"Make a file"}}}}`, h.RequestID), err
	},
	result: func(line []byte, _ int) (string, bool, error) {
		if !bytes.HasPrefix(line, []byte(`{"type":"result"`)) {
			return "", false, nil
		}
		var r struct {
			Result string `json:"result"`
		}
		err := json.Unmarshal(line, &r)
		return r.Result, true, err
	},
}
