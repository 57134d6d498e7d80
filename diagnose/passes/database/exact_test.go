package database_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// queryAt is the inner end of a stack that waits for a query's answer at a place.
func queryAt(place string) []string {
	q := Query()
	return append(q[:len(q)-2:len(q)-2], place)
}

const (
	latest  = "shop/store.(*Store).Latest@read.go:18"
	getEach = "shop/store.getEach@read.go:82"
	ordered = `SELECT * FROM "orders" WHERE user_id = $1 ORDER BY created_at DESC LIMIT $2`
	item    = `SELECT * FROM "order_items" WHERE "order_items"."id" = $1 LIMIT $2`
)

// twoPlaces waits about as long at a place that runs one slow statement as at one
// that runs many fast ones.
func twoPlaces() *Builder {
	b := New(16, 44*ms).CPU(4, 0.8, 0.2, 0.1, 0.3).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
	return b.Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 20*ms, 1, queryAt(latest)...).
		Wait(breakdown.StateNetwork, 19*ms, 200, queryAt(getEach)...)
}

// TestCallerByCalls: the place that waits once is not taken for that of a statement
// which a request runs 200 times, though both wait equally long.
func TestCallerByCalls(t *testing.T) {
	n := int64(twoPlaces().Requests())
	b := twoPlaces().Statement(ordered, n, 19*ms, 1, 2600, "").Statement(item, 200*n, 50*us, 1, 4, "")
	found := Expect(t, slow.Query, b, "db-slow-query at read.go:18")
	if len(found) == 1 && (found[0].Confidence == findings.High || !has(found[0], "inferred")) {
		t.Errorf("an inferred caller is told as known: %s %v", found[0].Confidence, found[0].Evidence)
	}
	b = twoPlaces().Statement(ordered, n, 10*us, 1, 4, "").Statement(item, 200*n, 100*us, 1, 2600, "")
	Expect(t, slow.Query, b, "db-slow-query at read.go:82")
}

// TestRepeatedAsOftenInEachRequest: at the ends of a span some requests are in it with a part of their calls. If each whole one runs
// a statement 200 times, that is how often requests run it, though the server counts fewer per request.
func TestRepeatedAsOftenInEachRequest(t *testing.T) {
	service := func() *Builder { return twoPlaces().Achieved(400).Whole(50) }
	n := int64(service().Requests())
	const sent = `SELECT * FROM "order_items" WHERE "order_items"."id" = $1 AND gone = FALSE LIMIT 1;`
	const counted = `SELECT * FROM "order_items" WHERE "order_items"."id" = $1 AND gone = $2 LIMIT $3`
	asks := func(b *Builder, text string, calls, most int64) *Builder {
		return b.Asks(operation.Query, text, calls, 90*us, 1, Caller(1, 90*us, "database/sql.(*DB).QueryContext", getEach)).
			Within(0, 18*ms, most)
	}
	titled := func(b *Builder, want string) {
		t.Helper()
		found := Expect(t, database.NPlusOne, b.Statement(counted, 196*n, 90*us, 1, 4, ""), "db-n-plus-one at read.go:82")
		if len(found) == 1 && !strings.Contains(found[0].Title, want) {
			t.Errorf("%s, want %s", found[0].Title, want)
		}
	}
	titled(asks(service(), sent, 200*n, 200), "runs one statement 200 times")
	titled(asks(service(), sent, 190*n, 200), "runs one statement 196 times")
	// One that differs in a constant is the same statement, and only some requests run it.
	some := asks(service(), strings.Replace(sent, "LIMIT 1", "LIMIT 2", 1), n/2, 1)
	titled(asks(some, sent, 200*n, 200), "runs one statement 196 times")
}

// TestCallerOneOf: two places that agree equally well are both named.
func TestCallerOneOf(t *testing.T) {
	other := "shop/store.(*Store).Search@read.go:40"
	b := New(16, 44*ms).CPU(4, 0.8, 0.2, 0.1, 0.3).Gauge(series.DBBlocked, "", 0).Wait(breakdown.StateRunning, ms, 3).
		Wait(breakdown.StateNetwork, 20*ms, 1, queryAt(latest)...).Wait(breakdown.StateNetwork, 18*ms, 1, queryAt(other)...)
	found := Expect(t, slow.Query, b.Statement(ordered, int64(b.Requests()), 19*ms, 1, 2600, seqPlan), "db-slow-query")
	if len(found) == 1 && (found[0].Confidence != findings.Medium || !has(found[0], "one of read.go:18, read.go:40") &&
		!has(found[0], "one of read.go:40, read.go:18")) {
		t.Errorf("%s: %v", found[0].Confidence, found[0].Evidence)
	}
}

