package database_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/record/breakdown"
	record "github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

var (
	begin = []string{"net.(*conn).Read", "github.com/jackc/pgx/v5.(*Conn).BeginTx",
		"github.com/jackc/pgx/v5/pgxpool.(*Pool).BeginTx", "shop/refunds.(*Desk).Pay@refunds.go:20"}
	call = []string{"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
		"shop/bank.Transfer@bank.go:9", "shop/refunds.(*Desk).Pay@refunds.go:25"}
	apart = []string{"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
		"shop/bank.Transfer@bank.go:9", "shop/refunds.Check@check.go:25"}
)

// states sets how many sessions of the database are in each state.
func states(b *Builder, active, inTx, idle float64) *Builder {
	for state, n := range map[string]float64{"active": active, "idle in transaction": inTx, "idle": idle} {
		b.Gauge(series.DBBackends, series.Labels("state", state), n)
	}
	return b
}

func TestIdleInTx(t *testing.T) {
	// 64 requests at a time, 100 ms each: 640/s, and 12 ms of each are 7.7 sessions.
	busy := 0.6 // CPUs
	desk := func(where []string, inTx float64) *Builder {
		b := New(64, 100*ms).CPU(2, busy, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms, 3)
		b.Wait(breakdown.StateNetwork, ms, 1, begin...).Wait(breakdown.StateSelect, 12*ms, 1, where...)
		return states(b, 1, inTx, 0).Wait(breakdown.StateSelect, 86*ms, 1, PoolWait()...)
	}
	Expect(t, database.IdleInTx, desk(call, 7.7), "db-idle-in-tx at refunds.go:25")
	// Other programs that fill the CPUs do not make the call longer.
	busy = 1.99
	Expect(t, database.IdleInTx, desk(call, 7.7).Wait(breakdown.StateRunnable, 8*ms, 5), "db-idle-in-tx at refunds.go:25")
	busy = 0.6
	Expect(t, database.IdleInTx, desk(apart, 7.7)) // the call is not the transaction's
	Expect(t, database.IdleInTx, desk(call, 0.2))  // nor is it, says the server
	idle := New(64, 100*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).
		Wait(breakdown.StateNetwork, ms, 1, begin...).Wait(breakdown.StateSelect, 12*ms, 1, call...)
	Expect(t, database.IdleInTx, states(idle.Wait(breakdown.StateRunning, ms, 3), 1, 7.7, 0)) // nobody queues
	ExpectUnjudged(t, database.IdleInTx, New(64, 44*ms), "db-idle-in-tx")
}

// TestLockOfAPreparedTransaction: it belongs to no session, and has no statement.
func TestLockOfAPreparedTransaction(t *testing.T) {
	const hot = "UPDATE accounts SET balance = balance - $1 WHERE id = $2"
	b := twoPlaces().Gauge(series.DBBlocked, "", 20).Gauge(series.DBBackends, series.Labels("state", "active"), 24)
	rec, body := b.Statement(hot, int64(b.Requests()), 15*ms, 1, 5, "").Open(t)
	var all record.Statements
	if err := rec.ReadJSON(record.File, &all); err != nil {
		t.Fatal(err)
	}
	all.Blocking = []record.Blocking{{Seen: 9, Links: []record.BlockingLink{{State: "prepared transaction"}, {Text: hot, State: "active"}}}}
	if err := disk.WriteJSON(rec.Dir, record.File, all); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, Alone(database.LockWait))
	if err != nil || len(out.Findings) != 1 {
		t.Fatalf("%+v, %v", out.Findings, err)
	}
	if f := out.Findings[0]; !strings.HasSuffix(f.Title, "behind: a prepared transaction") || f.Where.Detail != "" ||
		!strings.Contains(f.Remedy, "pg_prepared_xacts") {
		t.Errorf("%s; %s; %q", f.Title, f.Remedy, f.Where.Detail)
	}
}

// TestAdvisoryLock: an advisory lock is no row that could be split or written last. Who waits is the place that runs the statement, not
// the one that waits longest for the database.
func TestAdvisoryLock(t *testing.T) {
	const lock = "SELECT pg_advisory_xact_lock($1)"
	b := twoPlaces().Gauge(series.DBBlocked, "", 20).Gauge(series.DBBackends, series.Labels("state", "active"), 24)
	b.Statement(lock, 200*int64(b.Requests()), 90*us, 1, 5, "").Blocks("UPDATE jobs SET done = $1", lock, 9)
	found := Expect(t, database.LockWait, b, "db-lock-wait at read.go:82")
	if len(found) == 1 && (!has(found[0], "inferred") || !strings.Contains(found[0].Remedy, "finer key") ||
		strings.Contains(found[0].Remedy, "Split rows")) {
		t.Errorf("%s; %v", found[0].Remedy, found[0].Evidence)
	}
}

