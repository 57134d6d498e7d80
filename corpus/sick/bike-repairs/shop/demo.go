package shop

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Demo fills an empty database with the books of a few years.
func Demo(ctx context.Context, db *sqlx.DB) error {
	for _, statement := range []string{
		`INSERT INTO customers SELECT n, 'Customer ' || n, '+49 30 ' || 100000 + n FROM generate_series(1, 4000) n`,
		`INSERT INTO jobs SELECT n, 1 + n % 4000, 'frame ' || md5(n::text), CASE WHEN n % 50 = 0 THEN 'open' ELSE 'paid' END,
			timestamptz '2024-01-01' + n * interval '40 min' FROM generate_series(1, 20000) n`,
		`INSERT INTO job_lines SELECT n, 1 + n % 20000, (ARRAY['inner tube', 'brake pad', 'chain', 'labour'])[1 + n % 4],
			1 + n % 3, 450 + n % 5000 FROM generate_series(1, 80000) n`,
		`ANALYZE`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
