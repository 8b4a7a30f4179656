package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"drawbridge/adapters"
	"drawbridge/bridge/policy"
	"drawbridge/bridge/settings"
	"drawbridge/bridge/store"

	"github.com/spf13/cobra"
)

func usageCommand(_ *userSettings) *cobra.Command {
	var by, since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Print what was used, in tokens and dollars",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(store.Groupings(), by) {
				return fmt.Errorf("usage is not summed up by %q; there are %s", by, strings.Join(store.Groupings(), ", "))
			}
			from, err := parseSince(since, time.Now())
			if err != nil {
				return err
			}
			return withStore(cmd, func(ctx context.Context, s *store.Store) error {
				rows, err := s.Usage(ctx, from, by)
				if err != nil {
					return err
				}
				if asJSON {
					return writeUsageJSON(cmd.OutOrStdout(), by, from, rows)
				}
				return writeUsage(cmd.OutOrStdout(), by, rows)
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", "day", "sum up by `day`, session, model or cwd")
	cmd.Flags().StringVar(&since, "since", "", "only turns since `TIME`: a date (2026-03-01), a time (RFC 3339) or how long ago (12h, 7d)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

// withStore opens the store of the state directory for a command that only reads it. Its notices go to stderr.
func withStore(cmd *cobra.Command, use func(context.Context, *store.Store) error) error {
	state, err := settings.StateDir()
	if err != nil {
		return &exitError{exitFailure, err}
	}
	stderr := cmd.ErrOrStderr()
	s := store.Open(store.In(state), nil, func(_, _, message, remedy string) { fmt.Fprintln(stderr, "drawbridge:", message, remedy) })
	defer func() { _ = s.Close(context.WithoutCancel(cmd.Context())) }()
	if err := use(cmd.Context(), s); err != nil {
		return &exitError{exitFailure, err}
	}
	return nil
}

// parseSince reads a point in time as people write one. A date begins at the user's midnight.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-03-01, 2026-03-01T12:00:00Z, 12h or 7d", text)
}

func writeUsage(w io.Writer, by string, rows []store.UsageRow) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "turns\tinput\toutput\tcache write\tcache read\tcost\t  "+by)
	total := store.UsageRow{Key: "total"}
	line := func(r store.UsageRow) {
		name := policy.Visible(r.Key)
		if r.Title != "" {
			name += "  " + policy.Visible(r.Title)
		}
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t$%.4f\t  %s\n", r.Turns, r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CacheCreationInputTokens,
			r.Usage.CacheReadInputTokens, r.CostUSD, name)
	}
	for _, r := range rows {
		line(r)
		add(&total, r)
	}
	if by == "model" {
		total.Turns = 0 // a turn may use several
	}
	line(total)
	return table.Flush()
}

func add(total *store.UsageRow, r store.UsageRow) {
	total.Turns += r.Turns
	total.CostUSD += r.CostUSD
	total.DurationMS += r.DurationMS
	total.Usage.InputTokens += r.Usage.InputTokens
	total.Usage.OutputTokens += r.Usage.OutputTokens
	total.Usage.CacheCreationInputTokens += r.Usage.CacheCreationInputTokens
	total.Usage.CacheReadInputTokens += r.Usage.CacheReadInputTokens
}

func writeUsageJSON(w io.Writer, by string, since time.Time, rows []store.UsageRow) error {
	type row struct {
		Key        string         `json:"key"`
		Title      string         `json:"title,omitempty"`
		Turns      int            `json:"turns"`
		Usage      adapters.Usage `json:"usage"`
		CostUSD    float64        `json:"cost_usd"`
		DurationMS int64          `json:"duration_ms,omitempty"`
	}
	out := struct {
		GroupBy string     `json:"group_by"`
		Since   *time.Time `json:"since,omitempty"`
		Rows    []row      `json:"rows"`
	}{GroupBy: by, Rows: []row{}}
	if !since.IsZero() {
		out.Since = &since
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, row(r))
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
