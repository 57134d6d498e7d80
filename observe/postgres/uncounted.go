package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/postgres/cast"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/operation"
)

// trips is how many statements are timed for the shortest round trip.
const trips = 5

// Explain adds the server's plans of the statements that the target's hooks counted, if the server counts none itself:
// without pg_stat_statements. It connects after the load, and never fails: what stands in its way is named in the result.
func Explain(ctx context.Context, subject observe.Subject, ops *operation.Operations) {
	texts := planned(ops)
	if subject.DSN == "" || len(texts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	s, err := open(ctx, subject.DSN, subject.Clock)
	if err != nil {
		return // the source of the server says so
	}
	defer s.Close()
	if s.Queries.Statements != "" {
		return
	}
	ops.Postgres = &operation.ServerPlans{}
	if err := s.explainUncounted(ctx, texts, ops.Postgres); err != nil {
		ops.Postgres.Why = inWords(err)
	}
}

// planned returns the texts of operations that may have a plan, those with the most time first.
func planned(ops *operation.Operations) (texts []string) {
	for _, o := range ops.Operations { // sorted by time
		if o.Kind != operation.Query && o.Kind != operation.Exec || len(texts) == maxPlans {
			continue
		}
		if !strings.HasSuffix(o.Text, "...") && unplannable(cast.Number(o.Text)) == "" && !slices.Contains(texts, o.Text) {
			texts = append(texts, o.Text)
		}
	}
	return texts
}

// explainUncounted gets the plans of texts, and what the catalogue says of their tables.
func (s *session) explainUncounted(ctx context.Context, texts []string, into *operation.ServerPlans) error {
	role, err := s.onlyRole(ctx)
	if err != nil {
		return err
	}
	a, err := s.basisOf(ctx, role)
	if err != nil {
		return fmt.Errorf("read the rights of roles: %w", err)
	}
	if a.basis == refused {
		into.Why = a.why
		return nil
	}
	if into.Trip, err = s.trip(ctx); err != nil {
		return err
	}
	var plans [][]byte
	for _, text := range texts {
		one := operation.ServerPlan{Text: text}
		a.text = cast.Number(text)
		if one.Plan, err = s.explain(ctx, a); err != nil {
			one.Error = inWords(err)
		}
		into.Plans, plans = append(into.Plans, one), append(plans, one.Plan)
		if s.Conn.IsClosed() {
			return err
		}
	}
	into.Tables, into.Planner, err = s.describe(ctx, plans, func(why string) { into.Why = why })
	return err
}

// onlyRole returns the role of the database's clients. The hooks do not know as whom a statement ran, and a text may be planned
// only with regard to the rights of its author (rights.go).
func (s *session) onlyRole(ctx context.Context) (uint32, error) {
	var roles []uint32
	err := s.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " DISTINCT usesysid FROM pg_stat_activity WHERE datid = $1 AND " +
		"backend_type = 'client backend' AND application_name <> '" + server.Application + "' LIMIT 2", Args: []any{s.DB},
		Read: func(rows pgx.Rows) (err error) {
			roles, err = pgx.CollectRows(rows, pgx.RowTo[uint32])
			return err
		}})
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the roles of clients: %w", err)
	case len(roles) == 0:
		return 0, fmt.Errorf("no client of database %s is connected after the load, so that it is unknown which role runs the "+
			"statements", s.Name)
	case len(roles) > 1:
		return 0, fmt.Errorf("clients of several roles use database %s, so that it is unknown which of them runs a statement: install "+
			"pg_stat_statements, which knows", s.Name)
	}
	return roles[0], nil
}

// trip returns the shortest time of a statement that does nothing, with its round trip.
func (s *session) trip(ctx context.Context) (least time.Duration, err error) {
	for range trips {
		start := time.Now()
		if err := s.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " 1"}); err != nil {
			return 0, fmt.Errorf("time a round trip: %w", err)
		}
		if took := time.Since(start); least == 0 || took < least {
			least = took
		}
	}
	return least, nil
}
