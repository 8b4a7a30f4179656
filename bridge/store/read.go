package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// ErrNotFound says that nothing is remembered of a session.
var ErrNotFound = errors.New("the store knows no such session")

// Filter chooses sessions.
type Filter struct {
	CWD    string // of this directory only
	Limit  int    // 0: all
	Cursor string // where the page before ended
	Brief  bool   // without Turns, CostUSD and ClaudeIDs
}

const sessionColumns = `SELECT c.claude_id, c.session_id, coalesce(nullif(c.title, ''), s.title), s.cwd, s.model, s.permission_mode,
	s.options, s.source, s.created_at, c.updated_at FROM conversations c JOIN sessions s ON s.id = c.session_id `

// Sessions lists conversations, the last used first: a session whose conversation was cleared is there once for each. next is where
// the next page begins, empty after the last.
func (s *Store) Sessions(ctx context.Context, f Filter) (list []Session, next string, err error) {
	before, id, err := parseCursor(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := -1
	if f.Limit > 0 {
		limit = f.Limit + 1
	}
	list, err = ask(ctx, s, func(c *connection, found *[]Session) error {
		err := c.rows(sessionColumns+`WHERE (?1 = '' OR s.cwd = ?1) AND (c.updated_at, c.claude_id) < (?2, ?3)
			ORDER BY c.updated_at DESC, c.claude_id DESC LIMIT ?4`,
			func(stmt *sqlite.Stmt) { *found = append(*found, sessionOf(stmt)) }, f.CWD, before, id, limit)
		for i := range *found {
			if err == nil && !f.Brief {
				err = c.complete(&(*found)[i])
			}
		}
		return err
	})
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
		last := list[f.Limit-1]
		next = fmt.Sprintf("%d.%s", last.Updated.UnixMilli(), last.ClaudeID)
	}
	return list, next, err
}

// Session finds a session by its handle, or by an id of Claude's that it has or had.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	found, err := ask(ctx, s, func(c *connection, found *Session) error {
		take := func(stmt *sqlite.Stmt) { *found = sessionOf(stmt) }
		err := c.rows(sessionColumns+`WHERE s.id = ?1 AND c.claude_id = s.claude_id`, take, id)
		if err == nil && found.ID == "" {
			err = c.rows(sessionColumns+`WHERE c.claude_id = ?1`, take, id)
		}
		if err != nil || found.ID == "" {
			return err
		}
		return c.complete(found)
	})
	if err == nil && found.ID == "" {
		err = ErrNotFound
	}
	return found, err
}

// Known finds what is remembered of conversations, by Claude's ids. One that was only given a title has no ID.
func (s *Store) Known(ctx context.Context, claudeIDs []string) (map[string]Session, error) {
	return ask(ctx, s, func(c *connection, known *map[string]Session) error {
		*known = map[string]Session{}
		for _, id := range claudeIDs {
			var found Session
			err := c.rows(`SELECT title, updated_at FROM conversations WHERE claude_id = ?1`, func(stmt *sqlite.Stmt) {
				found = Session{ClaudeID: id, Title: stmt.ColumnText(0), Updated: milli(stmt, 1)}
			}, id)
			if err == nil && found.ClaudeID == "" {
				continue
			}
			if err == nil {
				err = c.rows(sessionColumns+`WHERE c.claude_id = ?1`, func(stmt *sqlite.Stmt) { found = sessionOf(stmt) }, id)
			}
			if err == nil {
				err = c.complete(&found)
			}
			if err != nil {
				return err
			}
			(*known)[id] = found
		}
		return nil
	})
}

func sessionOf(stmt *sqlite.Stmt) Session {
	s := Session{ClaudeID: stmt.ColumnText(0), ID: stmt.ColumnText(1), Title: stmt.ColumnText(2), CWD: stmt.ColumnText(3),
		Model: stmt.ColumnText(4), PermissionMode: stmt.ColumnText(5), Source: stmt.ColumnText(7), Created: milli(stmt, 8), Updated: milli(stmt, 9)}
	if o := stmt.ColumnText(6); json.Valid([]byte(o)) {
		s.Options = json.RawMessage(o)
	}
	return s
}

// complete adds what is counted.
func (c *connection) complete(s *Session) error {
	err := c.rows(`SELECT count(*), total(cost_usd) FROM turns WHERE claude_id = ?1`, func(stmt *sqlite.Stmt) {
		s.Turns, s.CostUSD = stmt.ColumnInt(0), stmt.ColumnFloat(1)
	}, s.ClaudeID)
	if err != nil || s.ID == "" {
		return err
	}
	return c.rows(`SELECT claude_id FROM conversations WHERE session_id = ?1 ORDER BY since, rowid`, func(stmt *sqlite.Stmt) {
		s.ClaudeIDs = append(s.ClaudeIDs, stmt.ColumnText(0))
	}, s.ID)
}

func (c *connection) folder(cwd string) (f Folder, err error) {
	err = c.rows(`SELECT cwd, tools, mcp_servers FROM folders WHERE cwd = ?1`, func(stmt *sqlite.Stmt) {
		f = Folder{CWD: stmt.ColumnText(0), MCPServers: stmt.ColumnInt(2)}
		_ = json.Unmarshal([]byte(stmt.ColumnText(1)), &f.Tools)
	}, cwd)
	return f, err
}

func milli(stmt *sqlite.Stmt, column int) time.Time { return time.UnixMilli(stmt.ColumnInt64(column)) }

// parseCursor reads "<time>.<id>"; without one everything is before it.
func parseCursor(cursor string) (before int64, id string, err error) {
	if cursor == "" {
		return 1<<63 - 1, "", nil
	}
	at, id, ok := strings.Cut(cursor, ".")
	before, err = strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return 0, "", fmt.Errorf("%q is no cursor of a list of sessions", cursor)
	}
	return before, id, nil
}
