package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // reads plans without cgo
	"modernc.org/sqlite/vfs"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/operation"
)

const (
	// maxPlans bounds the statements whose plans are requested: those with the most time.
	maxPlans = 32
	// maxSteps bounds a plan, and maxStep a step's text.
	maxSteps, maxStep = 64, 256
	// patience bounds the work, for all databases together.
	patience = 3 * time.Second
)

// Plans fills in the databases of a process, and SQLite's plans of its statements. The zero value is ready.
type Plans struct{ seen []string }

// Look notes the databases that a process has open: one that it opens for each request may be closed once the load is over.
func (e *Plans) Look(subject observe.Subject) {
	if subject.PID <= 0 {
		return
	}
	files, err := find(subject.PID, nil)
	if err != nil {
		return
	}
	for _, f := range files {
		if !slices.Contains(e.seen, f.path) && len(e.seen) < maxDatabases {
			e.seen = append(e.seen, f.path)
		}
	}
}

// Explain fills in the databases that a process has open or had open when Look was called, and SQLite's plans of the
// operations that are statements. It does nothing for a process without a database, and
// never fails: failures are named in the databases' Why.
func (e *Plans) Explain(ctx context.Context, subject observe.Subject, ops *operation.Operations) {
	if subject.PID <= 0 {
		return
	}
	files, err := find(subject.PID, e.seen)
	if err != nil || len(files) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	texts := explainable(ops)
	for _, f := range files {
		d := operation.SQLiteDatabase{File: filepath.Base(f.path), Why: f.why}
		if f.why == "" {
			var plans []operation.SQLitePlan
			if plans, err = explain(ctx, f, &d, texts); err != nil {
				d.Why = err.Error()
			}
			for _, p := range plans {
				if ops.PlanOf(p.Text) == nil {
					ops.Plans = append(ops.Plans, p)
				}
			}
		}
		ops.SQLite = append(ops.SQLite, d)
	}
}

// explainable returns the statements that have a plan, those with the most time first.
func explainable(ops *operation.Operations) (texts []string) {
	for _, o := range ops.Operations { // sorted by time
		if o.Kind != operation.Query && o.Kind != operation.Exec || len(texts) == maxPlans {
			continue
		}
		text := strings.TrimRight(o.Text, "; \n")
		// A second statement would be run, not explained.
		if strings.HasSuffix(text, "...") || strings.Contains(text, ";") || slices.Contains(texts, o.Text) {
			continue
		}
		verb, _, _ := strings.Cut(text, " ")
		switch strings.ToUpper(verb) {
		case "SELECT", "UPDATE", "DELETE", "WITH":
			texts = append(texts, o.Text)
		}
	}
	return texts
}

// explain asks SQLite for the plans of texts, through a read-only view of the file and
// its log, so that no lock is taken which the target could meet. It notes the mode of
// the journal and the size in d.
func explain(ctx context.Context, f file, d *operation.SQLiteDatabase, texts []string) (plans []operation.SQLitePlan, err error) {
	// A damaged database may make the library panic; the run continues.
	defer func() {
		if r := recover(); r != nil {
			plans, err = nil, fmt.Errorf("SQLite cannot read the file: %v", r)
		}
	}()
	p, err := openPages(f)
	if err != nil {
		return nil, err
	}
	defer p.close()
	d.Bytes, d.Journal = p.size, "rollback"
	if p.wal {
		d.Journal = "wal"
	}
	system, vfs, err := vfs.New(view{p})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vfs.Close()) }()
	// immutable: SQLite then takes no lock and looks for no change (sqlite.org/uri.html); the
	// pages are a view that does not change.
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro&immutable=1&vfs="+system)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err = db.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	for _, text := range texts {
		plan, err := planOf(ctx, db, text)
		if err != nil {
			continue // a statement of another database, or with a function that only the target has
		}
		plan.File = d.File
		plans = append(plans, plan)
	}
	return plans, ctx.Err()
}

// planOf asks for one plan.
func planOf(ctx context.Context, db *sql.DB, text string) (plan operation.SQLitePlan, err error) {
	plan.Text = text
	rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...)
	if err != nil {
		return plan, err
	}
	defer rows.Close()
	var steps []step
	for rows.Next() && len(steps) < maxSteps {
		var s step
		var unused int
		if err := rows.Scan(&s.id, &s.parent, &unused, &s.detail); err != nil {
			return plan, err
		}
		s.detail = s.detail[:min(len(s.detail), maxStep)]
		steps, plan.Rows = append(steps, s), append(plan.Rows, s.detail)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return plan, err
	}
	plan.Scans = scans(ctx, db, text, steps)
	return plan, nil
}
