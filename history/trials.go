package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
)

// Session is a search with all that it tried: a tune with its trials, or a knee with its steps.
// Trials say what was not chosen and why, which no series of results does.
type Session struct {
	Kind     Kind            `json:"kind"`     // Tune or Knee
	Time     time.Time       `json:"measured"` // when it began
	Commit   revision.Commit `json:"commit"`
	Scenario string          `json:"scenario"`      // its name, for people
	Hash     string          `json:"scenario_hash"` // of its actions; see baseline.ScenarioHash
	Machine  record.Host     `json:"machine"`
	Redline  string          `json:"redline"`   // version
	Dir      string          `json:"directory"` // that keeps the session's files; identifies it on its machine
	Answer   string          `json:"answer"`    // what came of it, in words
	Trials   []Trial         `json:"trials"`
}

// Trial is one thing that a session tried.
type Trial struct {
	Phase   string  `json:"phase"`   // "exploring", "search"
	Setting string  `json:"setting"` // "GOGC=400", "804.5/s"
	Outcome string  `json:"outcome"` // "served", "failed", "holds", "breaks"
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"` // NaN where nothing was measured
	Note    string  `json:"note,omitempty"`
}

// MarshalJSON writes null for a value that was not measured.
func (t Trial) MarshalJSON() ([]byte, error) {
	type plain Trial
	return json.Marshal(struct {
		plain
		Value *float64 `json:"value"`
	}{plain(t), known(t.Value)})
}

// mostTrials bounds one session's trials.
const mostTrials = 10_000

// id identifies a session, so that one that went on after an interrupt replaces itself.
func (s *Session) id() string {
	h := sha256.New()
	machine, _ := json.Marshal(s.Machine) // strings and numbers always marshal
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", s.Kind, s.Dir, s.Hash, machine)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// AddSession keeps a session with its trials, whole or not at all, in place of what was kept of it before.
func (s *Store) AddSession(ctx context.Context, one Session) error {
	if len(one.Trials) == 0 {
		return errors.New("history: a session without any trial is not kept")
	}
	if len(one.Trials) > mostTrials {
		return fmt.Errorf("history: a session of %d trials: at most %d are kept", len(one.Trials), mostTrials)
	}
	if err := s.insertSession(ctx, one); err != nil {
		return s.explain("add to", err)
	}
	return nil
}

func (s *Store) insertSession(ctx context.Context, one Session) error {
	machine, err := json.Marshal(one.Machine)
	if err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	id := one.id()
	for _, table := range []string{"redline_trials", "redline_sessions"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE session = $1`, id); err != nil {
			return err
		}
	}
	committed := int64(0)
	if !one.Commit.Time.IsZero() {
		committed = one.Commit.Time.UnixMilli()
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO redline_sessions (session, kind, measured, commit_hash, committed, subject,
		branch, dirty, scenario, scenario_hash, machine, redline, answer, directory)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`, id, string(one.Kind), one.Time.UnixMilli(),
		text(one.Commit.Hash), committed, text(one.Commit.Subject), text(one.Commit.Branch), flag(one.Commit.Dirty),
		text(one.Scenario), text(one.Hash), string(machine), text(one.Redline), text(one.Answer), text(one.Dir)); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO redline_trials (session, n, phase, setting, outcome, metric, unit, value,
		note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for n, t := range one.Trials {
		if _, err := insert.ExecContext(ctx, id, n+1, text(t.Phase), text(t.Setting), text(t.Outcome), text(t.Metric),
			text(t.Unit), limit(t.Value), text(t.Note)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Sessions returns the newest sessions that fit, newest first, each with its trials; at most n of them. Of
// the filter, metrics are not looked at.
func (s *Store) Sessions(ctx context.Context, f Filter, n int) ([]Session, error) {
	out, err := s.sessions(ctx, f, n)
	if err != nil {
		return nil, s.explain("read", err)
	}
	return out, nil
}

func (s *Store) sessions(ctx context.Context, f Filter, n int) ([]Session, error) {
	conditions, args := f.conditions()
	rows, err := s.db.QueryContext(ctx, `SELECT session, kind, measured, commit_hash, committed, subject, branch, dirty,
		scenario, scenario_hash, machine, redline, answer, directory FROM redline_sessions WHERE 1 = 1`+conditions+
		fmt.Sprintf(" ORDER BY measured DESC, session LIMIT %d", n), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Session
	var ids []string
	for rows.Next() {
		var one Session
		var id, kind, machine string
		var measured, committed int64
		var dirty int
		c := &one.Commit
		if err := rows.Scan(&id, &kind, &measured, &c.Hash, &committed, &c.Subject, &c.Branch, &dirty, &one.Scenario,
			&one.Hash, &machine, &one.Redline, &one.Answer, &one.Dir); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(machine), &one.Machine); err != nil {
			return nil, fmt.Errorf("the machine of session %s: %w", id, err)
		}
		one.Kind, one.Time, c.Dirty = Kind(kind), time.UnixMilli(measured), dirty != 0
		if committed != 0 {
			c.Time = time.UnixMilli(committed)
		}
		out, ids = append(out, one), append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close()
	for i, id := range ids {
		if out[i].Trials, err = s.trials(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) trials(ctx context.Context, session string) (out []Trial, err error) {
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf(`SELECT phase, setting, outcome, metric, unit, value, note
		FROM redline_trials WHERE session = $1 ORDER BY n LIMIT %d`, mostTrials), session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t Trial
		var value sql.NullFloat64
		if err := rows.Scan(&t.Phase, &t.Setting, &t.Outcome, &t.Metric, &t.Unit, &value, &t.Note); err != nil {
			return nil, err
		}
		t.Value = math.NaN()
		if value.Valid {
			t.Value = value.Float64
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// conditions are the filter's without metrics, as they follow a WHERE, with their arguments.
func (f Filter) conditions() (conditions string, args []any) {
	where := func(condition string, value any) {
		args = append(args, value)
		conditions += " AND " + strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args)))
	}
	if !f.Since.IsZero() {
		where("measured >= ?", f.Since.UnixMilli())
	}
	if f.Branch != "" {
		where("branch = ?", f.Branch)
	}
	if f.Scenario != "" {
		where("(scenario = ? OR substr(scenario_hash, 1, length(CAST(? AS TEXT))) = ?)", f.Scenario)
	}
	return conditions, args
}
