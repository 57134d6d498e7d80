// Package db is the dispatch database: its schema, and its queries as values.
package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DBTX is a pool or a transaction.
type DBTX interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

// Queries runs queries on db.
type Queries struct{ db DBTX }

// New makes queries on db.
func New(db DBTX) *Queries { return &Queries{db: db} }

// WithTx is the same queries within a transaction.
func (q *Queries) WithTx(tx pgx.Tx) *Queries { return &Queries{db: tx} }

var migrations = []string{
	`CREATE TABLE depots (id int PRIMARY KEY, name text NOT NULL)`,
	`CREATE TABLE vans (
		id int PRIMARY KEY, depot_id int NOT NULL REFERENCES depots, plate text NOT NULL, kilos int NOT NULL)`,
	`CREATE INDEX vans_depot ON vans (depot_id, kilos)`,
	`CREATE TABLE jobs (
		id int PRIMARY KEY, depot_id int NOT NULL, address text NOT NULL, kilos int NOT NULL)`,
	`CREATE TABLE assignments (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job_id int NOT NULL, van_id int NOT NULL,
		route text NOT NULL, assigned_at timestamptz NOT NULL DEFAULT now())`,
	`CREATE INDEX assignments_job ON assignments (job_id)`,
	`INSERT INTO depots SELECT n, 'depot ' || n FROM generate_series(1, 20) n`,
	`INSERT INTO vans SELECT n, 1 + n % 20, 'DL-' || n, 600 + n % 9 * 150 FROM generate_series(1, 1000) n`,
	`INSERT INTO jobs SELECT n, 1 + n % 20, n || ' Mill Lane', 20 + n % 700 FROM generate_series(1, 20000) n`,
	`ANALYZE`,
}

// Migrate makes the schema of an empty database and fills it.
func Migrate(ctx context.Context, db DBTX) error {
	for i, m := range migrations {
		if _, err := db.Exec(ctx, m); err != nil {
			return fmt.Errorf("migration %d: %w", i+1, err)
		}
	}
	return nil
}
