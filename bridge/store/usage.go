package store

import (
	"context"
	"fmt"
	"time"

	"drawbridge/adapters"

	"zombiezen.com/go/sqlite"
)

// UsageRow is what was used of one day, session, model or directory.
type UsageRow struct {
	Key        string // the day (2026-03-01), the session's handle, the model or the directory; empty for the sum of all
	Title      string // of a session
	Turns      int
	Usage      adapters.Usage
	CostUSD    float64
	DurationMS int64 // 0 by model
}

const tokenSums = `total(input_tokens), total(output_tokens), total(cache_creation_input_tokens), total(cache_read_input_tokens), total(cost_usd)`

// usageQueries group turns by what the user may ask for. ?1 is the time since when, in Unix milliseconds.
var usageQueries = map[string]string{
	"":    `SELECT '', '', count(*), ` + tokenSums + `, total(duration_ms) FROM turns WHERE ended_at >= ?1 HAVING count(*) > 0`,
	"day": `SELECT day, '', count(*), ` + tokenSums + `, total(duration_ms) FROM turns WHERE ended_at >= ?1 GROUP BY day ORDER BY day DESC`,
	"session": `SELECT session_id, coalesce((SELECT coalesce(nullif(c.title, ''), s.title) FROM sessions s
			LEFT JOIN conversations c ON c.claude_id = s.claude_id WHERE s.id = turns.session_id), ''),
		count(*), ` + tokenSums + `, total(duration_ms) FROM turns WHERE ended_at >= ?1 GROUP BY session_id ORDER BY max(ended_at) DESC`,
	"cwd": `SELECT cwd, '', count(*), ` + tokenSums + `, total(duration_ms) FROM turns WHERE ended_at >= ?1 GROUP BY cwd ORDER BY total(cost_usd) DESC, cwd`,
	"model": `SELECT m.model, '', count(*), total(m.input_tokens), total(m.output_tokens), total(m.cache_creation_input_tokens),
		total(m.cache_read_input_tokens), total(m.cost_usd), 0 FROM model_usage m JOIN turns t ON t.id = m.turn_id
		WHERE t.ended_at >= ?1 GROUP BY m.model ORDER BY total(m.cost_usd) DESC, m.model`,
}

// Groupings are what Usage can group by, beside "" for one sum of all.
func Groupings() []string { return []string{"day", "session", "model", "cwd"} }

// Usage sums up what turns have used that ended since a time (zero: all). Days come newest first, sessions the last used first, the
// rest by cost.
func (s *Store) Usage(ctx context.Context, since time.Time, groupBy string) ([]UsageRow, error) {
	query, ok := usageQueries[groupBy]
	if !ok {
		return nil, fmt.Errorf("usage is not summed up by %q", groupBy)
	}
	var after int64
	if !since.IsZero() {
		after = since.UnixMilli()
	}
	return ask(ctx, s, func(c *connection, list *[]UsageRow) error {
		return c.rows(query, func(stmt *sqlite.Stmt) {
			n := func(column int) int64 { return int64(stmt.ColumnFloat(column)) }
			*list = append(*list, UsageRow{Key: stmt.ColumnText(0), Title: stmt.ColumnText(1), Turns: stmt.ColumnInt(2),
				Usage:   adapters.Usage{InputTokens: n(3), OutputTokens: n(4), CacheCreationInputTokens: n(5), CacheReadInputTokens: n(6)},
				CostUSD: stmt.ColumnFloat(7), DurationMS: n(8)})
		}, after)
	})
}
