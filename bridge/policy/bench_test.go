package policy

import (
	"strings"
	"testing"
)

// BenchmarkDecide is what a PreToolUse hook waits for.
func BenchmarkDecide(b *testing.B) {
	rules := rulesOf(b, "R0; "+strings.Repeat("+Bash(make *); -Bash(git push *); -Read(.env); ", 10))
	files := tree{"/w": "/"}
	for name, cmd := range map[string]string{
		"short":   "npm run build && git status",
		"unknown": "python3 x.py --flag",
		"long":    strings.Repeat("npm run build; ", 600),
		"hostile": strings.Repeat("sudo sh -c ", maxScript/12),
	} {
		b.Run(name, func(b *testing.B) {
			c := bashCall(cmd)
			for b.Loop() {
				rules.Decide(c, files)
			}
		})
	}
}
