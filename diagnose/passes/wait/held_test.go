package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

const (
	claims    = "SELECT * FROM claims WHERE uid = $1"
	claimPlan = `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"claims","Filter":"(uid = $1)","Total Cost":5380,"Plan Rows":10}}]`
)

// asksDatabase is what a goroutine does that began in entry: it waits for a statement.
func asksDatabase(entry string) breakdown.Chain {
	return breakdown.Chain{Links: []breakdown.Link{{Goroutine: entry, Request: true, State: breakdown.StateNetwork, Times: 1,
		Stack: append(Stack(Query()...), Serving()...)}}}
}

// scanned is a service in which some requests wait for a statement that lacks an index, and others at most 18 ms for something else.
func scanned() *Builder {
	b := New(64, 44*ms).CPU(4, 0.8, 0.3, 0.1, 0.2).Gauge(series.DBBlocked, "", 0).
		Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateNetwork, 18*ms, 1, Query()...)
	return b.Statement(claims, int64(b.Requests()), 16*ms, 10, 2600, claimPlan)
}

// TestQueueAndSlowStatement: the queue for a slot, or for a computation in flight, follows from a slow statement if who holds it waits
// for that statement. If that one does something else, both are causes, each with its remedy.
func TestQueueAndSlowStatement(t *testing.T) {
	const serve = "net/http.(*conn).serve"
	for name, c := range map[string]struct {
		queue func(breakdown.Chain) *Builder
		cause string
	}{
		"slot": {func(does breakdown.Chain) *Builder {
			return scanned().Wait(breakdown.StateChannel, 20*ms, 1, "runtime.chansend1", get).WakerRequest("runtime.chanrecv1", get).
				Behind(does)
		}, "concurrency-limit"},
		"flight": {func(does breakdown.Chain) *Builder {
			return scanned().Wait(breakdown.StateChannel, 20*ms, 1, "runtime.chanrecv1", get).
				WakerRequest("shop/cache.(*Cache).Get@cache.go:55").Behind(does)
		}, "singleflight-convoy"},
	} {
		t.Run(name, func(t *testing.T) {
			suite := Alone(slow.Query, wait.Channel, wait.Flight)
			found := ExpectAll(t, suite, c.queue(asksDatabase(serve)), "db-slow-query at orders.go:41")
			if len(found) == 1 && len(found[0].Rejected) != 1 {
				t.Errorf("the queue is not told: %s", found[0].Title)
			}
			found = ExpectAll(t, suite, c.queue(computing(serve)), c.cause, "db-slow-query at orders.go:41")
			if len(found) == 2 && !strings.Contains(found[1].Remedy, "CREATE INDEX") {
				t.Error(found[1].Remedy)
			}
		})
	}
}
