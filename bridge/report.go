package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"drawbridge/bridge/policy"
)

// WriteJSON writes the examination as one JSON object.
func (e *Examination) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(e)
}

// WriteText writes it for people: what there is, and at the end what to do.
func (e *Examination) WriteText(w io.Writer) error {
	var b strings.Builder
	say := func(format string, args ...any) {
		for _, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
			b.WriteString(policy.Visible(line) + "\n")
		}
	}
	say("drawbridge %s", e.Version)

	say("\nClaude Code")
	for _, p := range e.Programs {
		mark := " "
		if p.Used {
			mark = "*"
		}
		version := p.Version
		if version == "" {
			version = "?"
		}
		say("  %s %-10s %-18s %s (%s)", mark, version, p.Level, p.Path, p.Found)
	}
	say("  %s", e.ClaudeCode.Message)
	if e.Account != nil {
		say("\nLogin\n  %s", e.Account)
	}
	if len(e.Defects) > 0 {
		say("\nKnown defects of Claude Code %s, and what drawbridge does about them", e.ClaudeCode.Version)
		for _, d := range e.Defects {
			does := d.Does
			if does == "" {
				does = "Nothing can be done about it here."
			}
			say("  - %s (gone in %s)\n    %s", d.What, d.FixedIn, does)
		}
	}
	say("\nFiles")
	for _, f := range e.Files {
		size := "not there"
		if f.Size >= 0 {
			size = fmt.Sprintf("%d bytes", f.Size)
		}
		say("  %-9s %s (%s)", f.Name, f.Path, size)
	}
	if len(e.Ended) > 0 {
		say("\nEnded what killed bridges had left behind: %v", e.Ended)
	}
	say("\nEditor plugins")
	for _, p := range e.Plugins {
		say("  %-18s %s", p.Editor, p.Path)
	}
	if len(e.Plugins) == 0 {
		say("  none where VS Code and Neovim keep theirs")
	}
	if len(e.Findings) == 0 {
		say("\nNothing to do.")
	} else {
		say("\nTo do")
	}
	for _, f := range e.Findings {
		say("  %s, %s: %s", f.Level, f.Subject, f.Message)
		if f.Remedy != "" {
			say("    %s", f.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
