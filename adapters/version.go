package adapters

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a version of the CLI.
type Version struct {
	Major, Minor, Patch int
	Pre                 string // of a pre-release: the part behind the dash
}

// The whole beginning of the line has to fit: "claude v1.0.22 (anthropic-2024-12-01)" holds a date that looks like a version to a
// pattern that may begin anywhere.
var versionLine = regexp.MustCompile(`(?i)^\s*(?:claude(?:\s+code)?\s+)?v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?\b`)

// ParseVersion reads a version from the first line that `claude --version` prints ("2.1.329 (Claude Code)"), or from the version alone.
func ParseVersion(output string) (v Version, ok bool) {
	line, _, _ := strings.Cut(output, "\n")
	m := versionLine.FindStringSubmatch(line)
	if m == nil {
		return Version{}, false
	}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	v.Patch, _ = strconv.Atoi(m[3])
	v.Pre = m[4]
	return v, true
}

// Compare is negative if v is older than w. A pre-release is older than its release; two of them are ordered as strings, which is
// close enough to tell a range.
func (v Version) Compare(w Version) int {
	if c := cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch)); c != 0 {
		return c
	}
	switch {
	case v.Pre == w.Pre:
		return 0
	case v.Pre == "":
		return 1
	case w.Pre == "":
		return -1
	}
	return cmp.Compare(v.Pre, w.Pre)
}

func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		s += "-" + v.Pre
	}
	return s
}
