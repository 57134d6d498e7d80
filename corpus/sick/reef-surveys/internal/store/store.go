// Package store has the dives in the database.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Dive is a dive at a reef.
type Dive struct {
	ID     int64     `db:"id" json:"id"`
	Reef   int       `db:"reef" json:"-"`
	Diver  string    `db:"diver" json:"diver"`
	At     time.Time `db:"at" json:"at"`
	Depth  float64   `db:"depth" json:"depth"`
	Counts []Count   `db:"-" json:"counts"`
}

// Count is how many of a species were seen.
type Count struct {
	Dive    int64  `db:"dive" json:"-"`
	Species string `db:"species" json:"species"`
	Seen    int    `db:"seen" json:"seen"`
}

var schema = []string{
	`DROP TABLE IF EXISTS counts, dives`,
	`CREATE TABLE dives (id bigint PRIMARY KEY, reef int NOT NULL, diver text NOT NULL, at timestamptz NOT NULL, depth float8 NOT NULL)`,
	`CREATE TABLE counts (dive bigint NOT NULL REFERENCES dives, species text NOT NULL, seen int NOT NULL, PRIMARY KEY (dive, species))`,
	`INSERT INTO dives SELECT n, n % 150, 'diver ' || n % 40, now() - n * interval '1 hour', 4 + n % 22 FROM generate_series(1, 9000) n`,
	`INSERT INTO counts SELECT n % 9000 + 1, 'species ' || n / 9000, n % 31 FROM generate_series(0, 44999) n`,
	`CREATE INDEX ON dives (reef, at DESC)`,
	`ANALYZE dives`, `ANALYZE counts`,
}

// Migrate makes the tables.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	for _, s := range schema {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.30s: %w", s, err)
		}
	}
	return nil
}

// Dives reads dives.
type Dives struct{ DB *sqlx.DB }

// OfReef returns the latest dives at a reef.
func (d Dives) OfReef(ctx context.Context, reef, limit int) ([]Dive, error) {
	var list []Dive
	err := d.DB.SelectContext(ctx, &list, `SELECT id, reef, diver, at, depth FROM dives WHERE reef = $1 ORDER BY at DESC LIMIT $2`,
		reef, limit)
	return list, err
}

// Fill adds the counts to dives.
func (d Dives) Fill(ctx context.Context, list []Dive) error {
	for i := range list {
		if err := d.fill(ctx, &list[i]); err != nil {
			return fmt.Errorf("dive %d: %w", list[i].ID, err)
		}
	}
	return nil
}

func (d Dives) fill(ctx context.Context, dive *Dive) error {
	return d.DB.SelectContext(ctx, &dive.Counts, `SELECT dive, species, seen FROM counts WHERE dive = $1 ORDER BY species`, dive.ID)
}

// Joined is Dives that fills all dives at once.
type Joined struct{ Dives }

// Fill adds the counts to dives.
func (j Joined) Fill(ctx context.Context, list []Dive) error {
	ids := make([]int64, len(list))
	at := make(map[int64]*Dive, len(list))
	for i := range list {
		ids[i] = list[i].ID
		at[list[i].ID] = &list[i]
	}
	var counts []Count
	if err := j.DB.SelectContext(ctx, &counts, `SELECT dive, species, seen FROM counts WHERE dive = ANY($1) ORDER BY dive, species`,
		ids); err != nil {
		return err
	}
	for _, c := range counts {
		at[c.Dive].Counts = append(at[c.Dive].Counts, c)
	}
	return nil
}
