// Package ballots records the counted ballots of polling stations.
package ballots

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Ballot is one paper as the reader saw it.
type Ballot struct {
	Station   int    `json:"station"`
	Candidate int    `json:"candidate"`
	Reader    string `json:"reader"`
}

// Receipt is the answer to a recorded ballot.
type Receipt struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"`
}

// Recorder records ballots.
type Recorder interface {
	Record(ctx context.Context, b Ballot) (Receipt, error)
}

// Book records each ballot as it comes.
type Book struct{ db *sql.DB }

// NewBook makes the tables in db.
func NewBook(ctx context.Context, db *sql.DB) (*Book, error) {
	for _, q := range []string{
		`CREATE TABLE tallies (station INTEGER, candidate INTEGER, votes INTEGER NOT NULL, PRIMARY KEY (station, candidate))`,
		`CREATE TABLE ballots (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, station INTEGER NOT NULL, candidate INTEGER NOT NULL, reader TEXT NOT NULL, chain TEXT NOT NULL)`,
		`CREATE INDEX ballots_station ON ballots (station, seq)`,
		`CREATE TABLE chains (station INTEGER PRIMARY KEY, seq INTEGER NOT NULL, digest TEXT NOT NULL)`,
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
	}
	return &Book{db}, nil
}

// Record writes the ballot, the tally and the station's chain as one.
func (k *Book) Record(ctx context.Context, b Ballot) (Receipt, error) {
	tx, err := k.db.BeginTx(ctx, nil)
	if err != nil {
		return Receipt{}, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	r, err := record(ctx, tx, b)
	if err != nil {
		return Receipt{}, err
	}
	return r, tx.Commit()
}

func record(ctx context.Context, tx *sql.Tx, b Ballot) (Receipt, error) {
	var digest string
	r := Receipt{ID: uuid.NewString()}
	err := tx.QueryRowContext(ctx, `SELECT seq, digest FROM chains WHERE station = ?`, b.Station).Scan(&r.Seq, &digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("chain: %w", err)
	}
	r.Seq++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%d|%d", digest, r.ID, b.Station, b.Candidate))
	digest = hex.EncodeToString(sum[:])
	if _, err := tx.ExecContext(ctx, `INSERT INTO ballots (id, seq, station, candidate, reader, chain) VALUES (?, ?, ?, ?, ?, ?)`,
		r.ID, r.Seq, b.Station, b.Candidate, b.Reader, digest); err != nil {
		return r, fmt.Errorf("ballot: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO tallies VALUES (?, ?, 1) ON CONFLICT (station, candidate) DO UPDATE SET votes = votes + 1`,
		b.Station, b.Candidate); err != nil {
		return r, fmt.Errorf("tally: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO chains VALUES (?, ?, ?) ON CONFLICT (station) DO UPDATE SET seq = excluded.seq, digest = excluded.digest`,
		b.Station, r.Seq, digest); err != nil {
		return r, fmt.Errorf("chain: %w", err)
	}
	return r, nil
}

// Votes returns the tally of a station.
func (k *Book) Votes(ctx context.Context, station int) (map[int]int, error) {
	rows, err := k.db.QueryContext(ctx, `SELECT candidate, votes FROM tallies WHERE station = ?`, station)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	votes := map[int]int{}
	for rows.Next() {
		var candidate, n int
		if err := rows.Scan(&candidate, &n); err != nil {
			return nil, err
		}
		votes[candidate] = n
	}
	return votes, rows.Err()
}
