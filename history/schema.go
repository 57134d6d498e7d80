package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// schema holds the statements that make the tables, step by step: the n-th step leads from
// version n to n+1. A step is never changed once a release had it; another one
// is added. Types are those that SQLite and PostgreSQL have in common.
//
// A row of redline_results is one metric of one result; redline_sessions and redline_trials hold what
// a tune or a knee tried. Times are Unix time in ms; committed is 0
// where the commit's date is not known, low and high are null where the interval
// is not. machine is the fingerprint as JSON.
var schema = []string{
	`CREATE TABLE redline_results (
		result        TEXT NOT NULL,
		metric        TEXT NOT NULL,
		measured      BIGINT NOT NULL,
		commit_hash   TEXT NOT NULL,
		committed     BIGINT NOT NULL,
		subject       TEXT NOT NULL,
		branch        TEXT NOT NULL,
		dirty         INTEGER NOT NULL,
		scenario      TEXT NOT NULL,
		scenario_hash TEXT NOT NULL,
		machine       TEXT NOT NULL,
		go_version    TEXT NOT NULL,
		redline       TEXT NOT NULL,
		kind          TEXT NOT NULL,
		unit          TEXT NOT NULL,
		higher        INTEGER NOT NULL,
		value         DOUBLE PRECISION NOT NULL,
		low           DOUBLE PRECISION,
		high          DOUBLE PRECISION,
		directory     TEXT NOT NULL,
		PRIMARY KEY (result, metric)
	)`,
	`CREATE INDEX redline_results_measured ON redline_results (measured)`,
	`CREATE TABLE redline_sessions (
		session       TEXT NOT NULL PRIMARY KEY,
		kind          TEXT NOT NULL,
		measured      BIGINT NOT NULL,
		commit_hash   TEXT NOT NULL,
		committed     BIGINT NOT NULL,
		subject       TEXT NOT NULL,
		branch        TEXT NOT NULL,
		dirty         INTEGER NOT NULL,
		scenario      TEXT NOT NULL,
		scenario_hash TEXT NOT NULL,
		machine       TEXT NOT NULL,
		redline       TEXT NOT NULL,
		answer        TEXT NOT NULL,
		directory     TEXT NOT NULL
	)`,
	`CREATE TABLE redline_trials (
		session TEXT NOT NULL,
		n       INTEGER NOT NULL,
		phase   TEXT NOT NULL,
		setting TEXT NOT NULL,
		outcome TEXT NOT NULL,
		metric  TEXT NOT NULL,
		unit    TEXT NOT NULL,
		value   DOUBLE PRECISION,
		note    TEXT NOT NULL,
		PRIMARY KEY (session, n)
	)`,
}

// errForeign says that a file is the database of something else.
var errForeign = errors.New("it holds tables of another program, and none of redline's (hint: another file)")

// migrate brings the schema to the version of steps, in one transaction: of
// several processes that come at once, one does it and the others find it done.
func (s *Store) migrate(ctx context.Context, steps []string) error {
	// Most often there is nothing to do, and then no one needs to wait.
	if version, err := s.version(ctx, s.db); err == nil && version == len(steps) {
		return nil
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if s.dialect.serialize != "" {
		if _, err := tx.ExecContext(ctx, s.dialect.serialize); err != nil {
			return err
		}
	}
	version, err := s.version(ctx, tx)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return newer(version, len(steps))
	}
	if version == 0 {
		if err := s.begin(ctx, tx); err != nil {
			return err
		}
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("bring the schema to version %d: %w", version+1, err)
		}
		version++
	}
	if _, err := tx.ExecContext(ctx, `UPDATE redline_schema SET version = $1`, version); err != nil {
		return err
	}
	return tx.Commit()
}

// current checks that the schema has the version that this redline reads, and changes nothing: who looks may have no right
// to, and an older redline that still writes there would be locked out.
func (s *Store) current(ctx context.Context) error {
	version, err := s.version(ctx, s.db)
	switch {
	case err != nil:
		return err
	case version == 0:
		if err := s.vacant(ctx, s.db); err != nil {
			return err
		}
		return ErrNone
	case version > len(schema):
		return newer(version, len(schema))
	case version < len(schema):
		return fmt.Errorf("its schema has version %d, and this redline reads version %d (hint: redline history add, or a run with "+
			"--history, brings it up to date)", version, len(schema))
	}
	return nil
}

func newer(version, known int) error {
	return fmt.Errorf("its schema has version %d, and this redline knows those up to %d (hint: use the newer redline "+
		"that wrote it)", version, known)
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// vacant returns errForeign if a database without a history holds tables of another program.
func (s *Store) vacant(ctx context.Context, q querier) error {
	var others int
	if err := q.QueryRowContext(ctx, s.dialect.tables).Scan(&others); err != nil {
		return err
	}
	if others > 0 {
		return errForeign
	}
	return nil
}

// begin makes the table that keeps the version, in a database that is empty.
func (s *Store) begin(ctx context.Context, tx *sql.Tx) error {
	if err := s.vacant(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE TABLE redline_schema (version INTEGER NOT NULL)`); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO redline_schema (version) VALUES (0)`)
	return err
}

// version returns the schema's version, 0 if there is none yet.
func (s *Store) version(ctx context.Context, q querier) (version int, err error) {
	var ours int
	if err := q.QueryRowContext(ctx, s.dialect.ours).Scan(&ours); err != nil || ours == 0 {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `SELECT version FROM redline_schema`).Scan(&version)
	return version, err
}
