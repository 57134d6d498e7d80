package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/redline-go/redline/observe/postgres/server"
)

// portal and preparedName name the requests for a plan; a portal ends with
// its transaction.
const portal, preparedName = "redline_plan", "redline_plan"

var (
	errUnsafe   = errors.New("functions or roles changed during EXPLAIN")
	errPrepared = errors.New("PostgreSQL before 16 plans parameters only in a prepared statement, which a pooler would share, " +
		"and another role could race: give redline a DSN of the application's own role and of the server itself")
)

// explain asks for the plan that a statement gets without regard to its
// parameters. Nothing of it is executed: EXPLAIN without ANALYZE, in a read-only
// transaction. Its basis is asked for again in that transaction.
//
// Hazard: a role could make a function after the question and before the
// planning. So the statement's names are resolved first, then the question is
// asked, and then the resolved statement is planned. A function that was dropped in
// between is known by the invalidation that the next lock of a table takes in.
func (s *session) explain(ctx context.Context, a author) ([]byte, error) {
	s.Transactions++
	parameters, err := s.parameters(ctx, a)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Version >= 160000:
		return s.explainPortal(ctx, a, "EXPLAIN (GENERIC_PLAN, FORMAT JSON) ", parameters)
	case parameters == 0:
		return s.explainPortal(ctx, a, "EXPLAIN (FORMAT JSON) ", 0)
	case s.Owned && a.basis != become:
		return s.explainPrepared(ctx, a, parameters)
	}
	return nil, errPrepared
}

// parameters counts those of a statement, whose names it looks up; the protocol
// refuses a text of several statements.
func (s *session) parameters(ctx context.Context, a author) (int, error) {
	var e exchange
	e.run(s, s.planning(a.as()))
	e.add(&pgproto3.Parse{Query: a.text}, &pgproto3.Describe{ObjectType: 'S'})
	_, err := e.finish(ctx, s)
	return e.parameters, err
}

// explainPortal explains by a portal. A generic plan does not look at the
// parameters, yet the protocol wants them: they are NULL.
func (s *session) explainPortal(ctx context.Context, a author, explain string, parameters int) ([]byte, error) {
	s.Transactions++
	var e exchange
	e.run(s, s.planning(a.as()))
	e.add(&pgproto3.Parse{Query: explain + server.Marker + " " + a.text},
		&pgproto3.Bind{DestinationPortal: portal, Parameters: make([][]byte, parameters)})
	for _, q := range s.assertions(a) {
		e.run(s, q)
	}
	e.add(&pgproto3.Execute{Portal: portal})
	rows, err := e.finish(ctx, s)
	if err != nil {
		return nil, err
	}
	return checkPlan(rows)
}

// refusing is text that is no number, so that a failed assertion ends the transaction.
const refusing = "redline_refuses"

// assertions fail unless the basis holds, and include changes until then.
func (s *session) assertions(a author) []server.Query {
	return []server.Query{
		{SQL: "SELECT " + server.Marker + " (CASE WHEN " + s.condition(a.basis) + " THEN '1' ELSE '" + refusing +
			"' END)::pg_catalog.int4", Args: []any{a.user}},
		// A table that nothing else of the transaction locks.
		{SQL: "SELECT " + server.Marker + " FROM pg_catalog.pg_conversion LIMIT 0"},
	}
}

// explainPrepared is for versions before 16, whose EXPLAIN takes no parameters:
// a prepared statement with a forced generic plan does not look at them. It
// outlives its transaction, so the session must be ours.
//
// Hazard: EXECUTE resolves names anew if a function of the statement was dropped
// meanwhile. So it is not for texts of those who hold fewer rights.
func (s *session) explainPrepared(ctx context.Context, a author, parameters int) (plan []byte, err error) {
	settings := s.planning(a.as(), [2]string{"plan_cache_mode", "force_generic_plan"})
	if err := s.AskAfter(ctx, settings, server.Query{SQL: "PREPARE " + preparedName + " AS " + server.Marker + " " + a.text}); err != nil {
		return nil, err
	}
	defer func() {
		if s.Ask(ctx, server.Query{SQL: "DEALLOCATE " + preparedName + " " + server.Marker}) != nil {
			s.Close() // anything that must not stay ends with the session
		}
	}()
	call := "EXPLAIN (FORMAT JSON) " + server.Marker + " EXECUTE " + preparedName + "(" +
		strings.TrimSuffix(strings.Repeat("NULL,", parameters), ",") + ")"
	var rows [][]byte
	explain := server.Query{SQL: call, Read: func(r pgx.Rows) error {
		for r.Next() {
			rows = append(rows, append([]byte(nil), r.RawValues()[0]...))
		}
		return r.Err()
	}}
	if err := s.AskAfter(ctx, settings, append(s.assertions(a), explain)...); err != nil {
		return nil, unsafe(err)
	}
	return checkPlan(rows)
}

// checkPlan returns the one plan of the rows. What is no JSON, or over the bound, is an
// error.
func checkPlan(rows [][]byte) ([]byte, error) {
	if len(rows) != 1 {
		return nil, errors.New("the server answered EXPLAIN with no plan")
	}
	if plan := rows[0]; len(plan) <= maxPlan && json.Valid(plan) {
		return plan, nil
	}
	return nil, fmt.Errorf("the plan has %d bytes and is not kept", len(rows[0]))
}

// unsafe distinguishes the failure of an assertion from others.
func unsafe(err error) error {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && strings.Contains(refusal.Message, refusing) {
		return errUnsafe
	}
	return err
}

// exchange is a round trip below the API of pgx, which names no portals.
type exchange struct {
	messages   []pgproto3.FrontendMessage
	err        error
	parameters int // of the statement that was described
}

// add appends messages, which go out together in one round trip.
func (e *exchange) add(messages ...pgproto3.FrontendMessage) {
	e.messages = append(e.messages, messages...)
}

// run adds a query of ours.
func (e *exchange) run(s *session, q server.Query) {
	var parameters pgx.ExtendedQueryBuilder
	if err := parameters.Build(s.Conn.TypeMap(), nil, q.Args); err != nil {
		e.err = err
	}
	e.add(&pgproto3.Parse{Query: q.SQL},
		&pgproto3.Bind{Parameters: parameters.ParamValues, ParameterFormatCodes: parameters.ParamFormats},
		&pgproto3.Execute{})
}

// finish sends the messages and returns the first column of the last query's
// rows.
func (e *exchange) finish(ctx context.Context, s *session) (rows [][]byte, err error) {
	if e.err != nil {
		return nil, e.err
	}
	conn := s.Conn.PgConn()
	for _, m := range e.messages {
		conn.Frontend().Send(m)
	}
	conn.Frontend().Send(&pgproto3.Sync{})
	if err := conn.Frontend().Flush(); err != nil {
		s.Close()
		return nil, err
	}
	var next [][]byte
	for {
		message, received := conn.ReceiveMessage(ctx)
		if received != nil {
			s.Close() // further messages are unknown
			return nil, received
		}
		switch m := message.(type) {
		case *pgproto3.ParameterDescription:
			e.parameters = len(m.ParameterOIDs)
		case *pgproto3.DataRow:
			if len(m.Values) > 0 {
				next = append(next, append([]byte(nil), m.Values[0]...))
			}
		case *pgproto3.CommandComplete:
			rows, next = next, nil
		case *pgproto3.ErrorResponse:
			err = unsafe(pgconn.ErrorResponseToPgError(m))
		case *pgproto3.ReadyForQuery:
			return rows, err
		}
	}
}
