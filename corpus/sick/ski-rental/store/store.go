// Package store keeps rentals in SQLite.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // the driver
)

// ErrNoStock says that all pairs of a model are out.
var ErrNoStock = errors.New("no pair left")

const schema = `
CREATE TABLE models (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, day_cents INTEGER NOT NULL, pairs INTEGER NOT NULL
);
CREATE TABLE rentals (
  id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL REFERENCES models (id), guest TEXT NOT NULL,
  days INTEGER NOT NULL, cents INTEGER NOT NULL, receipt BLOB NOT NULL, seal TEXT NOT NULL, made_at INTEGER NOT NULL
);
CREATE INDEX rentals_model ON rentals (model_id);`

// Model is a kind of ski.
type Model struct {
	ID    int64  `db:"id" json:"id"`
	Name  string `db:"name" json:"name"`
	Cents int64  `db:"day_cents" json:"day_cents"`
	Pairs int64  `db:"pairs" json:"pairs"`
}

// Rental is a pair that a guest took.
type Rental struct {
	ModelID int64     `db:"model_id" json:"model_id"`
	Guest   string    `db:"guest" json:"guest"`
	Days    int       `db:"days" json:"days"`
	Cents   int64     `db:"cents" json:"cents"`
	Receipt []byte    `db:"receipt" json:"-"`
	Seal    string    `db:"seal" json:"seal"`
	MadeAt  time.Time `db:"-" json:"-"`
}

// Render makes the receipt of a rental and its seal.
type Render func(m Model, r Rental) (body []byte, seal string, err error)

// Store is the shop's data.
type Store struct {
	db     *sqlx.DB
	render Render
	ahead  bool
}

// Open opens file. With ahead, receipts are rendered before a transaction begins.
func Open(ctx context.Context, file string, render Render, ahead bool) (*Store, error) {
	db, err := sqlx.ConnectContext(ctx, "sqlite3", "file:"+file+
		"?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=10000&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for i := 1; i <= 40; i++ {
		_, err := db.ExecContext(ctx, "INSERT INTO models VALUES (?, ?, ?, ?)", i, fmt.Sprintf("Model %d", i), 1500+i*40, 1_000_000)
		if err != nil {
			return nil, fmt.Errorf("models: %w", err)
		}
	}
	return &Store{db: db, render: render, ahead: ahead}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Models lists what the shop has.
func (s *Store) Models(ctx context.Context) ([]Model, error) {
	var list []Model
	err := s.db.SelectContext(ctx, &list, "SELECT id, name, day_cents, pairs FROM models ORDER BY id")
	return list, err
}

func (s *Store) complete(m Model, r *Rental) (err error) {
	r.Cents = m.Cents * int64(r.Days)
	if r.Days > 6 {
		r.Cents = r.Cents * 85 / 100
	}
	r.Receipt, r.Seal, err = s.render(m, *r)
	return err
}

// Rent takes a pair for a guest.
func (s *Store) Rent(ctx context.Context, r Rental) (Rental, error) {
	const find = "SELECT id, name, day_cents, pairs FROM models WHERE id = ?"
	if s.ahead {
		var m Model
		if err := s.db.GetContext(ctx, &m, find, r.ModelID); err != nil {
			return r, err
		}
		if err := s.complete(m, &r); err != nil {
			return r, err
		}
	}
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return r, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var m Model
	if err := tx.GetContext(ctx, &m, find, r.ModelID); err != nil {
		return r, err
	}
	if m.Pairs == 0 {
		return r, ErrNoStock
	}
	if !s.ahead {
		if err := s.complete(m, &r); err != nil {
			return r, err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE models SET pairs = pairs - 1 WHERE id = ?", m.ID); err != nil {
		return r, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO rentals (model_id, guest, days, cents, receipt, seal, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.ModelID, r.Guest, r.Days, r.Cents, r.Receipt, r.Seal, r.MadeAt.Unix())
	if err != nil {
		return r, err
	}
	return r, tx.Commit()
}

// IsMissing reports whether err says that a row is not there.
func IsMissing(err error) bool { return errors.Is(err, sql.ErrNoRows) }
