package survey

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/lib/pq"
)

const schema = `
CREATE TABLE sheets (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, form text NOT NULL,
	household int NOT NULL, at timestamptz NOT NULL);
CREATE INDEX sheets_household ON sheets (household);
CREATE TABLE answers (
	sheet_id bigint NOT NULL REFERENCES sheets, code text NOT NULL, value int NOT NULL, text text NOT NULL,
	PRIMARY KEY (sheet_id, code));`

// Postgres is a Repository in PostgreSQL.
type Postgres struct {
	db        *sql.DB
	addSheet  *sql.Stmt
	addAnswer *sql.Stmt
	count     *sql.Stmt
}

var _ Repository = (*Postgres)(nil)

// Connect opens an empty database and makes its schema.
func Connect(ctx context.Context, dsn string) (*Postgres, error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("schema: %w", err), db.Close())
	}
	p := &Postgres{db: db}
	for _, s := range []struct {
		into **sql.Stmt
		text string
	}{
		{&p.addSheet, `INSERT INTO sheets (form, household, at) VALUES ($1, $2, $3) RETURNING id`},
		{&p.addAnswer, `INSERT INTO answers (sheet_id, code, value, text) VALUES ($1, $2, $3, $4)`},
		{&p.count, `SELECT count(*) FROM sheets WHERE household = $1`},
	} {
		if *s.into, err = db.PrepareContext(ctx, s.text); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return p, nil
}

// Close closes the database.
func (p *Postgres) Close() error { return p.db.Close() }

// SaveSheet implements Repository. A sheet is kept with all its answers or not at all.
func (p *Postgres) SaveSheet(ctx context.Context, form string, s Sheet) (id int64, err error) {
	err = p.within(ctx, func(tx *sql.Tx) error {
		if err := tx.StmtContext(ctx, p.addSheet).QueryRowContext(ctx, form, s.Household, s.At).Scan(&id); err != nil {
			return fmt.Errorf("sheet: %w", err)
		}
		add := tx.StmtContext(ctx, p.addAnswer)
		for _, a := range s.Answers {
			if _, err := add.ExecContext(ctx, id, a.Code, a.Value, a.Text); err != nil {
				return fmt.Errorf("answer %s: %w", a.Code, err)
			}
		}
		return nil
	})
	return id, err
}

// Count implements Repository.
func (p *Postgres) Count(ctx context.Context, household int) (n int, err error) {
	err = p.count.QueryRowContext(ctx, household).Scan(&n)
	return n, err
}

func (p *Postgres) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
