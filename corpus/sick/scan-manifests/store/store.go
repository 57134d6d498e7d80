// Package store keeps manifests in PostgreSQL.
package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Scan is one code that was read.
type Scan struct {
	Code     string
	Kind     string
	Position int
}

// Manifest is what went onto a truck.
type Manifest struct {
	ID          uuid.UUID
	Ramp, Truck string
	At          time.Time
	Scans       []Scan
}

// KindOf says what a code is on.
func KindOf(code string) string {
	switch {
	case strings.HasPrefix(code, "00"):
		return "pallet"
	case strings.HasPrefix(code, "01"):
		return "carton"
	}
	return "piece"
}

// Store writes manifests.
type Store struct {
	Pool  *pgxpool.Pool
	Whole bool // write a manifest's scans as a whole
}

// Migrate makes the tables.
func (s *Store) Migrate(ctx context.Context) error {
	_, err := s.Pool.Exec(ctx, `
CREATE TABLE scan_manifests (id uuid PRIMARY KEY, ramp text NOT NULL, truck text NOT NULL, at timestamptz NOT NULL);
CREATE TABLE scan_lines (manifest uuid NOT NULL, position int NOT NULL, code text NOT NULL, kind text NOT NULL);`)
	return err
}

// Save writes a manifest, and returns how many scans it has.
func (s *Store) Save(ctx context.Context, m Manifest) (n int, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO scan_manifests (id, ramp, truck, at) VALUES ($1, $2, $3, $4)`, m.ID, m.Ramp, m.Truck, m.At)
		if err != nil {
			return fmt.Errorf("manifest: %w", err)
		}
		n, err = s.scans(ctx, tx, m)
		return err
	})
	return n, err
}

func (s *Store) scans(ctx context.Context, tx pgx.Tx, m Manifest) (int, error) {
	if s.Whole {
		n, err := tx.CopyFrom(ctx, pgx.Identifier{"scan_lines"}, []string{"manifest", "position", "code", "kind"},
			pgx.CopyFromSlice(len(m.Scans), func(i int) ([]any, error) {
				return []any{m.ID, m.Scans[i].Position, m.Scans[i].Code, m.Scans[i].Kind}, nil
			}))
		return int(n), err
	}
	for i, scan := range m.Scans {
		if err := s.add(ctx, tx, m.ID, scan); err != nil {
			return i, fmt.Errorf("scan %d: %w", i, err)
		}
	}
	return len(m.Scans), nil
}

func (s *Store) add(ctx context.Context, tx pgx.Tx, manifest uuid.UUID, scan Scan) error {
	_, err := tx.Exec(ctx, `INSERT INTO scan_lines (manifest, position, code, kind) VALUES ($1, $2, $3, $4)`,
		manifest, scan.Position, scan.Code, scan.Kind)
	return err
}