// TestWhereConnectionsLeak: of several places that take connections, the one where requests wait longest for one need not be where they
// are lost. The statement after which they sit idle is known, and who runs it is if the hooks counted that.
func TestWhereConnectionsLeak(t *testing.T) {
	const find = "SELECT code FROM vouchers WHERE id = $1"
	leaks := func(hooks bool) findings.Finding {
		b := New(2, 10*ms).Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 6*ms, 2, Query()...).
			Wait(breakdown.StateNetwork, 3*ms, 1, queryAt(latest)...).Series(series.DBBackends, series.Labels("state", "idle"),
			func(w int) float64 { return 2 + float64(w/2) })
		n := int64(b.Requests())
		b.Statement(find, n, ms, 1, 4, "")
		if hooks {
			b.Asks(operation.Query, find, n, 3*ms, 1, Caller(1, 3*ms, queryAt(latest)...)).Within(0, 3*ms, 1)
		}
		rec, body := b.Open(t)
		var all record.Statements
		if err := rec.ReadJSON(record.File, &all); err != nil {
			t.Fatal(err)
		}
		all.Idle = []record.Idle{{Text: find, State: "idle in transaction", AtEnd: 40}}
		if err := disk.WriteJSON(rec.Dir, record.File, all); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, Alone(database.ConnLeak))
		if err != nil || len(out.Findings) != 1 {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0]
	}
	if f := leaks(false); strings.Contains(f.Title, ".go:") || !has(f, "the place is inferred") {
		t.Errorf("%s; %v", f.Title, f.Evidence)
	}
	if f := leaks(true); !strings.HasPrefix(f.Title, "Database connections leak at read.go:18: ") || has(f, "inferred") {
		t.Errorf("%s; %v", f.Title, f.Evidence)
	}
}

func TestConnLeak(t *testing.T) {
	// Two requests at a time.
	sessions := func(idle func(window int) float64) *Builder {
		b := New(2, 10*ms).Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 9*ms, 2, Query()...)
		return b.Gauge(series.DBBackends, series.Labels("state", "active"), 1).Series(series.DBBackends,
			series.Labels("state", "idle"), idle)
	}
	Expect(t, database.ConnLeak, sessions(func(w int) float64 { return 2 + float64(w/2) }), "db-conn-leak at orders.go:41")
	// until the pool is empty
	Expect(t, database.ConnLeak, sessions(func(w int) float64 { return min(32, 2+float64(w/2)) }), "db-conn-leak at orders.go:41")
	Expect(t, database.ConnLeak, sessions(func(int) float64 { return 60 }))                     // opened at the start
	Expect(t, database.ConnLeak, sessions(func(w int) float64 { return 2 + 40*float64(w/50) })) // one burst
	Expect(t, database.ConnLeak, sessions(func(w int) float64 { return 2 + float64(w%30) }))    // they come back
	busy := New(64, 44*ms).Wait(breakdown.StateNetwork, 44*ms, 2, Query()...)
	// they are needed
	Expect(t, database.ConnLeak, busy.Series(series.DBBackends, series.Labels("state", "active"),
		func(w int) float64 { return 2 + float64(w/2) }))
	pool := New(2, 10*ms).Wait(breakdown.StateNetwork, 9*ms, 2, Query()...)
	Expect(t, database.ConnLeak, pool.Series(series.PoolInUse, series.Labels("pool", "main"),
		func(w int) float64 { return 2 + float64(w/2) }), "db-conn-leak at orders.go:41")
	ExpectUnjudged(t, database.ConnLeak, New(64, 44*ms), "db-conn-leak")
	Expect(t, database.ConnLeak, New(64, 44*ms).Wait(breakdown.StateSleep, 44*ms, 1, "time.Sleep", "shop/a.F")) // no database at all
}

