package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/bridge/policy"

	"github.com/spf13/cobra"
)

// emptyHome makes an empty home and returns where the settings file and the state are to be.
func emptyHome(t *testing.T) (file, state string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": dir, "USERPROFILE": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "AppData": filepath.Join(dir, "config"),
		"XDG_STATE_HOME": filepath.Join(dir, "state"), "LocalAppData": filepath.Join(dir, "state"), "SHELL": "/bin/bash"} {
		t.Setenv(name, value)
	}
	return filepath.Join(dir, "config", "drawbridge", "settings.json"), filepath.Join(dir, "state", "drawbridge")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command runs a subcommand as run does.
func command(sub func(*userSettings) *cobra.Command, stdin string, args ...string) (stdout, stderr string, err error) {
	root := &cobra.Command{Use: "drawbridge", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(sub(addSettings(root)))
	var out, errs bytes.Buffer
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	err = root.Execute()
	return out.String(), errs.String(), err
}

func explained(t *testing.T, args ...string) explanation {
	t.Helper()
	out, _, err := command(explainCommand, "", append([]string{"explain", "--json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var x explanation
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return x
}

func bash(command string) string {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return "--input=" + string(raw)
}

func TestExplainNamesTheRuleAndWhereItStands(t *testing.T) {
	file, _ := emptyHome(t)
	project := filepath.Join(filepath.Dir(filepath.Dir(file)), "project") // need not exist
	writeFile(t, file, fmt.Sprintf(`{"permissions":{
 "deny":["Bash(rm *)"],
 "ask":["Bash(git push *)"],
 "allow":["Bash(npm run *)"]},
 "projects":{%q:{"permissions":{
  "allow":["Bash(make *)"]}}}}`, project))
	cwd := "--cwd=" + project
	for _, c := range []struct {
		command string
		verdict policy.Decision
		rule    string
		line    int
	}{
		{"rm x", policy.Denied, "Bash(rm *)", 2},
		{"git push origin", policy.Asked, "Bash(git push *)", 3},
		{"npm run build", policy.Allowed, "Bash(npm run *)", 4},
		{"make all", policy.Allowed, "Bash(make *)", 6},
		{"curl example.com", policy.Asked, "", 0},
	} {
		x := explained(t, "--tool=Bash", bash(c.command), cwd)
		if x.Verdict != c.verdict || x.Rule != c.rule || x.Line != c.line || c.rule != "" && x.File != file || x.Reason.Text == "" || x.Risk == "" || x.Display != c.command {
			t.Errorf("%s: %+v", c.command, x)
		}
	}
	x := explained(t, "--tool=Bash", bash("npm run build && curl example.com"), cwd)
	if x.Verdict != policy.Asked || len(x.Parts) != 2 || x.Parts[0].Verdict != policy.Allowed || x.Parts[1].Verdict != policy.Asked {
		t.Errorf("%+v", x)
	}
	if x := explained(t, "--tool=Bash", bash("make all"), "--cwd="+project+"2"); x.Verdict != policy.Asked {
		t.Errorf("a rule of another project counts: %+v", x)
	}
	if x := explained(t, "--tool=Bash", bash("npm run build"), cwd, "--mode=plan"); x.Verdict != policy.Asked || x.Reason.Source != "plan_mode" {
		t.Errorf("in plan mode: %+v", x)
	}
}

func TestExplainReadsTheProjectsOwnFileAndLetsItOnlyForbid(t *testing.T) {
	file, _ := emptyHome(t)
	writeFile(t, file, `{"permissions":{"allow":["Bash(npm run *)"]}}`)
	project := t.TempDir()
	own := filepath.Join(project, ".drawbridge", "settings.json")
	writeFile(t, own, `{"permissions":{"deny":["Bash(npm run deploy *)"],"allow":["Bash(curl *)"]}}`)
	x := explained(t, "--tool=Bash", bash("npm run deploy now"), "--cwd="+project)
	if x.Verdict != policy.Denied || x.File != own || len(x.Problems) == 0 {
		t.Errorf("%+v", x)
	}
	if x := explained(t, "--tool=Bash", bash("curl example.com"), "--cwd="+project); x.Verdict != policy.Asked {
		t.Errorf("the project allows: %+v", x)
	}
	writeFile(t, own, `{"permissions":`)
	if x := explained(t, "--tool=Bash", bash("npm run build"), "--cwd="+project); x.Verdict != policy.Asked || !strings.Contains(x.Reason.Text, "cannot be read") {
		t.Errorf("a project file that cannot be read: %+v", x)
	}
}

func TestExplainTakesTheSettingsFileThatIsNamed(t *testing.T) {
	emptyHome(t)
	other := filepath.Join(t.TempDir(), "other.json")
	writeFile(t, other, `{"permissions":{"deny":["Bash(ls *)"]}}`)
	if x := explained(t, "--tool=Bash", bash("ls -l"), "--settings="+other); x.Verdict != policy.Denied {
		t.Errorf("%+v", x)
	}
	writeFile(t, other, `{"permissions":{"deny":["Bash(ls *)"],"allow":["Bash(pwd *)"]`)
	if x := explained(t, "--tool=Bash", bash("pwd -P"), "--settings="+other); x.Verdict == policy.Allowed || len(x.Problems) == 0 {
		t.Errorf("a settings file that does not parse: %+v", x)
	}
}

func TestExplainForPeopleHidesNothing(t *testing.T) {
	file, _ := emptyHome(t)
	writeFile(t, file, `{"permissions":{"deny":["Bash(rm *)"],"allow":["Bash(npm run *)"]}}`)
	out, _, err := command(explainCommand, "", "explain", "--tool=Bash", bash("npm run build\nrm \u202e-rf \x1b[2J~"), "--cwd=/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"deny", "‹U+202E›", "‹U+001B›", "rule", "deny Bash(rm *)", file + ":1", "parts", "allow", "← Bash(npm run *)", "risk", "high", "invisible_characters"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\u202e\x1b\t") {
		t.Errorf("%q", out)
	}
}

func TestExplainAnswersLineByLine(t *testing.T) {
	file, _ := emptyHome(t)
	writeFile(t, file, `{"permissions":{"deny":["Bash(rm *)","Read(/secret)"]}}`)
	in := `{"tool":"Bash","input":{"command":"rm x"}}

{"input":{"command":"ls"}}
{"tool":"Read","input":{"file_path":"/nowhere/secret"},"cwd":"/nowhere"}
{"tool":"Bash","input":"ls"}
nonsense
{"tool":"Bash","input":{"command":"ls"},"mode":"yolo"}
{"tool":"Bash","input":{"command":"<&>"}}
`
	out, _, err := command(explainCommand, in, "explain", "--batch", "--tool=Bash")
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitFailure {
		t.Errorf("lines that could not be answered: %v", err)
	}
	var got []string
	for line := range strings.Lines(out) {
		var x struct{ Verdict, Error, Display string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if x.Error != "" {
			x.Verdict = "error"
		}
		got = append(got, x.Verdict)
	}
	if want := "deny ask deny error error error ask"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s\n%s", got, want, out)
	}
	if !strings.Contains(out, `"display":"<&>"`) {
		t.Errorf("the command is not as it was given:\n%s", out)
	}
}

func TestExplainSaysWhatIsWrongWithTheQuestion(t *testing.T) {
	emptyHome(t)
	for _, args := range [][]string{
		{"--input={}"}, {"--tool=Bash"}, {"--tool=Bash", "--input=ls"}, {"--tool=Bash", "--input=null"}, {"--tool=Bash", "--input={}", "--mode=yolo"},
	} {
		if out, _, err := command(explainCommand, "", append([]string{"explain"}, args...)...); err == nil {
			t.Errorf("%q is answered: %s", args, out)
		}
	}
}

func TestTheRiskTableInTheDocumentationIsTheOneInForce(t *testing.T) {
	raw, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(raw), "\r\n", "\n"), "```text\n"+strings.TrimSuffix(policy.RiskTable(), "\n")+"\n```") {
		t.Error("docs/security.md does not quote bridge/policy/data/risk.txt as it is")
	}
}
