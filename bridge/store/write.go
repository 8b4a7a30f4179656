package store

import (
	"encoding/json"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const (
	saveSession = `INSERT INTO sessions (id, claude_id, cwd, title, model, permission_mode, options, source, created_at, updated_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(nullif(?8, ''), 'drawbridge'), ?9, ?10)
		ON CONFLICT (id) DO UPDATE SET
			claude_id = coalesce(nullif(?2, ''), claude_id), cwd = coalesce(nullif(?3, ''), cwd), title = coalesce(nullif(?4, ''), title),
			model = coalesce(nullif(?5, ''), model), permission_mode = coalesce(nullif(?6, ''), permission_mode),
			options = coalesce(nullif(?7, ''), options), source = coalesce(nullif(?8, ''), source), updated_at = max(updated_at, ?10)`
	saveConversation = `INSERT INTO conversations (claude_id, session_id, since, updated_at) VALUES (?1, ?2, ?3, ?3)
		ON CONFLICT (claude_id) DO UPDATE SET session_id = ?2, updated_at = max(updated_at, ?3)`
	touchConversation = `UPDATE conversations SET updated_at = max(updated_at, ?2) WHERE claude_id = ?1`
	saveTurn          = `INSERT OR REPLACE INTO turns (id, session_id, claude_id, user_message_id, cwd, model, origin, status, stop_reason,
		error_kind, day, started_at, ended_at, input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost_usd,
		duration_ms, num_turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	saveModel = `INSERT OR REPLACE INTO model_usage (turn_id, model, input_tokens, output_tokens, cache_creation_input_tokens,
		cache_read_input_tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?)`
	saveFolder = `INSERT OR REPLACE INTO folders (cwd, tools, mcp_servers, updated_at) VALUES (?, ?, ?, ?)`
	// An editor that is started in a new temporary directory each time does not fill the disk.
	forgetFolders = `DELETE FROM folders WHERE cwd NOT IN (SELECT cwd FROM folders ORDER BY updated_at DESC LIMIT 500)`
	saveName      = `INSERT INTO conversations (claude_id, title, since, updated_at) VALUES (?1, ?2, ?3, ?3)
		ON CONFLICT (claude_id) DO UPDATE SET title = ?2`
	forgetSession = `DELETE FROM sessions WHERE id IN (SELECT session_id FROM conversations WHERE claude_id = ?1)
		AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.session_id = sessions.id AND c.claude_id <> ?1)`
	forgetConversation = `DELETE FROM conversations WHERE claude_id = ?1`
)

// write puts a batch into the database, all of it or nothing.
func (c *connection) write(q *queue) (err error) {
	end, err := sqlitex.ImmediateTransaction(c.Conn)
	if err != nil {
		return err
	}
	defer end(&err)
	for _, id := range q.deleted {
		if err := c.exec(forgetSession, id); err != nil {
			return err
		}
		if err := c.exec(forgetConversation, id); err != nil {
			return err
		}
	}
	for _, id := range q.order {
		if err := c.session(q.sessions[id]); err != nil {
			return err
		}
	}
	for i := range q.turns {
		if err := c.turn(&q.turns[i]); err != nil {
			return err
		}
	}
	for _, n := range q.names {
		if err := c.exec(saveName, n.id, n.title, n.at.UnixMilli()); err != nil {
			return err
		}
	}
	now := time.Now().UnixMilli()
	for _, f := range q.folders {
		tools, _ := json.Marshal(f.Tools)
		if err := c.exec(saveFolder, f.CWD, string(tools), f.MCPServers, now); err != nil {
			return err
		}
	}
	if len(q.folders) > 0 {
		return c.exec(forgetFolders)
	}
	return nil
}

func (c *connection) session(s *Session) error {
	updated := s.Updated.UnixMilli()
	err := c.exec(saveSession, s.ID, s.ClaudeID, s.CWD, s.Title, s.Model, s.PermissionMode, string(s.Options), s.Source,
		s.Created.UnixMilli(), updated)
	for _, id := range append(s.ClaudeIDs, s.ClaudeID) {
		if err == nil && id != "" {
			err = c.exec(saveConversation, id, s.ID, updated)
		}
	}
	return err
}

func (c *connection) turn(t *Turn) error {
	u := t.Usage
	err := c.exec(saveTurn, t.ID, t.SessionID, t.ClaudeID, t.UserMessageID, t.CWD, t.Model, t.Origin, t.Status, t.StopReason, t.ErrorKind,
		t.Ended.Local().Format(time.DateOnly), t.Started.UnixMilli(), t.Ended.UnixMilli(), u.InputTokens, u.OutputTokens,
		u.CacheCreationInputTokens, u.CacheReadInputTokens, t.CostUSD, t.DurationMS, t.NumTurns)
	for _, m := range t.Models {
		if err == nil {
			err = c.exec(saveModel, t.ID, m.Model, m.InputTokens, m.OutputTokens, m.CacheCreationInputTokens, m.CacheReadInputTokens, m.CostUSD)
		}
	}
	if err == nil {
		err = c.exec(touchConversation, t.ClaudeID, t.Ended.UnixMilli())
	}
	return err
}

func (c *connection) exec(query string, args ...any) error {
	return sqlitex.Execute(c.Conn, query, &sqlitex.ExecOptions{Args: args})
}

// rows runs a query and hands over each row.
func (c *connection) rows(query string, row func(*sqlite.Stmt), args ...any) error {
	return sqlitex.Execute(c.Conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		row(stmt)
		return nil
	}})
}
