package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/redact"
)

const (
	// maxStored is the number of statements in statements.json, maxPlans the number
	// of those with a plan.
	maxStored = 100
	maxPlans  = 20
	// maxPlan bounds a plan's size in bytes.
	maxPlan = 1 << 20
	// finishTimeout bounds the requests after the load.
	finishTimeout = 5 * time.Second
)

// finish fetches what remains after the load, above all the plans, and fills the
// result of Store. It outlives ctx, which is done.
func (w *watch) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	w.readLast(ctx)
	w.revive(ctx)
	if w.session != nil && w.samples > 0 {
		if err := w.fetchTexts(ctx); err != nil {
			w.say(err.Error())
		}
	}
	if w.ledger.dropped {
		w.say(fmt.Sprintf("the target called more than %d statements; the rest are left out", maxFollowed))
	}
	top := w.ledger.top(maxStored)
	if w.session != nil {
		planned := top[:min(len(top), maxPlans)]
		w.adviseOn(ctx, planned, w.plan(ctx, planned))
	}
	for i, s := range top {
		if w.session == nil && i < maxPlans {
			s.planError = lost
		}
		statement := s.record()
		statement.Text = kept(s.text)
		if s.text == "" {
			statement.Text = "(text unknown: the server dropped it, or the connection was lost)"
		}
		w.store.Statements = append(w.store.Statements, statement)
	}
	w.store.Blocking = w.chains.all()
	w.store.Idle, w.store.IdleReadings = w.idles.all(), w.idles.readings
	if w.store.Statements == nil {
		w.store.Statements = []database.Statement{} // an empty list in JSON, not null
	}
}

// revive connects again if the last readings lost the connection: a busy server is there still, and texts and plans are
// to come.
func (w *watch) revive(ctx context.Context) {
	if w.session != nil {
		err := w.session.Conn.Ping(ctx)
		if err == nil {
			return
		}
		w.lost.begin(w.lastAt, err)
		w.disconnect()
	}
	if w.samples > 0 {
		w.reconnect(ctx, w.retryAt)
	}
}

// lost is the reason for a missing plan if the server is gone.
const lost = "the connection to the server was lost before EXPLAIN"

// adviseOn reads the catalogue for advice on indexes, and tries the advised ones.
func (w *watch) adviseOn(ctx context.Context, top []*statement, asked map[int64]author) {
	if w.session.Conn.IsClosed() {
		return
	}
	if err := w.describeTables(ctx, top); err != nil {
		w.say(inWords(err))
		return
	}
	if err := w.check(ctx, top, asked); err != nil {
		w.say(inWords(err))
	}
}

// plan gets the plans of statements and reports which are missing. It returns the
// statements' authors.
func (w *watch) plan(ctx context.Context, top []*statement) (asked map[int64]author) {
	refused := map[string]int{}
	var reasons []string // in order
	// A logged plan was made for values that the service sent; EXPLAIN has none.
	logged := w.logged(ctx, top)
	asked, err := w.session.findAuthors(ctx, top)
	for _, s := range top {
		if of, found := logged[s.id]; found {
			s.plan, s.planSource = of.Plan, of.source()
			continue
		}
		switch {
		case w.session.Conn.IsClosed():
			s.planError = lost
			continue
		case err != nil:
			s.planError = inWords(err)
			continue
		}
		a := asked[s.id]
		if s.planError = unplannable(a.text); s.planError != "" {
			continue
		}
		if s.planError = w.session.refusal(a); s.planError == "" {
			var err error
			if s.plan, err = w.session.explain(ctx, a); err == nil {
				s.planSource = "EXPLAIN"
				continue
			} else if s.planError = inWords(err); !errors.Is(err, errUnsafe) && !errors.Is(err, errPrepared) {
				continue
			}
		}
		if refused[s.planError] == 0 {
			reasons = append(reasons, s.planError)
		}
		refused[s.planError]++
	}
	for _, why := range reasons {
		w.say(fmt.Sprintf("%d of %d plans are missing: %s", refused[why], len(top), why))
	}
	return asked
}

// unplannable says why nobody can get a plan of a text; "" if somebody can.
func unplannable(text string) string {
	switch {
	case text == "":
		return "its text is not known"
	case len([]rune(text)) > maxText:
		return "its text is too long"
	case !explainable(text):
		return "only SELECT, INSERT, UPDATE, DELETE, WITH and VALUES have plans"
	}
	if _, found := redact.SQL(text); found {
		return "its text contains constants, which the plan would show"
	}
	return ""
}

// inWords says why there is no plan, without the constants that a message may
// quote.
func inWords(err error) string {
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal):
		message, _ := redact.SQL(redact.Text(refusal.Message))
		return fmt.Sprintf("%s (SQLSTATE %s)", message, refusal.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return "no time was left for it"
	}
	return err.Error()
}

// explainable reports whether EXPLAIN accepts the statement.
func explainable(text string) bool {
	switch command(text) {
	case "select", "insert", "update", "delete", "merge", "with", "values":
		return true
	}
	return false
}
