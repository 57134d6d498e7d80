package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/index"
)

// maxChecks is the number of statements for which an index is tried.
const maxChecks = 10

// findHypopg returns the schema of the extension; empty if the database does not
// have it.
func (s *session) findHypopg(ctx context.Context) (schema string, err error) {
	err = s.Ask(ctx, server.Query{SQL: `SELECT /* redline */ n.nspname FROM pg_extension e
		JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'hypopg'`, Read: server.One(&schema)})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return schema, err
}

// check tries the indexes that the plans lack, if the database has hypopg, whose
// indexes exist only in the session's memory.
//
// Hazard: the EXPLAINs of others that share the session would see them, so nothing
// is tried through a pooler.
func (w *watch) check(ctx context.Context, top []*statement, asked map[int64]author) error {
	schema, err := w.session.findHypopg(ctx)
	if err != nil || schema == "" {
		return err
	}
	catalogue := index.Catalogue{Tables: w.store.Tables, Planner: w.store.Planner}
	checks := 0
	for _, s := range top {
		a := asked[s.id]
		if s.plan == nil || a.basis == refused || checks == maxChecks {
			continue
		}
		advice, found := s.advice(catalogue)
		if !found || advice.Qualified == "" || advice.ByValue || strings.Contains(advice.Qualified, "…") {
			continue
		}
		if !w.session.Owned {
			w.say("redline did not use hypopg: through the pooler, other sessions would see its indexes")
			return nil
		}
		checks++
		c := database.IndexCheck{Index: advice.Create}
		if err := w.session.try(ctx, schema, a, advice.Qualified, &c); err != nil {
			c.Error = inWords(err)
		}
		s.checks = append(s.checks, c)
		if w.session.Conn.IsClosed() {
			return errors.New(lost)
		}
	}
	return nil
}

// advice returns the index that a statement's plan lacks.
func (s *statement) advice(c index.Catalogue) (index.Advice, bool) {
	root, err := index.Parse(s.plan)
	if err != nil || s.sum.Calls <= 0 {
		return index.Advice{}, false
	}
	worst, ok := index.Worst(root, s.sum.Rows/s.sum.Calls, (s.sum.Hits+s.sum.Reads)/s.sum.Calls, c)
	if !ok {
		return index.Advice{}, false
	}
	return worst.Advise(), true
}

// try creates a hypothetical index, gets the plan, and drops the index.
func (s *session) try(ctx context.Context, schema string, a author, create string, c *database.IndexCheck) error {
	function := func(name string) string { return pgx.Identifier{schema, name}.Sanitize() }
	// The plan at hand may be that of an execution with its own values.
	before, err := s.cost(ctx, a, "", c)
	if err != nil {
		return err
	}
	c.Before = before
	var name string
	err = s.AskAfter(ctx, s.planning(a.as(), a.settings()...), append(s.assertions(a),
		server.Query{SQL: "SELECT " + server.Marker + " indexname FROM " + function("hypopg_create_index") +
			"($1)", Args: []any{create}, Read: server.One(&name)})...)
	if err == nil {
		c.After, err = s.cost(ctx, a, name, c)
	}
	if s.Conn.IsClosed() {
		return err
	}
	if reset := s.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " " + function("hypopg_reset") +
		"()", Read: nil}); reset != nil {
		s.Close() // anything that must not stay ends with the session
		return fmt.Errorf("drop the hypothetical index: %w", reset)
	}
	return unsafe(err)
}

// cost gets a plan's cost, and notes whether the plan uses the index with a name.
func (s *session) cost(ctx context.Context, a author, name string, c *database.IndexCheck) (float64, error) {
	plan, err := s.explain(ctx, a)
	if err != nil {
		return 0, err
	}
	root, err := index.Parse(plan)
	if err != nil {
		return 0, err
	}
	c.Used = name != "" && root.Uses(name)
	return root.Cost, nil
}
