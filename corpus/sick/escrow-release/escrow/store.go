package escrow

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Deposit is money that is held.
type Deposit struct {
	ID    int64
	Cents int64
	Turn  int
}

// Store keeps deposits in PostgreSQL.
type Store struct{ Pool *pgxpool.Pool }

// Unit is a unit of work: all of it is done, or nothing.
type Unit struct{ tx pgx.Tx }

// Migrate makes and fills the tables.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, `
CREATE TABLE escrow_deposits (id bigint PRIMARY KEY, cents bigint NOT NULL, turn int NOT NULL);
CREATE TABLE escrow_payouts (escrow bigint NOT NULL, turn int NOT NULL, cents bigint NOT NULL, reference text NOT NULL,
	PRIMARY KEY (escrow, turn));
INSERT INTO escrow_deposits SELECT n, 100000 + n % 7000, 0 FROM generate_series(1, 20000) n;
ANALYZE escrow_deposits;`)
	return err
}

// Within does f as one unit.
func (s Store) Within(ctx context.Context, f func(Unit) error) error {
	return pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error { return f(Unit{tx}) })
}

// Lock returns a deposit that nobody else changes until the unit ends.
func (u Unit) Lock(ctx context.Context, id int64) (d Deposit, err error) {
	err = u.tx.QueryRow(ctx, `SELECT id, cents, turn FROM escrow_deposits WHERE id = $1 FOR UPDATE`, id).Scan(&d.ID, &d.Cents, &d.Turn)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknown
	}
	return d, err
}

// Pay records a payout.
func (u Unit) Pay(ctx context.Context, p Payout) error {
	if _, err := u.tx.Exec(ctx, `UPDATE escrow_deposits SET turn = $2 WHERE id = $1`, p.Escrow, p.Turn); err != nil {
		return err
	}
	_, err := u.tx.Exec(ctx, `INSERT INTO escrow_payouts VALUES ($1, $2, $3, $4)`, p.Escrow, p.Turn, p.Cents, p.Reference)
	return err
}
