package adapters

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryVersionHasOneOfTheFiveLevels(t *testing.T) {
	for version, want := range map[string]Level{
		"nonsense": NotKnown, "": NotKnown,
		"1.0.10": Incompatible, "1.0.19": Incompatible, "0.2.126": Incompatible,
		"1.0.20": Degraded, "1.0.22": Degraded, "1.0.60": Degraded, "1.0.109": Degraded, "1.0.110": Degraded, "1.0.127": Degraded,
		"1.0.128": Full, "2.0.0": Full, "2.0.77": Full, "2.1.17": Full, "2.1.200": Full, "2.1.329": Full,
		"2.1.330": Likely, "2.9.0": Likely, "10.0.0": Likely, "2.1.329-beta.1": Full,
	} {
		if got := SupportOf(version).Level; got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

func TestADegradedVersionNamesWhatItLacks(t *testing.T) {
	for version, want := range map[string]string{
		"1.0.22":  "permission prompts, streaming, interrupt, changing the permission mode, images, working in a folder, deny and ask",
		"1.0.60":  "streaming, changing the permission mode, images, working in a folder, deny and ask",
		"1.0.90":  "streaming, images, working in a folder, deny and ask",
		"1.0.110": "working in a folder",
	} {
		got := SupportOf(version).Lacks
		for i, what := range strings.Split(want, ", ") {
			if i >= len(got) || !strings.HasPrefix(got[i], what) {
				t.Errorf("%s lacks %q, want %s", version, got, want)
				break
			}
		}
		if n := strings.Count(want, ", ") + 1; len(got) != n {
			t.Errorf("%s lacks %d things, want %d: %q", version, len(got), n, got)
		}
	}
	for _, r := range ranges {
		if gaps := lacks(r.traits().Features); (r.level == Degraded) != (len(gaps) > 0) {
			t.Errorf("%v is %s and lacks %q", r.since, r.level, gaps)
		}
	}
}

func TestTheRangesGoDownWithoutGapToTheOldestVersion(t *testing.T) {
	if !slices.IsSortedFunc(ranges, func(a, b struct {
		since  Version
		traits func() traits
		level  Level
		notes  string
	}) int {
		return b.since.Compare(a.since)
	}) {
		t.Error("the ranges are not in order")
	}
	if last := ranges[len(ranges)-1]; last.since != Oldest {
		t.Errorf("the last range begins at %v, the oldest version is %v", last.since, Oldest)
	}
	for _, r := range ranges {
		if r.notes == "" {
			t.Errorf("%v has no notes", r.since)
		}
	}
}

func TestARejectedFlagTakesItsFeatureAlong(t *testing.T) {
	a := For("2.1.329")()
	a.Args(Options{Without: []string{"--include-partial-messages", "--permission-prompt-tool", "--replay-user-messages"}})
	if f := a.Features(); f.Streaming || f.Prompts || f.Echo {
		t.Errorf("features %+v", f)
	}
	if f := For("2.1.329")().Features(); !f.Streaming || !f.Prompts || !f.Echo {
		t.Error("the next run has lost them, too")
	}
}

func TestFlagsThatKeepAProjectOutAreNeverLeftOut(t *testing.T) {
	for _, name := range []string{"--setting-sources", "--strict-mcp-config", "--permission-mode", "--verbose", "--input-format"} {
		if _, ok := WithoutFlag(name); ok {
			t.Errorf("%s may be left out", name)
		}
	}
	for name := range newest().flags {
		if _, ok := WithoutFlag(name); !ok && name != "--setting-sources" && name != "--strict-mcp-config" {
			t.Errorf("nothing says what is lost without %s", name)
		}
	}
}

func TestTheOldestVersionsGetOneText(t *testing.T) {
	const two = `[{"type":"text","text":"one \"1\""},{"type":"text","text":"two\nlines"}]`
	const image = `[{"type":"text","text":"look"},{"type":"image","source":{}}]`
	for _, c := range []struct{ version, content, wire, refusal string }{
		{"1.0.22", two, `"one \"1\"\n\ntwo\nlines"`, ""},
		{"1.0.109", two, `"one \"1\"\n\ntwo\nlines"`, ""},
		{"1.0.22", `"plain"`, `"plain"`, ""},
		{"1.0.22", `[{"type":"text","text":"alone"}]`, `"alone"`, ""},
		{"1.0.22", image, `"look\n\n[image left out]"`, "image"},
		{"1.0.110", two, two, ""},
		{"1.0.110", image, image, ""},
	} {
		a := For(c.version)()
		if got := string(a.AppendUser(nil, UserMessage{Content: []byte(c.content)})); !strings.Contains(got, `"content":`+c.wire+`}`) {
			t.Errorf("%s: %s became %s", c.version, c.content, got)
		}
		if got := a.Takes([]byte(c.content)); (got == "") != (c.refusal == "") || !strings.Contains(got, c.refusal) {
			t.Errorf("%s takes %s: %q", c.version, c.content, got)
		}
	}
}

// Each of these ends CLIs up to 2.1.17 on the spot: an empty line, a line that is not JSON, one of another type than these.
func TestNothingIsWrittenThatEndsAnOldCLI(t *testing.T) {
	for _, version := range []string{"1.0.22", "1.0.60", "1.0.128", "2.0.0"} {
		a := For(version)()
		odd := "a\nb\r\u2028\x00"
		p := &Permission{RequestID: odd}
		for name, line := range map[string][]byte{
			"user":    a.AppendUser(nil, UserMessage{UUID: odd, Content: []byte("[\n{\"type\":\"text\",\r\n\"text\":\"x\"}]")}),
			"no user": a.AppendUser(nil, UserMessage{Content: []byte("not JSON\n\n")}),
			"control": a.AppendControl(nil, odd, Control{Subtype: "interrupt", Members: []byte("{\"a\":\n1}")}),
			"allow":   a.AppendAllow(nil, p, []byte("{\n}"), ""),
			"deny":    a.AppendDeny(nil, p, odd, true),
			"reply":   a.AppendReply(nil, odd, []byte("\n")),
			"refusal": a.AppendRefusal(nil, odd, odd),
		} {
			if n := strings.Count(string(line), "\n"); n != 1 || !strings.HasSuffix(string(line), "\n") || strings.Contains(string(line), "\r") {
				t.Errorf("%s, %s: %q is not one line", version, name, line)
			}
			if !valid(line) || !slices.Contains([]string{"user", "control_request", "control_response"}, str(member(line, "type"))) {
				t.Errorf("%s, %s: %q", version, name, line)
			}
		}
		if version == "1.0.22" && len(a.Features().Controls) > 0 {
			t.Error("1.0.22 ends at a control request")
		}
	}
}

func TestKnownDefectsAreThoseNotYetFixed(t *testing.T) {
	if n := len(Defects("2.1.329")); n != 0 {
		t.Errorf("2.1.329 has %d", n)
	}
	if Defects("nonsense") != nil {
		t.Error("nonsense has some")
	}
	was := 99
	for _, version := range []string{"2.0.1", "2.1.17", "2.1.112", "2.1.223", "2.1.236"} {
		n := len(Defects(version))
		if n >= was {
			t.Errorf("%s has %d, the version before %d", version, n, was)
		}
		was = n
	}
	for _, d := range Defects("1.0.22") {
		if strings.Contains(d.What, "question that stays unanswered") {
			t.Error("1.0.22 asks no questions")
		}
	}
	for i, d := range defects {
		if i > 0 && d.Fixed.Compare(defects[i-1].Fixed) < 0 {
			t.Errorf("%q is out of order", d.What)
		}
	}
}
