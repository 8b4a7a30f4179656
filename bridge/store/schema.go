package store

import (
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// migrations lead from one version of the schema to the next; user_version counts those that were made. A migration that has been
// released is never changed, and one must leave what older drawbridges write working: two versions may have the file open at once.
var migrations = []string{
	// 1: times are Unix milliseconds, day is the user's date when the turn ended.
	`CREATE TABLE sessions (
		id              TEXT PRIMARY KEY,
		claude_id       TEXT NOT NULL DEFAULT '',
		cwd             TEXT NOT NULL DEFAULT '',
		title           TEXT NOT NULL DEFAULT '',
		model           TEXT NOT NULL DEFAULT '',
		permission_mode TEXT NOT NULL DEFAULT '',
		options         TEXT NOT NULL DEFAULT '',
		source          TEXT NOT NULL DEFAULT '',
		created_at      INTEGER NOT NULL,
		updated_at      INTEGER NOT NULL
	);
	CREATE TABLE conversations (
		claude_id  TEXT PRIMARY KEY,
		session_id TEXT NOT NULL DEFAULT '', -- empty: one of the terminal that was given a title here
		title      TEXT NOT NULL DEFAULT '', -- given by the user
		since      INTEGER NOT NULL,
		updated_at INTEGER NOT NULL
	);
	CREATE INDEX conversations_by_session ON conversations (session_id);
	CREATE INDEX conversations_by_time ON conversations (updated_at, claude_id);
	CREATE TABLE turns (
		id              TEXT PRIMARY KEY,
		session_id      TEXT NOT NULL,
		claude_id       TEXT NOT NULL,
		user_message_id TEXT NOT NULL,
		cwd             TEXT NOT NULL,
		model           TEXT NOT NULL,
		origin          TEXT NOT NULL,
		status          TEXT NOT NULL,
		stop_reason     TEXT NOT NULL,
		error_kind      TEXT NOT NULL,
		day             TEXT NOT NULL,
		started_at      INTEGER NOT NULL,
		ended_at        INTEGER NOT NULL,
		input_tokens    INTEGER NOT NULL,
		output_tokens   INTEGER NOT NULL,
		cache_creation_input_tokens INTEGER NOT NULL,
		cache_read_input_tokens     INTEGER NOT NULL,
		cost_usd        REAL NOT NULL,
		duration_ms     INTEGER NOT NULL,
		num_turns       INTEGER NOT NULL
	);
	CREATE INDEX turns_by_time ON turns (ended_at);
	CREATE INDEX turns_by_session ON turns (session_id);
	CREATE INDEX turns_by_conversation ON turns (claude_id);
	CREATE TABLE model_usage (
		turn_id         TEXT NOT NULL,
		model           TEXT NOT NULL,
		input_tokens    INTEGER NOT NULL,
		output_tokens   INTEGER NOT NULL,
		cache_creation_input_tokens INTEGER NOT NULL,
		cache_read_input_tokens     INTEGER NOT NULL,
		cost_usd        REAL NOT NULL,
		PRIMARY KEY (turn_id, model)
	) WITHOUT ROWID;
	CREATE TABLE folders (
		cwd         TEXT PRIMARY KEY,
		tools       TEXT NOT NULL,
		mcp_servers INTEGER NOT NULL,
		updated_at  INTEGER NOT NULL
	);`,
}

// applicationID marks the file as ours (PRAGMA application_id): "drwb".
const applicationID = 0x64727762

// migrate brings the schema up to date. Two bridges that start at once take turns. The file of a newer drawbridge is used as it is.
func migrate(conn *sqlite.Conn) (err error) {
	if done, err := migrated(conn); done || err != nil {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	done, err := migrated(conn) // by another one, while we waited
	if done || err != nil {
		return err
	}
	version, err := count(conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	for v := version; v < int64(len(migrations)); v++ {
		if err := sqlitex.ExecuteScript(conn, migrations[v], nil); err != nil {
			return fmt.Errorf("to version %d: %w", v+1, err)
		}
	}
	return sqlitex.ExecuteScript(conn, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, len(migrations)), nil)
}

// migrated reports whether there is nothing to do. It is an error if the file is somebody else's database.
func migrated(conn *sqlite.Conn) (bool, error) {
	version, err := count(conn, "PRAGMA user_version")
	if err != nil {
		return false, err
	}
	id, err := count(conn, "PRAGMA application_id")
	if err != nil || id == applicationID {
		return version >= int64(len(migrations)), err
	}
	tables, err := count(conn, "SELECT count(*) FROM sqlite_schema")
	if err == nil && (version != 0 || id != 0 || tables != 0) {
		err = errForeign
	}
	return false, err
}

// count runs a query that has one number as its answer.
func count(conn *sqlite.Conn, query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}})
	return n, err
}
