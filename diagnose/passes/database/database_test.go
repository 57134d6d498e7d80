package database_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	ms      = time.Millisecond
	us      = time.Microsecond
	orders  = "SELECT * FROM orders WHERE uid = $1"
	seqPlan = `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"orders","Filter":"(uid = $1)","Total Cost":5380,"Plan Rows":10}}]`
)

// idle leaves most CPUs idle while requests wait 40 ms for the database.
func idle() *Builder {
	b := New(64, 44*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
	return b.Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 40*ms, 2, Query()...)
}

func TestSlowQuery(t *testing.T) {
	b := idle()
	n := int64(b.Requests())
	found := Expect(t, slow.Query, b.Statement(orders, n, 18*ms, 10, 2600, seqPlan), "db-slow-query at orders.go:41")
	if len(found) == 1 && (found[0].Where.SQL != orders || !strings.Contains(found[0].Remedy, "CREATE INDEX ON orders (uid)")) {
		t.Errorf("statement or index is not named: %+v", found[0])
	}
	Expect(t, slow.Query, idle().Statement(orders, n, 18*ms, 10, 2600, ""), "db-slow-query")            // no plan, but many blocks
	Expect(t, slow.Query, idle().Statement("SELECT pg_sleep($1)", n, 35*ms, 1, 0, ""), "db-slow-query") // slow by itself
	Expect(t, slow.Query, idle().Statement(orders, n, 400*us, 10, 6, IndexPlan))                        // fast and indexed
	// a small table is read whole
	Expect(t, slow.Query, idle().Statement("SELECT * FROM rates WHERE day = $1", n, 300*us, 5, 4, seqPlan))
	Expect(t, slow.Query, idle().Statement("SELECT * FROM log", n, 5*ms, 5000, 300, seqPlan)) // reads what it returns
	Expect(t, slow.Query, idle().Statement(orders, n/100, 3*ms, 10, 2600, seqPlan).
		Statement("SELECT 1", n, 300*us, 1, 1, "")) // wasteful, but hardly any time
}

// TestSlowWrite: the rows that a statement changes are not rows that it reads, and a write has no result to cache.
func TestSlowWrite(t *testing.T) {
	for text, remedy := range map[string]string{
		"INSERT INTO log (at, text) SELECT * FROM unnest($1::int[], $2::text[])": "each index, trigger and foreign key",
		"COPY log": "already writes in bulk", "DELETE FROM log WHERE at < $1": "each foreign key that refers to it",
		"CALL close_day($1)": "outside of requests",
	} {
		b := idle()
		n := int64(b.Requests())
		found := Expect(t, slow.Query, b.Statement(text, n, 35*ms, 5000, 90, ""), "db-slow-query")
		if len(found) == 1 && (!strings.Contains(found[0].Remedy, remedy) || strings.Contains(found[0].Remedy, "cache") ||
			strings.Contains(found[0].Title, "Reading") || !has(found[0], "and changes 5,000 rows")) {
			t.Errorf("%s: %s; %s; %v", text, found[0].Title, found[0].Remedy, found[0].Evidence)
		}
	}
}

// TestCompiledPlan: where the server spends much of a statement's time on compiling its plan, not doing so is advised first.
func TestCompiledPlan(t *testing.T) {
	const jit = "jit = off"
	remedy := func(part float64) string {
		b := idle()
		b.Statement("SELECT pg_sleep($1)", int64(b.Requests()), 35*ms, 1, 0, "").Compiled(part)
		found := Expect(t, slow.Query, b, "db-slow-query")
		if len(found) != 1 {
			t.FailNow()
		}
		if has(found[0], "compiling its plan (JIT) takes 60 %") != (part > 0.5) {
			t.Errorf("%v: %+v", part, found[0].Evidence)
		}
		return found[0].Remedy
	}
	if got := remedy(0.6); !strings.Contains(got, jit) || !strings.Contains(got, "Then: ") {
		t.Errorf("compiling: %s", got)
	}
	if got := remedy(0.1); strings.Contains(got, jit) {
		t.Errorf("hardly compiling: %s", got)
	}
}

