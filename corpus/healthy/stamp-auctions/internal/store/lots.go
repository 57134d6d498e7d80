// Package store has lots and bids.
package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Bid is a bid.
type Bid struct {
	Bidder string `db:"bidder" json:"bidder"`
	Cents  int64  `db:"cents" json:"cents"`
}

// Lots has the lots.
type Lots struct{ db *sqlx.DB }

// NewLots makes n lots.
func NewLots(ctx context.Context, db *sqlx.DB, n int) (*Lots, error) {
	for _, q := range []string{
		`CREATE TABLE lots (id INTEGER PRIMARY KEY, title TEXT NOT NULL, top INTEGER NOT NULL DEFAULT 0)`,
		`CREATE TABLE bids (id INTEGER PRIMARY KEY, lot INTEGER NOT NULL, bidder TEXT NOT NULL, cents INTEGER NOT NULL)`,
		`CREATE INDEX bids_lot ON bids (lot, cents DESC)`,
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, err
		}
	}
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	for i := range n {
		if _, err := tx.ExecContext(ctx, `INSERT INTO lots (id, title) VALUES (?, ?)`, i, fmt.Sprintf("Lot %d", i)); err != nil {
			return nil, err
		}
	}
	return &Lots{db}, tx.Commit()
}

// Bid places a bid: the lot is read and written in one transaction.
func (l *Lots) Bid(ctx context.Context, lot int, bidder string) (int64, error) {
	tx, err := l.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	var top int64
	if err := tx.GetContext(ctx, &top, `SELECT top FROM lots WHERE id = ?`, lot); err != nil {
		return 0, err
	}
	top += 50
	if _, err := tx.ExecContext(ctx, `UPDATE lots SET top = ? WHERE id = ?`, top, lot); err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO bids (lot, bidder, cents) VALUES (?, ?, ?)`, lot, bidder, top); err != nil {
		return 0, err
	}
	return top, tx.Commit()
}

// Top returns the highest bids of a lot.
func (l *Lots) Top(ctx context.Context, lot int) ([]Bid, error) {
	out := []Bid{}
	err := l.db.SelectContext(ctx, &out, `SELECT bidder, cents FROM bids WHERE lot = ? ORDER BY cents DESC LIMIT 5`, lot)
	return out, err
}
