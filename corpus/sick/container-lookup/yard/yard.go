// Package yard knows the moves of containers between terminals.
package yard

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/redline-go/redline/corpus/sick/container-lookup/query"
)

// ErrUnknown says that no move of a container was recorded.
var ErrUnknown = errors.New("unknown container")

// Move is one move of a container.
type Move struct {
	ID         int64     `db:"id" json:"-"`
	Container  string    `db:"container_no" json:"-"`
	TerminalID int       `db:"terminal_id" json:"terminal"`
	Berth      string    `db:"berth" json:"berth"`
	Kind       string    `db:"kind" json:"kind"`
	At         time.Time `db:"at" json:"at"`
}

// Terminal is a part of the port.
type Terminal struct {
	ID   int    `db:"id"`
	Name string `db:"name"`
}

// Yard reads the tables.
type Yard struct {
	db    *sqlx.DB
	match query.Condition
}

// New makes a yard that finds container numbers by match.
func New(db *sqlx.DB, match query.Condition) *Yard { return &Yard{db, match} }

// Plausible says whether text looks like a container number: four letters, seven digits.
func Plausible(text string) bool {
	if len(text) != 11 {
		return false
	}
	return strings.Trim(strings.ToUpper(text[:4]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.Trim(text[4:], "0123456789") == ""
}

// History returns the latest moves of a container.
func (y *Yard) History(ctx context.Context, number string) ([]Move, error) {
	text, args := query.From("yard_moves", "id", "container_no", "terminal_id", "berth", "kind", "at").
		Where(y.match, "container_no", strings.ToUpper(number)).Latest("at", 12).SQL()
	var list []Move
	if err := y.db.SelectContext(ctx, &list, text, args...); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ErrUnknown
	}
	return list, nil
}

// Terminal returns a terminal by its number.
func (y *Yard) Terminal(ctx context.Context, id int) (t Terminal, err error) {
	text, args := query.From("yard_terminals", "id", "name").Where(query.Exact, "id", id).SQL()
	err = y.db.GetContext(ctx, &t, text, args...)
	return t, err
}

// Dwell is the mean time between moves, in days.
func Dwell(moves []Move) float64 {
	if len(moves) < 2 {
		return 0
	}
	span := moves[0].At.Sub(moves[len(moves)-1].At)
	return span.Hours() / 24 / float64(len(moves)-1)
}

// Install makes the tables and fills them.
func Install(db *sqlx.DB) error {
	for _, s := range []string{
		`CREATE TABLE yard_terminals (id int PRIMARY KEY, name text NOT NULL)`,
		`CREATE TABLE yard_moves (id bigserial PRIMARY KEY, container_no text NOT NULL, terminal_id int NOT NULL REFERENCES yard_terminals,
			berth text NOT NULL, kind text NOT NULL, at timestamptz NOT NULL)`,
		`INSERT INTO yard_terminals SELECT n, 'terminal ' || n FROM generate_series(1, 12) n`,
		`INSERT INTO yard_moves (container_no, terminal_id, berth, kind, at)
			SELECT 'MSKU' || 1000000 + n % 5000, 1 + n % 12, 'B' || n % 40, (ARRAY['in','shift','out'])[1 + n % 3], now() - n * interval '7 minutes'
			FROM generate_series(1, 30000) n`,
		`CREATE INDEX yard_moves_container ON yard_moves (container_no, at DESC)`,
		`ANALYZE yard_moves, yard_terminals`,
	} {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}