// TestSlowQueryOnUsedUpCPUs: if the server uses up the CPUs, a short statement waits for
// one too. The long one is worth its share of the execution, not of the waits.
func TestSlowQueryOnUsedUpCPUs(t *testing.T) {
	b := New(16, 44*ms).CPU(2, 2, 0.15, 0.05, 1.8).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).
		Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 40*ms, 2, Query()...)
	n := int64(b.Requests())
	found := Expect(t, slow.Query, b.Statement("SELECT slow($1)", n, 28*ms, 1, 0, "").
		Statement("SELECT name FROM users WHERE id = $1", n, ms, 1, 4, IndexPlan), "db-slow-query")
	if len(found) == 1 && (found[0].GainCeiling < 6 || found[0].GainCeiling > 9) { // 2 to 2 - 28/29 of 1.8
		t.Errorf("worth %.2fx", found[0].GainCeiling)
	}
}

// TestSlowQueryLeavesWhatElseTheRateNeeds: a statement takes most of the server's execution. The sessions that are
// opened in the meantime cost the server CPU that remains, and one goroutine that syncs a file for each request
// bounds the rate beside the CPUs: by the time that the disk takes, not by its queues for CPUs and locks.
func TestSlowQueryLeavesWhatElseTheRateNeeds(t *testing.T) {
	const trail = "shop/audit.(*Trail).consume"
	worth := func(perRequest, busy float64, state breakdown.State, calls ...float64) (gain float64, then string) {
		b := New(64, 800*ms).CPU(2, 2, 0.3, 0.06, 1.6).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).
			Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 700*ms, 2, Query()...)
		b.Counter(series.DBSessions, "", perRequest*b.Requests()).Statement(orders, int64(b.Requests()), 130*ms, 10, 2600, seqPlan)
		b.Path([]breakdown.PathNode{{Kind: breakdown.PathGoroutine, Function: trail, NS: 1e8, Share: 0.1, Nodes: []breakdown.PathNode{
			{Kind: breakdown.PathState, State: breakdown.StateRunnable, NS: 1e7, Share: 0.01},
			{Kind: breakdown.PathState, State: state, NS: 9e7, Share: 0.09}}}},
			trailWork(busy, calls...))
		found := Expect(t, slow.Query, b, "db-slow-query")
		if len(found) != 1 {
			t.FailNow()
		}
		return found[0].GainCeiling, found[0].Then
	}
	if gain, _ := worth(0, 0.3, breakdown.StateSyscall); gain < 4.5 { // 2 to 0.4
		t.Errorf("without sessions worth %.2fx", gain)
	}
	if gain, then := worth(1.4, 0.3, breakdown.StateSyscall); gain < 1.9 || gain > 2.2 || !strings.Contains(then, "CPUs") { // 2 to 0.96
		t.Errorf("with 112 sessions/s worth %.2fx, then %q", gain, then)
	}
	gain, then := worth(1.4, 0.9, breakdown.StateSyscall)
	if gain < 1.2 || gain > 1.3 || then != "the goroutine of audit.(*Trail).consume" {
		t.Errorf("beside a goroutine that is 80 %% busy by itself worth %.2fx, then %q", gain, then)
	}
	if gain, then := worth(1.4, 0.9, breakdown.StateNetwork); gain < 1.9 || gain > 2.2 {
		t.Errorf("beside a goroutine that waits for others worth %.2fx, then %q", gain, then)
	}
	// The same goroutine, and its calls counted: most of their time is a wait for CPUs.
	if gain, then := worth(1.4, 0.9, breakdown.StateSyscall, 0.8, 0.1); gain < 1.9 || gain > 2.2 || !strings.Contains(then, "CPUs") {
		t.Errorf("beside a goroutine whose calls wait for CPUs worth %.2fx, then %q", gain, then)
	}
	if gain, then := worth(1.4, 0.9, breakdown.StateNetwork, 0.8, 0.75); gain > 1.35 || then != "the goroutine of audit.(*Trail).consume" {
		t.Errorf("beside a goroutine whose calls are the disk's worth %.2fx, then %q", gain, then)
	}
}

