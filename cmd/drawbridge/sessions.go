package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"drawbridge/bridge"
	"drawbridge/bridge/policy"
	"drawbridge/bridge/store"

	"github.com/spf13/cobra"
)

func sessionsCommand(_ *userSettings) *cobra.Command {
	var cwd string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the conversations with Claude, of editors and of the terminal",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cwd != "" {
				dir, err := filepath.Abs(cwd)
				if err != nil {
					return err
				}
				cwd = dir
			}
			projects, err := bridge.ProjectsDir()
			if err != nil {
				return &exitError{exitFailure, err}
			}
			return withStore(cmd, func(ctx context.Context, s *store.Store) error {
				library := &bridge.Library{Projects: projects, Store: s}
				list, more, err := library.List(ctx, bridge.ListQuery{CWD: cwd, Limit: limit})
				if err != nil {
					return err
				}
				if asJSON {
					return writeSessionsJSON(cmd.OutOrStdout(), list)
				}
				return writeSessions(cmd.OutOrStdout(), list, more != "")
			})
		},
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "only those of the directory `DIR`")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most `N`, the last used first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

func writeSessions(w io.Writer, list []bridge.Entry, more bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "last used\tturns\tcost\tid\tdirectory\ttitle")
	for _, e := range list {
		turns, cost := "?", "?"
		if e.Turns > 0 {
			turns = fmt.Sprint(e.Turns)
		}
		if e.CostUSD > 0 {
			cost = fmt.Sprintf("$%.2f", e.CostUSD)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Updated.Local().Format("2006-01-02 15:04"), turns, cost, e.ClaudeID,
			policy.Visible(e.CWD), policy.Visible(e.Title))
	}
	if err := table.Flush(); err != nil || !more {
		return err
	}
	_, err := fmt.Fprintln(w, "… and more: see --limit")
	return err
}

func writeSessionsJSON(w io.Writer, list []bridge.Entry) error {
	type row struct { // as in session_list
		SessionID string    `json:"session_id"`
		Title     string    `json:"title"`
		CWD       string    `json:"cwd"`
		Model     string    `json:"model"`
		UpdatedAt time.Time `json:"updated_at"`
		Turns     int       `json:"turns"`
		CostUSD   float64   `json:"cost_usd"`
		Source    string    `json:"source"`
	}
	out := struct {
		Sessions []row `json:"sessions"`
	}{Sessions: []row{}}
	for _, e := range list {
		out.Sessions = append(out.Sessions, row{e.ClaudeID, e.Title, e.CWD, e.Model, e.Updated, e.Turns, e.CostUSD, e.Source})
	}
	return writeJSON(w, out)
}
