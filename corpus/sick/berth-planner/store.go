package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const tables = `
CREATE TABLE harbour_berths (
  id int PRIMARY KEY, quay int NOT NULL, name text NOT NULL, depth_cm int NOT NULL
);
CREATE INDEX ON harbour_berths (quay);
CREATE TABLE harbour_arrivals (
  id bigserial PRIMARY KEY, berth_id int NOT NULL REFERENCES harbour_berths,
  vessel text NOT NULL, draught_cm int NOT NULL, due timestamptz NOT NULL
);
CREATE INDEX ON harbour_arrivals (berth_id, due);
INSERT INTO harbour_berths
  SELECT n, n / 24, 'B' || n, 600 + n % 7 * 100 FROM generate_series(0, 479) n;
INSERT INTO harbour_arrivals (berth_id, vessel, draught_cm, due)
  SELECT n % 480, 'MV ' || n, 300 + n % 500, now() + n * interval '3 minutes' FROM generate_series(1, 24000) n;
ANALYZE harbour_berths, harbour_arrivals;`

type berth struct {
	ID    int       `json:"id"`
	Name  string    `json:"name"`
	Depth int       `json:"depth_cm"`
	Next  []arrival `json:"next"`
}

type arrival struct {
	Berth   int       `json:"-"`
	Vessel  string    `json:"vessel"`
	Draught int       `json:"draught_cm"`
	Due     time.Time `json:"due"`
}

type store struct{ db *pgxpool.Pool }

func install(ctx context.Context, db *pgxpool.Pool) error {
	if _, err := db.Exec(ctx, tables); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}

func (s store) berths(ctx context.Context, quay int) ([]berth, error) {
	rows, err := s.db.Query(ctx, `SELECT id, name, depth_cm FROM harbour_berths WHERE quay = $1 ORDER BY id`, quay)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (b berth, err error) {
		err = row.Scan(&b.ID, &b.Name, &b.Depth)
		return b, err
	})
}

func scanArrival(row pgx.CollectableRow) (a arrival, err error) {
	err = row.Scan(&a.Berth, &a.Vessel, &a.Draught, &a.Due)
	return a, err
}

func (s store) arrivals(ctx context.Context, berth int) ([]arrival, error) {
	rows, err := s.db.Query(ctx, `SELECT berth_id, vessel, draught_cm, due FROM harbour_arrivals
		WHERE berth_id = $1 AND due > now() ORDER BY due LIMIT 2`, berth)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanArrival)
}

func (s store) arrivalsAtQuay(ctx context.Context, berths []int) ([]arrival, error) {
	rows, err := s.db.Query(ctx, `SELECT b.id, a.vessel, a.draught_cm, a.due FROM unnest($1::int[]) AS b (id)
		CROSS JOIN LATERAL (SELECT vessel, draught_cm, due FROM harbour_arrivals
			WHERE berth_id = b.id AND due > now() ORDER BY due LIMIT 2) a`, berths)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanArrival)
}
