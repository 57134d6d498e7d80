// Package sqlq is the marina's database.
package sqlq

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Conn is a pool, a connection or a transaction.
type Conn interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

// Migrate makes the schema of an empty database, with 900 berths.
func Migrate(ctx context.Context, c Conn) error {
	for i, step := range []string{
		`CREATE TABLE berths (id int PRIMARY KEY, pier text NOT NULL, metres int NOT NULL, uses int NOT NULL DEFAULT 0)`,
		`CREATE INDEX berths_pier ON berths (pier, metres)`,
		`CREATE TABLE permits (
			id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, berth_id int NOT NULL REFERENCES berths,
			boat text NOT NULL, nights int NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
		`CREATE INDEX permits_boat ON permits (boat)`,
		`INSERT INTO berths (id, pier, metres)
			SELECT n, chr(65 + n % 9), 6 + n % 13 FROM generate_series(1, 900) n`,
		`INSERT INTO permits (berth_id, boat, nights)
			SELECT 1 + n % 900, 'boat ' || n % 3000, 1 + n % 14 FROM generate_series(1, 30000) n`,
		`ANALYZE`,
	} {
		if _, err := c.Exec(ctx, step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// Berth is a row of berths.
type Berth struct {
	ID     int    `json:"id"`
	Pier   string `json:"pier"`
	Metres int    `json:"metres"`
	Uses   int    `json:"uses"`
}

// Permit is a row of permits.
type Permit struct {
	ID      int64  `json:"id"`
	BerthID int    `json:"berth"`
	Boat    string `json:"boat"`
	Nights  int    `json:"nights"`
}

// LockBerth returns a berth that nobody else can change until the transaction ends.
func LockBerth(ctx context.Context, c Conn, id int) (Berth, error) {
	rows, err := c.Query(ctx, `SELECT id, pier, metres, uses FROM berths WHERE id = $1 FOR UPDATE`, id)
	if err != nil {
		return Berth{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Berth])
}

// UseBerth counts a use of a berth.
func UseBerth(ctx context.Context, c Conn, id int) error {
	_, err := c.Exec(ctx, `UPDATE berths SET uses = uses + 1 WHERE id = $1`, id)
	return err
}

// AddPermit adds a permit and returns its id.
func AddPermit(ctx context.Context, c Conn, p Permit) (id int64, err error) {
	err = c.QueryRow(ctx, `INSERT INTO permits (berth_id, boat, nights) VALUES ($1, $2, $3) RETURNING id`,
		p.BerthID, p.Boat, p.Nights).Scan(&id)
	return id, err
}

// PermitsOf returns the permits of a boat, the latest first.
func PermitsOf(ctx context.Context, c Conn, boat string) ([]Permit, error) {
	rows, err := c.Query(ctx, `SELECT id, berth_id, boat, nights FROM permits
		WHERE boat = $1 ORDER BY id DESC LIMIT 12`, boat)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Permit])
}