// trailWork is what the audit trail's goroutine did; calls are the shares of its time in system calls, and of the
// calls alone.
func trailWork(busy float64, calls ...float64) breakdown.Serial {
	s := breakdown.Serial{Goroutine: "shop/audit.(*Trail).consume", Goroutines: 1, Requests: 40, WaitNS: 1e8, Utilization: busy,
		OnCPU: 0.01, Queued: 0.1}
	if len(calls) == 2 {
		s.Kernel, s.KernelAlone = calls[0], calls[1]
	}
	return s
}

func TestSlowQueryWithoutTrace(t *testing.T) {
	b := New(64, 44*ms)
	Expect(t, slow.Query, b.Statement(orders, int64(b.Requests()), 18*ms, 10, 2600, seqPlan), "db-slow-query")
	ExpectUnjudged(t, slow.Query, New(64, 44*ms), "db-slow-query")
}

// Of the statements that a request repeats, the one that takes most of their time is named, not the most
// frequent one.
func TestNPlusOneNamesWhatTakesTheTime(t *testing.T) {
	const comments, users = "SELECT * FROM comments WHERE post_id = $1", "SELECT * FROM users WHERE id = $1"
	const posts = "SELECT * FROM posts LIMIT 20"
	b := idle()
	n := int64(b.Requests())
	found := Expect(t, database.NPlusOne, b.Statement(posts, n, 60*us, 20, 6, "").Statement(users, 70*n, 60*us, 1, 4, "").
		Statement(comments, 18*n, 400*us, 3, 4, ""), "db-n-plus-one")
	if len(found) == 1 && (found[0].Where.SQL != comments || !strings.Contains(found[0].Title, "18 times") ||
		!strings.Contains(found[0].Title, "its repeated statements take") || !strings.Contains(found[0].Remedy, "comments")) {
		t.Errorf("%s: %s; %s", found[0].Where.SQL, found[0].Title, found[0].Remedy)
	}
	b = idle()
	found = Expect(t, database.NPlusOne, b.Statement(posts, n, 60*us, 20, 6, "").Statement(users, 70*n, 100*us, 1, 4, "").
		Statement(comments, 2*n, 10*ms, 3, 4, ""), "db-n-plus-one")
	if len(found) == 1 && found[0].Where.SQL != users {
		t.Errorf("two calls are no loop: %s", found[0].Where.SQL)
	}
	b = idle()
	found = Expect(t, database.NPlusOne, b.Statement(posts, n, 60*us, 20, 6, "").Statement(users, 70*n, 100*us, 1, 4, ""), "db-n-plus-one")
	if len(found) == 1 && strings.Contains(found[0].Title, "repeated statements") {
		t.Errorf("it repeats no others: %s", found[0].Title)
	}
}

func TestNPlusOne(t *testing.T) {
	item := "SELECT * FROM items WHERE id = $1"
	b := idle()
	n := int64(b.Requests())
	found := Expect(t, database.NPlusOne, b.Statement(orders, n, 60*us, 10, 6, "").Statement(item, 10*n, 30*us, 1, 4, ""), "db-n-plus-one")
	if len(found) == 1 && found[0].Where.SQL != item {
		t.Errorf("the repeated statement is not named: %+v", found[0].Where)
	}
	found = Expect(t, database.NPlusOne, idle().Statement(orders, n, 60*us, 10, 6, "").
		Statement("SELECT * FROM items", 10*n, 30*us, 1, 4, ""), "db-n-plus-one")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Run it once per request") {
		t.Errorf("each run returns the same rows: %s", found[0].Remedy)
	}
	found = Expect(t, database.NPlusOne, idle().Statement(orders, n, 60*us, 10, 6, "").
		Statement("SELECT * FROM items WHERE id IN ($1, $2)", 10*n, 30*us, 1, 4, ""), "db-n-plus-one")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "it already takes a list of keys") {
		t.Errorf("advises the list that the statement has: %s", found[0].Remedy)
	}
	Expect(t, database.NPlusOne, idle().Statement(orders, n, 60*us, 10, 6, "").Statement(item, n, 30*us, 1, 4,
		"").Statement("COMMIT", 2*n, 10*us, 0, 0, ""))
	Expect(t, database.NPlusOne, New(64, 44*ms).Wait(breakdown.StateNetwork, 30*ms, 20, Query()...).
		Wait(breakdown.StateRunning, ms, 20), "db-n-plus-one at orders.go:41")
	Expect(t, database.NPlusOne, New(64, 44*ms).Wait(breakdown.StateNetwork, 30*ms, 3, Query()...).Wait(breakdown.StateRunning, ms, 3))
}

