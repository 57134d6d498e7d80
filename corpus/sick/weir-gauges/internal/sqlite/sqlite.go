// Package sqlite keeps readings in a file.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/weir-gauges/internal/gauges"
)

// Store has the readings.
type Store struct {
	db     *sql.DB
	insert *sql.Stmt
}

// Open makes a store.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := sql.Open("sqlite", "file:"+path+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(4000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // one writer
	s := &Store{db: db}
	if _, err = db.ExecContext(ctx, `CREATE TABLE readings (
		gauge INTEGER NOT NULL, at INTEGER NOT NULL, level REAL NOT NULL, flow REAL NOT NULL, quality TEXT NOT NULL,
		PRIMARY KEY (gauge, at)) WITHOUT ROWID`); err == nil {
		s.insert, err = db.PrepareContext(ctx, `INSERT INTO readings (gauge, at, level, flow, quality) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (gauge, at) DO UPDATE SET level = excluded.level, flow = excluded.flow, quality = excluded.quality`)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

func save(ctx context.Context, insert *sql.Stmt, gauge int, list []gauges.Reading) error {
	for _, r := range list {
		if _, err := insert.ExecContext(ctx, gauge, r.At, r.Level, r.Flow, r.Quality); err != nil {
			return fmt.Errorf("reading of gauge %d at %d: %w", gauge, r.At, err)
		}
	}
	return nil
}

// Save stores the readings of a gauge.
func (s *Store) Save(ctx context.Context, gauge int, list []gauges.Reading) error {
	return save(ctx, s.insert, gauge, list)
}

// Batched is a Store that saves all of a report or nothing.
type Batched struct{ *Store }

// Save stores the readings of a gauge.
func (b Batched) Save(ctx context.Context, gauge int, list []gauges.Reading) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := save(ctx, tx.StmtContext(ctx, b.insert), gauge, list); err != nil {
		return err
	}
	return tx.Commit()
}
