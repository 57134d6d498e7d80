// Package sqlitedb holds the queries of the bookmarks, prepared.
package sqlitedb

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // driver
)

const listBookmarks = `-- name: ListBookmarks :many
SELECT id, owner, url, title, saved_at FROM bookmarks
WHERE owner = ?
ORDER BY saved_at DESC
LIMIT 20
`

const getBookmark = `-- name: GetBookmark :one
SELECT id, owner, url, title, saved_at FROM bookmarks WHERE id = ?
`

const putBookmark = `-- name: PutBookmark :one
INSERT INTO bookmarks (owner, url, title, saved_at) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, url) DO UPDATE SET title = excluded.title, saved_at = excluded.saved_at
RETURNING id
`

// Bookmark is a row of bookmarks.
type Bookmark struct {
	ID      int64  `json:"id"`
	Owner   int64  `json:"owner"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	SavedAt int64  `json:"saved_at"`
}

// PutBookmarkParams are the arguments of PutBookmark.
type PutBookmarkParams struct {
	Owner   int64
	URL     string
	Title   string
	SavedAt int64
}

// Queries is the prepared statements.
type Queries struct {
	read, write *sql.DB
	list        *sql.Stmt
	get         *sql.Stmt
	put         *sql.Stmt
}

// Open makes the file and prepares the statements.
func Open(ctx context.Context, path string) (*Queries, error) {
	dsn := "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(2000)"
	write, err := sql.Open("sqlite", dsn+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	for _, s := range []string{
		`CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, saved_at INTEGER NOT NULL, UNIQUE (owner, url))`,
		`CREATE INDEX bookmarks_latest ON bookmarks (owner, saved_at DESC)`,
		`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
			INSERT INTO bookmarks (owner, url, title, saved_at) SELECT i % 500, 'https://example.org/' || i, 'page ' || i, 1700000000 + i FROM n`,
	} {
		if _, err := write.ExecContext(ctx, s); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	read, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	q := &Queries{read: read, write: write}
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{{&q.list, read, listBookmarks}, {&q.get, read, getBookmark}, {&q.put, write, putBookmark}} {
		if *p.stmt, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	return q, nil
}

// Close closes statements and file.
func (q *Queries) Close() error {
	for _, s := range []*sql.Stmt{q.list, q.get, q.put} {
		_ = s.Close()
	}
	_ = q.read.Close()
	return q.write.Close()
}

// ListBookmarks returns the 20 latest of an owner.
func (q *Queries) ListBookmarks(ctx context.Context, owner int64) ([]Bookmark, error) {
	rows, err := q.list.QueryContext(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []Bookmark
	for rows.Next() {
		var i Bookmark
		if err := rows.Scan(&i.ID, &i.Owner, &i.URL, &i.Title, &i.SavedAt); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	return items, rows.Err()
}

// GetBookmark returns one.
func (q *Queries) GetBookmark(ctx context.Context, id int64) (Bookmark, error) {
	row := q.get.QueryRowContext(ctx, id)
	var i Bookmark
	err := row.Scan(&i.ID, &i.Owner, &i.URL, &i.Title, &i.SavedAt)
	return i, err
}

// PutBookmark stores one and returns its id.
func (q *Queries) PutBookmark(ctx context.Context, arg PutBookmarkParams) (id int64, err error) {
	err = q.put.QueryRowContext(ctx, arg.Owner, arg.URL, arg.Title, arg.SavedAt).Scan(&id)
	return id, err
}
