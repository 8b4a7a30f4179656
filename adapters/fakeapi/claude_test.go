package fakeapi

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheRealCLITalksToTheScript runs the claude CLI that DRAWBRIDGE_TEST_CLAUDE names (2.0.0 or newer): a turn of text,
// then one of Bash whose permission is asked for on stdio.
func TestTheRealCLITalksToTheScript(t *testing.T) {
	claude := os.Getenv("DRAWBRIDGE_TEST_CLAUDE")
	if claude == "" {
		t.Skip("DRAWBRIDGE_TEST_CLAUDE does not name a claude CLI")
	}
	s := start(t)
	cmd := exec.CommandContext(soon(t), claude, "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--permission-prompt-tool", "stdio")
	cmd.Env, cmd.Dir, cmd.Stderr = s.Env(t.TempDir()), t.TempDir(), os.Stderr
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
	send := func(v any) {
		t.Helper()
		if err := json.NewEncoder(stdin).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewReader(stdout)
	asked := 0
	// turn sends a prompt, allows every tool and returns the result's text.
	turn := func(prompt string) string {
		t.Helper()
		send(map[string]any{"type": "user", "message": user(prompt)})
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("no result of %q: %v", prompt, err)
			}
			var m struct {
				Type      string
				Result    string
				RequestID string `json:"request_id"`
				Request   struct {
					Subtype string
					Input   json.RawMessage
				}
			}
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			switch {
			case m.Type == "result":
				return m.Result
			case m.Type == "control_request" && m.Request.Subtype == "can_use_tool":
				asked++
				send(map[string]any{"type": "control_response", "response": map[string]any{
					"subtype": "success", "request_id": m.RequestID,
					"response": map[string]any{"behavior": "allow", "updatedInput": m.Request.Input},
				}})
			}
		}
	}
	if got := turn("hello"); got != "Echo: hello" || asked != 0 {
		t.Errorf("text turn: %q, asked %d times", got, asked)
	}
	if got := turn("bash: echo made > made.txt && cat made.txt"); got != "Tool said: made" || asked != 1 {
		t.Errorf("Bash turn: %q, asked %d times", got, asked)
	}
	if b, err := os.ReadFile(filepath.Join(cmd.Dir, "made.txt")); err != nil || string(b) != "made\n" {
		t.Errorf("the command left %q, %v", b, err)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the CLI ended with %v", err)
	}
}