func TestPoolWait(t *testing.T) {
	waiting := func() *Builder {
		b := New(64, 244*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms,
			3).Wait(breakdown.StateNetwork, 40*ms, 2, Query()...)
		return b.Wait(breakdown.StateSelect, 200*ms, 1, PoolWait()...)
	}
	found := Expect(t, database.PoolWait, waiting().Gauge(series.PoolMax, "", 2), "db-pool-wait at orders.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "from about 2 towards 8") {
		t.Errorf("the pool's size is not computed: %s", found[0].Remedy)
	}
	two := waiting().Gauge(series.PoolMax, "", 34)
	for name, size := range map[string]float64{"reads": 32, "writes": 2} {
		pool := series.Labels("pool", name)
		two = two.Gauge(series.PoolMax, pool, size).Counter(series.PoolWaitTime, pool, 1e9/size)
	}
	found = Expect(t, database.PoolWait, two, "db-pool-wait at orders.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "from about 2 towards 8") {
		t.Errorf("of two pools it is not the one that is waited for: %s", found[0].Remedy)
	}
	Expect(t, database.PoolWait, waiting().CPU(2, 1.97, 0.9, 0.2, 0.8).Gauge(series.PoolMax, "", 16))           // admission control
	Expect(t, database.PoolWait, idle().Wait(breakdown.StateSelect, 3*ms, 1, PoolWait()...))                    // a small part
	Expect(t, database.PoolWait, idle().Wait(breakdown.StateLock, 200*ms, 1, "sync.(*Mutex).Lock", "shop/a.F")) // another wait
	ExpectUnjudged(t, database.PoolWait, New(64, 44*ms), "db-pool-wait")
}

// TestPoolHeldByLockedSessions: goroutines that no request waits for run a statement whose sessions wait for each other's lock. Their
// connections are the queue at the pool if they have half of it.
func TestPoolHeldByLockedSessions(t *testing.T) {
	const touch = "UPDATE keys SET used_at = $1 WHERE id = $2"
	held := func(blocked float64) *Builder {
		b := New(64, 244*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateNetwork, 40*ms, 2, Query()...).Wait(breakdown.StateSelect, 200*ms, 1, PoolWait()...)
		n := int64(b.Requests())
		b.Gauge(series.PoolMax, "", 25).Gauge(series.DBBlocked, "", blocked).Gauge(series.DBBackends, series.Labels("state", "active"), 5)
		return b.Statement(touch, n, 30*ms, 1, 5, "").Asks(operation.Query, touch, n, 60*ms, 0, Caller(1, 60*ms,
			queryAt("shop/keys.(*Store).Touch@keys.go:94")[7:]...)).Blocks(touch, touch, 9)
	}
	passes := Alone(database.LockWait, database.PoolWait)
	ExpectAll(t, passes, held(13), "db-lock-wait at keys.go:94")
	ExpectAll(t, passes, held(4), "db-pool-wait at orders.go:41", "db-lock-wait at keys.go:94")
}

