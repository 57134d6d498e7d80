package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/observe"
	pgserver "github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// distinct returns the ith of 8192 statements that have different ids.
func distinct(i int) string {
	sql := "SELECT 1"
	for bit := range 13 {
		sql += fmt.Sprintf(" %c 1", "+-"[i>>bit&1])
	}
	return sql
}

// windows returns the windows that a series has, in order.
func (r *running) windows(name string) (all []int64) {
	for _, p := range r.Points() {
		if p.Series.Name == name {
			all = append(all, p.Window)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// absent checks that no window which lies in a gap has a point.
func (r *running) absent(t *testing.T, gap record.Gap, name string) {
	t.Helper()
	for _, w := range r.windows(name) {
		if span := timebase.WindowSpan(w, width); span.From >= gap.From && span.To <= gap.To {
			t.Errorf("%s has a value in window %d, inside the gap %v to %v", name, w, gap.From, gap.To)
		}
	}
}

func (r *running) more(t *testing.T, n int) {
	t.Helper()
	_, before := r.Sum(series.DBBlocked, "")
	r.until(t, "more readings", func() bool { _, now := r.Sum(series.DBBlocked, ""); return now >= before+n })
}

func TestServerRestarted(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	r := run(t, server.DSN)
	r.base(t)
	for range 20 {
		exec(t, conn, "SELECT 42 AS before")
	}
	r.until(t, "the calls before", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 19.9 })
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, before := r.Sum(series.DBBlocked, "")
	r.until(t, "readings of the new server", func() bool { _, n := r.Sum(series.DBBlocked, ""); return n > before+3 })
	conn = connectTo(t, server.DSN)
	for range 7 {
		exec(t, conn, "SELECT 42 AS before")
	}
	r.until(t, "the calls after", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 26.9 })
	r.stop()
	if n, _ := r.Sum(series.StatementCalls, "*"); n > 27.1 {
		t.Errorf("%v calls, want 27", n)
	}
	h := r.Health()
	i := slices.IndexFunc(h.Gaps, func(g record.Gap) bool { return g.Why == "PostgreSQL was restarted" })
	if i < 0 || !h.OK || !strings.Contains(h.Why, "it was restarted") {
		t.Fatalf("health does not report the restart: %+v", h)
	}
	for _, name := range []string{series.DBCommits, series.DBBackends, series.StatementCalls, series.DBCPU} {
		r.absent(t, h.Gaps[i], name)
	}
}

func TestStatisticsReset(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	r := run(t, server.DSN)
	r.base(t)
	for range 10 {
		exec(t, conn, "SELECT 42 AS answer")
	}
	r.until(t, "the calls before", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 9.9 })
	exec(t, conn, "SELECT pg_stat_statements_reset()")
	// More than before the reset: a difference alone would not show it.
	for range 50 {
		exec(t, conn, "SELECT 42 AS answer")
	}
	exec(t, conn, "SELECT pg_stat_reset()")
	r.more(t, 10)
	if n, _ := r.Sum(series.StatementCalls, "*"); n > 62 {
		t.Errorf("%v calls, and there were 61", n)
	}
	for range 5 {
		exec(t, conn, "SELECT 'later'")
	}
	r.until(t, "statements after the reset", func() bool {
		r.more(t, 2)
		return slices.Max(r.windows(series.StatementCalls)) > timebase.Window(r.gaps0().To, width)
	})
	r.stop()
	h := r.Health()
	i := slices.IndexFunc(h.Gaps, func(g record.Gap) bool { return g.Of == "statements" && g.Why == resetWhy })
	if i < 0 || !strings.Contains(h.Why, "reset") {
		t.Fatalf("health does not report the reset: %+v", h)
	}
	r.absent(t, h.Gaps[i], series.StatementCalls)
	if len(r.windows(series.DBCommits)) == 0 {
		t.Error("no commits")
	}
	for _, p := range r.Points() {
		if p.Value < 0 {
			t.Errorf("%s is %v in window %d", p.Series.Name, p.Value, p.Window)
		}
	}
}

func (r *running) gaps0() record.Gap {
	if len(r.gaps) == 0 {
		return record.Gap{}
	}
	return r.gaps[0]
}

func TestStatisticsOverflow(t *testing.T) {
	server := start(t, map[string]string{"pg_stat_statements.max": "100"})
	conn := connectTo(t, server.DSN)
	r := run(t, server.DSN)
	r.base(t)
	for i := range 1500 {
		exec(t, conn, distinct(i))
		if i%10 == 0 {
			exec(t, conn, "SELECT count(*) FROM generate_series(1, 2000)")
		}
	}
	r.more(t, 5)
	r.stop()
	h := r.Health()
	if !h.OK || !strings.Contains(h.Why, "pg_stat_statements.max") {
		t.Errorf("health does not report the eviction: %+v", h)
	}
	if !slices.ContainsFunc(h.Gaps, func(g record.Gap) bool { return g.Of == "statements" && strings.Contains(g.Why, "full") }) {
		t.Errorf("no gap: %+v", h.Gaps)
	}
	if len(r.ledger.followed) > maxFollowed {
		t.Errorf("%d statements followed", len(r.ledger.followed))
	}
	frequent := slices.IndexFunc(r.store.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, "generate_series") })
	if frequent < 0 || r.store.Statements[frequent].Calls == 0 || r.store.Statements[frequent].Calls > 150 {
		t.Errorf("the statement that takes the time is not followed: %d of %d", frequent, len(r.store.Statements))
	}
}