// TestCallerOutsideHook: a library's hook that retries all statements asks for none of them; one that
// runs a statement of its own does.
func TestCallerOutsideHook(t *testing.T) {
	const query, hook, lib = "database/sql.(*DB).QueryContext", "shop/store.retry@retry.go:33", "lib.test/orm.(*Query)"
	through := func(caller string) []string {
		return []string{query, lib + ".Rows", hook, lib + ".wrap", lib + ".All", caller}
	}
	b := twoPlaces()
	n := int64(b.Requests())
	b.Statement(ordered, n, 19*ms, 1, 2600, seqPlan).Asks(operation.Query, ordered, n, 19*ms, 1, Caller(1, 19*ms, through(latest)...))
	Expect(t, slow.Query, b.Within(0, 19*ms, 1), "db-slow-query at retry.go:33")
	b.Asks(operation.Query, item, n, ms, 1, Caller(1, ms, through(getEach)...))
	Expect(t, slow.Query, b, "db-slow-query at read.go:18")
	// Nothing of the library's is further out: the function runs what others hand to it.
	b = twoPlaces().Statement(ordered, n, 19*ms, 1, 2600, seqPlan)
	for _, text := range []string{ordered, item} {
		b.Asks(operation.Query, text, n, 19*ms, 1, Caller(1, 19*ms, query, lib+".Rows", hook, latest)).Within(0, 19*ms, 1)
	}
	Expect(t, slow.Query, b, "db-slow-query at retry.go:33")
}

// TestCallerOfARelay: by the service's sources a method sends what it is given. Its caller is named, in the
// finding and among the waits.
func TestCallerOfARelay(t *testing.T) {
	relay := code.Frame{Function: "shop/data.(*Tx).Query", File: "data.go", Line: 165}
	const query, sends = "database/sql.(*Tx).QueryContext", "shop/data.(*Tx).Query@data.go:165"
	named := func(relays ...code.Frame) string {
		b := twoPlaces()
		n := int64(b.Requests())
		rec, body := b.Statement(ordered, n, 19*ms, 1, 2600, seqPlan).
			Asks(operation.Query, ordered, n, 19*ms, 1, Caller(1, 19*ms, query, sends, latest)).Within(0, 19*ms, 1).
			Asks(operation.Query, `SELECT count(*) FROM "orders"`, n, ms, 1, Caller(1, ms, query, sends, getEach)).Within(0, ms, 1).Open(t)
		if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Relays: relays}); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, suite.All())
		if err != nil || len(out.Findings) == 0 || out.Findings[0].Cause != "db-slow-query" {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0].Where.Function
	}
	if got := named(relay); got != "shop/store.(*Store).Latest" {
		t.Errorf("the place is %s, want the relay's caller", got)
	}
	relay.Line++
	if got := named(relay); got != relay.Function {
		t.Errorf("another line of the function relays, and the place is %s", got)
	}
}

// TestRepeatedByGeneratedCode: a statement of generated code is repeated by its caller, which can be changed.
func TestRepeatedByGeneratedCode(t *testing.T) {
	const find, page = "shop/db.(*Queries).Find@query.sql.go:30", "shop/web.(*API).page@web.go:12"
	found := func(generated ...code.Frame) findings.Where {
		b := twoPlaces()
		n := int64(b.Requests())
		rec, body := b.Statement(item, 10*n, ms, 1, 4, "").
			Asks(operation.Query, item, 10*n, ms, 1, Caller(1, ms, append(queryAt(find), page)...)).Within(0, 10*ms, 10).Open(t)
		if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Generated: generated}); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, Alone(database.NPlusOne))
		if err != nil || len(out.Findings) != 1 {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0].Where
	}
	if w := found(code.Frame{Function: "shop/db.(*Queries).Find", Line: 30}); w.Line != 12 || w.Detail != "through db.(*Queries).Find" {
		t.Errorf("generated: %+v", w)
	}
	if w := found(); w.Line != 30 || w.Detail != "called by web.(*API).page" {
		t.Errorf("written: %+v", w)
	}
}

