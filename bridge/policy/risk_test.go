package policy

import (
	"os"
	"strings"
	"testing"
)

func TestRiskOfCommandsAndPathsPeopleMeet(t *testing.T) {
	raw, err := os.ReadFile("testdata/risk.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		f := strings.SplitN(line, " ", 3)
		c := map[string]func() Call{
			"$": func() Call { return bashCall(f[2]) },
			"r": func() Call { return callOf("Read", "file_path", f[2]) },
			"w": func() Call { return callOf("Write", "file_path", f[2], "content", "x") },
			"u": func() Call { return callOf("WebFetch", "url", f[2]) },
			"t": func() Call { return callOf(f[2]) },
		}[f[1]]()
		if v := rulesOf(t, "").Decide(c, tree{}); string(v.Risk) != f[0] {
			t.Errorf("%s is %s, want %s", f[2], v.Risk, f[0])
		}
	}
	if n < 200 {
		t.Errorf("%d rows, want at least 200", n)
	}
}

func TestRiskDoesNotDecide(t *testing.T) {
	if v := rulesOf(t, "+Bash(rm *)").Decide(bashCall("rm -rf node_modules"), tree{}); v.Decision != Allowed || v.Risk != High {
		t.Errorf("%s with risk %s, want a high risk allowed by its rule", v.Decision, v.Risk)
	}
}