// TestPoolOfAnotherClient: each client's pool has its own settings, and a title names the place where most of the wait is.
func TestPoolOfAnotherClient(t *testing.T) {
	const other = "shop/orders.(*Store).Count@orders.go:70"
	for inner, setting := range map[string]string{
		"database/sql.(*DB).conn":                                                 "SetMaxOpenConns",
		"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire":                         "MaxConns of pgxpool",
		"github.com/go-pg/pg/v10/internal/pool.(*ConnPool).waitTurn":              "pg.Options",
		"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology.(*pool).checkOut": "maxPoolSize",
		"github.com/ClickHouse/clickhouse-go/v2.(*clickhouse).acquire":            "clickhouse.Options",
	} {
		b := New(64, 244*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateNetwork, 40*ms, 2, Query()...).Gauge(series.PoolMax, "", 2).
			Wait(breakdown.StateSelect, 120*ms, 1, "runtime.selectgo", inner, List).
			Wait(breakdown.StateSelect, 80*ms, 1, "runtime.selectgo", inner, other)
		found := Expect(t, database.PoolWait, b, "db-pool-wait at orders.go:41")
		if len(found) == 1 && (!strings.Contains(found[0].Remedy, setting) || !has(found[0], "the pool opens at most 2 connections") ||
			!strings.Contains(found[0].Title, ", most of it at orders.go:41")) {
			t.Errorf("%s: %s; %s", inner, found[0].Title, found[0].Remedy)
		}
	}
}

// A request that gives up at its deadline leaves a goroutine behind, and the request waited for the same
// thing as that goroutine, which goroutine profiles show.
func TestWorkThatADeadlineLeavesBehind(t *testing.T) {
	handler := "net/http.(*timeoutHandler).ServeHTTP@/usr/local/go/src/net/http/server.go:3840"
	cut := func() *Builder {
		return New(64, 244*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateSelect, 200*ms, 1, "runtime.selectgo", handler).
			Waker("context.(*cancelCtx).cancel", "context.(*timerCtx).cancel", "context.WithDeadlineCause.func2")
	}
	stack := append(append([]string{"runtime.gopark"}, PoolWait()...), "net/http.(*timeoutHandler).ServeHTTP.func1")
	Expect(t, database.PoolWait, cut().Left(20, 40, stack...), "db-pool-wait at orders.go:41")
	Expect(t, wait.Sleep, cut().Left(20, 40, stack...))
	found := Expect(t, wait.Sleep, cut(), "sleep") // no profile shows any
	if len(found) == 1 && !strings.Contains(found[0].Title, "until a deadline passes") {
		t.Errorf("a deadline is taken for a pause: %s", found[0].Title)
	}
	other := cut().Left(20, 40, "runtime.gopark", "runtime.selectgo", "database/sql.(*DB).connectionOpener")
	Expect(t, database.PoolWait, other) // not this request's
}

// Removing repeated calls saves only their own time: a statement that takes most of the
// time once per request stays, however many short ones go.
func TestRepeatedCallsTakeTheirOwnTime(t *testing.T) {
	item := "SELECT * FROM items WHERE id = $1"
	b := func() *Builder {
		return New(64, 100*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateNetwork, 90*ms/11, 11, Query()...)
	}
	n := int64(b().Requests())
	Expect(t, database.NPlusOne, b().Statement(orders, n, 85*ms, 10, 6, "").Statement(item, 10*n, 100*us, 1, 4, ""))
	found := Expect(t, database.NPlusOne, b().Statement(orders, n, 40*ms, 10, 6, "").Statement(item, 10*n, 4*ms, 1, 4, ""), "db-n-plus-one")
	if len(found) == 1 && (found[0].Share < 0.35 || found[0].Share > 0.5 || found[0].GainCeiling > 1/(1-found[0].Share)+0.01) {
		t.Errorf("9 of 10 calls of 4 ms in 100 ms are %.2f of the request, worth %.2fx", found[0].Share, found[0].GainCeiling)
	}
}