// TestRepeatedWhileCounted: the hooks' counters are read within the load, so their counts belong to fewer requests than it made. What
// else repeats is named.
func TestRepeatedWhileCounted(t *testing.T) {
	const find, page = "shop/store.(*Orders).Find@store.go:30", "shop/web.(*API).page@web.go:12"
	const users = "SELECT * FROM users WHERE id = $1"
	b := twoPlaces()
	n := int64(b.Requests())
	by := Caller(1, ms, append(queryAt(find), page)...)
	b.Asks(operation.Query, item, 9*n, ms, 1, by).Within(0, 10*ms, 10).Asks(operation.Query, users, 9*n, 10*us, 1, by).Within(0, ms, 10)
	found := Expect(t, database.NPlusOne, b.CountedFor(9*time.Second), "db-n-plus-one at store.go:30")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "10 times") ||
		!has(found[0], "another one runs 10 times per request: "+users)) {
		t.Errorf("%s: %v", found[0].Title, found[0].Evidence)
	}
}

// TestRepeatedInALoop: a repository's method runs the statement once, and its caller loops. The finding says where, next to the
// place of the statement; where the method loops itself, its callers are enough.
func TestRepeatedInALoop(t *testing.T) {
	const find, page = "shop/store.(*Orders).Find@store.go:30", "shop/web.(*API).page@web.go:12"
	scheme := "http"
	detail := func(loops ...code.Frame) string {
		b := twoPlaces().Scheme(scheme)
		n := int64(b.Requests())
		rec, body := b.Statement(item, 10*n, ms, 1, 4, "").
			Asks(operation.Query, item, 10*n, ms, 1, Caller(1, ms, append(queryAt(find), page, "net/http.HandlerFunc.ServeHTTP",
				"shop/web.chain@chain.go:7")...)).
			Within(0, 10*ms, 10).Open(t)
		if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Loops: loops}); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, Alone(database.NPlusOne))
		if err != nil || len(out.Findings) != 1 || out.Findings[0].Where.Line != 30 {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0].Where.Detail
	}
	within, around := code.Frame{Function: "shop/store.(*Orders).Find", Line: 30}, code.Frame{Function: "shop/web.(*API).page", Line: 12}
	if got, want := detail(around), "in the loop of web.(*API).page at web.go:12"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	chain := code.Frame{Function: "shop/web.chain", Line: 7} // of middlewares: what calls the handler repeats nothing
	if got := detail(chain); got != "called by web.(*API).page" {
		t.Errorf("a loop around the handler: %q", got)
	}
	scheme = "ws" // requests are messages, which the outermost function reads
	if got := detail(around); got != "called by web.(*API).page" {
		t.Errorf("a loop over messages: %q", got)
	}
	scheme = "http"
	around.Line++
	for name, loops := range map[string][]code.Frame{"its own": {within}, "another line": {around}, "none": nil} {
		if got := detail(loops...); got != "called by web.(*API).page" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRepeatedWithAllThatIsDoneForEach: what a function does besides a repeated statement may go with it, if a loop or a library
// calls the function for each. If neither is known, it may as well be what the request does once.
func TestRepeatedWithAllThatIsDoneForEach(t *testing.T) {
	const (
		find, page = "shop/store.(*Orders).Find@store.go:30", "shop/web.(*API).page@web.go:12"
		each       = "sync.(*Map).Range@map.go:9"
		builds     = "shop/store.(*Orders).Find@store.go:27"
	)
	gain := func(loop int, around ...string) findings.Finding {
		b := twoPlaces().CPU(2, 2, 1.7, 0.1, 0.2)
		n := int64(b.Requests())
		asked := append(queryAt(find), around...)
		rec, body := b.Statement(item, 10*n, ms, 1, 4, "").
			Sample(200*ms, append([]string{"database/sql.(*Conn).QueryContext"}, append([]string{find}, around...)...)...).
			Sample(600*ms, append([]string{"strings.Repeat", builds}, around...)...).
			Sample(200*ms, "encoding/json.Marshal", "shop/web.(*API).page@web.go:20").
			Asks(operation.Query, item, 10*n, ms, 1, Caller(1, ms, asked...)).Within(0, 10*ms, 10).Open(t)
		loops := code.Compiler{Loops: []code.Frame{{Function: "shop/web.(*API).page", Line: loop}}}
		if err := disk.WriteJSON(rec.Dir, code.File, loops); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, Alone(database.NPlusOne))
		if err != nil || len(out.Findings) != 1 {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0]
	}
	alone := gain(99, page)
	if alone.GainHigh != 0 || alone.GainCeiling > 1.6 {
		t.Errorf("no loop is known: %.2f, %.2f to %.2f", alone.GainCeiling, alone.GainLow, alone.GainHigh)
	}
	for name, f := range map[string]findings.Finding{"in a loop": gain(12, page), "by a library": gain(99, each, page)} {
		if f.GainHigh < 2.5 || f.GainLow != alone.GainCeiling || f.GainCeiling <= f.GainLow {
			t.Errorf("%s: %.2f, %.2f to %.2f, alone %.2f", name, f.GainCeiling, f.GainLow, f.GainHigh, alone.GainCeiling)
		}
	}
}

