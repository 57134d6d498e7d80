package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/redact"
)

const (
	// maxStored is how many statements go into statements.json, maxPlans how
	// many of them with a plan.
	maxStored = 100
	maxPlans  = 20
	// maxPlan bounds a plan's size in bytes.
	maxPlan = 1 << 20
	// finishTimeout bounds what is asked for after the load.
	finishTimeout = 5 * time.Second
)

// finish fetches what was not fetched during the load, above all the plans, and
// fills what Store returns. It outlives ctx, which is done.
func (w *watch) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	lost := "the server was lost before plans were asked for"
	if w.session != nil && w.samples > 0 {
		if err := w.fetchTexts(ctx); err != nil {
			w.say(err.Error())
		}
	}
	if w.ledger.dropped {
		w.say(fmt.Sprintf("more than %d statements were called; the others are left out", maxFollowed))
	}
	top := w.ledger.top(maxStored)
	if w.session != nil && len(top) > 0 {
		// Plans are to be as the application's, with its names and choices.
		for _, name := range []string{"search_path", "jit", "max_parallel_workers_per_gather"} {
			if _, err := w.session.conn.Exec(ctx, "RESET "+name+" /* redline */"); err != nil {
				w.say("plans: " + err.Error())
			}
		}
	}
	for i, s := range top {
		switch {
		case i >= maxPlans:
		case w.session == nil || w.session.conn.IsClosed():
			s.planError = lost
		default:
			s.plan, s.planError = w.session.plan(ctx, s.text)
		}
		statement := s.record()
		statement.Text = kept(s.text)
		if s.text == "" {
			statement.Text = "(text not seen: the server dropped it or was lost)"
		}
		w.store.Statements = append(w.store.Statements, statement)
	}
	w.store.Blocking = w.chains.all()
	w.store.Idle, w.store.IdleReadings = w.idles.all(), w.idles.readings
	if w.store.Statements == nil {
		w.store.Statements = []record.Statement{} // an empty list in JSON, not null
	}
}

// plan asks for the plan that the statement gets without regard to its
// parameters. Nothing is executed: EXPLAIN without ANALYZE, in a read-only
// transaction that is rolled back. Why there is none comes in words, without
// the text that the server may quote.
func (s *session) plan(ctx context.Context, text string) (plan []byte, why string) {
	switch {
	case text == "":
		return nil, "its text is not known"
	case len([]rune(text)) > maxText:
		return nil, "its text is too long"
	case !explainable(text):
		return nil, "only SELECT, INSERT, UPDATE, DELETE, WITH and VALUES have plans"
	}
	if _, found := redact.SQL(text); found {
		return nil, "its text holds constants, which the plan would show"
	}
	plan, err := s.planInTransaction(ctx, text)
	if err != nil {
		return nil, inWords(err)
	}
	return plan, ""
}

func (s *session) planInTransaction(ctx context.Context, text string) ([]byte, error) {
	tx, err := s.conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if s.version >= 160000 {
		return explain(ctx, tx, "EXPLAIN (GENERIC_PLAN, FORMAT JSON) /* redline */ "+text)
	}
	plan, err := explainPrepared(ctx, tx, text)
	// A prepared statement outlives the rollback.
	_ = tx.Rollback(ctx)
	_, _ = s.conn.Exec(ctx, "DEALLOCATE redline_plan /* redline */")
	return plan, err
}

// inWords says why there is no plan, without constants that a message may quote.
func inWords(err error) string {
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal):
		message, _ := redact.SQL(redact.Text(refusal.Message))
		return fmt.Sprintf("%s (SQLSTATE %s)", message, refusal.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return "no time was left to ask for it"
	}
	return err.Error()
}

// explainPrepared is for versions before 16, whose EXPLAIN takes no parameters:
// a prepared statement with a forced generic plan does not look at them.
func explainPrepared(ctx context.Context, tx pgx.Tx, text string) ([]byte, error) {
	if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_generic_plan /* redline */"); err != nil {
		return nil, err
	}
	// Hazard: without QueryExecModeExec pgx sends a text without arguments by
	// the simple protocol, which runs several statements; this one refuses.
	if _, err := tx.Exec(ctx, "PREPARE redline_plan AS /* redline */ "+text, pgx.QueryExecModeExec); err != nil {
		return nil, err
	}
	var parameters int
	err := tx.QueryRow(ctx, "SELECT /* redline */ cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'redline_plan'").Scan(&parameters)
	if err != nil {
		return nil, err
	}
	call := "EXECUTE redline_plan"
	if parameters > 0 {
		call += "(" + strings.TrimSuffix(strings.Repeat("NULL,", parameters), ",") + ")"
	}
	return explain(ctx, tx, "EXPLAIN (FORMAT JSON) /* redline */ "+call)
}

// explain runs an EXPLAIN by the extended protocol, which refuses a text of
// several statements. A generic plan does not look at the parameters, yet the
// protocol wants them: they are NULL.
func explain(ctx context.Context, tx pgx.Tx, sql string) ([]byte, error) {
	conn := tx.Conn().PgConn()
	prepared, err := conn.Prepare(ctx, "", sql, nil)
	if err != nil {
		return nil, err
	}
	result := conn.ExecPrepared(ctx, "", make([][]byte, len(prepared.ParamOIDs)), nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Rows) != 1 || len(result.Rows[0]) != 1 {
		return nil, errors.New("the server answered EXPLAIN with no plan")
	}
	plan := result.Rows[0][0]
	if len(plan) > maxPlan || !json.Valid(plan) {
		return nil, fmt.Errorf("the plan has %d bytes and is not kept", len(plan))
	}
	return plan, nil
}

// explainable tells whether EXPLAIN takes the statement.
func explainable(text string) bool {
	switch command(text) {
	case "select", "insert", "update", "delete", "merge", "with", "values":
		return true
	}
	return false
}
