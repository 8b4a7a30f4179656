package bridge

import (
	"os"
	"path/filepath"

	"drawbridge/bridge/policy"
	"drawbridge/bridge/settings"
)

// Explain says what would be decided about a call in a project, without a session: its tool, input, cwd and mode are given, the rest
// is taken from the system and the settings as a session takes it. protected are our own directories. Nothing need exist. problems
// says what is wrong with the rules, in sentences.
func Explain(file settings.File, set *settings.Settings, c policy.Call, protected []string) (v policy.Verdict, problems []string) {
	project := settings.LoadProject(c.Cwd)
	rules, suspended, wrong := ComposeRules(file, project, realPath(c.Cwd), nil)
	for _, p := range append(append([]settings.Problem{}, file.Problems...), project.Problems...) {
		problems = append(problems, p.String())
	}
	for _, p := range wrong {
		problems = append(problems, p.Text)
	}
	if c.ShellCwd == "" {
		c.ShellCwd = c.Cwd // where the shell of a new session stands
	}
	c.ProjectRoot, c.Shell, c.Windows, c.Protected = c.Cwd, os.Getenv("SHELL"), filepath.Separator == '\\', protected
	c.Home, _ = os.UserHomeDir() // unknown: no rule with ~ covers anything
	c.Remote = len(set.Claude.Command) > 0 && remote(set.Claude.Command)
	v = decide(rules, suspended, c)
	return v, problems
}
