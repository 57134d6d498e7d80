package database_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestSlowBesideAnothersPool: requests queue for the two connections of one pool, and
// a slow statement runs on those of another, at which a request waits once in a
// while. The queue does not follow from the statement, and bounds what a faster one
// gives: in dispatch-desk 1.13x where its time alone said 1.4x.
func TestSlowBesideAnothersPool(t *testing.T) {
	const drivers = "shop/store.(*Store).Drivers@read.go:50"
	queue := []string{"runtime.selectgo", "github.com/jackc/puddle/v2.(*Pool[...]).Acquire",
		"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", drivers}
	opens := append([]string{"runtime.selectgo", "database/sql.(*DB).conn"}, queryAt(latest)[6:]...)
	b := New(6, 11*ms).CPU(2, 1.5, 0.2, 0.1, 1.2).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
	b.Wait(breakdown.StateRunning, 100*us, 3).Wait(breakdown.StateNetwork, 4*ms, 0.3, queryAt(latest)...).
		Wait(breakdown.StateNetwork, 3400*us, 0.7, queryAt(drivers)...).
		Wait(breakdown.StateSelect, 3500*us, 0.6, queue...).Wait(breakdown.StateSelect, 10*us, 0.001, opens...)
	n := int64(b.Requests())
	b.Statement(ordered, n/4, 14*ms, 75, 2600, seqPlan)
	b.Asks(operation.Query, strings.NewReplacer("$1", "?", "$2", "?").Replace(ordered), n/4, 14*ms, 75,
		Caller(1, 14*ms, queryAt(latest)...)).Within(0, 4*ms, 1)
	found := ExpectFirst(t, suite.All(), b, "db-pool-wait")
	for _, f := range found.Findings {
		if f.Cause == "db-slow-query" && f.GainCeiling < 1.2 && f.Then == "the pool of 2 connections" {
			return
		}
	}
	t.Errorf("the slow statement is not found, or the pool does not bound it: %+v", found)
}

// TestSlowWithoutTheServersCounts: requests wait for one statement on CPUs that the
// database saturates, and no server counted statements. That its share of the database's CPU is
// unknown does not make it zero. A statement that is merely frequent waits as long there,
// in the queue for a CPU, and is not the cause.
func TestSlowWithoutTheServersCounts(t *testing.T) {
	const text = "SELECT count(*) FROM lists WHERE status = ?"
	service := func(connections int, wait time.Duration) *Builder {
		b := New(connections, wait+time.Millisecond).NoStatements().CPU(2, 1.98, 0.03, 0.05, 1.8)
		b.Wait(breakdown.StateRunning, 100*us, 3).Wait(breakdown.StateNetwork, wait, 1, queryAt(latest)...)
		return b.Asks(operation.Query, text, int64(b.Requests()), wait, 2, Caller(1, wait, queryAt(latest)...)).Within(0, wait, 1)
	}
	f := ExpectFirst(t, suite.All(), service(8, 180*ms), "db-slow-query").Findings[0]
	if f.Confidence != findings.Medium || f.GainCeiling < 5 || f.Where.Line != 18 {
		t.Errorf("the statement is worth %.2f with %s confidence at %+v", f.GainCeiling, f.Confidence, f.Where)
	}
	last := f.Evidence[len(f.Evidence)-1].Text
	if !strings.Contains(last, "inferred") || !strings.Contains(last, "pg_stat_statements") {
		t.Errorf("the evidence does not say what it rests on: %+v", f.Evidence)
	}
	frequent := service(64, 25*ms) // 2,500 requests/s, 0.7 ms of the server's CPU each
	for _, f := range ExpectFirst(t, suite.All(), frequent, "").Findings {
		if f.Cause == "db-slow-query" {
			t.Errorf("a frequent statement is taken for a slow one: %s", f.Title)
		}
	}
}

