// Package seats holds seats in PostgreSQL.
package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNoSeat says that the house has no such seat.
var ErrNoSeat = errors.New("no such seat")

// schema has the seat plan that another system of the house serves: the function that reads
// it waits for that system for some milliseconds.
const schema = `
CREATE TABLE opera_holds (night int NOT NULL, seat int NOT NULL, until timestamptz NOT NULL, PRIMARY KEY (night, seat));
CREATE TABLE opera_plan (seat int PRIMARY KEY, row_no int NOT NULL, cents int NOT NULL);
INSERT INTO opera_plan SELECT n, 1 + n / 40, 4000 + n % 90 * 100 FROM generate_series(0, 1999) n;
CREATE FUNCTION opera_remote_price(wanted int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.004);
	RETURN (SELECT cents FROM opera_plan WHERE seat = wanted);
END $$;
ANALYZE opera_plan;`

// Box is the box office.
type Box struct{ pool *pgxpool.Pool }

// Open makes the tables.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Box, error) {
	if _, err := pool.Exec(ctx, schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Box{pool}, nil
}

// Hold puts a seat on hold, or prolongs the hold, and returns its end.
func (b *Box) Hold(ctx context.Context, night, seat int) (time.Time, error) {
	until := time.Now().Add(10 * time.Minute).Truncate(time.Second)
	err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		var cents *int
		if err := tx.QueryRow(ctx, `SELECT opera_remote_price($1)`, seat).Scan(&cents); err != nil {
			return err
		}
		if cents == nil {
			return ErrNoSeat
		}
		_, err := tx.Exec(ctx, `INSERT INTO opera_holds VALUES ($1, $2, $3)
			ON CONFLICT (night, seat) DO UPDATE SET until = excluded.until`, night, seat, until)
		return err
	})
	return until, err
}