// TestTwoPools: a queue at one pool does not follow from a statement that runs on
// another, and is no part of that statement's time; at the same pool it does and is.
func TestTwoPools(t *testing.T) {
	other := []string{"runtime.selectgo", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", "shop/drivers.(*Desk).OnDuty@drivers.go:12"}
	b := func(queue []string) *Builder {
		b := New(64, 100*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms,
			3).Wait(breakdown.StateNetwork, 39*ms, 1, Query()...)
		return b.Wait(breakdown.StateSelect, 60*ms, 1, queue...).Statement(orders, int64(b.Requests()), 35*ms, 10, 2600, seqPlan)
	}
	found := ExpectAll(t, suite.All(), b(other), "db-pool-wait at drivers.go:12", "db-slow-query at orders.go:41")
	if len(found) == 2 && found[1].Share > 0.45 {
		t.Errorf("the queue elsewhere is counted with the statement: %.2f", found[1].Share)
	}
	found = ExpectAll(t, suite.All(), b(PoolWait()), "db-slow-query at orders.go:41")
	if len(found) == 1 && found[0].Share < 0.9 {
		t.Errorf("the queue for the statement is left out: %.2f", found[0].Share)
	}
}

func TestPoolChurn(t *testing.T) {
	dial := []string{"net.(*netFD).connect", "github.com/lib/pq.(*Connector).open", "database/sql.(*DB).conn", List}
	opened := func(perRequest float64) *Builder {
		b := idle()
		return b.Counter(series.DBSessions, "", perRequest*b.Requests())
	}
	Expect(t, database.PoolChurn, opened(0.8).Wait(breakdown.StateNetwork, 60*ms, 1, dial...), "db-pool-churn at orders.go:41")
	Expect(t, database.PoolChurn, idle().Wait(breakdown.StateNetwork, 60*ms, 0.9, dial...), "db-pool-churn") // the trace alone shows it
	Expect(t, database.PoolChurn, opened(0.8).Wait(breakdown.StateNetwork, ms, 1, dial...))                  // cheap
	Expect(t, database.PoolChurn, opened(0.001).Wait(breakdown.StateNetwork, 60*ms, 0.001, dial...))         // a few at the start
	// Goroutines of the requests open them, so that no request waits for it: the CPU decides.
	behind := func(busy float64) *Builder {
		b := New(4, 80*ms).CPU(2, busy, 0.5, 0.1, 1.3).Wait(breakdown.StateSync, 70*ms, 1, List)
		return b.Statement("SELECT 1", int64(b.Requests()), 2*ms, 1, 1, "").Counter(series.DBSessions, "", b.Requests())
	}
	found := Expect(t, database.PoolChurn, behind(1.98), "db-pool-churn")
	if len(found) == 1 && (found[0].ShareOf != "cpu" || len(found[0].Evidence) != 2) {
		t.Errorf("a quarter of a CPU of 1.9, and no wait: %+v", found[0])
	}
	Expect(t, database.PoolChurn, behind(1.2))
	// The hooks know for which caller they were opened, and it is not the one that asks for most.
	const conn = "database/sql.(*DB).conn"
	opener, user := Caller(0.1, ms, conn, "shop/orders.version@pool.go:86"), Caller(0.9, 9*ms, conn, List)
	opener.Opened = 3
	b := behind(1.98)
	b.Asks(operation.Acquire, "", 10*int64(b.Requests()), ms, 0, user, opener)
	Expect(t, database.PoolChurn, b, "db-pool-churn at pool.go:86")
}

// TestChurnOfPGX: a pool of pgx has no idle connections to set, and a service without a pool has none to keep.
func TestChurnOfPGX(t *testing.T) {
	for outer, want := range map[string]string{
		"github.com/jackc/pgx/v5/pgxpool.NewWithConfig.func1": "MaxConnLifetime", "": "Open a pool once",
	} {
		stack := []string{"net.(*netFD).connect", "github.com/jackc/pgx/v5/pgconn.connectOne", "github.com/jackc/pgx/v5.ConnectConfig"}
		if outer != "" {
			stack = append(stack, outer)
		}
		b := idle()
		b.Counter(series.DBSessions, "", 0.8*b.Requests()).Wait(breakdown.StateNetwork, 60*ms, 1, append(stack, List)...)
		found := Expect(t, database.PoolChurn, b, "db-pool-churn at orders.go:41")
		if len(found) == 1 && (!strings.Contains(found[0].Remedy, want) || strings.Contains(found[0].Remedy, "SetMaxIdleConns")) {
			t.Errorf("%s: %s", outer, found[0].Remedy)
		}
	}
}

func TestLockWait(t *testing.T) {
	update := "UPDATE accounts SET balance = balance - $1 WHERE id = $2"
	blocked := func(blocked, active float64) *Builder {
		b := idle().Statement("SELECT 1", 10, us, 1, 1, "").Gauge(series.DBBlocked, "", blocked)
		return b.Gauge(series.DBBackends, series.Labels("state", "active"), active).Statement(update, int64(b.Requests()), 30*ms, 1, 5, "")
	}
	found := Expect(t, database.LockWait, blocked(20, 24), "db-lock-wait")
	if len(found) == 1 && found[0].Where.SQL != update {
		t.Errorf("the locking statement is not named: %+v", found[0].Where)
	}
	// One session holds a lock at a time. What other programs do with the CPUs does not end the wait; CPUs that the load
	// itself fills may.
	gain := func(target float64) float64 {
		b := blocked(20, 24).CPU(2, 1.99, target, 0.1, 0.2)
		if found := Expect(t, database.LockWait, b, "db-lock-wait"); len(found) == 1 {
			return found[0].GainCeiling
		}
		return 0
	}
	if others, own := gain(0.3), gain(1.68); others < 2 || own > 1.5 {
		t.Errorf("ending the wait gains %.2f on CPUs that others use and %.2f on CPUs that the load fills", others, own)
	}
	Expect(t, database.LockWait, blocked(0.1, 24))
	Expect(t, database.LockWait, blocked(1, 24))
	ExpectUnjudged(t, database.LockWait, New(64, 44*ms).Statement(update, 100, ms, 1, 1, ""), "db-lock-wait")
}

// TestSlowStatementUnderALock: sessions wait for the locks of one that scans a table meanwhile. The scan comes first, with their
// wait, which the server counts as their own statement's time; one that an index would not help is only what holds the lock.
func TestSlowStatementUnderALock(t *testing.T) {
	const queue = "SELECT * FROM queue_leaves()"
	under := func(plan string, blocks float64) *Builder {
		b := idle()
		n := int64(b.Requests())
		return b.Statement(queue, n, 30*ms, 1, 10, "").Statement(orders, n, 9*ms, 10, blocks, plan).
			Blocks(orders, queue, 9).Blocks(queue, queue, 1).
			Gauge(series.DBBlocked, "", 20).Gauge(series.DBBackends, series.Labels("state", "active"), 26)
	}
	found := ExpectAll(t, Alone(database.LockWait, slow.Query), under(seqPlan, 2600), "db-slow-query at orders.go:41")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "other sessions wait for its transaction's locks") || found[0].Share < 0.8) {
		t.Errorf("%s (%.2f)", found[0].Title, found[0].Share)
	}
	ExpectAll(t, Alone(database.LockWait, slow.Query), under(IndexPlan, 12), "db-lock-wait")
}

