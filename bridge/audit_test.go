package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

func record(tool, input string) AuditRecord {
	return AuditRecord{Time: time.Date(2026, 11, 21, 1, 2, 3, 456789000, time.UTC), SessionID: "s1", Tool: tool, Outcome: "allowed", By: "user",
		Input: json.RawMessage(input)}
}

// written reads the records of an audit file back.
func written(t *testing.T, path string) (records []AuditRecord, foreign int) {
	t.Helper()
	foreign, err := ReadAudit(path, func(r AuditRecord, _ []byte) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records, foreign
}

func TestADecisionIsWrittenAsOneLineThatOnlyTheUserCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	a := OpenAudit(path)
	r := AuditRecord{Time: time.Date(2026, 11, 21, 1, 2, 3, 456789000, time.FixedZone("", 3600)), SessionID: "s1", PromptID: "p_1", ToolUseID: "toolu_1", AgentID: "a1",
		CWD: "/src", Tool: "Bash", Outcome: "denied", By: "rule", Rule: "Bash(rm *)", File: "/home/u/settings.json", Scope: "user", OpenMS: 12,
		Input: json.RawMessage("{ \"command\" : \"rm \\u0078\",\n\"n\":1.0}")}
	if err := a.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-11-21T00:02:03.457Z","session_id":"s1","prompt_id":"p_1","tool_use_id":"toolu_1","agent_id":"a1","cwd":"/src","tool":"Bash",` +
		`"outcome":"denied","by":"rule","rule":"Bash(rm *)","file":"/home/u/settings.json","scope":"user","open_ms":12,"input":{"command":"rm x","n":1.0}}` + "\n"
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	var none *Audit
	if none.Write(r) != nil || none.Close() != nil {
		t.Error("a nil Audit fails")
	}
}

func TestSecretsAndInvisibleCharactersDoNotGetIntoTheAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a := OpenAudit(path)
	for _, input := range []string{
		`{"command":"curl -H 'Authorization: Bearer abcdefghijklmnop'"}`,
		`{"command":"export API_KEY=abcdefghijklmnop"}`,
		`{"password":"abcdefghijklmnop"}`,
		`{"command":"x \u0073k-ant-api03-abcdefghijklmnop"}`, // an escape hides nothing
		"{\"command\":\"x \u202e\u200b\u00a0\u0085\u007f\U000e0001 y \\u001b[2J \\u0007\"}",
		"{\"command\":\"\xff\xfe\"}",
		"no JSON \u202e sk-ant-api03-abcdefghijklmnop \x1b[2J\n{}",
	} {
		if err := a.Write(record("Bash\u202e", input)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("efghijklmnop")) {
		t.Errorf("a secret is in the file:\n%s", raw)
	}
	for _, r := range string(raw) {
		if !unicode.IsPrint(r) && r != '\n' {
			t.Errorf("%U is in the file", r)
		}
	}
	records, foreign := written(t, path)
	if len(records) != 7 || foreign != 0 {
		t.Fatalf("%d records and %d other lines", len(records), foreign)
	}
	if records[0].Tool != "Bash\u202e" || !strings.Contains(string(records[4].Input), `\u202e\u200b\u00a0\u0085\u007f\udb40\udc01 y \u001b[2J`) {
		t.Errorf("%q %s", records[0].Tool, records[4].Input)
	}
}

func TestALongInputIsCutAndSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a := OpenAudit(path)
	inputs := []string{
		`{"content":"` + strings.Repeat("word ", 1<<20) + `"}`,
		`{"content":"` + strings.Repeat("\u202e", 60<<10) + `"}`,
		`{"content":"` + strings.Repeat(`\u001b`, 60<<10) + `"}`,
		`{"content":"` + strings.Repeat("漢", 30000) + `"}`,
		`[` + strings.Repeat(`"",`, 40000) + `1]`,
		strings.Repeat("[", 100000),
		`{"content":"` + strings.Repeat("x", 65000) + `"}`,
	}
	for _, input := range inputs {
		if err := a.Write(record(strings.Repeat("T\u202e", 3000), input)); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := os.ReadFile(path)
	for i, line := range bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		if len(line) > maxAuditRecord {
			t.Errorf("line %d has %d bytes", i, len(line))
		}
	}
	records, foreign := written(t, path)
	if len(records) != len(inputs) || foreign != 0 {
		t.Fatalf("%d records and %d other lines", len(records), foreign)
	}
	for i, r := range records {
		var text string
		if err := json.Unmarshal(r.Input, &text); err != nil || !strings.HasSuffix(text, "… [cut]") || r.InputBytes != len(inputs[i]) {
			t.Errorf("input %d: %d bytes, %.40s", i, r.InputBytes, r.Input)
		}
		if !strings.HasPrefix(inputs[i], text[:min(10, len(text)-len("… [cut]"))]) {
			t.Errorf("input %d begins %.20q", i, text)
		}
	}
}

