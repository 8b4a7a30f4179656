package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func flags(t *testing.T, pairs ...string) (values []Value) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		v, err := Flag(pairs[i], pairs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func TestOptionsOverrideFlagsOverrideTheFileOverridesTheDefault(t *testing.T) {
	f := read("{\n\"model\": \"file\",\n\"prewarm\": true, \"idle_stop_s\": 5,\n\"daemon\": {\"max_payload_bytes\": 4096}}")
	options, problems := Options([]byte(`{"model": "option", "idle_stop_s": 7, "trusted": true, "resume": "x", "prewarm": null}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := Resolve(f, flags(t, "model", "flag", "prewarm", "false"), options)
	if s.Model != "option" || s.Prewarm || s.IdleStop != 7*time.Second || s.MaxPayloadBytes != 4096 || s.Log.Level != "info" {
		t.Errorf("got %+v", s)
	}
	for key, want := range map[string]string{
		"model": "initialize options", "prewarm": "flag --prewarm", "idle_stop_s": "initialize options", "log.level": "default",
		"max_payload_bytes": "file " + path + ":4", "daemon.max_payload_bytes": "file " + path + ":4",
	} {
		if got := s.Origin(key); got != want {
			t.Errorf("%s comes from %q, want %q", key, got, want)
		}
	}
}

func TestAFlagIsReadAsItsKeyWants(t *testing.T) {
	s := Resolve(File{}, flags(t, "claude", "/opt/my claude/bin/claude", "model", "5", "max-payload-bytes", "4096", "log-level", "debug"))
	if !slices.Equal(s.Claude.Command, []string{"/opt/my claude/bin/claude"}) || s.Model != "5" || s.MaxPayloadBytes != 4096 || s.Log.Level != "debug" {
		t.Errorf("got %+v", s)
	}
	s = Resolve(File{}, flags(t, "claude", `["ssh", "host", "claude"]`))
	if !slices.Equal(s.Claude.Command, []string{"ssh", "host", "claude"}) {
		t.Errorf("got %q", s.Claude.Command)
	}
	for name, value := range map[string]string{"max-payload-bytes": "many", "log-level": "loud", "claude": "./claude", "log-file": "d.log", "prewarm": "yes", "nonsense": "x", "": "x"} {
		if v, err := Flag(name, value); err == nil {
			t.Errorf("--%s %s is taken for %v", name, value, v)
		}
	}
	_, err := Flag("log-level", "loud")
	if want := `flag --log-level: log.level: expected one of debug, info, warn, error, found the string "loud"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEveryFlagToDefineIsOneThatIsRead(t *testing.T) {
	samples := map[string]string{"claude": "/x", "model": "x", "permission-mode": "plan", "prewarm": "true",
		"max-payload-bytes": "4096", "log-level": "debug", "log-file": "/x"}
	for _, f := range Flags() {
		if _, err := Flag(f.Name, samples[f.Name]); err != nil {
			t.Error(err)
		}
		if f.Usage == "" || f.Boolean != (f.Name == "prewarm") {
			t.Errorf("--%s: %+v", f.Name, f)
		}
	}
	if len(Flags()) != len(samples) {
		t.Errorf("%d flags, want %d", len(Flags()), len(samples))
	}
}

// What only the user may say, an editor cannot say in their place.
func TestOptionsCannotSetWhatIsTheUsersAlone(t *testing.T) {
	values, problems := Options([]byte(`{"allow_bypass_permissions": true, "permissions": {"allow": ["Bash"]}, "claude.command": "/evil",
		"claude": {"command": "/evil"}, "allow_env": ["PATH"], "min_answer_ms": "soon", "permission_mode": "plan"}`))
	if len(values) != 1 || values[0].Key != "permission_mode" {
		t.Errorf("got %v", values)
	}
	if len(problems) != 1 || problems[0].String() != `initialize options: min_answer_ms: expected a whole number of milliseconds from 0 to 10000, found the string "soon"` {
		t.Errorf("problems %v", problems)
	}
	for _, raw := range []string{"", "[]", "null", "[null]", "{}"} {
		if values, problems := Options([]byte(raw)); len(values)+len(problems) > 0 {
			t.Errorf("%q: %v %v", raw, values, problems)
		}
	}
}

func TestTheReportShowsValueAndOriginOfEveryKeyAndNoSecret(t *testing.T) {
	f := read("{\"claude\": {\"env\": {\"TOKEN\": \"s3cret\", \"LANG\": \"C\"},\n\"command\": [\"docker\", \"exec\", \"-e\", \"KEY=s3cret\", \"box\", \"claude\"]}," +
		"\"projects\": {\"/p\": {\"trusted\": true, \"permissions\": {\"deny\": [\"Bash(a > b)\"]}}}, \"modle\": 1}")
	report := NewReport(f, Resolve(f, flags(t, "log-level", "debug")), func(name, value string) string {
		if name == "LANG" {
			return value
		}
		return Hidden
	})
	var text, js bytes.Buffer
	if err := errors.Join(report.WriteText(&text), report.WriteJSON(&js)); err != nil {
		t.Fatal(err)
	}
	const want = `/home/u/.config/drawbridge/settings.json

claude.command                   ["docker","exec","-e","KEY=‹hidden›","box","claude"]  file /home/u/.config/drawbridge/settings.json:2
claude.env                       {"LANG":"C","TOKEN":"‹hidden›"}                   file /home/u/.config/drawbridge/settings.json:1
model                            -                                                 default
permission_mode                  default                                           default
permission_timeout_s             0                                                 default
min_answer_ms                    0                                                 default
idle_stop_s                      1800                                              default
prewarm                          false                                             default
max_payload_bytes                10485760                                          default
log.level                        debug                                             flag --log-level
log.file                         -                                                 default
log.max_bytes                    10485760                                          default
permissions.deny                 []                                                default
permissions.ask                  []                                                default
permissions.allow                []                                                default
allow_bypass_permissions         false                                             default
allow_env                        []                                                default
projects["/p"].trusted           true                                              file /home/u/.config/drawbridge/settings.json:2
projects["/p"].permissions.deny  ["Bash(a > b)"]                                   file /home/u/.config/drawbridge/settings.json:2

/home/u/.config/drawbridge/settings.json:2:150: unknown key "modle"; did you mean "model"?
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
	var back Report
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || len(back.Settings) != len(report.Settings) || len(back.Problems) != 1 {
		t.Errorf("as JSON: %v\n%s", err, &js)
	}
	if all := NewReport(f, Resolve(f), nil); strings.Contains(js.String(), "s3cret") || all.Settings[1].Value.(map[string]string)["LANG"] != Hidden {
		t.Error("a secret is shown")
	}
}

func TestThePathsFollowXDGAndIgnoreARelativeOne(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("the cases are written for slashes")
	}
	for _, c := range []struct {
		goos          string
		env           map[string]string
		config, state string
	}{
		{"linux", nil, "/home/u/.config/drawbridge", "/home/u/.local/state/drawbridge"},
		{"darwin", nil, "/home/u/.config/drawbridge", "/home/u/.local/state/drawbridge"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/drawbridge", "/s/drawbridge"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s"}, "/home/u/.config/drawbridge", "/home/u/.local/state/drawbridge"},
		{"windows", map[string]string{"XDG_CONFIG_HOME": "/c", "AppData": "/r", "LocalAppData": "/l"}, "/r/drawbridge", "/l/drawbridge"},
	} {
		m := machine{c.goos, func(name string) string { return c.env[name] }, func() (string, error) { return "/home/u", nil }}
		config, err := m.configDir()
		state, err2 := m.stateDir()
		if err != nil || err2 != nil || config != c.config || state != c.state {
			t.Errorf("%s %v: config %s (%v), state %s (%v)", c.goos, c.env, config, err, state, err2)
		}
	}
	for _, goos := range []string{"linux", "windows"} {
		m := machine{goos, func(string) string { return "" }, func() (string, error) { return "", errors.New("no home") }}
		if dir, err := m.configDir(); err == nil {
			t.Errorf("%s without a home: %s", goos, dir)
		}
	}
}
