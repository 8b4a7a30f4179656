package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/bridge"

	"github.com/spf13/cobra"
)

func auditOf(_ *userSettings) *cobra.Command { return auditCommand() }

// decided writes an audit file into a new home.
func decided(t *testing.T, records ...bridge.AuditRecord) string {
	t.Helper()
	_, state := emptyHome(t)
	path := filepath.Join(state, auditFile)
	a := bridge.OpenAudit(path)
	for _, r := range records {
		if r.Time.IsZero() {
			r.Time = time.Now()
		}
		if err := a.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func bashRecord(session, command string) bridge.AuditRecord {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return bridge.AuditRecord{SessionID: session, Tool: "Bash", Outcome: "allowed", By: "user", Input: raw, CWD: "/src"}
}

func TestTheAuditIsShownInColumnsWithNothingThatActsOnTheTerminal(t *testing.T) {
	r := bashRecord("0123456789abcdef", "npm run build\nls \x1b[2J\u202e")
	r.By, r.Rule, r.Scope, r.OpenMS = "grant", "Bash(npm run *)", "session", 61500
	r.Time = time.Date(2026, 11, 21, 12, 30, 5, 0, time.Local)
	long := bashRecord("s2", strings.Repeat("word ", 20000))
	long.Tool = "Te\tst\x07"
	decided(t, r, long)
	out, stderr, err := command(auditOf, "", "audit")
	if err != nil || stderr != "" {
		t.Fatal(err, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	if want := "2026-11-21 12:30:05  01234567  allowed   grant  1m1.5s  Bash                  npm run build⏎ls ‹U+001B›[2J‹U+202E›"; !strings.HasPrefix(lines[1], want) || !strings.HasSuffix(lines[1], "  Bash(npm run *) (session)") {
		t.Errorf("%s\nwant\n%s…", lines[1], want)
	}
	for i, name := range []string{"time", "session", "decision", "by", "open", "tool", "what", "rule"} {
		if at := strings.Index(lines[0], name); at < 0 || i > 0 && lines[1][at-1] != ' ' && name != "rule" {
			t.Errorf("%s is not above its column:\n%s", name, out)
		}
	}
	if !strings.Contains(lines[2], "…+") || !strings.Contains(lines[2], "Te‹U+0009›st‹U+0007›") {
		t.Errorf("%s", lines[2])
	}
	if strings.ContainsAny(out, "\x1b\u202e\x07\t") {
		t.Errorf("%q", out)
	}
}

func TestTheAuditCanBeNarrowedToATimeAndASession(t *testing.T) {
	old := bashRecord("aaaa-1", "old")
	old.Time = time.Now().Add(-48 * time.Hour)
	decided(t, old, bashRecord("aaaa-1", "new"), bashRecord("bbbb-2", "other"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "old new other"},
		{[]string{"--since=1h"}, "new other"},
		{[]string{"--since=7d", "--session=aaaa"}, "old new"},
		{[]string{"--since=1h", "--session=bbbb-2"}, "other"},
		{[]string{"--since=" + time.Now().Add(time.Hour).Format(time.RFC3339)}, ""},
	} {
		out, _, err := command(auditOf, "", append([]string{"audit", "--json"}, c.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out) {
			var r struct{ Input struct{ Command string } }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			got = append(got, r.Input.Command)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if _, _, err := command(auditOf, "", "audit", "--since=soon"); err == nil {
		t.Error("soon is taken for a time")
	}
}

func TestLinesThatAreNoRecordsAreCountedAndLeftOut(t *testing.T) {
	path := decided(t, bashRecord("s", "first"))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"tool\":\"\x1b\"}\n{\"time\":\"2026-11-21T0"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, stderr, err := command(auditOf, "", "audit")
	if err != nil || !strings.Contains(out, "first") || strings.Count(out, "\n") != 2 || !strings.Contains(stderr, "2 lines") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
}

func TestNoAuditFileIsAnEmptyAudit(t *testing.T) {
	emptyHome(t)
	if out, stderr, err := command(auditOf, "", "audit", "--json"); out != "" || stderr != "" || err != nil {
		t.Errorf("%q %q %v", out, stderr, err)
	}
}
