// Package store keeps crates of fruit in PostgreSQL.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNoOrchard says that an orchard has no crates.
var ErrNoOrchard = errors.New("no such orchard")

const schema = `
CREATE TABLE orchard_crates (
  id bigserial PRIMARY KEY, orchard int NOT NULL, tree_row int NOT NULL, grams int NOT NULL,
  picked timestamptz NOT NULL DEFAULT now()
);
INSERT INTO orchard_crates (orchard, tree_row, grams)
  SELECT n % 500, n / 500 % 12, 8000 + n * 7 % 4000 FROM generate_series(0, 29999) n;
CREATE INDEX orchard_crates_row ON orchard_crates (orchard, tree_row) INCLUDE (grams);
ANALYZE orchard_crates;`

// Crate is a crate of fruit from one row of trees.
type Crate struct {
	Orchard int `json:"orchard"`
	Row     int `json:"row"`
	Grams   int `json:"grams"`
}

// Row is what one row of trees gave.
type Row struct {
	Row    int   `json:"row"`
	Crates int   `json:"crates"`
	Grams  int64 `json:"grams"`
}

// Yields is the table of crates.
type Yields struct{ pool *pgxpool.Pool }

// Open connects and makes the table.
func Open(ctx context.Context, url string) (*Yields, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns, cfg.MinConns = 16, 16
	cfg.MaxConnIdleTime = 10 * time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Yields{pool: pool}, nil
}

// Close closes all connections.
func (y *Yields) Close() { y.pool.Close() }

// Season returns what the rows of an orchard gave.
func (y *Yields) Season(ctx context.Context, orchard int) ([]Row, error) {
	rows, err := y.pool.Query(ctx, `SELECT tree_row, count(*)::int, sum(grams) FROM orchard_crates
		WHERE orchard = $1 GROUP BY tree_row ORDER BY tree_row`, orchard)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Row])
	if err == nil && len(list) == 0 {
		err = ErrNoOrchard
	}
	return list, err
}

// Add notes a crate.
func (y *Yields) Add(ctx context.Context, c Crate) error {
	_, err := y.pool.Exec(ctx, `INSERT INTO orchard_crates (orchard, tree_row, grams) VALUES ($1, $2, $3)`,
		c.Orchard, c.Row, c.Grams)
	return err
}
