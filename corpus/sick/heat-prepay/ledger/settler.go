// Package ledger settles what meters have used.
package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"
)

// Settler charges the standing fee of all meters at an interval.
type Settler struct {
	db    *sqlx.DB
	every time.Duration
	log   *zap.Logger
}

// NewSettler makes a settler.
func NewSettler(db *sqlx.DB, every time.Duration, log *zap.Logger) *Settler {
	return &Settler{db, every, log}
}

// Run settles until ctx ends.
func (s *Settler) Run(ctx context.Context) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := s.settle(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("settle", zap.Error(err))
		}
	}
}

type due struct {
	ID     int `db:"id"`
	Tariff int `db:"tariff"`
}

func (s *Settler) settle(ctx context.Context) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var meters []due
	if err := tx.SelectContext(ctx, &meters, `SELECT id, tariff FROM meters ORDER BY id FOR UPDATE`); err != nil {
		return fmt.Errorf("meters: %w", err)
	}
	for _, m := range meters {
		used, err := s.used(ctx, tx, m.ID)
		if err != nil {
			return fmt.Errorf("meter %d: %w", m.ID, err)
		}
		if err := s.charge(ctx, tx, m.ID, fee(used, m.Tariff)); err != nil {
			return fmt.Errorf("meter %d: %w", m.ID, err)
		}
	}
	return tx.Commit()
}

func (s *Settler) used(ctx context.Context, tx *sqlx.Tx, id int) (cents int64, err error) {
	err = tx.GetContext(ctx, &cents, `SELECT coalesce(sum(-cents), 0) FROM entries
		WHERE meter_id = $1 AND kind = 'use' AND at > now() - interval '1 day'`, id)
	return cents, err
}

func (s *Settler) charge(ctx context.Context, tx *sqlx.Tx, id int, cents int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE meters SET credit = credit - $2, settled_at = now() WHERE id = $1`, id, cents)
	return err
}

// fee is the standing fee, which falls for those who use much.
func fee(used int64, tariff int) int64 {
	base := int64(tariff)
	switch {
	case used > 100_000:
		return base / 2
	case used > 20_000:
		return base * 3 / 4
	}
	return base
}
