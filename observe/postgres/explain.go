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

	"github.com/redline-go/redline/observe/postgres/cast"
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

// explain gets a statement's generic plan, which does not depend on its parameters.
// Nothing is executed: EXPLAIN without ANALYZE, in a read-only transaction. The
// basis is checked again in that transaction.
//
// Hazard: a role could create a function after the check and before the planning.
// So the statement's names are resolved first, then the basis is checked, and then
// the resolved statement is planned. If a function is dropped in between, the
// invalidation that the next lock of a table processes reveals it.
func (s *session) explain(ctx context.Context, a author) ([]byte, error) {
	text, parameters, err := s.typed(ctx, a)
	if err != nil {
		return nil, err
	}
	a.text = text
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

// maxTyping bounds how often redline learns a type from the server.
const maxTyping = 16

// typed returns a statement's text, with a cast for each parameter whose type the server cannot infer, and the number of parameters.
func (s *session) typed(ctx context.Context, a author) (text string, parameters int, err error) {
	types := cast.Types{}
	text = a.text
	for range maxTyping {
		asked := a
		asked.text = text
		parameters, err = s.parameters(ctx, asked)
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || !types.Learn(text, refusal) {
			return text, parameters, err
		}
		text = types.Apply(a.text)
	}
	return text, parameters, err
}

// parameters counts a statement's parameters, and so resolves its names; the
// protocol refuses a text of several statements.
func (s *session) parameters(ctx context.Context, a author) (int, error) {
	s.Transactions++
	var e exchange
	e.run(s, s.planning(a.as(), a.settings()...))
	e.add(&pgproto3.Parse{Query: a.text}, &pgproto3.Describe{ObjectType: 'S'})
	_, err := e.finish(ctx, s)
	return e.parameters, err
}

// explainPortal explains through a portal. A generic plan ignores the parameters,
// but the protocol requires them: they are NULL.
func (s *session) explainPortal(ctx context.Context, a author, explain string, parameters int) ([]byte, error) {
	s.Transactions++
	var e exchange
	e.run(s, s.planning(a.as(), a.settings()...))
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

// refusing is text that is not a number, so that a failed assertion aborts the
// transaction.
const refusing = "redline_refuses"

// assertions fail unless the basis holds, with all changes up to then.
func (s *session) assertions(a author) []server.Query {
	return []server.Query{
		{SQL: "SELECT " + server.Marker + " (CASE WHEN " + s.condition(a.basis) + " THEN '1' ELSE '" + refusing +
			"' END)::pg_catalog.int4", Args: []any{a.user}},
		// Locks a table that nothing else in the transaction locks.
		{SQL: "SELECT " + server.Marker + " FROM pg_catalog.pg_conversion LIMIT 0"},
	}
}

// explainPrepared is for versions before 16, whose EXPLAIN takes no parameters: a
// prepared statement with a forced generic plan ignores them. It outlives its
// transaction, so the session must be ours.
//
// Hazard: EXECUTE resolves names again if a function of the statement was dropped
// meanwhile. So it must not be used for texts of roles with fewer rights.
func (s *session) explainPrepared(ctx context.Context, a author, parameters int) (plan []byte, err error) {
	settings := s.planning(a.as(), append(a.settings(), [2]string{"plan_cache_mode", "force_generic_plan"})...)
	if err := s.AskAfter(ctx, settings, server.Query{SQL: "PREPARE " + preparedName + " AS " + server.Marker + " " + a.text}); err != nil {
		return nil, err
	}
	defer func() {
		if s.Ask(ctx, server.Query{SQL: "DEALLOCATE " + preparedName + " " + server.Marker}) != nil {
			s.Close() // nothing may stay behind: everything ends with the session
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

// checkPlan returns the single plan in the rows. Invalid JSON, or more than the bound,
// is an error.
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

// exchange is a round trip below the API of pgx, which has no named portals.
type exchange struct {
	messages   []pgproto3.FrontendMessage
	err        error
	parameters int // of the statement that was described
}

// add appends messages, which go out together in one round trip.
func (e *exchange) add(messages ...pgproto3.FrontendMessage) {
	e.messages = append(e.messages, messages...)
}

// run adds one of our queries.
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
			s.Close() // the connection's state is unknown
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