// TestCallerOfARepository: who calls it decides which table its statements are about, whether it builds them or
// a library does. It is named where it asks several tables itself, where all it asks is one, or without a caller.
func TestCallerOfARepository(t *testing.T) {
	const query, find, run = "database/sql.(*DB).QueryContext", "shop/base.(*Repository).Find@base.go:30", "shop/base.run@base.go:9"
	asks := func(second string, callers ...[]string) *Builder {
		b := twoPlaces()
		n := int64(b.Requests())
		through := func(outer []string) []string {
			return append([]string{query, "lib.test/orm.(*Query).All", run, find}, outer...)
		}
		return b.Statement(ordered, n, 19*ms, 1, 2600, seqPlan).
			Asks(operation.Query, ordered, n, 19*ms, 1, Caller(1, 19*ms, through(callers[0])...)).Within(0, 19*ms, 1).
			Asks(operation.Query, second, n, ms, 1, Caller(1, ms, through(callers[1])...)).Within(0, ms, 1)
	}
	handler := []string{latest}
	Expect(t, slow.Query, asks(item, handler, []string{getEach}), "db-slow-query at read.go:18")
	Expect(t, slow.Query, asks(item, handler, handler), "db-slow-query at base.go:9")
	Expect(t, slow.Query, asks(`SELECT id FROM "orders"`, handler, []string{getEach}), "db-slow-query at base.go:9")
	Expect(t, slow.Query, asks(item, handler, nil), "db-slow-query at base.go:30")
}

// TestCallerCounted: with the hooks' count the true caller is named, whatever the
// waits look like, with shares and calls per request.
func TestCallerCounted(t *testing.T) {
	b := twoPlaces()
	n := int64(b.Requests())
	b.Statement(ordered, n, 19*ms, 1, 2600, seqPlan)
	b.Asks(operation.Query, `SELECT * FROM "orders" WHERE user_id = ? ORDER BY created_at DESC LIMIT ?`, n, 19*ms, 1,
		Caller(0.1, ms, queryAt(latest)...), Caller(0.9, 21*ms, queryAt(getEach)...)).Within(0, 19*ms, 3)
	found := Expect(t, slow.Query, b, "db-slow-query at read.go:82")
	if len(found) == 1 && (found[0].Confidence != findings.High || has(found[0], "inferred") ||
		!has(found[0], "read.go:82 (90 %), read.go:18 (10 %)") || !has(found[0], "at most 3 in one")) {
		t.Errorf("%s: %v", found[0].Confidence, found[0].Evidence)
	}
	b = twoPlaces().Statement(item, 10*n, ms, 1, 4, "")
	b.Asks(operation.Query, `SELECT * FROM "order_items" WHERE "order_items"."id" = ? LIMIT ?`, 10*n, ms,
		1, Caller(1, ms, queryAt(latest)...)).Within(0, 10*ms, 10)
	found = Expect(t, database.NPlusOne, b, "db-n-plus-one at read.go:18")
	if len(found) == 1 && found[0].Confidence != findings.High {
		t.Errorf("what is counted is told with %s confidence", found[0].Confidence)
	}
}