// TestPlanWithoutTheServersCounts: a server that counts no statements still has plans. A short statement lacks an index if
// executing it takes most of the wait, and none if the wait is the way to the server.
func TestPlanWithoutTheServersCounts(t *testing.T) {
	const lists, page = "SELECT name FROM lists WHERE owner = ?", "SELECT * FROM lists WHERE owner = ? ORDER BY id LIMIT ?"
	const scan = `{"Node Type":"Seq Scan","Relation Name":"lists","Alias":"lists","Filter":"(owner = $1)","Total Cost":585,"Plan Rows":5}`
	service := func(trip time.Duration) *Builder {
		b := New(32, 9*time.Millisecond).NoStatements().CPU(2, 0.9, 0.1, 0.05, 0.5)
		b.Wait(breakdown.StateRunning, 100*us, 3).Wait(breakdown.StateNetwork, 8*time.Millisecond, 2, queryAt(latest)...)
		for text, wait := range map[string]time.Duration{lists: 5 * time.Millisecond, page: 3 * time.Millisecond} {
			plan := `[{"Plan":` + scan + `}]`
			if text == page {
				plan = `[{"Plan":{"Node Type":"Limit","Total Cost":590,"Plan Rows":5,"Plans":[{"Node Type":"Sort","Sort Key":["id"],` +
					`"Total Cost":589,"Plan Rows":5,"Plans":[` + scan + `]}]}}]`
			}
			b.Asks(operation.Query, text, int64(b.Requests()), wait, 5, Caller(1, wait, queryAt(latest)...)).Within(0, wait, 1).
				ServerPlan(plan, trip)
		}
		return b
	}
	near := ExpectFirst(t, suite.All(), service(200*us), "db-slow-query").Findings[0]
	if !strings.Contains(near.Remedy, "CREATE INDEX ON lists (owner, id)") || near.Where.Line != 18 || near.Share < 0.8 ||
		!has(near, "another statement lacks the index, at read.go:18") || !has(near, "Filter (owner = $1)") {
		t.Errorf("%.2f at %+v: %s; %v", near.Share, near.Where, near.Remedy, near.Evidence)
	}
	Expect(t, slow.Query, service(4900*us)) // the wait is the way to the server
	full := Expect(t, slow.Query, service(200*us).CPU(2, 1.98, 0.1, 0.05, 1.7), "db-slow-query at read.go:18")
	if len(full) == 1 && !(full[0].GainCeiling > 3) {
		t.Errorf("worth %.2fx, where an index for both statements frees most of the CPUs", full[0].GainCeiling)
	}
}

// TestLookUpsBesideAScan: on saturated CPUs many look-ups wait as long as one scan. The server, which nobody read, spends its CPU on the
// scan, and fetching the look-ups' rows at once frees little of it.
func TestLookUpsBesideAScan(t *testing.T) {
	const scan, lookUp = "SELECT * FROM items ORDER BY at LIMIT ?", "SELECT * FROM kinds WHERE id = ?"
	const at = "shop/kinds.(*Store).Get@kinds.go:11"
	gain := func(scans, lookUps time.Duration) float64 {
		b := New(8, 205*time.Millisecond).NoStatements().CPU(2, 1.98, 0.5, 0.05, 1.35)
		b.Wait(breakdown.StateRunning, 2*time.Millisecond, 3).Wait(breakdown.StateNetwork, scans, 1, queryAt(latest)...).
			Wait(breakdown.StateNetwork, 100*lookUps, 100, queryAt(at)...).
			Sample(2*time.Second, append(queryAt(at)[2:], queryAt(at)[len(queryAt(at))-1])...)
		n := int64(b.Requests())
		b.Asks(operation.Query, scan, n, scans, 50, Caller(1, scans, queryAt(latest)...)).Within(0, scans, 1).
			Asks(operation.Query, lookUp, 100*n, lookUps, 1, Caller(1, lookUps, queryAt(at)...)).Within(0, 100*lookUps, 100)
		found := Expect(t, database.NPlusOne, b, "db-n-plus-one at kinds.go:11")
		if len(found) != 1 {
			return 1
		}
		return found[0].GainCeiling
	}
	beside, alone := gain(100*time.Millisecond, time.Millisecond), gain(time.Millisecond, 2*time.Millisecond)
	if beside > 1.7 || alone < 2 {
		t.Errorf("look-ups are worth %.2fx beside a scan and %.2fx alone", beside, alone)
	}
}
