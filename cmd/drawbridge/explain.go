package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"drawbridge/bridge"
	"drawbridge/bridge/policy"
	"drawbridge/bridge/settings"

	"github.com/spf13/cobra"
)

func explainCommand(user *userSettings) *cobra.Command {
	var q question
	var input string
	var asJSON, batch bool
	cmd := &cobra.Command{
		Use:   "explain --tool TOOL --input JSON",
		Short: "Say what would be decided about a tool call, and why",
		Long: "explain says whether a tool call would be allowed, denied or asked about, by which rule of which file. Nothing is run, and\n" +
			"neither the directory nor the files the call names need exist.\n\n" +
			"With --batch each line of the input is a JSON object {\"tool\",\"input\",\"cwd\"?,\"mode\"?}, and each line of the output its answer\n" +
			"or {\"error\"}.",
		Example: "  drawbridge explain --tool Bash --input '{\"command\":\"npm install express\"}'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := newExplainer(user)
			if err != nil {
				return err
			}
			if batch {
				return e.batch(cmd.InOrStdin(), cmd.OutOrStdout(), q)
			}
			q.Input = json.RawMessage(input)
			answer, err := e.explain(q)
			if err != nil {
				return err
			}
			if asJSON {
				return answer.writeJSON(cmd.OutOrStdout())
			}
			return answer.writeText(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&q.Tool, "tool", "", "the `TOOL`'s name, such as Bash or mcp__server__tool")
	cmd.Flags().StringVar(&input, "input", "", "the tool's input, a `JSON` object")
	cmd.Flags().StringVar(&q.CWD, "cwd", "", "the session's `DIR`ectory (default: this one)")
	cmd.Flags().StringVar(&q.Mode, "mode", "", "the permission `MODE` (default: that of the settings)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.Flags().BoolVar(&batch, "batch", false, "read calls as JSON lines")
	return cmd
}

// question is a call to be explained.
type question struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	CWD   string          `json:"cwd"`
	Mode  string          `json:"mode"`
}

// explanation is what would be decided. The fields of the verdict are those of a prompt.
type explanation struct {
	Verdict  policy.Decision `json:"verdict"`
	List     policy.List     `json:"list,omitempty"` // of the rule that decided
	Rule     string          `json:"rule,omitempty"`
	File     string          `json:"file,omitempty"`
	Line     int             `json:"line,omitempty"`
	Reason   policy.Reason   `json:"reason"`
	Parts    []policy.Part   `json:"parts"`
	Risk     policy.Risk     `json:"risk_level"`
	Flags    []string        `json:"flags"`
	Display  string          `json:"display"`
	Title    string          `json:"title"`
	Rules    []string        `json:"rules,omitempty"` // that would allow it
	MustAsk  bool            `json:"must_ask"`        // asked even where Claude Code would not ask by itself
	Problems []string        `json:"problems,omitempty"`

	tool string
}

// explainer answers questions with one reading of the user's settings.
type explainer struct {
	file      settings.File
	set       *settings.Settings
	protected []string
}

func newExplainer(user *userSettings) (*explainer, error) {
	file, set, err := user.resolve()
	if err != nil {
		return nil, err
	}
	e := &explainer{file: file, set: set, protected: []string{filepath.Dir(file.Path)}}
	if state, err := settings.StateDir(); err == nil {
		e.protected = append(e.protected, state)
	}
	return e, nil
}

func (e *explainer) explain(q question) (*explanation, error) {
	if q.Tool == "" {
		return nil, errors.New("the tool is missing: --tool Bash")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(q.Input, &object); err != nil || object == nil {
		return nil, fmt.Errorf("the input is not a JSON object: --input '{\"command\":\"ls\"}'")
	}
	var err error
	if q.CWD == "" {
		q.CWD, err = os.Getwd()
	} else {
		q.CWD, err = filepath.Abs(q.CWD)
	}
	if err != nil {
		return nil, &exitError{exitFailure, err}
	}
	if q.Mode == "" {
		q.Mode = e.set.PermissionMode
	}
	if modes := []string{"default", "acceptEdits", "plan", "bypassPermissions"}; !slices.Contains(modes, q.Mode) {
		return nil, fmt.Errorf("there is no permission mode %q; there are %s", q.Mode, strings.Join(modes, ", "))
	}
	v, problems := bridge.Explain(e.file, e.set, policy.Call{Tool: q.Tool, Input: q.Input, Cwd: q.CWD, Mode: q.Mode}, e.protected)
	x := &explanation{Verdict: v.Decision, Reason: v.Reason, Parts: v.Parts, Risk: v.Risk, Flags: v.Flags, Display: v.Display, Title: v.Title,
		Rules: v.Proposed, MustAsk: v.MustAsk, Problems: problems, tool: q.Tool}
	if v.Rule != nil {
		x.List, x.Rule, x.File, x.Line = v.Rule.List, v.Rule.Rule, v.Rule.File, v.Rule.Line
	}
	if x.Parts == nil {
		x.Parts = []policy.Part{} // a list in every answer
	}
	return x, nil
}

// maxQuestion is how long a line of --batch may be, in bytes.
const maxQuestion = 64 << 20

// batch answers each line before it reads the next, so that another program can ask as it goes.
func (e *explainer) batch(in io.Reader, out io.Writer, rest question) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuestion)
	failed := false
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		q := rest
		answer, err := (*explanation)(nil), json.Unmarshal(lines.Bytes(), &q)
		if err != nil {
			err = errors.New("the line is no JSON object {\"tool\",\"input\"}")
		} else {
			answer, err = e.explain(q)
		}
		if err != nil {
			failed = true
			err = writeLine(out, map[string]string{"error": err.Error()})
		} else {
			err = answer.writeJSON(out)
		}
		if err != nil {
			return &exitError{exitFailure, err}
		}
	}
	if err := lines.Err(); err != nil {
		return &exitError{exitFailure, err}
	}
	if failed {
		return &exitError{exitFailure, errors.New("some lines could not be answered")}
	}
	return nil
}

