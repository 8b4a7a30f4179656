package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImportsRunOneWay holds the code to its layout: cmd → rpc → bridge → adapters, and each library where it belongs.
func TestImportsRunOneWay(t *testing.T) {
	rules := []struct{ pkg, mustNot string }{
		{"drawbridge/adapters", "drawbridge/bridge"},
		{"drawbridge/adapters", "drawbridge/rpc"},
		{"drawbridge/adapters", "go.uber.org/zap"},
		{"drawbridge/bridge", "drawbridge/rpc"},
		{"drawbridge/bridge", "go.lsp.dev/jsonrpc2"},
		{"drawbridge/bridge", "go.lsp.dev/protocol"},
		{"drawbridge/rpc", "drawbridge/rpc/editor"},
		{"drawbridge/bridge/policy", "os/exec"},
		{"drawbridge/bridge/guard", "drawbridge/bridge"},
		{"drawbridge/cmd/drawbridge", "drawbridge/adapters/fakeapi"},
	}
	deps := map[string][]string{}
	for _, r := range rules {
		if deps[r.pkg] == nil {
			out, err := exec.Command("go", "list", "-deps", r.pkg).Output()
			if err != nil {
				t.Fatalf("go list %s: %v", r.pkg, err)
			}
			deps[r.pkg] = strings.Fields(string(out))
		}
		if slices.Contains(deps[r.pkg], r.mustNot) {
			t.Errorf("%s depends on %s", r.pkg, r.mustNot)
		}
	}
	for _, d := range deps["drawbridge/adapters"] {
		if strings.Contains(d, ".") && !strings.HasPrefix(d, "vendor/") {
			t.Errorf("drawbridge/adapters depends on %s: it is standard library only", d)
		}
	}
}

// TestTheScreenshotInTheReadmeIsAScreenOfTheTests: what the README shows is what the plugin's tests see.
func TestTheScreenshotInTheReadmeIsAScreenOfTheTests(t *testing.T) {
	golden, err := os.ReadFile("../../editors/nvim/test/screens/golden/edit-prompt.txt")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var shot strings.Builder
	for _, line := range strings.Split(string(golden), "\n")[:18] {
		shot.WriteString("    " + strings.TrimRight(line, " ") + "\n")
	}
	if !strings.Contains(string(readme), shot.String()) {
		t.Errorf("the README does not show\n%s", shot.String())
	}
}
