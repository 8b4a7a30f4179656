package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/settings"
	"drawbridge/bridge/store"

	"github.com/sourcegraph/conc"
)

// Doctor looks at everything that drawbridge depends on, and says what to do about what it finds.
type Doctor struct {
	CLI      *Local
	Version  string // of drawbridge
	CWD      string // the folder whose project files are looked at
	Home     string // the user's
	Settings settings.File
	LogFile  string
	// Sweep ends what killed bridges have left behind (guard.Sweep) and returns the pids.
	Sweep func(context.Context) ([]int, error)
	// SkipLogin leaves out the start of a claude process, which is how the login is found out.
	SkipLogin bool
}

// Examination is what a Doctor has found.
type Examination struct {
	Version    string          `json:"version"` // of drawbridge
	ClaudeCode ClaudeCode      `json:"claude_code"`
	Programs   []Program       `json:"programs"` // every claude there is
	Defects    []KnownDefect   `json:"defects"`
	Account    json.RawMessage `json:"account,omitempty"` // who is logged in and who is billed, as Claude Code says it
	Files      []NamedFile     `json:"files"`
	Ended      []int           `json:"ended,omitempty"` // pids of what killed bridges had left behind
	Plugins    []Plugin        `json:"plugins"`
	Findings   []Finding       `json:"findings"`

	// Unusable is why there is no claude to work with; nil if there is one.
	Unusable *Error `json:"-"`
}

// Program is a claude on this machine.
type Program struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	Level   string `json:"level"`
	Found   string `json:"found"` // where
	Used    bool   `json:"used"`
}

// KnownDefect is a defect of the version in use.
type KnownDefect struct {
	FixedIn string `json:"fixed_in"`
	What    string `json:"what"`
	Does    string `json:"does,omitempty"` // what drawbridge does about it
}

// NamedFile is a file or directory of ours.
type NamedFile struct {
	Name string `json:"name"` // settings, state, log, store
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes; -1: it is not there
}

// Plugin is an editor plugin that was found.
type Plugin struct {
	Editor string `json:"editor"`
	Path   string `json:"path"`
}

