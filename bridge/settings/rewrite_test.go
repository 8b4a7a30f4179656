package settings

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain lets the test binary be one of several programs that write the same file.
func TestMain(m *testing.M) {
	if name := os.Getenv("SETTINGS_TEST_WRITER"); name != "" {
		os.Exit(writer(os.Getenv("SETTINGS_TEST_FILE"), name))
	}
	os.Exit(m.Run())
}

const writers, rulesEach = 20, 3

func writer(path, name string) (status int) {
	var wg sync.WaitGroup
	failed := make(chan error, writers*rulesEach)
	for g := range writers {
		wg.Go(func() {
			scope := User()
			if g%2 == 1 {
				scope = ProjectScope(fmt.Sprintf("/p%d", g%4))
			}
			for i := range rulesEach {
				if err := AddRule(path, scope, Allow, fmt.Sprintf("Bash(%s %d %d)", name, g, i)); err != nil {
					failed <- err
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		fmt.Println(err)
		status = 1
	}
	return status
}

func TestOfRulesSavedByManyGoroutinesOfSeveralProcessesNoneIsLost(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "settings.json")
	const processes = 4
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("SETTINGS_TEST_WRITER=w%d", p), "SETTINGS_TEST_FILE="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer %d: %v\n%s", p, err, out)
			}
		})
	}
	wg.Wait()
	f := Load(name)
	if len(f.Problems) > 0 {
		t.Fatalf("problems: %v", f.Problems)
	}
	saved := map[string]int{}
	for _, rules := range []Rules{f.Permissions, f.Projects["/p1"].Permissions, f.Projects["/p3"].Permissions} {
		for _, rule := range rules.Allow {
			saved[rule.Text]++
		}
	}
	if want := processes * writers * rulesEach; len(saved) != want {
		t.Errorf("%d rules are there, want %d", len(saved), want)
	}
}

// A reader must never see half a file: each reading while rules are saved parses and holds at least as many as before.
func TestAReaderBesideAWriterNeverSeesHalfAFile(t *testing.T) {
	name := write(t, filepath.Join(t.TempDir(), "settings.json"), `{"permissions": {"deny": ["d"]}}`)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 100 && err == nil; i++ {
			err = AddRule(name, User(), Allow, fmt.Sprint("Bash(", i, ")"))
		}
		done <- err
	}()
	source, seen := Open(name), 0
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		f, _ := source.Read()
		if now := len(f.Permissions.Allow); !f.Parsed || len(f.Permissions.Deny) != 1 || now < seen {
			t.Fatalf("after %d rules: %+v", seen, f)
		} else {
			seen = now
		}
	}
	if seen != 100 {
		t.Errorf("the last reading sees %d rules", seen)
	}
}

func TestASavedRuleIsReadableByTheUserAloneAndLeavesNothingBehindButTheLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "drawbridge", "settings.json")
	dir := filepath.Dir(name)
	// What a writer that was killed left there.
	stale := write(t, filepath.Join(dir, ".settings.json.tmp"), "half")
	if err := os.Chmod(stale, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := AddRule(name, User(), Deny, "Read(./.env)"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 || entries[0].Name() != ".settings.json.lock" || entries[1].Name() != "settings.json" {
		t.Errorf("the directory holds %v", entries)
	}
	if f := Load(name); len(f.Permissions.Deny) != 1 {
		t.Errorf("got %+v", f)
	}
	if err := RemoveRule(name, User(), Deny, "Read(./.env)"); err != nil {
		t.Fatal(err)
	}
	if f := Load(name); len(f.Permissions.Deny) != 0 || len(f.Problems) > 0 {
		t.Errorf("after removal: %+v", f)
	}
}

func TestASymbolicLinkStaysOneAndItsTargetIsWritten(t *testing.T) {
	for _, exists := range []bool{true, false} {
		dir := t.TempDir()
		target := filepath.Join(dir, "dotfiles", "real.json")
		write(t, filepath.Join(dir, "dotfiles", "x"), "")
		if exists {
			write(t, target, `{"model": "x"}`)
		}
		name := filepath.Join(dir, "config", "settings.json")
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../dotfiles/middle.json", name); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("real.json", filepath.Join(dir, "dotfiles", "middle.json")); err != nil {
			t.Fatal(err)
		}
		if err := SetTrusted(name, "/p", true); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info.Mode(), err)
		}
		if f := Load(target); f.Projects["/p"].Trusted == nil || exists != (Resolve(f).Model == "x") {
			t.Errorf("target existed %v: got %+v", exists, f)
		}
	}
}

func TestAFileThatDoesNotParseIsRefusedAndStaysAsItIs(t *testing.T) {
	const broken = "{\n  \"permissions\": {\"deny\": [\"d\"],}\n}"
	name := write(t, filepath.Join(t.TempDir(), "settings.json"), broken)
	err := AddRule(name, User(), Allow, "Bash(ls)")
	if err == nil || !strings.Contains(err.Error(), "is not changed: line 2, column 32") {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(name); string(text) != broken {
		t.Errorf("the file holds %q", text)
	}
}

func TestARuleOrScopeThatIsNoneIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "settings.json")
	for _, err := range []error{
		AddRule(name, User(), Allow, " "),
		AddRule(name, User(), Allow, "a\xff"),
		AddRule(name, User(), "allows", "a"),
		AddRule(name, ProjectScope("p"), Allow, "a"),
		AddRule(name, ProjectScope(""), Allow, "a"),
	} {
		if err == nil {
			t.Error("a mistake was saved")
		}
	}
	if f := Load(name); f.Exists {
		t.Error("a file was made")
	}
}

func TestAWriterWaitsForTheLockOnlySoLong(t *testing.T) {
	name := filepath.Join(t.TempDir(), "l")
	unlock, err := lock(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(name, 0); err == nil || !strings.Contains(err.Error(), "another program has held") {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	unlock, err = lock(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