func TestAnAuditFileThatIsNotTheUsersOwnIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	for name, prepare := range map[string]func(path string) error{
		"a link to a file": func(p string) error {
			_ = os.WriteFile(target, nil, 0o600)
			return os.Symlink(target, p)
		},
		"a link to nowhere":       func(p string) error { return os.Symlink(filepath.Join(dir, "nowhere"), p) },
		"a directory":             func(p string) error { return os.Mkdir(p, 0o700) },
		"a file as its directory": func(p string) error { return os.WriteFile(filepath.Dir(p), nil, 0o600) },
	} {
		path := filepath.Join(dir, name, "audit.jsonl")
		if name != "a file as its directory" {
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		if err := OpenAudit(path).Write(record("Bash", `{}`)); err == nil {
			t.Errorf("%s is written to", name)
		}
	}
	if raw, _ := os.ReadFile(target); len(raw) > 0 {
		t.Errorf("the link was followed: %s", raw)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("the link to nowhere was followed")
	}
	open := filepath.Join(dir, "open.jsonl")
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil { // whatever the umask
		t.Fatal(err)
	}
	if err := OpenAudit(open).Write(record("Bash", `{}`)); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(open); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("others can still read it: %v %v", st.Mode(), err)
	}
}

func TestAWriteThatFailsIsAnErrorUntilItWorksAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a := OpenAudit(filepath.Join(dir, "audit.jsonl"))
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(record("Bash", `{}`)); err == nil {
		t.Error("there is no place for the file, but no error")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(record("Bash", `{}`)); err != nil {
		t.Error(err)
	}
}

func TestATornLineSpoilsNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	first := OpenAudit(path)
	if err := first.Write(record("Read", `{}`)); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("not ours\n\n" + strings.Repeat("x", 3*maxAuditRecord) + "\n" + `{"time":"2026-11-21T0`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if err := OpenAudit(path).Write(record("Bash", `{}`)); err != nil {
		t.Fatal(err)
	}
	records, foreign := written(t, path)
	if len(records) != 2 || records[1].Tool != "Bash" || foreign != 3 {
		t.Errorf("%d records and %d other lines", len(records), foreign)
	}
}

// TestSeveralBridgesLoseNoRecord has several writers fill more than a few files at once, each file being put aside meanwhile.
func TestSeveralBridgesLoseNoRecord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed on Windows")
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const writers, each = 4, 120
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			a := OpenAudit(path)
			defer a.Close()
			content := strings.Repeat("0123456789 ", 5500)
			for i := range each {
				r := record("Write", `{"content":"`+content+`"}`)
				r.PromptID = fmt.Sprintf("%d-%d", w, i)
				if err := a.Write(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	records, foreign := written(t, path)
	seen := map[string]int{}
	for _, r := range records {
		seen[r.PromptID]++
	}
	if len(seen) != writers*each || len(records) != writers*each || foreign != 0 {
		t.Errorf("%d records, %d of them different, and %d other lines; want %d", len(records), len(seen), foreign, writers*each)
	}
	if n := len(asides(path)); n < 2 || n > keptAudits {
		t.Errorf("%d files were put aside", n)
	}
}

func TestOnlyTheNewestFilesAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed on Windows")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	for i := range 12 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("audit-20200101T0000%02d.000000000-1.jsonl", i)), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcde\n"), maxAuditFile/16+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := OpenAudit(path).Write(record("Bash", `{}`)); err != nil {
		t.Fatal(err)
	}
	names := asides(path)
	if len(names) != keptAudits || !strings.Contains(names[0], "000005") || strings.Contains(filepath.Base(names[keptAudits-1]), "audit-2020") {
		t.Errorf("%q", names)
	}
}

func TestWhateverIsWrittenCanBeReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString([]string{`"`, `\`, "\x00", "\xff", "\u202e", "token", ":", "=", `{"a":"`, `"}`, "sk-12345678abc", "漢", "\n", "Bearer ", "password\":\""}[r.IntN(15)])
		}
		input := b.String()
		if r.IntN(2) == 0 {
			input = string(marshal(map[string]string{"command": input}))
		}
		line := record("Bash", input).line()
		var got AuditRecord
		if err := json.Unmarshal(line, &got); err != nil || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q gives %q: %v", input, line, err)
		}
	}
}
