package chat

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the golden transcripts")

// program is drawbridge, built for these tests.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "chat")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "drawbridge.exe")
		if out, err := exec.Command("go", "build", "-o", program, "drawbridge/cmd/drawbridge").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		// Bridges that the tests launch see no settings and no state but their own.
		os.Setenv("HOME", dir)
		for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
			os.Unsetenv(name)
		}
		return m.Run()
	}())
}

// patience is how long something may take before a test gives up.
const patience = 30 * time.Second

// scriptedBridge is the command line of a bridge whose claude plays the script.
func scriptedBridge(t *testing.T, script string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.txtar")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{program, "serve", fmt.Sprintf("--claude=[%q,%q,%q]", program, "__agent", path)}
}

// varying is what is different in each run.
var varying = regexp.MustCompile(`\d+\.\d s\b|\d+ s\b`)

// duration ends the line of a turn, unless the turn took no millisecond.
var duration = regexp.MustCompile(`(?m) · N s$`)

// reason is why the user is asked, which is the bridge's business.
var reason = regexp.MustCompile(`(?m)(^┌ Claude asks to use \w+) · .*$`)

// sceneMark stands for the -- of a script, which is itself a file of an archive.
var sceneMark = regexp.MustCompile(`(?m)^== (.*) ==$`)

// TestTranscripts holds what is shown without a terminal to testdata/*.txtar: a script, what the user enters, and what appears.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range ar.Files {
				parts[f.Name] = string(f.Data)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			cwd := t.TempDir()
			var out bytes.Buffer
			code, err := Run(ctx, Options{Bridge: scriptedBridge(t, sceneMark.ReplaceAllString(parts["script"], "-- $1 --")), CWD: cwd,
				In: strings.NewReader(parts["input"]), Out: &out, AllowAll: strings.Contains(parts["flags"], "allow"), Version: "test"})
			if err != nil {
				t.Error(err)
			}
			got := varying.ReplaceAllString(strings.ReplaceAll(out.String(), cwd, "CWD"), "N s") + fmt.Sprintf("exit code %d\n", code)
			got = reason.ReplaceAllString(duration.ReplaceAllString(got, ""), "$1 · WHY")
			if *update {
				for i := range ar.Files {
					if ar.Files[i].Name == "output" {
						ar.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != parts["output"] {
				t.Errorf("shown:\n%s\nwant:\n%s", got, parts["output"])
			}
		})
	}
}

func TestWithoutClaudeTheExitCodeIsTheBridges(t *testing.T) {
	var out bytes.Buffer
	code, err := Run(context.Background(), Options{Bridge: []string{program, "serve", "--claude=/no/such/claude"}, CWD: t.TempDir(),
		In: strings.NewReader("hello\n"), Out: &out})
	if code != 72 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if !strings.Contains(out.String(), "there is no such program") || !strings.Contains(out.String(), "→ Install Claude Code") {
		t.Errorf("shown:\n%s", out.String())
	}
}

func TestABridgeThatCannotBeLaunchedIsAnError(t *testing.T) {
	code, err := Run(context.Background(), Options{Bridge: []string{"/no/such/drawbridge"}, CWD: t.TempDir(), In: strings.NewReader(""), Out: new(bytes.Buffer)})
	if code == 0 || err == nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	var out bytes.Buffer
	code, _ = Run(context.Background(), Options{Bridge: []string{program, "serve", "--framing=nonsense"}, CWD: t.TempDir(), In: strings.NewReader(""), Out: &out})
	if code != 2 || !strings.Contains(out.String(), "nonsense") {
		t.Errorf("a bridge that does not like its flags: exit code %d, shown:\n%s", code, out.String())
	}
}

func TestTheEndOfTheContextEndsTheConversation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := &notifying{seen: make(chan struct{}), text: "working"}
	go func() {
		<-out.seen
		cancel()
	}()
	code, err := Run(ctx, Options{Bridge: scriptedBridge(t, "-- default --\ntext working\nhang\n"), CWD: t.TempDir(), In: strings.NewReader("go\n"), Out: out})
	if code != 0 || err != nil || !strings.Contains(out.all.String(), "— cancelled") {
		t.Errorf("exit code %d, %v, shown:\n%s", code, err, out.all.String())
	}
}

// notifying tells when a text was written.
type notifying struct {
	all  strings.Builder
	text string
	seen chan struct{}
}

func (n *notifying) Write(b []byte) (int, error) {
	before := strings.Contains(n.all.String(), n.text)
	n.all.Write(b)
	if !before && strings.Contains(n.all.String(), n.text) {
		close(n.seen)
	}
	return len(b), nil
}

// The tour is played with the script of the demo, without its pauses.
func TestTheTourShowsEachThing(t *testing.T) {
	script, err := os.ReadFile("../../../adapters/scripted/demo.txtar")
	if err != nil {
		t.Fatal(err)
	}
	hurried := regexp.MustCompile(`(?m)^(pace|latency|takes|delay) .*$`).ReplaceAllString(string(script), "")
	hurried = strings.ReplaceAll(hurried, "One comes in, and one goes out.\n", "One comes in, and one goes out.\ndelay 50ms\n")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out bytes.Buffer
	code, err := Run(ctx, Options{Bridge: scriptedBridge(t, hurried), CWD: t.TempDir(), In: strings.NewReader("not read\n"), Out: &out, Demo: true})
	if code != 0 || err != nil || ctx.Err() != nil {
		t.Errorf("exit code %d, %v, %v", code, err, ctx.Err())
	}
	at := 0
	for _, v := range visits {
		i := strings.Index(out.String()[at:], "› "+v.say+"\n")
		if i < 0 {
			t.Fatalf("%q is missing from\n%s", v.say, &out)
		}
		at += i
	}
	for _, want := range []string{"∴ ", "● Read", "└ allowed", "└ denied: Not while", "as it was changed:", "+ period", "└ answered", "Red it is",
		"Put the horn", "│ ● ", "[x] Trim", "✗ API Error", "^C\n", "— cancelled", tourIsOver} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("shown:\n%s", &out)
	}
}
