// Package ledger has accounts in the database.
package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrMember says that there is no such member.
var ErrMember = errors.New("no such member")

// Entry is a line of an account.
type Entry struct {
	ID    int64  `json:"id"`
	Cents int64  `json:"cents"`
	What  string `json:"what"`
}

// Account is an account with its last entries.
type Account struct {
	Member  int     `json:"member"`
	Name    string  `json:"name"`
	Balance int64   `json:"balance"`
	Entries []Entry `json:"entries"`
}

// Ledger has all accounts.
type Ledger struct{ db *pgxpool.Pool }

// New makes a ledger.
func New(db *pgxpool.Pool) *Ledger { return &Ledger{db} }

// Setup makes the tables.
func (l *Ledger) Setup(ctx context.Context, members int) error {
	for _, s := range []string{
		`DROP TABLE IF EXISTS entries, members`,
		`CREATE TABLE members (id int PRIMARY KEY, name text NOT NULL, balance bigint NOT NULL)`,
		`CREATE TABLE entries (id bigserial PRIMARY KEY, member int NOT NULL REFERENCES members, cents bigint NOT NULL, what text NOT NULL)`,
		fmt.Sprintf(`INSERT INTO members SELECT n, 'member ' || n, 1000 FROM generate_series(1, %d) n`, members),
		fmt.Sprintf(`INSERT INTO entries (member, cents, what) SELECT n %% %d + 1, 250, 'fee' FROM generate_series(1, %d) n`, members, 4*members),
		`CREATE INDEX ON entries (member, id DESC)`,
		`ANALYZE members`, `ANALYZE entries`,
	} {
		if _, err := l.db.Exec(ctx, s); err != nil {
			return fmt.Errorf("%.40s: %w", s, err)
		}
	}
	return nil
}

// Account reads an account with two statements in one go.
func (l *Ledger) Account(ctx context.Context, member int) (*Account, error) {
	b := &pgx.Batch{}
	b.Queue(`SELECT name, balance FROM members WHERE id = $1`, member)
	b.Queue(`SELECT id, cents, what FROM entries WHERE member = $1 ORDER BY id DESC LIMIT 10`, member)
	res := l.db.SendBatch(ctx, b)
	defer res.Close()
	a := &Account{Member: member}
	if err := res.QueryRow().Scan(&a.Name, &a.Balance); errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrMember
	} else if err != nil {
		return nil, err
	}
	rows, err := res.Query()
	if err != nil {
		return nil, err
	}
	a.Entries, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Entry])
	return a, err
}

// Pay adds an entry.
func (l *Ledger) Pay(ctx context.Context, member int, cents int64, what string) error {
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE members SET balance = balance + $2 WHERE id = $1`, member, cents)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrMember
		}
		_, err = tx.Exec(ctx, `INSERT INTO entries (member, cents, what) VALUES ($1, $2, $3)`, member, cents, what)
		return err
	})
}
