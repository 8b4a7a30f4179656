package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"drawbridge/adapters"
)

// A line that drawbridge would not read as what it stands for would be measured as something else.
func TestTheLinesOfTheLoadsAreReadAsMeant(t *testing.T) {
	a, m := adapters.For(claudeVersion)(), adapters.Message{}
	for _, l := range []struct {
		line string
		want adapters.Kind
	}{
		{fmt.Sprintf(controlResponse, "r1", initializeAnswer), adapters.ControlResponse},
		{systemInit, adapters.SystemInit},
		{fmt.Sprintf(echo, `"first 1"`, lineID), adapters.Echo},
		{statusLine, adapters.StatusChange},
		{fmt.Sprintf(messageStart, "msg_1"), adapters.Skipped},
		{fmt.Sprintf(blockStart, "msg_1"), adapters.Skipped},
		{token("msg_1", numbered(7)), adapters.Token},
		{fmt.Sprintf(blockStop, "msg_1"), adapters.BlockStop},
		{fmt.Sprintf(toolUse, "msg_1", "toolu_1"), adapters.Assistant},
		{fmt.Sprintf(question, "toolu_1", "123", "toolu_1"), adapters.PermissionAsked},
		{fmt.Sprintf(toolResult, "toolu_1"), adapters.ToolResults},
		{fmt.Sprintf(turnResult, `"done"`, lineID), adapters.TurnResult},
	} {
		if a.Decode([]byte(l.line), &m); m.Kind != l.want || m.Err != nil {
			t.Errorf("read as kind %d (%v), not %d: %s", m.Kind, m.Err, l.want, l.line)
		}
	}
}

func TestAFloodIsAsManyNumberedTokensAsItSays(t *testing.T) {
	var out bytes.Buffer
	c := &claude{out: &out, in: make(chan input)}
	const n = 1000
	result, err := c.flood("msg_1", n)
	if err != nil || result != "1000" {
		t.Fatal(result, err)
	}
	got := 0
	check := inOrder(&got)
	for line := range strings.Lines(out.String()) {
		if _, text, ok := strings.Cut(line, string(catDialect.token)); ok {
			if err := check([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got != n {
		t.Errorf("%d tokens", got)
	}
}

func TestALostTokenIsNoticed(t *testing.T) {
	got := 0
	check := inOrder(&got)
	if err := check([]byte(numbered(0))); err != nil {
		t.Fatal(err)
	}
	if check([]byte(numbered(2))) == nil {
		t.Error("token 2 was taken for token 1")
	}
}

func TestAFigureHasThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0512: "0.051", 1.234: "1.23", 12.34: "12.3", 1234.5: "1234", 5: "5"} {
		if got := figure(v); got != want {
			t.Errorf("%v is written %s, not %s", v, got, want)
		}
	}
}