// TestLockWaitBesideASlowStatement: sessions that wait for a hot row's lock do not make another statement read a table in full. Each is
// a cause of its own, and nothing disappears where no trace says who runs what.
func TestLockWaitBesideASlowStatement(t *testing.T) {
	const hot = "UPDATE shows SET left = left - ? WHERE id = ?"
	both := func(b *Builder) *Builder {
		n := int64(b.Requests())
		return b.Statement(hot, n, 24*ms, 1, 4, "").Statement(orders, n, 14*ms, 10, 2600, seqPlan).Blocks(hot, hot, 9).
			Gauge(series.DBBlocked, "", 16).Gauge(series.DBBackends, series.Labels("state", "active"), 26)
	}
	analyzers := Alone(database.LockWait, slow.Query)
	found := ExpectAll(t, analyzers, both(idle()), "db-lock-wait", "db-slow-query at orders.go:41")
	if len(found) == 2 && !strings.Contains(found[1].Remedy, "CREATE INDEX ON orders (uid)") {
		t.Error(found[1].Remedy)
	}
	const queue = "SELECT * FROM queue_leaves()"
	unseen := New(64, 44*ms).CPU(2, 0.6, 0.2, 0.1, 0.2)
	n := int64(unseen.Requests())
	unseen.Statement(queue, n, 30*ms, 1, 10, "").Statement(orders, n, 9*ms, 10, 2600, seqPlan).Blocks(orders, queue, 9).
		Gauge(series.DBBlocked, "", 20).Gauge(series.DBBackends, series.Labels("state", "active"), 26)
	found = ExpectAll(t, analyzers, unseen, "db-slow-query")
	if len(found) == 1 && len(found[0].Rejected) == 0 {
		t.Errorf("the locks are not told: %+v", found[0])
	}
}

