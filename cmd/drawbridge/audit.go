package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"drawbridge/adapters"
	"drawbridge/bridge"
	"drawbridge/bridge/policy"
	"drawbridge/bridge/settings"

	"github.com/spf13/cobra"
)

func auditCommand() *cobra.Command {
	var since, session string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Print who decided about which tool use",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := parseSince(since, time.Now())
			if err != nil {
				return err
			}
			state, err := settings.StateDir()
			if err != nil {
				return &exitError{exitFailure, err}
			}
			wanted := func(r bridge.AuditRecord) bool {
				return !r.Time.Before(from) && strings.HasPrefix(r.SessionID, session)
			}
			foreign, err := printAudit(cmd.OutOrStdout(), filepath.Join(state, auditFile), asJSON, wanted)
			if err != nil {
				return &exitError{exitFailure, err}
			}
			if foreign > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "drawbridge: %d lines of the audit file are no records; a bridge that was killed can leave one.\n", foreign)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only decisions since `TIME`: a date (2026-03-01), a time (RFC 3339) or how long ago (12h, 7d)")
	cmd.Flags().StringVar(&session, "session", "", "only the session with this `ID`, or what it begins with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines, with everything that was written down")
	return cmd
}

// auditFile is the file in the state directory that decisions are written to.
const auditFile = "audit.jsonl"

func printAudit(w io.Writer, path string, asJSON bool, wanted func(bridge.AuditRecord) bool) (foreign int, err error) {
	if asJSON {
		return bridge.ReadAudit(path, func(r bridge.AuditRecord, line []byte) error {
			if !wanted(r) {
				return nil
			}
			_, err := fmt.Fprintf(w, "%s\n", line)
			return err
		})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "time\tsession\tdecision\tby\topen\ttool\twhat\trule")
	foreign, err = bridge.ReadAudit(path, func(r bridge.AuditRecord, _ []byte) error {
		if wanted(r) {
			fmt.Fprintln(table, auditRow(r))
		}
		return nil
	})
	if ferr := table.Flush(); err == nil {
		err = ferr
	}
	return foreign, err
}

// Column widths, in characters.
const (
	shortID   = 8
	shortWhat = 72
	shortRule = 60
)

func auditRow(r bridge.AuditRecord) string {
	what := adapters.Describe(r.Tool, r.Input, r.CWD).Title
	if r.InputBytes > 0 {
		what = string(r.Input)
	}
	open := "-" // decided at once
	if r.OpenMS > 0 {
		open = (time.Duration(r.OpenMS) * time.Millisecond).Round(100 * time.Millisecond).String()
	}
	rule := r.Rule
	if r.Scope != "" {
		rule = strings.TrimSpace(rule + " (" + r.Scope + ")")
	}
	cells := []string{r.Time.Local().Format(time.DateTime), cell(r.SessionID, shortID, ""), r.Outcome, r.By, open, r.Tool,
		cell(what, shortWhat, "…"), cell(rule, shortRule, "…")}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(policy.Visible(c), "\n", "⏎")
	}
	return strings.TrimRight(strings.Join(cells, "\t"), "\t")
}

// cell is the beginning of s, and what shows that there is more.
func cell(s string, most int, more string) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	if more != "" {
		more += "+" + strconv.Itoa(utf8.RuneCountInString(s)-most)
	}
	return string([]rune(s)[:most]) + more
}
