// Package tape stores readings in SQLite, many to a transaction.
package tape

import (
	"context"
	"database/sql"

	_ "modernc.org/sqlite"
)

const schema = `
CREATE TABLE readings (id INTEGER PRIMARY KEY, meter INTEGER NOT NULL, kwh REAL NOT NULL);
CREATE INDEX readings_meter ON readings (meter, id);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000)
INSERT INTO readings (meter, kwh) SELECT i, i * 1.5 FROM n;`

// Reading is what a meter shows.
type Reading struct {
	Meter int     `json:"meter"`
	KWh   float64 `json:"kwh"`
}

type entry struct {
	reading Reading
	done    chan error
}

// Tape takes readings.
type Tape struct {
	read, write *sql.DB
	in          chan entry
	latest      *sql.Stmt
}

// Open makes a tape in a file.
func Open(path string) (*Tape, error) {
	dsn := "file:" + path + "?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(2000)"
	write, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if _, err := write.Exec(schema); err != nil {
		return nil, err
	}
	read, err := sql.Open("sqlite", dsn+"&mode=ro")
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(4)
	read.SetMaxIdleConns(4)
	t := &Tape{read: read, write: write, in: make(chan entry, 512)}
	if t.latest, err = read.Prepare(`SELECT kwh FROM readings WHERE meter = ? ORDER BY id DESC LIMIT 1`); err != nil {
		return nil, err
	}
	insert, err := write.Prepare(`INSERT INTO readings (meter, kwh) VALUES (?, ?)`)
	if err != nil {
		return nil, err
	}
	go t.run(insert)
	return t, nil
}

// Append stores a reading, and returns once it is stored.
func (t *Tape) Append(ctx context.Context, r Reading) error {
	e := entry{r, make(chan error, 1)}
	select {
	case t.in <- e:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Latest returns what a meter showed last.
func (t *Tape) Latest(ctx context.Context, meter string) (kwh float64, err error) {
	err = t.latest.QueryRowContext(ctx, meter).Scan(&kwh)
	return kwh, err
}

func (t *Tape) run(insert *sql.Stmt) {
	var batch []entry
	for e := range t.in {
		batch = append(batch[:0], e)
		for more := true; more && len(batch) < 200; {
			select {
			case e := <-t.in:
				batch = append(batch, e)
			default:
				more = false
			}
		}
		err := t.flush(insert, batch)
		for _, e := range batch {
			e.done <- err
		}
	}
}

func (t *Tape) flush(insert *sql.Stmt, batch []entry) error {
	tx, err := t.write.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	s := tx.Stmt(insert)
	for _, e := range batch {
		if _, err := s.Exec(e.reading.Meter, e.reading.KWh); err != nil {
			return err
		}
	}
	return tx.Commit()
}
