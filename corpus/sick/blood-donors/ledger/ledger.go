// Package ledger books donations in SQLite.
package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "modernc.org/sqlite"
)

const schema = `
CREATE TABLE donors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, ml INTEGER NOT NULL, last TEXT NOT NULL);
CREATE TABLE donations (id INTEGER PRIMARY KEY, donor INTEGER NOT NULL, ml INTEGER NOT NULL, place TEXT NOT NULL, letter TEXT NOT NULL);
CREATE INDEX donations_donor ON donations (donor);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000)
INSERT INTO donors SELECT i, 'donor ' || i, 0, '' FROM n;`

// Receipt is what a donor gets.
type Receipt struct {
	Donation int64  `json:"donation"`
	Total    int    `json:"total_ml"`
	Letter   string `json:"letter"`
}

// Donor is what is known of a donor.
type Donor struct {
	Name  string `json:"name"`
	Total int    `json:"total_ml"`
	Last  string `json:"last"`
}

// Ledger is the book of donations.
type Ledger struct {
	read, write *sql.DB
	early       bool // write letters before the transaction
}

// Open makes a ledger in a file.
func Open(path string, early bool) (*Ledger, error) {
	const pragmas = "?_pragma=busy_timeout(8000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"
	read, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", "file:"+path+pragmas+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if early {
		write.SetMaxOpenConns(1)
	}
	write.SetMaxIdleConns(16)
	read.SetMaxIdleConns(16)
	_, err = write.Exec(schema)
	return &Ledger{read, write, early}, err
}

// Donor returns a donor.
func (l *Ledger) Donor(ctx context.Context, id int) (d Donor, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT name, ml, last FROM donors WHERE id = ?`, id).Scan(&d.Name, &d.Total, &d.Last)
	return d, err
}

// Donate books a donation.
func (l *Ledger) Donate(ctx context.Context, donor, ml int, place string) (r Receipt, err error) {
	var d Donor
	if l.early {
		if d, err = l.Donor(ctx, donor); err != nil {
			return r, err
		}
		r.Letter = letter(d.Name, ml, place)
	}
	return r, l.inTx(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE donors SET ml = ml + ?, last = ? WHERE id = ? RETURNING name, ml`,
			ml, time.Now().Format(time.DateOnly), donor).Scan(&d.Name, &r.Total)
		if err != nil {
			return fmt.Errorf("donor %d: %w", donor, err)
		}
		if !l.early {
			r.Letter = letter(d.Name, ml, place)
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO donations (donor, ml, place, letter) VALUES (?, ?, ?, ?)`, donor, ml, place, r.Letter)
		if err != nil {
			return err
		}
		r.Donation, err = res.LastInsertId()
		return err
	})
}

func (l *Ledger) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
