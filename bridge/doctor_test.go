package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"drawbridge/bridge/settings"

	"go.uber.org/zap"
)

// patient is a machine with a home of its own for a Doctor to look at.
type patient struct {
	*testing.T
	Doctor
}

func newPatient(t *testing.T, claude string) *patient {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of these tests are shell scripts")
	}
	home := t.TempDir()
	for _, dir := range []string{"bin", "state", "project"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", filepath.Join(home, "bin")+string(filepath.ListSeparator)+"/usr/bin:/bin")
	t.Setenv("CLAUDE_CODE_PATH", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	p := &patient{t, Doctor{CLI: &Local{StateDir: filepath.Join(home, "state"), Log: zap.NewNop()}, Version: "test", Home: home,
		CWD: filepath.Join(home, "project"), LogFile: filepath.Join(home, "state", "drawbridge.log"), SkipLogin: true,
		Sweep: func(context.Context) ([]int, error) { return []int{4711}, nil }}}
	if claude != "" {
		p.program("bin/claude", claude)
	}
	return p
}

// program puts a claude there that answers --version.
func (p *patient) program(name, version string) {
	p.Helper()
	p.file(name, "#!/bin/sh\necho '"+version+"'\n", 0o755)
}

func (p *patient) file(name, text string, mode os.FileMode) {
	p.Helper()
	path := filepath.Join(p.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.Fatal(err)
	}
}

func (p *patient) findings(e Examination) string {
	var b strings.Builder
	for _, f := range e.Findings {
		b.WriteString(f.Level + " " + f.Subject + ": " + f.Message + "\n")
		if f.Remedy == "" {
			p.Errorf("nothing to do about %q", f.Message)
		}
	}
	return b.String()
}

func TestTheDoctorSaysWhetherThereIsAUsableClaude(t *testing.T) {
	for prints, c := range map[string]struct{ level, unusable, finding string }{
		"":                      {"missing", KindClaudeNotFound, "error claude: Claude Code was not found"},
		"1.0.10 (Claude Code)":  {"incompatible", KindClaudeTooOld, "error claude: Claude Code 1.0.10 is too old"},
		"1.0.60 (Claude Code)":  {"degraded", "", "warning claude: Claude Code 1.0.60 works with limits. It lacks: streaming"},
		"2.1.329 (Claude Code)": {"fully_compatible", "", ""},
		"2.9.0 (Claude Code)":   {"likely_compatible", "", "warning claude: Claude Code 2.9.0 is newer than 2.1.329"},
		"nonsense":              {"unknown", "", "warning claude: Claude Code does not tell its version (it said \"nonsense\")"},
	} {
		t.Run(prints, func(t *testing.T) {
			p := newPatient(t, prints)
			e := p.Examine(context.Background())
			if e.ClaudeCode.Level != c.level {
				t.Errorf("%+v", e.ClaudeCode)
			}
			if (e.Unusable == nil) != (c.unusable == "") || e.Unusable != nil && e.Unusable.Kind != c.unusable {
				t.Errorf("unusable: %v", e.Unusable)
			}
			if got := p.findings(e); !strings.HasPrefix(got, c.finding) || c.finding == "" && got != "" {
				t.Errorf("findings:\n%s", got)
			}
		})
	}
}

func TestTheDoctorNamesEveryClaudeAndTheOneInUse(t *testing.T) {
	p := newPatient(t, "2.1.112 (Claude Code)")
	p.program(".local/bin/claude", "2.1.17 (Claude Code)")
	p.program("project/claude", "2.1.329 (Claude Code)")
	t.Setenv("PATH", p.CWD+":"+os.Getenv("PATH"))
	e := p.Examine(context.Background())
	var got []string
	for _, one := range e.Programs {
		mark := ""
		if one.Used {
			mark = " used"
		}
		rel, _ := filepath.Rel(p.Home, one.Path)
		got = append(got, rel+" "+one.Version+mark)
	}
	if s := strings.Join(got, ", "); !strings.HasPrefix(s, "project/claude 2.1.329, bin/claude 2.1.112 used, .local/bin/claude 2.1.17") {
		t.Errorf("programs: %s", s)
	}
	if !strings.Contains(e.Programs[0].Found, "not used there") {
		t.Errorf("of the project's own it says %q", e.Programs[0].Found)
	}
	if len(e.Defects) == 0 {
		t.Error("2.1.112 has no known defects")
	}
}

func TestTheDoctorFindsSettingsThatDoNotParse(t *testing.T) {
	p := newPatient(t, "2.1.329 (Claude Code)")
	p.file(".claude/settings.json", "{\n\"hooks\": {},\n}", 0o600)
	p.file("project/.claude/settings.local.json", `{"disableAllHooks":true}`, 0o600)
	p.file("project/.mcp.json", `{"mcpServers":{}}`, 0o600)
	p.file("project/.drawbridge/settings.json", `{"permissions":{"deny":["Bash("]}}`, 0o600)
	p.file("settings.json", `{"modle":"opus"}`, 0o600)
	p.Settings = settings.Load(filepath.Join(p.Home, "settings.json"))
	got := p.findings(p.Examine(context.Background()))
	for _, want := range []string{".claude/settings.json:3: invalid character", "switches hooks off", "modle"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, ".mcp.json") {
		t.Errorf("it complains of a good file:\n%s", got)
	}
}

func TestTheDoctorSaysWhoIsLoggedIn(t *testing.T) {
	for account, want := range map[string]string{
		`{"email":"a@b.c","subscriptionType":"max"}`:   "",
		`{"tokenSource":"none","apiKeySource":"none"}`: "warning login: Claude Code names no login.\n",
	} {
		p := newPatient(t, "")
		p.SkipLogin = false
		p.file("bin/claude", `#!/bin/sh
[ "$1" = --version ] && { echo '2.1.329 (Claude Code)'; exit; }
read -r line
echo '{"type":"control_response","response":{"subtype":"success","request_id":"doctor","response":{"account":`+account+`}}}'
read -r line
`, 0o755)
		e := p.Examine(context.Background())
		if got := p.findings(e); got != want {
			t.Errorf("%s: %s", account, got)
		}
		if string(e.Account) != account {
			t.Errorf("account %s", e.Account)
		}
	}
}

func TestAClaudeThatDiesIsNamedByTheDoctorWithItsLastWords(t *testing.T) {
	p := newPatient(t, "")
	p.SkipLogin = false
	p.file("bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && { echo 2.1.329; exit; }\necho 'the disk is gone' >&2\nexit 3\n", 0o755)
	if got := p.findings(p.Examine(context.Background())); !strings.Contains(got, "the disk is gone") {
		t.Errorf("findings:\n%s", got)
	}
}

func TestTheDoctorFindsPlugins(t *testing.T) {
	p := newPatient(t, "2.1.329")
	p.file(".vscode/extensions/acme.drawbridge-0.1.0/package.json", "{}", 0o600)
	p.file(".local/share/nvim/site/pack/x/start/drawbridge.nvim/plugin/a.lua", "", 0o600)
	e := p.Examine(context.Background())
	if len(e.Plugins) != 2 || e.Plugins[0].Editor != "VS Code" || e.Plugins[1].Editor != "Neovim" {
		t.Errorf("%+v", e.Plugins)
	}
}

func TestTheReportIsJSONAndText(t *testing.T) {
	p := newPatient(t, "2.0.0 (Claude Code)")
	e := p.Examine(context.Background())
	var text, object bytes.Buffer
	if err := e.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteJSON(&object); err != nil || !json.Valid(object.Bytes()) {
		t.Errorf("%v: %s", err, object.Bytes())
	}
	for _, want := range []string{"* 2.0.0", "fully_compatible", "Known defects of Claude Code 2.0.0", "stays in plan mode", "[4711]", "Nothing to do."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