func TestUnbatchedWrite(t *testing.T) {
	insert := "INSERT INTO readings (meter, watts) VALUES ($1, $2)"
	b := idle()
	n := int64(b.Requests())
	found := Expect(t, database.NPlusOne, b.Statement(insert, 40*n, 30*us, 1, 4, "").
		Statement("BEGIN", 41*n, us, 0, 0, ""), "db-unbatched-write")
	if len(found) == 1 && (found[0].Where.SQL != insert || !strings.Contains(found[0].Remedy, "COPY")) {
		t.Errorf("the statement or COPY is not named: %+v", found[0])
	}
	for text, remedy := range map[string]string{
		"DELETE FROM readings WHERE meter = $1":           "Delete all rows with one statement (WHERE key = ANY($1))",
		"UPDATE readings SET watts = $1 WHERE meter = $2": "unnest($1::int[], ...)",
	} {
		other := Expect(t, database.NPlusOne, idle().Statement(text, 40*n, 30*us, 1, 4, "").Statement("BEGIN", 41*n, us, 0, 0, ""),
			"db-unbatched-write")
		if len(other) == 1 && (!strings.Contains(other[0].Remedy, remedy) || strings.Contains(other[0].Remedy, "COPY")) {
			t.Errorf("%s: %s", text, other[0].Remedy)
		}
	}
	// One statement for all rows saves round trips, and still writes each row.
	if slow := Expect(t, database.NPlusOne, idle().Statement(insert, 40*n, 400*us, 1, 4, "").Statement("BEGIN", 41*n, us, 0, 0, ""),
		"db-unbatched-write"); len(found) == 1 && len(slow) == 1 && slow[0].GainCeiling > 0.8*found[0].GainCeiling {
		t.Errorf("worth %.2fx where rows take 30 µs to write, %.2fx where they take 400 µs", found[0].GainCeiling, slow[0].GainCeiling)
	}
	Expect(t, database.NPlusOne, idle().Statement(insert, n, 30*us, 100, 4, "").Statement("BEGIN", n, us, 0, 0, ""))
	// Batches of several rows are no single rows, however many a request sends.
	for text, rows := range map[string]float64{insert: 500, "COPY readings": 1} {
		Expect(t, database.NPlusOne, idle().Statement(text, 6*n, 4*ms, rows, 40, "").Statement("BEGIN", n, us, 0, 0, ""))
	}
	several := Expect(t, database.NPlusOne, idle().Statement("UPDATE readings SET day = $1 WHERE meter = $2", 40*n, 30*us, 7, 4, ""),
		"db-unbatched-write")
	if len(several) == 1 && strings.Contains(several[0].Title, "rows one by one") {
		t.Errorf("seven rows by each: %s", several[0].Title)
	}
	create := []string{"net.(*conn).Read", "github.com/jackc/pgx/v5.(*Conn).Query", "database/sql.(*DB).QueryContext",
		"gorm.io/gorm/callbacks.Create.func1", "gorm.io/gorm.(*DB).Create", List}
	Expect(t, database.NPlusOne, New(64, 44*ms).Wait(breakdown.StateNetwork, 30*ms, 20, create...).
		Wait(breakdown.StateRunning, ms, 20), "db-unbatched-write at orders.go:41")
	exec := []string{"net.(*conn).Read", "github.com/lib/pq.(*stmt).Exec", "database/sql.(*Stmt).ExecContext",
		"database/sql.(*Stmt).Exec", List}
	Expect(t, database.NPlusOne, New(64, 44*ms).Wait(breakdown.StateNetwork, 30*ms, 20, exec...).
		Wait(breakdown.StateRunning, ms, 20), "db-unbatched-write at orders.go:41")
}

