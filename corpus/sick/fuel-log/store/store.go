// Package store keeps fuel receipts of a fleet in SQLite.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Receipt is one filling.
type Receipt struct {
	ID       int64     `json:"id"`
	Vehicle  string    `json:"vehicle"`
	Station  int       `json:"station"`
	Litres   float64   `json:"litres"`
	FilledAt time.Time `json:"filled_at"`
}

// Store is the file of receipts.
type Store struct {
	db  *sql.DB
	dir string
}

var migrations = []string{
	`CREATE TABLE receipts (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		vehicle TEXT NOT NULL,
		station INTEGER NOT NULL,
		litres REAL NOT NULL,
		filled_at INTEGER NOT NULL,
		remark TEXT NOT NULL DEFAULT ''
	)`,
	`CREATE INDEX receipts_station ON receipts (station)`,
}

// Open makes a store with n receipts in a temporary folder.
func Open(ctx context.Context, n int, more ...string) (_ *Store, err error) {
	dir, err := os.MkdirTemp("", "fuel-log-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	db, err := sql.Open("sqlite", filepath.Join(dir, "fuel.db")+
		"?_pragma=journal_mode(WAL)&_pragma=cache_size(-32000)&_pragma=busy_timeout(3000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	s := &Store{db: db, dir: dir}
	for i, m := range append(migrations, more...) {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return nil, fmt.Errorf("migration %d: %w", i, err)
		}
	}
	return s, s.seed(ctx, n)
}

func (s *Store) seed(ctx context.Context, n int) error {
	_, err := s.db.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO receipts (vehicle, station, litres, filled_at, remark)
		SELECT 'V-' || (i % 500), i % 37, 20 + (i % 400) / 10.0, 1700000000 + i * 60, 'pump ' || (i % 8) || ', paid by card, no advance' FROM n`, n)
	return err
}

// Recent returns the latest fillings of a vehicle.
func (s *Store) Recent(ctx context.Context, vehicle string, since time.Time) ([]Receipt, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT id, vehicle, station, litres, filled_at FROM receipts `+
			`WHERE vehicle = ? AND filled_at >= ? ORDER BY filled_at DESC LIMIT 10`,
		vehicle, since.Unix())
	if err != nil {
		return nil, fmt.Errorf("recent receipts: %w", err)
	}
	defer rows.Close()
	list := make([]Receipt, 0, 10)
	for rows.Next() {
		var r Receipt
		var at int64
		if err := rows.Scan(&r.ID, &r.Vehicle, &r.Station, &r.Litres, &at); err != nil {
			return nil, err
		}
		r.FilledAt = time.Unix(at, 0).UTC()
		list = append(list, r)
	}
	return list, rows.Err()
}

// Get returns one receipt.
func (s *Store) Get(ctx context.Context, id int64) (r Receipt, err error) {
	var at int64
	err = s.db.QueryRowContext(ctx, `SELECT id, vehicle, station, litres, filled_at FROM receipts WHERE id = ?`, id).
		Scan(&r.ID, &r.Vehicle, &r.Station, &r.Litres, &at)
	r.FilledAt = time.Unix(at, 0).UTC()
	return r, err
}

// Close closes the file and removes it.
func (s *Store) Close() error { return errors.Join(s.db.Close(), os.RemoveAll(s.dir)) }
