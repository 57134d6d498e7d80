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
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
)

// Kind is how a result was measured. Values of different kinds are never
// compared, but those of ab and gate, which measure alike.
type Kind string

// Kinds of result.
const (
	Run   Kind = "run"   // one run, watched
	AB    Kind = "ab"    // side b of a comparison: the median of its blocks
	Gate  Kind = "gate"  // the same, of a gate
	Bench Kind = "bench" // Go benchmarks
	Tune  Kind = "tune"  // the setting that a tune ended with, in its confirmation; or its session
	Knee  Kind = "knee"  // the capacity that a knee found; or its session
)

// Result holds the measurements of one commit at one time.
type Result struct {
	Time     time.Time // when it was measured
	Commit   revision.Commit
	Scenario string // its name, for people
	Hash     string // of its actions; see baseline.ScenarioHash
	Machine  record.Host
	Go       string // version that the target was built with; empty if unknown
	Redline  string // version
	Kind     Kind
	Dir      string // bundle or session; empty if none was kept
	Figures  []Figure
}

// Figure is one metric of a result.
type Figure struct {
	Metric string
	Unit   string // as in the record: "ns", "bytes", "1/s", "1"
	Higher bool   // more is better
	Value  float64
	// Low and High are the limits of its 95 % interval; both NaN where it is not
	// known.
	Low, High float64
}

// Bounds on results, kept and read.
const (
	mostText    = 1 << 10 // bytes of a subject, a name, a directory
	mostFigures = 4096    // of one result: a large suite of benchmarks
	mostRows    = 500_000 // read at once, newest first
)

// id identifies a result, so that one added twice is kept once.
func (r *Result) id() string {
	h := sha256.New()
	machine, _ := json.Marshal(r.Machine) // strings and numbers always marshal
	fmt.Fprintf(h, "%s\n%s\n%t\n%d\n%s\n%s\n", alike(r.Kind), r.Commit.Hash, r.Commit.Dirty, r.Time.UnixMilli(), r.Hash, machine)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Add keeps a result, whole or not at all; added is false when it was there.
// A figure that is not a finite number is an error.
func (s *Store) Add(ctx context.Context, r Result) (added bool, err error) {
	if len(r.Figures) == 0 {
		return false, errors.New("history: a result without any figure is not kept")
	}
	if len(r.Figures) > mostFigures {
		return false, fmt.Errorf("history: a result of %d figures: at most %d are kept", len(r.Figures), mostFigures)
	}
	if added, err = s.insert(ctx, r); err != nil {
		return false, s.explain("add to", err)
	}
	return added, nil
}

func (s *Store) insert(ctx context.Context, r Result) (added bool, err error) {
	machine, err := json.Marshal(r.Machine)
	if err != nil {
		return false, err
	}
	committed := int64(0)
	if !r.Commit.Time.IsZero() {
		committed = r.Commit.Time.UnixMilli()
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO redline_results (result, metric, measured,
		commit_hash, committed, subject, branch, dirty,
		scenario, scenario_hash, machine, go_version, redline, kind, unit, higher, value, low, high, directory)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		ON CONFLICT (result, metric) DO NOTHING`)
	if err != nil {
		return false, err
	}
	defer insert.Close()
	for _, f := range r.Figures {
		if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
			return false, fmt.Errorf("%s is %v, which is no value to keep", f.Metric, f.Value)
		}
		done, err := insert.ExecContext(ctx, r.id(), text(f.Metric), r.Time.UnixMilli(), text(r.Commit.Hash), committed,
			text(r.Commit.Subject), text(r.Commit.Branch), flag(r.Commit.Dirty),
			text(r.Scenario), text(r.Hash), string(machine), text(r.Go), text(r.Redline), string(r.Kind), text(f.Unit),
			flag(f.Higher), f.Value, limit(f.Low), limit(f.High), text(r.Dir))
		if err != nil {
			return false, err
		}
		if n, err := done.RowsAffected(); err == nil && n > 0 {
			added = true
		}
	}
	return added, tx.Commit()
}

// text bounds a text and makes it one that both databases take: PostgreSQL
// refuses zero bytes and invalid UTF-8.
func text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	return strings.ToValidUTF8(s[:min(len(s), mostText)], "")
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func limit(v float64) sql.NullFloat64 {
	return sql.NullFloat64{Float64: v, Valid: !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// Filter chooses results; its zero value chooses all.
type Filter struct {
	Metrics  []string
	Scenario string    // by name or by the beginning of its hash
	Branch   string    //
	Since    time.Time // measured at or after
}

// Results returns the results that fit, oldest measurement first, each with the
// figures that fit. Of very long histories it returns the newest half million
// figures.
func (s *Store) Results(ctx context.Context, f Filter) ([]Result, error) {
	out, err := s.query(ctx, f)
	if err != nil {
		return nil, s.explain("read", err)
	}
	return out, nil
}

func (s *Store) query(ctx context.Context, f Filter) ([]Result, error) {
	query := `SELECT result, metric, measured, commit_hash, committed, subject, branch, dirty, scenario, scenario_hash,
		machine, go_version, redline, kind, unit, higher, value, low, high, directory FROM redline_results WHERE 1 = 1`
	conditions, args := f.conditions()
	query += conditions
	if len(f.Metrics) > 0 {
		placeholders := make([]string, len(f.Metrics))
		for i, metric := range f.Metrics {
			args = append(args, metric)
			placeholders[i] = fmt.Sprintf("$%d", len(args))
		}
		query += " AND metric IN (" + strings.Join(placeholders, ", ") + ")"
	}
	rows, err := s.db.QueryContext(ctx, query+fmt.Sprintf(" ORDER BY measured DESC, result, metric LIMIT %d", mostRows), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Result
	last := ""
	for rows.Next() {
		id, r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if id == last {
			end := &out[len(out)-1]
			end.Figures = append(end.Figures, r.Figures...)
			continue
		}
		out, last = append(out, r), id
	}
	slices.Reverse(out)
	return out, rows.Err()
}

func scan(rows *sql.Rows) (id string, r Result, err error) {
	var f Figure
	var machine, kind string
	var measured, committed int64
	var dirty, higher int
	var low, high sql.NullFloat64
	if err := rows.Scan(&id, &f.Metric, &measured, &r.Commit.Hash, &committed, &r.Commit.Subject, &r.Commit.Branch,
		&dirty, &r.Scenario, &r.Hash,
		&machine, &r.Go, &r.Redline, &kind, &f.Unit, &higher, &f.Value, &low, &high, &r.Dir); err != nil {
		return "", r, err
	}
	if err := json.Unmarshal([]byte(machine), &r.Machine); err != nil {
		return "", r, fmt.Errorf("the machine of result %s: %w", id, err)
	}
	r.Time, r.Kind, r.Commit.Dirty, f.Higher = time.UnixMilli(measured), Kind(kind), dirty != 0, higher != 0
	if committed != 0 {
		r.Commit.Time = time.UnixMilli(committed)
	}
	f.Low, f.High = math.NaN(), math.NaN()
	if low.Valid && high.Valid {
		f.Low, f.High = low.Float64, high.Float64
	}
	r.Figures = []Figure{f}
	return id, r, nil
}