// Three sessions in a row, with who waits for whom and no constant of theirs.
func TestBlockingChain(t *testing.T) {
	server := start(t, nil)
	setup := connectTo(t, server.DSN)
	exec(t, setup, "CREATE TABLE accounts (id int PRIMARY KEY, note text)")
	exec(t, setup, "INSERT INTO accounts VALUES (1, 'a'), (2, 'b')")
	head, middle, last := connectTo(t, server.DSN+"&application_name=head"), connectTo(t, server.DSN+
		"&application_name=middle"), connectTo(t, server.DSN+"&application_name=last")
	exec(t, head, "BEGIN")
	exec(t, head, "UPDATE accounts SET note = 'hunter2' WHERE id = 1")
	exec(t, middle, "BEGIN")
	exec(t, middle, "DELETE FROM accounts WHERE id = 2")
	r := run(t, server.DSN)
	done := make(chan error, 2)
	go func() {
		_, err := middle.Exec(context.Background(), "UPDATE accounts SET note = 'hunter3' WHERE id = 1")
		done <- err
	}()
	r.until(t, "the first wait", func() bool { return r.Last(series.DBBlocked, "") == 1 })
	go func() {
		_, err := last.Exec(context.Background(), "UPDATE accounts SET note = 'hunter4' WHERE id = 2")
		done <- err
	}()
	r.until(t, "both waits", func() bool { return r.Last(series.DBBlocked, "") == 2 })
	r.until(t, "the middle as a blocker", func() bool { return r.Last(series.DBBlockers, "state=active") == 1 })
	r.until(t, "an age", func() bool { return r.Last(series.DBOldest, "") > float64(time.Second) })
	if n := r.Last(series.DBConnections, "application=head,state=idle in transaction"); n != 1 {
		t.Errorf("%v connections of the head idle in transaction", n)
	}
	exec(t, head, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	exec(t, middle, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.stop()
	if !slices.ContainsFunc(r.store.Idle, func(one database.Idle) bool {
		return one.Application == "head" && one.State == "idle in transaction" &&
			one.Text == "update accounts set note = ? where id = ?" && one.Most == 1 && one.Transaction > 0
	}) || r.store.IdleReadings == 0 {
		t.Errorf("the head's idle transaction is not in %+v", r.store.Idle)
	}
	i := slices.IndexFunc(r.store.Blocking, func(b database.Blocking) bool { return len(b.Links) == 3 })
	if i < 0 {
		t.Fatalf("no chain of three in %+v", r.store.Blocking)
	}
	chain := r.store.Blocking[i]
	for n, want := range []database.BlockingLink{
		{Application: "head", State: "idle in transaction", Text: "update accounts set note = ? where id = ?"},
		{Application: "middle", State: "active", Wait: "Lock:transactionid", Text: "update accounts set note = ? where id = ?"},
		{Application: "last", State: "active", Wait: "Lock:transactionid", Text: "update accounts set note = ? where id = ?"},
	} {
		got := chain.Links[n]
		if got.Application != want.Application || got.State != want.State || got.Wait != want.Wait || got.Text != want.Text {
			t.Errorf("link %d is %+v, want %+v", n, got, want)
		}
		if got.Transaction <= 0 || got.Statement <= 0 {
			t.Errorf("link %d has no times: %+v", n, got)
		}
	}
	if strings.Contains(fmt.Sprint(r.store), "hunter") {
		t.Error("a constant is kept")
	}
}

func TestTLSIsSaidToBeMissing(t *testing.T) {
	server := start(t, nil)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	err = New().Open(t.Context(), observe.Subject{Clock: clock, Window: width, DSN: strings.Replace(server.DSN,
		"sslmode=disable", "sslmode=require", 1)})
	var refusal *observe.Unsupported
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "sslmode=disable") || refusal.NotAsked {
		t.Errorf("Open: %v", err)
	}
	// As a server says it whose pg_hba.conf has hostssl lines only.
	config := connectTo(t, server.DSN).Config()
	err = pgserver.Unreachable(config, &pgconn.PgError{Code: "28000",
		Message: `no pg_hba.conf entry for host "::1", user "u", database "d", no encryption`})
	if !strings.Contains(err.Error(), "sslmode=require") {
		t.Errorf("TLS required: %v", err)
	}
	err = New().Open(t.Context(), observe.Subject{Clock: clock, Window: width})
	if !errors.As(err, &refusal) || !refusal.NotAsked {
		t.Errorf("without a DSN: %v, want it to be not asked for", err)
	}
}
