// Package survey keeps surveys.
package survey

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// ErrFull says that too much waits.
var ErrFull = errors.New("too many surveys wait")

// Survey is a look at a tree.
type Survey struct {
	Tree   int     `json:"tree"`
	Girth  float64 `json:"girth"`
	Health int     `json:"health"`
}

// Desk takes surveys, and one goroutine writes them.
type Desk struct {
	db *sql.DB
	in chan Survey
}

// NewDesk makes the table.
func NewDesk(ctx context.Context, db *sql.DB) (*Desk, error) {
	_, err := db.ExecContext(ctx,
		`CREATE TABLE surveys (id INTEGER PRIMARY KEY, tree INTEGER NOT NULL, girth REAL NOT NULL, health INTEGER NOT NULL)`)
	return &Desk{db, make(chan Survey, 4096)}, err
}

// Add takes a survey.
func (d *Desk) Add(s Survey) (int, error) {
	select {
	case d.in <- s:
		return len(d.in), nil
	default:
		return 0, ErrFull
	}
}

// Write writes what waits, four times a second, until ctx ends.
func (d *Desk) Write(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(250 * time.Millisecond)
		if err := d.flush(ctx, len(d.in)); err != nil && ctx.Err() == nil {
			slog.Error("flush", "err", err)
		}
	}
}

func (d *Desk) flush(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	st, err := tx.PrepareContext(ctx, `INSERT INTO surveys (tree, girth, health) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer st.Close()
	for range n {
		s := <-d.in
		if _, err := st.ExecContext(ctx, s.Tree, s.Girth, s.Health); err != nil {
			return err
		}
	}
	return tx.Commit()
}
