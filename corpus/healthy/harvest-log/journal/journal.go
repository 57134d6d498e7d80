// Package journal keeps what was picked, in SQLite.
package journal

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const schema = `
CREATE TABLE fields (id INTEGER PRIMARY KEY, name TEXT NOT NULL, crop TEXT NOT NULL);
CREATE TABLE crates (id INTEGER PRIMARY KEY, field_id INTEGER NOT NULL, picker TEXT NOT NULL, grams INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE INDEX crates_field ON crates (field_id, at DESC);
CREATE TABLE totals (field_id INTEGER PRIMARY KEY, crates INTEGER NOT NULL, grams INTEGER NOT NULL) WITHOUT ROWID;
`

// Field is a field with what was picked there.
type Field struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Crop   string  `json:"crop"`
	Crates int64   `json:"crates"`
	Grams  int64   `json:"grams"`
	Last   []Crate `json:"last"`
}

// Crate is a full crate.
type Crate struct {
	Picker string `json:"picker"`
	Grams  int64  `json:"grams"`
	At     int64  `json:"at"`
}

// Journal is one connection to one file: SQLite has one writer anyway.
type Journal struct {
	db                       *sql.DB
	field, last, total       *sql.Stmt
	addCrate, addTotal, know *sql.Stmt
}

// Open opens file.
func Open(ctx context.Context, file string) (*Journal, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	j := &Journal{db: db}
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&j.field, "SELECT name, crop FROM fields WHERE id = ?"},
		{&j.last, "SELECT picker, grams, at FROM crates WHERE field_id = ? ORDER BY at DESC LIMIT 5"},
		{&j.total, "SELECT crates, grams FROM totals WHERE field_id = ?"},
		{&j.addCrate, "INSERT INTO crates (field_id, picker, grams, at) VALUES (?, ?, ?, ?)"},
		{&j.addTotal, "INSERT INTO totals VALUES (?, 1, ?) ON CONFLICT DO UPDATE SET crates = crates + 1, grams = grams + excluded.grams"},
		{&j.know, "INSERT INTO fields VALUES (?, ?, ?)"},
	} {
		if *s.to, err = db.PrepareContext(ctx, s.text); err != nil {
			return nil, fmt.Errorf("%s: %w", s.text, err)
		}
	}
	return j, nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.db.Close() }

// Field reads a field. It is sql.ErrNoRows if there is none.
func (j *Journal) Field(ctx context.Context, id int64) (Field, error) {
	f := Field{ID: id, Last: []Crate{}}
	if err := j.field.QueryRowContext(ctx, id).Scan(&f.Name, &f.Crop); err != nil {
		return f, err
	}
	if err := j.total.QueryRowContext(ctx, id).Scan(&f.Crates, &f.Grams); err != nil && err != sql.ErrNoRows {
		return f, err
	}
	rows, err := j.last.QueryContext(ctx, id)
	if err != nil {
		return f, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Crate
		if err := rows.Scan(&c.Picker, &c.Grams, &c.At); err != nil {
			return f, err
		}
		f.Last = append(f.Last, c)
	}
	return f, rows.Err()
}

// Add writes a crate and the total of its field.
func (j *Journal) Add(ctx context.Context, field int64, c Crate) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.StmtContext(ctx, j.addCrate).ExecContext(ctx, field, c.Picker, c.Grams, c.At); err != nil {
		return err
	}
	if _, err := tx.StmtContext(ctx, j.addTotal).ExecContext(ctx, field, c.Grams); err != nil {
		return err
	}
	return tx.Commit()
}

// Season fills an empty journal.
func (j *Journal) Season(ctx context.Context, fields, crates int) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	start := time.Date(2026, 6, 1, 5, 0, 0, 0, time.UTC).Unix()
	for f := 1; f <= fields; f++ {
		if _, err := tx.StmtContext(ctx, j.know).ExecContext(ctx, f, fmt.Sprintf("Field %d", f),
			[]string{"apple", "pear", "plum"}[f%3]); err != nil {
			return err
		}
		for c := range crates {
			g := 9000 + c*37%3000
			if _, err := tx.StmtContext(ctx, j.addCrate).ExecContext(ctx, f, fmt.Sprintf("picker %d", c%30), g,
				start+int64(c*60)); err != nil {
				return err
			}
			if _, err := tx.StmtContext(ctx, j.addTotal).ExecContext(ctx, f, g); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
