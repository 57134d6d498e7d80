package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var migrations = []string{
	`CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT NOT NULL)`,
	`CREATE TABLE products (id INTEGER PRIMARY KEY, maker_id INTEGER NOT NULL REFERENCES makers (id), name TEXT NOT NULL,
	 milk TEXT NOT NULL, months INTEGER NOT NULL, cents INTEGER NOT NULL, listed_at INTEGER NOT NULL)`,
	`CREATE INDEX products_maker ON products (maker_id)`,
	`CREATE INDEX products_months ON products (months)`,
}

// Migrate makes the tables. The newer schema has an index for the newest products of a milk.
func Migrate(ctx context.Context, db *sqlx.DB, newer bool) error {
	steps := migrations
	if newer {
		steps = append(steps[:len(steps):len(steps)], `CREATE INDEX products_milk_listed ON products (milk, listed_at DESC, id DESC)`)
	}
	for i, m := range steps {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return fmt.Errorf("migration %d: %w", i, err)
		}
	}
	return nil
}

// Seed fills the tables.
func Seed(ctx context.Context, db *sqlx.DB, n int) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for i := range 200 {
		tx.MustExecContext(ctx, `INSERT INTO makers VALUES (?, ?, ?)`, i, fmt.Sprintf("Dairy %d", i), fmt.Sprintf("region-%d", i%17))
	}
	milks := []string{"cow", "goat", "sheep", "buffalo"}
	for i := range n {
		tx.MustExecContext(ctx, `INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)`,
			i, i*31%200, fmt.Sprintf("Cheese no. %d", i), milks[i*7%11%4], i%36, 300+i%2000, 1700000000+i*7919%1000003)
	}
	return tx.Commit()
}