func (x *explanation) writeJSON(w io.Writer) error { return writeLine(w, x) }

func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeText answers "why am I asked" for people.
func (x *explanation) writeText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, text string) { // text has been made visible
		fmt.Fprintf(table, "%s\t%s\n", name, strings.ReplaceAll(text, "\n", "\n\t"))
	}
	what := x.Display
	if x.tool != "Bash" {
		what = policy.Visible(x.tool) + "  " + what
	}
	row(string(x.Verdict), what)
	row("because", x.Reason.Text)
	if x.Rule != "" {
		place := "a grant of the session"
		if x.File != "" {
			place = x.File
			if x.Line > 0 {
				place += ":" + strconv.Itoa(x.Line)
			}
		}
		row("rule", policy.Visible(fmt.Sprintf("%s %s  (%s)", x.List, x.Rule, place)))
	}
	if len(x.Parts) > 1 || len(x.Parts) == 1 && x.Parts[0].Rule != "" {
		name := "parts"
		for _, p := range x.Parts {
			text := fmt.Sprintf("%-5s  %s", p.Verdict, p.Display)
			if p.Rule != "" {
				text += "  ← " + policy.Visible(p.Rule)
			}
			row(name, text)
			name = ""
		}
	}
	row("risk", string(x.Risk))
	if len(x.Flags) > 0 {
		row("flags", strings.Join(x.Flags, ", "))
	}
	if len(x.Rules) > 0 {
		row("rules", policy.Visible(strings.Join(x.Rules, "\n")))
	}
	if x.Reason.Source == "default" && !x.MustAsk {
		row("note", "you are asked if Claude Code asks; no rule of yours wants what it lets run by itself to be stopped")
	}
	for _, p := range x.Problems {
		row("problem", policy.Visible(p))
	}
	return table.Flush()
}
