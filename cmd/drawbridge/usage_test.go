package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/settings"
	"drawbridge/bridge/store"
)

// home makes a user with one conversation, of two turns here and one of them on another day.
func home(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA", "USERPROFILE"} {
		t.Setenv(name, dir)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, "claude"))
	state, err := settings.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	const id = "00000000-0000-4000-8000-000000000001"
	s := store.Open(store.In(state), nil, nil)
	s.SaveSession(store.Session{ID: id, ClaudeID: id, CWD: "/p"})
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for i, at := range []time.Time{day, day.AddDate(0, 0, 1)} {
		s.SaveTurn(store.Turn{ID: string(rune('a' + i)), SessionID: id, ClaudeID: id, CWD: "/p", Ended: at, CostUSD: 0.5,
			Usage: adapters.Usage{InputTokens: 100, OutputTokens: 7}})
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "claude", "projects", "-p")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"uuid":"u","parentUuid":null,"cwd":"/p","type":"user","message":{"role":"user","content":"why\u202e not?"}}` + "\n"
	if err := os.WriteFile(filepath.Join(project, id+".jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
}

// prints runs a command line and returns what it prints.
func prints(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	user := &userSettings{}
	cmd := usageCommand(user)
	if args[0] == "sessions" {
		cmd = sessionsCommand(user)
	}
	cmd.SetArgs(args[1:])
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(context.Background()); (err == nil) != (code == 0) {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}

func TestUsageIsPrintedAsATableAndAsJSON(t *testing.T) {
	home(t)
	text := prints(t, 0, "usage")
	for _, part := range []string{"2026-03-01", "2026-03-02", "$0.5000", "total", "$1.0000"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	var got struct {
		Rows []struct {
			Key     string
			Turns   int
			CostUSD float64 `json:"cost_usd"`
			Usage   adapters.Usage
		}
	}
	if err := json.Unmarshal([]byte(prints(t, 0, "usage", "--by", "cwd", "--since", "2026-03-02", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || got.Rows[0].Key != "/p" || got.Rows[0].Turns != 1 || got.Rows[0].CostUSD != 0.5 || got.Rows[0].Usage.InputTokens != 100 {
		t.Errorf("got %+v", got)
	}
	prints(t, 1, "usage", "--by", "colour")
	prints(t, 1, "usage", "--since", "yesterday")
}

func TestSessionsArePrintedWithoutWhatTheTerminalWouldObey(t *testing.T) {
	home(t)
	text := prints(t, 0, "sessions", "--cwd", "/p")
	if !strings.Contains(text, "$1.00") || !strings.Contains(text, "/p") || strings.Contains(text, "\u202e") || !strings.Contains(text, "not?") {
		t.Errorf("got\n%s", text)
	}
	if text := prints(t, 0, "sessions", "--cwd", "/elsewhere", "--json"); !strings.Contains(text, `"sessions": []`) {
		t.Errorf("got %s", text)
	}
}

func TestSinceTakesDatesTimesAndHowLongAgo(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"2026-03-01":           time.Date(2026, 3, 1, 0, 0, 0, 0, time.Local),
		"2026-03-01T10:00:00Z": time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
		"7d":                   now.AddDate(0, 0, -7),
		"90m":                  now.Add(-90 * time.Minute),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "-1d", "-5h", "d"} {
		if _, err := parseSince(text, now); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
