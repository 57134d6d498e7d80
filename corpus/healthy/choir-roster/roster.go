package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/mattn/go-sqlite3" // the driver
)

const schema = `
CREATE TABLE singers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, voice TEXT NOT NULL);
CREATE TABLE promises (
  rehearsal INTEGER NOT NULL, singer INTEGER NOT NULL REFERENCES singers (id), PRIMARY KEY (rehearsal, singer)
) WITHOUT ROWID;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
  INSERT INTO singers SELECT i, 'singer ' || i, substr('SATB', 1 + i % 4, 1) FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7999)
  INSERT INTO promises SELECT i / 40, 1 + i % 40 * 3 FROM n;`

// roster has one connection that writes and a few that read, as WAL allows.
type roster struct {
	write, read  *sql.DB
	byVoice, put *sql.Stmt
}

func open(ctx context.Context, file string) (r *roster, err error) {
	const options = "?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000&_foreign_keys=on"
	r = &roster{}
	if r.write, err = sql.Open("sqlite3", "file:"+file+options); err != nil {
		return nil, err
	}
	r.write.SetMaxOpenConns(1)
	if _, err := r.write.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if r.read, err = sql.Open("sqlite3", "file:"+file+options+"&_query_only=on"); err != nil {
		return nil, err
	}
	r.read.SetMaxOpenConns(8)
	r.read.SetMaxIdleConns(8)
	if r.byVoice, err = r.read.PrepareContext(ctx, `SELECT s.voice, count(*) FROM promises p
		JOIN singers s ON s.id = p.singer WHERE p.rehearsal = ? GROUP BY s.voice`); err != nil {
		return nil, err
	}
	r.put, err = r.write.PrepareContext(ctx, `INSERT INTO promises VALUES (?, ?) ON CONFLICT DO NOTHING`)
	return r, err
}

func (r *roster) close() error { return errors.Join(r.read.Close(), r.write.Close()) }

// voices counts who comes to a rehearsal, by voice.
func (r *roster) voices(ctx context.Context, rehearsal int64) (map[string]int, error) {
	rows, err := r.byVoice.QueryContext(ctx, rehearsal)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	count := make(map[string]int, 4)
	for rows.Next() {
		var voice string
		var n int
		if err := rows.Scan(&voice, &n); err != nil {
			return nil, err
		}
		count[voice] = n
	}
	return count, rows.Err()
}

// promise notes that a singer comes.
func (r *roster) promise(ctx context.Context, rehearsal, singer int64) error {
	_, err := r.put.ExecContext(ctx, rehearsal, singer)
	return err
}
