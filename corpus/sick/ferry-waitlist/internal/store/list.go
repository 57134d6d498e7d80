// Package store has the waiting list.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrNobody says that no car fits.
var ErrNobody = errors.New("nobody fits")

// Car waits.
type Car struct {
	Plate  string  `json:"plate"`
	Metres float64 `json:"metres"`
	Since  int64   `json:"since"`
}

// Setup makes and fills the table.
func Setup(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE waiting (sailing INTEGER, since INTEGER, plate TEXT, metres REAL,
		PRIMARY KEY (sailing, since)) WITHOUT ROWID`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for sailing := range 100 {
		for i := range 12 {
			metres := 3.5 + float64(i%5)/2
			if sailing%25 == 7 && i == 4 {
				metres = 2.4 // a motor cycle
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO waiting VALUES (?, ?, ?, ?)`,
				sailing, 1000+i, fmt.Sprintf("AB-%d-%d", sailing, i), metres); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// List is the waiting list.
type List struct {
	waiting *sql.Stmt
	tidy    bool
}

// NewList prepares the statements.
func NewList(ctx context.Context, db *sql.DB, tidy bool) (*List, error) {
	st, err := db.PrepareContext(ctx, `SELECT plate, metres, since FROM waiting WHERE sailing = ? ORDER BY since`)
	if err != nil {
		return nil, err
	}
	return &List{waiting: st, tidy: tidy}, nil
}

// First returns the first car of a sailing that fits into a gap.
func (l *List) First(sailing int, gap float64) (*Car, error) {
	rows, err := l.waiting.Query(sailing)
	if err != nil {
		return nil, err
	}
	if l.tidy {
		defer rows.Close()
	}
	return pick(rows, gap)
}

func pick(rows *sql.Rows, gap float64) (*Car, error) {
	for rows.Next() {
		var c Car
		if err := rows.Scan(&c.Plate, &c.Metres, &c.Since); err != nil {
			return nil, err
		}
		if c.Metres <= gap {
			return &c, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return nil, ErrNobody
}
