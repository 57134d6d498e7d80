package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver
)

var migrations = []string{
	`CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
	`CREATE TABLE loans (
		id INTEGER PRIMARY KEY, tool_id INTEGER NOT NULL REFERENCES tools (id),
		card TEXT NOT NULL, due INTEGER NOT NULL, returned INTEGER
	)`,
	`CREATE INDEX loans_tool ON loans (tool_id, due)`,
	`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		INSERT INTO tools SELECT i, 'tool ' || i FROM n`,
	`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
		INSERT INTO loans SELECT i, 1 + i % 400, printf('TL-%05d', i * 37 % 2500), 1790000000 + i * 60,
			CASE WHEN i % 19 = 0 THEN NULL ELSE 1790000000 + i * 50 END FROM n`,
}

// Loan is a tool at a member's home, or one that was.
type Loan struct {
	Tool     string    `json:"tool"`
	Card     string    `json:"card"`
	Due      time.Time `json:"due"`
	Returned bool      `json:"returned"`
}

// Ledger is the book of loans.
type Ledger struct{ db *sql.DB }

// Open makes and fills the ledger in a file.
func Open(file string) (*Ledger, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	steps := migrations
	if os.Getenv("FIXED") != "" {
		steps = append(steps, `CREATE INDEX loans_card ON loans (card) WHERE returned IS NULL`)
	}
	for _, s := range steps {
		if _, err := db.Exec(s); err != nil {
			return nil, fmt.Errorf("%.40s: %w", s, err)
		}
	}
	return &Ledger{db: db}, nil
}

// OpenLoans returns what a member has not brought back.
func (l *Ledger) OpenLoans(ctx context.Context, card string) ([]Loan, error) {
	return l.list(ctx, `SELECT t.name, l.card, l.due, l.returned FROM loans l JOIN tools t ON t.id = l.tool_id
		WHERE l.card = ? AND l.returned IS NULL ORDER BY l.due`, card)
}

// OfTool returns the latest loans of a tool.
func (l *Ledger) OfTool(ctx context.Context, tool string) ([]Loan, error) {
	return l.list(ctx, `SELECT t.name, l.card, l.due, l.returned FROM loans l JOIN tools t ON t.id = l.tool_id
		WHERE t.id = ? ORDER BY l.due DESC LIMIT 20`, tool)
}

func (l *Ledger) list(ctx context.Context, query string, arg any) ([]Loan, error) {
	rows, err := l.db.QueryContext(ctx, query, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []Loan{}
	for rows.Next() {
		var x Loan
		var due int64
		var returned sql.NullInt64
		if err := rows.Scan(&x.Tool, &x.Card, &due, &returned); err != nil {
			return nil, err
		}
		x.Due, x.Returned = time.Unix(due, 0).UTC(), returned.Valid
		list = append(list, x)
	}
	return list, rows.Err()
}
