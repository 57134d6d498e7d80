// Package hall packs crates.
package hall

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/crate-serials/internal/store"
)

// Serials gives serials.
type Serials interface {
	Next(ctx context.Context, tx pgx.Tx) (int64, error)
}

// Crate is to be packed.
type Crate struct {
	Goods string  `json:"goods" binding:"required"`
	Kilos float64 `json:"kilos" binding:"gt=0"`
}

// Label is printed on a crate.
type Label struct {
	Serial string `json:"serial"`
	Place  string `json:"place"`
}

// Hall packs crates.
type Hall struct {
	DB      *pgxpool.Pool
	Serials Serials
}

// Pack notes a crate and returns its label.
func (h *Hall) Pack(ctx context.Context, hall int, c Crate) (l Label, err error) {
	err = pgx.BeginFunc(ctx, h.DB, func(tx pgx.Tx) error {
		serial, err := h.Serials.Next(ctx, tx)
		if err != nil {
			return fmt.Errorf("serial: %w", err)
		}
		crates, kilos, err := store.Load(ctx, tx, hall)
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		l = Label{fmt.Sprintf("C%d-%09d", hall, serial), fmt.Sprintf("gate %d", 1+(crates+int(kilos))%6)}
		if err := store.AddCrate(ctx, tx, serial, hall, c.Goods, c.Kilos); err != nil {
			return fmt.Errorf("crate: %w", err)
		}
		return store.AddMovement(ctx, tx, serial, l.Place)
	})
	return l, err
}