func TestUnprepared(t *testing.T) {
	prepare := []string{"net.(*conn).Read", "github.com/lib/pq.(*conn).prepareTo",
		"github.com/lib/pq.(*conn).query", "database/sql.(*DB).queryDC", List}
	Expect(t, database.Unprepared, idle().Wait(breakdown.StateNetwork, 20*ms, 1, prepare...), "db-unprepared at orders.go:41")
	Expect(t, database.Unprepared, idle().Wait(breakdown.StateNetwork, 20*ms, 0.01, prepare...)) // once per connection
	text := []string{"net.(*conn).Read", "github.com/jackc/pgx/v5/pgconn.(*MultiResultReader).NextResult",
		"github.com/jackc/pgx/v5.(*Conn).Query", List}
	sent := func(cpu float64) *Builder {
		b := idle()
		return b.Wait(breakdown.StateNetwork, 60*ms, 1, text...).Statement(orders, int64(b.Requests()), 50*us, 1,
			5, "").Counter(series.DBCPU, "", cpu*50e3*b.Requests())
	}
	Expect(t, database.Unprepared, sent(2), "db-unprepared at orders.go:41")
	Expect(t, database.Unprepared, sent(1.1)) // the cost is the execution
	// Nothing queues, and nobody notices the round trip.
	instant := New(64, 3*ms).Rate(100).Wait(breakdown.StateRunning, 200*us, 1).Wait(breakdown.StateNetwork, 900*us, 1, prepare...)
	if found := Expect(t, database.Unprepared, instant, "db-unprepared"); len(found) == 1 && found[0].Confidence != findings.Low {
		t.Errorf("%s confidence where requests take 3 ms", found[0].Confidence)
	}
	// On CPUs that others use up the wait is the most that can be gained, and what preparing takes of the CPUs the least.
	beside := New(8, 40*ms).CPU(2, 1.98, 0.6, 0.1, 0.3).Wait(breakdown.StateRunnable, 8*ms, 4).
		Wait(breakdown.StateNetwork, 16*ms, 1, prepare...).Wait(breakdown.StateNetwork, 14*ms, 1, Query()...).
		Sample(6*time.Second, "shop/web.render@web.go:9")
	if found := Expect(t, database.Unprepared, beside, "db-unprepared"); len(found) == 1 &&
		(found[0].GainCeiling > 1.2 || found[0].GainHigh < 1.4 || found[0].Confidence != findings.Low) {
		t.Errorf("worth %.2fx, at most %.2fx, %s confidence", found[0].GainCeiling, found[0].GainHigh, found[0].Confidence)
	}
}

func TestSaturated(t *testing.T) {
	b := New(64, 44*ms).CPU(2, 1.95, 0.2, 0.1, 1.6)
	Expect(t, database.Saturated, b.Statement(orders, 100, us, 1, 1, ""), "db-saturated")
	Expect(t, database.Saturated, New(64, 44*ms).CPU(2, 1.95, 0.45, 0.2, 1.3).Statement(orders, 100, us, 1, 1, ""), "db-saturated")
	Expect(t, database.Saturated, New(64, 44*ms).CPU(2, 1.95, 0.9, 0.1, 0.9).Statement(orders, 100, us, 1, 1, ""))
	Expect(t, database.Saturated, New(64, 44*ms).CPU(2, 1.2, 0.1, 0.1, 0.9).Statement(orders, 100, us, 1, 1, ""))
	ExpectUnjudged(t, database.Saturated, New(64, 44*ms).CPU(2, 1.95, 0.9, 0.1, -1).Statement(orders, 100, us, 1, 1, ""), "db-saturated")
}
