// Package store is the database of meters.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

const schema = `
CREATE TABLE meters (
	id int PRIMARY KEY, flat text NOT NULL, credit bigint NOT NULL, tariff int NOT NULL,
	settled_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE entries (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, meter_id int NOT NULL, cents bigint NOT NULL,
	kind text NOT NULL, at timestamptz NOT NULL DEFAULT now());
CREATE INDEX entries_meter ON entries (meter_id, at);`

// Open connects, makes the schema and n meters.
func Open(ctx context.Context, dsn string, n int) (*sqlx.DB, error) {
	db, err := sqlx.ConnectContext(ctx, "pgx", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(48)
	db.SetMaxIdleConns(48)
	db.SetConnMaxLifetime(time.Hour)
	for _, step := range []string{
		schema,
		fmt.Sprintf(`INSERT INTO meters SELECT n, 'flat ' || n, 50000000, 20 + n %% 9 FROM generate_series(1, %d) n`, n),
		fmt.Sprintf(`INSERT INTO entries (meter_id, cents, kind, at)
			SELECT 1 + n %% %d, -(n %% 90), 'use', now() - n * interval '1 second' FROM generate_series(1, 30000) n`, n),
		`ANALYZE`,
	} {
		if _, err := db.ExecContext(ctx, step); err != nil {
			return nil, errors.Join(fmt.Errorf("schema: %w", err), db.Close())
		}
	}
	return db, nil
}

// ErrUnknown is returned for meters that do not exist.
var ErrUnknown = errors.New("no such meter")

// Meter is a meter with its credit in cents.
type Meter struct {
	ID     int    `db:"id" json:"id"`
	Flat   string `db:"flat" json:"flat"`
	Credit int64  `db:"credit" json:"credit"`
	Tariff int    `db:"tariff" json:"tariff"`
}

// Meters reads and books meters.
type Meters struct{ db *sqlx.DB }

// NewMeters makes meters of a database.
func NewMeters(db *sqlx.DB) *Meters { return &Meters{db} }

// Find returns a meter.
func (m *Meters) Find(ctx context.Context, id int) (found Meter, err error) {
	err = m.db.GetContext(ctx, &found, `SELECT id, flat, credit, tariff FROM meters WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrUnknown
	}
	return found, err
}

// Book adds cents, which may be negative, to a meter's credit and notes why.
func (m *Meters) Book(ctx context.Context, id int, cents int64, kind string) (credit int64, err error) {
	tx, err := m.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	_, err = tx.ExecContext(ctx, `INSERT INTO entries (meter_id, cents, kind) VALUES ($1, $2, $3)`, id, cents, kind)
	if err != nil {
		return 0, fmt.Errorf("entry: %w", err)
	}
	err = tx.GetContext(ctx, &credit, `UPDATE meters SET credit = credit + $2 WHERE id = $1 RETURNING credit`, id, cents)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrUnknown
	}
	if err != nil {
		return 0, fmt.Errorf("credit: %w", err)
	}
	return credit, tx.Commit()
}