// TestQueueIsBlamedOnTheHolder: requests queue for a connection while others hold it
// for an n+1 within the rows of a wasteful statement. The queue is the n+1's.
func TestQueueIsBlamedOnTheHolder(t *testing.T) {
	queue := append([]string{"runtime.selectgo", "database/sql.(*DB).conn"}, queryAt(latest)[6:]...)
	b := New(32, 200*ms).CPU(4, 1.2, 0.3, 0.1, 0.6).Gauge(series.PoolMax, "", 4).Gauge(series.DBBlocked, "", 0)
	b.Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 12*ms, 1, queryAt(latest)...).
		Wait(breakdown.StateNetwork, 36*ms, 100, queryAt(latest)...).
		Wait(breakdown.StateSelect, 150*ms, 1, queue...)
	n := int64(b.Requests())
	b.Statement(ordered, n, 11*ms, 100, 2600, seqPlan).Statement(item, 100*n, 100*us, 1, 4, "")
	b.Asks(operation.Query, strings.NewReplacer("$1", "?", "$2", "?").Replace(ordered), n, 48*ms, 100,
		Caller(1, 48*ms, queryAt(latest)...)).Within(0, 12*ms, 1)
	b.Asks(operation.Query, strings.NewReplacer("$1", "?", "$2", "?").Replace(item), 100*n, 360*us, 1,
		Caller(1, 360*us, queryAt(latest)...)).Within(0, 36*ms, 100)
	found := Expect(t, slow.Query, b, "db-slow-query")
	if len(found) == 1 && (strings.Contains(found[0].Title, "queue for a connection (75 %") || found[0].Share > 0.4) {
		t.Errorf("the whole queue is blamed on the slow statement: %.2f %s", found[0].Share, found[0].Title)
	}
	ops := b.Asks(operation.Acquire, "", 101*n, ms, 0)
	ops.Kept(48*ms*1e3, 0)
	found = Expect(t, database.PoolWait, ops, "db-pool-wait")
	if len(found) == 1 && (!has(found[0], "connections are held for "+`SELECT * FROM "order_items"`) ||
		!has(found[0], "(75 % of the time")) {
		t.Errorf("who holds the connections is not reported first: %v", found[0].Evidence)
	}
	ExpectFirst(t, suite.All(), ops, "db-n-plus-one")
}

// TestFewWholeRequestsAreTheFastest: in the traces of a slow service only those requests are
// whole that do not run the slow statement, so its share comes from the server.
func TestFewWholeRequestsAreTheFastest(t *testing.T) {
	b := twoPlaces()
	n := int64(b.Requests())
	b.Statement(ordered, n, 19*ms, 1, 2600, seqPlan).Statement(item, 4*n, 50*us, 1, 4, "")
	b.Asks(operation.Query, strings.NewReplacer("$1", "?", "$2", "?").Replace(ordered), n, 19*ms, 1, Caller(1, 19*ms, queryAt(latest)...)).
		Within(0, 0, 0)
	b.Asks(operation.Query, strings.NewReplacer("$1", "?", "$2", "?").Replace(item), 4*n, ms, 1, Caller(1, ms, queryAt(getEach)...)).
		Within(0, 4*ms, 4)
	rec, a := b.Open(t)
	a.Requests, a.Partial = 3, 60
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Findings) == 0 || out.Findings[0].Cause != "db-slow-query" || !strings.HasSuffix(out.Findings[0].Where.Function, "Latest") {
		t.Errorf("found %+v, want the statement that the whole requests do not run", out.Findings)
	}
}

func has(f diagnose.Finding, text string) bool {
	for _, e := range f.Evidence {
		if strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

// TestStatementsOfGoroutinesOfGoroutines: a request waits for a goroutine that starts others, which run the
// statements. The trace does not follow the wait to its end; the hooks count what those goroutines do.
func TestStatementsOfGoroutinesOfGoroutines(t *testing.T) {
	const collects, checks = "shop/check.(*group).collect.func1", "shop/check.(*engine).direct.func1"
	fansOut := func(began string) *Builder {
		b := New(8, 100*ms).CPU(4, 0.8, 0.2, 0.1, 0.3).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
		b.Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateChannel, 98*ms, 1, "runtime.chanrecv1", "shop/check.(*engine).check@engine.go:90").
			Waker("runtime.chansend1", collects).Spawned(80).Behind(breakdown.Chain{NS: int64(98 * ms), Links: []breakdown.Link{
			{Goroutine: collects, State: breakdown.StateChannel, Times: 1, Stack: Stack("runtime.chanrecv1", collects)},
			{Goroutine: checks, State: breakdown.StateChannel, Times: 1}}}) // where the trace lost it
		n := int64(b.Requests())
		by := operation.Caller{Share: 1, MeanNS: int64(2 * ms), Sampled: 256,
			Stack: Stack("database/sql.(*DB).QueryContext", getEach, began, "runtime.goexit")}
		return b.Statement(item, 40*n, 500*us, 1, 4, "").Asks(operation.Query, item, 40*n, 2*ms, 1, by)
	}
	Expect(t, database.NPlusOne, fansOut(checks), "db-n-plus-one at read.go:82")
	Expect(t, database.NPlusOne, fansOut("shop/stock.(*sweeper).run")) // in the background
}