func TestStampede(t *testing.T) {
	fetch := []string{"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", "shop/prices.(*Shelf).Fetch@prices.go:30"}
	// 800 requests a second; a tenth of them fetch, 60 ms each, in one window of ten.
	cache := func(times float64, slow func(window int) bool) *Builder {
		b := New(64, 6*ms).Rate(800).CPU(2, 0.3, 0.2, 0.1, 0).Wait(breakdown.StateRunning, ms, 3)
		b.Wait(breakdown.StateSelect, 60*ms/10, times, fetch...)
		return b.Series(series.LoadLatency, series.Labels("q", "max"), func(w int) float64 {
			if slow(w) {
				return 62e6
			}
			return 1e6
		})
	}
	Expect(t, database.Stampede, cache(0.1, func(w int) bool { return w%10 == 0 }), "cache-stampede at prices.go:30")
	Expect(t, database.Stampede, cache(0.1, func(int) bool { return true }))      // misses at random
	Expect(t, database.Stampede, cache(1, func(w int) bool { return w%10 == 0 })) // every request asks
	Expect(t, database.Stampede, cache(0.1, func(w int) bool { return w == 40 })) // once is no habit
	ExpectUnjudged(t, database.Stampede, New(64, 44*ms), "cache-stampede")
	// Entries expire one after another, so no window is quiet. The hooks show which calls ask for the same thing.
	asking := func(times, same float64) *Builder {
		b := cache(times, func(int) bool { return true })
		b.Asks(operation.HTTP, "GET shop/prices/{}", int64(times*b.Requests()), 60*ms, 0, Caller(1, 60*ms, fetch[1:]...))
		return b.Duplicates(same)
	}
	found := Expect(t, database.Stampede, asking(0.1, 0.9), "cache-stampede at prices.go:30")
	if len(found) == 1 && (found[0].Confidence != "high" || !strings.Contains(found[0].Title, "90 % of the calls begin while")) {
		t.Errorf("%s confidence: %s", found[0].Confidence, found[0].Title)
	}
	Expect(t, database.Stampede, asking(0.1, 0.2)) // for different things
	Expect(t, database.Stampede, asking(1, 0.9))   // no cache answers any request
	shared := cache(1, func(int) bool { return true })
	shared.Asks(operation.HTTP, "GET shop/prices/{}", int64(shared.Requests()/2), 60*ms, 0, Caller(1, 60*ms, fetch[1:]...))
	Expect(t, database.Stampede, shared.Duplicates(0.9)) // nor this one, whose requests wait for each other's call
	each := cache(1, func(int) bool { return true })
	for _, pair := range []string{"eurusd", "gbpjpy", "chfsek"} { // nor of three addresses, which differ
		each.Asks(operation.HTTP, "GET shop/prices/"+pair, int64(each.Requests()/3), 60*ms, 0, Caller(1, 60*ms, fetch[1:]...))
		each.Duplicates(0.9)
	}
	Expect(t, database.Stampede, each)
}

// TestStatementOfAStampede: the statement that requests run when an entry has expired is that of the place, in bursts. Another one that
// takes the most time keeps its own finding.
func TestStatementOfAStampede(t *testing.T) {
	const prices, store = "SELECT cents FROM prices WHERE day = $1", "shop/prices.(*Shelf).Fetch@prices.go:30"
	bursts := func(w int) bool { return w%10 == 0 }
	b := New(64, 6*ms).Rate(800).CPU(2, 0.3, 0.2, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3).Gauge(series.DBBlocked, "", 0).
		Wait(breakdown.StateNetwork, 6*ms, 0.1, queryAt(store)...).Wait(breakdown.StateNetwork, 5*ms, 1, queryAt(latest)...).
		Series(series.LoadLatency, series.Labels("q", "max"), func(w int) float64 {
			if bursts(w) {
				return 62e6
			}
			return 1e6
		})
	n := int64(b.Requests())
	b.Statement(ordered, n, 4500*us, 1, 2600, seqPlan).Asks(operation.Query, ordered, n, 5*ms, 1, Caller(1, 5*ms, queryAt(latest)[7:]...)).
		Within(0, 5*ms, 1).Statement(prices, n/10, 30*ms, 1, 4, "").
		Asks(operation.Query, prices, n/10, 60*ms, 1, Caller(1, 60*ms, queryAt(store)[7:]...)).Within(0, 6*ms, 1)
	found := ExpectAll(t, Alone(database.Stampede, slow.Query), b, "cache-stampede at prices.go:30", "db-slow-query at read.go:18")
	if len(found) == 2 && found[0].Where.SQL != prices {
		t.Errorf("the stampede runs %q", found[0].Where.SQL)
	}
}

// TestStampedeOnSaturatedCPUs: the statements of a stampede that never ends use the CPUs up. Shorter waits would gain nothing there, and
// statements that are not run do.
func TestStampedeOnSaturatedCPUs(t *testing.T) {
	const text = "SELECT top FROM clicks WHERE section = ?"
	b := New(64, 240*ms).CPU(2, 1.96, 0.1, 0.05, 1.8).Wait(breakdown.StateNetwork, 200*ms, 0.1, Query()...).
		Wait(breakdown.StateRunning, ms, 1)
	calls := int64(0.1 * b.Requests())
	b.Asks(operation.Query, text, calls, 2000*ms, 1, Caller(1, 2000*ms, Query()[1:]...)).Duplicates(0.95)
	b.Statement(strings.ReplaceAll(text, "?", "$1"), calls, 1900*ms, 1, 900, "")
	found := Expect(t, database.Stampede, b, "cache-stampede")
	if len(found) == 1 && !(found[0].GainCeiling > 4 && found[0].GainCeiling < 9) {
		t.Errorf("worth %.2fx, of a database with nine tenths of the CPUs in which 95 %% of the calls are not needed", found[0].GainCeiling)
	}
}
