// Package sheets reads the sheets of a herbarium.
package sheets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNone is returned for a sheet that is not in the cabinet.
var ErrNone = errors.New("sheets: no such sheet")

// Sheet is a pressed plant.
type Sheet struct {
	ID        int64     `json:"id"`
	Genus     string    `json:"genus"`
	Species   string    `json:"species"`
	Collector string    `json:"collector"`
	FoundOn   time.Time `json:"found_on"`
	Labels    []Label   `json:"labels"`
}

// Label is what a botanist has written on a sheet.
type Label struct {
	Wrote   string `json:"wrote"`
	Wording string `json:"wording"`
}

// Cabinet is where sheets lie.
type Cabinet struct{ pool *pgxpool.Pool }

// NewCabinet reads sheets from pool.
func NewCabinet(pool *pgxpool.Pool) *Cabinet { return &Cabinet{pool} }

func scan(row pgx.CollectableRow) (Sheet, error) {
	var s Sheet
	err := row.Scan(&s.ID, &s.Genus, &s.Species, &s.Collector, &s.FoundOn)
	return s, err
}

// Sheet reads one sheet with its labels, both in one round trip.
func (c *Cabinet) Sheet(ctx context.Context, id int64) (Sheet, error) {
	var found Sheet
	var b pgx.Batch
	plant := b.Queue(`SELECT id, genus, species, collector, found_on FROM sheets WHERE id = $1`, id)
	plant.Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectExactlyOneRow(rows, scan)
		return err
	})
	labels := b.Queue(`SELECT wrote, wording FROM labels WHERE sheet_id = $1 ORDER BY id`, id)
	labels.Query(func(rows pgx.Rows) (err error) {
		found.Labels, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Label])
		return err
	})
	err := c.pool.SendBatch(ctx, &b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return Sheet{}, ErrNone
	}
	if err != nil {
		return Sheet{}, fmt.Errorf("sheet %d: %w", id, err)
	}
	return found, nil
}

// Taxon reads the first sheets of a species, and the labels of all of them at once.
func (c *Cabinet) Taxon(ctx context.Context, genus, species string, limit int) ([]Sheet, error) {
	rows, err := c.pool.Query(ctx, `SELECT id, genus, species, collector, found_on FROM sheets
		WHERE lower(genus) = $1 AND lower(species) = $2 ORDER BY id LIMIT $3`,
		strings.ToLower(genus), strings.ToLower(species), limit)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", genus, species, err)
	}
	at := make(map[int64]int, len(list))
	ids := make([]int64, len(list))
	for i, s := range list {
		at[s.ID], ids[i] = i, s.ID
	}
	rows, err = c.pool.Query(ctx, `SELECT sheet_id, wrote, wording FROM labels
		WHERE sheet_id = ANY($1) ORDER BY sheet_id, id`, ids)
	if err != nil {
		return nil, err
	}
	var id int64
	var l Label
	_, err = pgx.ForEachRow(rows, []any{&id, &l.Wrote, &l.Wording}, func() error {
		s := &list[at[id]]
		s.Labels = append(s.Labels, l)
		return nil
	})
	return list, err
}
