// Package store has the statements.
package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Setup makes the tables.
func Setup(ctx context.Context, db *pgxpool.Pool) error {
	for _, s := range []string{
		`DROP TABLE IF EXISTS movements, crates, counters`,
		`DROP SEQUENCE IF EXISTS crate_serial`,
		`CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL, changed timestamptz NOT NULL DEFAULT now())`,
		`INSERT INTO counters (name, value) VALUES ('crate', 0), ('pallet', 0)`,
		`CREATE SEQUENCE crate_serial CACHE 50`,
		`CREATE TABLE crates (serial bigint PRIMARY KEY, hall int NOT NULL, goods text NOT NULL, kilos float8 NOT NULL, packed timestamptz NOT NULL DEFAULT now())`,
		`CREATE INDEX ON crates (hall, packed)`,
		`CREATE TABLE movements (id bigserial PRIMARY KEY, crate bigint NOT NULL, place text NOT NULL)`,
	} {
		if _, err := db.Exec(ctx, s); err != nil {
			return fmt.Errorf("%.40s: %w", s, err)
		}
	}
	return nil
}

// Counter takes serials from a table of counters.
type Counter struct{}

// Next returns the next serial.
func (Counter) Next(ctx context.Context, tx pgx.Tx) (n int64, err error) {
	err = tx.QueryRow(ctx, `UPDATE counters SET value = value + 1, changed = now() WHERE name = 'crate' RETURNING value`).Scan(&n)
	return n, err
}

// Sequence takes serials from a sequence.
type Sequence struct{}

// Next returns the next serial.
func (Sequence) Next(ctx context.Context, tx pgx.Tx) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT nextval('crate_serial')`).Scan(&n)
	return n, err
}

// AddCrate inserts a crate.
func AddCrate(ctx context.Context, tx pgx.Tx, serial int64, hall int, goods string, kilos float64) error {
	_, err := tx.Exec(ctx, `INSERT INTO crates (serial, hall, goods, kilos) VALUES ($1, $2, $3, $4)`, serial, hall, goods, kilos)
	return err
}

// AddMovement notes where a crate is.
func AddMovement(ctx context.Context, tx pgx.Tx, serial int64, place string) error {
	_, err := tx.Exec(ctx, `INSERT INTO movements (crate, place) VALUES ($1, $2)`, serial, place)
	return err
}

// Load returns how many crates and kilos a hall packed in the last minute.
func Load(ctx context.Context, tx pgx.Tx, hall int) (crates int, kilos float64, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*), coalesce(sum(kilos), 0) FROM (SELECT kilos FROM crates
		WHERE hall = $1 AND packed > now() - interval '1 minute' ORDER BY packed DESC LIMIT 50) c`, hall).Scan(&crates, &kilos)
	return crates, kilos, err
}
