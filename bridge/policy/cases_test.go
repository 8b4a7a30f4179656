package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAcceptanceCases runs testdata/cases.jsonl: a command, the rules, the verdict and why, one case a line.
func TestAcceptanceCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		var c struct{ Cmd, Rules, Want, Why string }
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		for _, shell := range []string{"", "/bin/bash", "zsh"} {
			t.Run(fmt.Sprintf("g%d/%s", n, shell), func(t *testing.T) {
				call := bashCall(expand(t, c.Cmd))
				call.Shell = shell
				v := rulesOf(t, c.Rules).Decide(call, tree{})
				if string(v.Decision) != c.Want {
					t.Errorf("%q with %s: %s (%s), want %s because %s", c.Cmd, c.Rules, v.Decision, v.Reason.Text, c.Want, c.Why)
				}
			})
		}
	}
	if n < 60 {
		t.Errorf("%d cases, want 60", n)
	}
}

// expand writes out @REPEAT n "a" "b" "c": n times a, b, n times c.
func expand(t *testing.T, cmd string) string {
	if !strings.HasPrefix(cmd, "@REPEAT ") {
		return cmd
	}
	var n int
	var a, b, c string
	if _, err := fmt.Sscanf(cmd, "@REPEAT %d %q %q %q", &n, &a, &b, &c); err != nil {
		t.Fatal(err)
	}
	return strings.Repeat(a, n) + b + strings.Repeat(c, n)
}