// Finding is something to do.
type Finding struct {
	Level   string `json:"level"` // warning, error
	Subject string `json:"subject"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Examine looks at everything. It starts claude to ask for versions and for the login, and ends what killed bridges have left.
func (d *Doctor) Examine(ctx context.Context) Examination {
	e := Examination{Version: d.Version, Programs: []Program{}, Defects: []KnownDefect{}, Files: []NamedFile{}, Plugins: []Plugin{}, Findings: []Finding{}}
	d.claude(ctx, &e)
	d.files(&e)
	d.settings(&e)
	d.leftovers(ctx, &e)
	e.Plugins = append(e.Plugins, plugins(d.Home)...)
	return e
}

func (e *Examination) find(level, subject, message, remedy string) {
	e.Findings = append(e.Findings, Finding{level, subject, message, remedy})
}

// claude looks for the programs, and at the one that is used.
func (d *Doctor) claude(ctx context.Context, e *Examination) {
	found, err := d.CLI.Find(ctx, d.CWD)
	e.ClaudeCode, e.Unusable = found.ClaudeCode, err
	for _, p := range d.CLI.everywhere(d.CWD) {
		p.Used = p.Path == found.Path
		c := found.ClaudeCode
		if !p.Used {
			c = d.CLI.look(ctx, p.Path)
		}
		p.Version, p.Level = c.Version, c.Level
		e.Programs = append(e.Programs, p)
	}
	switch {
	case err != nil:
		e.find("error", "claude", err.Message, err.Remedy)
		return
	case found.Level != string(adapters.Full):
		e.find("warning", "claude", found.Message, found.Remedy)
	}
	for _, defect := range adapters.Defects(found.Version) {
		e.Defects = append(e.Defects, KnownDefect{defect.Fixed.String(), defect.What, defect.Does})
	}
	if !d.SkipLogin {
		d.login(ctx, e, found)
	}
}

// everywhere lists every claude there is, the first one found first.
func (l *Local) everywhere(cwd string) []Program {
	var list []Program
	seen := map[string]bool{}
	add := func(path, found string) {
		if !executable(path) || seen[path] {
			return
		}
		seen[path] = true
		list = append(list, Program{Path: path, Found: found})
	}
	if len(l.Command) > 0 {
		if path, err := program(l.Command[0], cwd); err == nil {
			add(path, "claude.command of the settings")
		}
	}
	add(os.Getenv("CLAUDE_CODE_PATH"), "CLAUDE_CODE_PATH")
	unsafe := func(path, found string) string {
		if within(path, cwd) {
			return found + ", but inside the folder, where anybody may have put it: not used there"
		}
		return found
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ext := range extensions() {
			path := filepath.Join(dir, "claude"+ext)
			add(path, unsafe(path, "PATH"))
		}
	}
	for _, path := range places() {
		add(path, unsafe(path, "where an installer puts it"))
	}
	return list
}

// look finds out about a program that is not the one in use.
func (l *Local) look(ctx context.Context, path string) ClaudeCode {
	argv := []string{path}
	version, ok := l.remembered(argv)
	if !ok {
		var err error
		if version, err = l.ask(ctx, argv); err != nil {
			return ClaudeCode{Path: path, Level: "missing", Message: err.Error()}
		}
		l.remember(argv, version)
	}
	return describe(argv, version)
}

// loginLimit bounds the start of a claude that is asked for the login: it takes up to 3.4 s (2.1.17).
const loginLimit = 20 * time.Second

// login asks a short-lived claude who is logged in. It runs in the state directory, so that no project has a say in it.
func (d *Doctor) login(ctx context.Context, e *Examination, found Found) {
	account, err := d.CLI.account(ctx, found)
	switch {
	case errors.Is(err, errNotTold):
		return
	case err != nil:
		e.find("warning", "login", "Claude Code did not say who is logged in: "+err.Error(), "Run claude in a terminal and follow /login.")
		return
	}
	e.Account = account
	var who struct {
		TokenSource  string `json:"tokenSource"`
		APIKeySource string `json:"apiKeySource"`
		Email        string `json:"email"`
	}
	_ = json.Unmarshal(account, &who)
	if who.Email == "" && (who.TokenSource == "" || who.TokenSource == "none") && (who.APIKeySource == "" || who.APIKeySource == "none") {
		e.find("warning", "login", "Claude Code names no login.", remedies[KindNotAuthenticated])
	}
}

var errNotTold = errors.New("this version does not tell")

// account is what the CLI answers to initialize about who is logged in.
func (l *Local) account(ctx context.Context, found Found) (json.RawMessage, error) {
	adapter := adapters.For(found.Version)()
	if !adapter.Features().Initialize {
		return nil, errNotTold
	}
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	args := adapter.Args(adapters.Options{Restricted: true})
	p, err := l.start(Launch{Argv: append(slices.Clone(found.Argv), args...), Dir: l.StateDir})
	if err != nil {
		return nil, err
	}
	stderr := newTail()
	var group conc.WaitGroup
	group.Go(func() { stderr.read(p.Stderr(), l.Log) })
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	defer stop()
	if _, err := p.Stdin().Write(adapter.AppendControl(nil, "doctor", adapters.Control{Subtype: "initialize"})); err != nil {
		l.Log.Debug("claude takes no input") // its last words say more
	}
	var answer *adapters.Response
	var m adapters.Message
	for lines := bufio.NewReader(p.Stdout()); answer == nil; {
		line, err := lines.ReadBytes('\n')
		adapter.Decode(line, &m)
		if m.Kind == adapters.ControlResponse && m.Response.RequestID == "doctor" {
			answer = m.Response.Clone()
		}
		if err != nil {
			break
		}
	}
	_ = p.Stdin().Close()
	_ = p.Kill()
	_ = p.Wait()
	group.Wait()
	switch {
	case answer == nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case answer == nil:
		return nil, fmt.Errorf("it ended without an answer: %s", lastLine(stderr.String()))
	case answer.Error != "":
		return nil, errors.New(answer.Error)
	}
	var body struct {
		Account json.RawMessage `json:"account"`
	}
	if json.Unmarshal(answer.Body, &body) != nil || len(body.Account) < len(`{}`) || body.Account[0] != '{' {
		return nil, errNotTold
	}
	return body.Account, nil
}

// files looks at what we write.
func (d *Doctor) files(e *Examination) {
	for _, f := range []NamedFile{{Name: "settings", Path: d.Settings.Path}, {Name: "state", Path: d.CLI.StateDir}, {Name: "log", Path: d.LogFile},
		{Name: "store", Path: store.In(d.CLI.StateDir)}} {
		f.Size = -1
		if st, err := os.Stat(f.Path); err == nil {
			f.Size = st.Size()
		}
		e.Files = append(e.Files, f)
	}
	probe, err := os.CreateTemp(d.CLI.StateDir, "doctor-*")
	if err != nil {
		e.find("warning", "state", fmt.Sprintf("The state directory cannot be written to (%v): nothing is remembered and nothing is logged.", err), "Make "+d.CLI.StateDir+" a directory of yours.")
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
}

// settings looks at the settings files that have a say: ours and Claude Code's.
func (d *Doctor) settings(e *Examination) {
	for _, p := range append(d.Settings.Problems, settings.LoadProject(d.CWD).Problems...) {
		e.find("warning", "settings", p.String(), "Correct it; drawbridge config shows what is in force.")
	}
	for _, path := range claudeFiles(d.Home, d.CWD) {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var file struct {
			DisableAllHooks bool `json:"disableAllHooks"`
		}
		var syntax *json.SyntaxError
		switch err := json.Unmarshal(data, &file); {
		case errors.As(err, &syntax):
			line := 1
			for _, b := range data[:min(int(syntax.Offset), len(data))] {
				if b == '\n' {
					line++
				}
			}
			e.find("warning", "settings", fmt.Sprintf("%s:%d: %v", path, line, syntax), "Correct it: Claude Code ignores it as it is.")
		case file.DisableAllHooks:
			e.find("warning", "settings", path+" switches hooks off, so that your deny and ask rules hold only where Claude Code asks.", "Take disableAllHooks out of it.")
		}
	}
}

// claudeFiles are the settings files of Claude Code that are there and are regular files.
func claudeFiles(home, cwd string) []string {
	config := os.Getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(home, ".claude")
	}
	managed := "/etc/claude-code/managed-settings.json"
	switch runtime.GOOS {
	case "darwin":
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		managed = `C:\ProgramData\ClaudeCode\managed-settings.json`
	}
	return slices.DeleteFunc([]string{
		managed,
		filepath.Join(config, "settings.json"),
		filepath.Join(home, ".claude.json"),
		filepath.Join(cwd, ".claude", "settings.json"),
		filepath.Join(cwd, ".claude", "settings.local.json"),
		filepath.Join(cwd, ".mcp.json"),
	}, func(path string) bool {
		st, err := os.Stat(path)
		return err != nil || !st.Mode().IsRegular() || st.Size() > 16<<20
	})
}

// leftovers ends what killed bridges have left behind.
func (d *Doctor) leftovers(ctx context.Context, e *Examination) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ended, err := d.Sweep(ctx)
	if e.Ended = ended; err != nil {
		e.find("warning", "processes", "The processes cannot be looked through: "+err.Error(), "")
	}
}

// plugins finds the editor plugins where their editors keep them.
func plugins(home string) []Plugin {
	var list []Plugin
	for _, place := range []struct{ editor, pattern string }{
		{"VS Code", ".vscode/extensions/*drawbridge*"},
		{"VS Code Insiders", ".vscode-insiders/extensions/*drawbridge*"},
		{"VS Code (remote)", ".vscode-server/extensions/*drawbridge*"},
		{"VSCodium", ".vscode-oss/extensions/*drawbridge*"},
		{"Cursor", ".cursor/extensions/*drawbridge*"},
		{"Neovim", ".local/share/nvim/lazy/*drawbridge*"},
		{"Neovim", ".local/share/nvim/site/pack/*/*/*drawbridge*"},
		{"Neovim", ".local/share/nvim/plugged/*drawbridge*"},
		{"Neovim", ".config/nvim/pack/*/*/*drawbridge*"},
	} {
		found, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(place.pattern)))
		for _, path := range found {
			list = append(list, Plugin{place.editor, path})
		}
	}
	return list
}
