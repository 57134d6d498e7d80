package database_test

import (
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	insert = "INSERT INTO orders (cents) VALUES ($1)"
	outbox = "UPDATE outbox SET sent = now() WHERE id = $1"
	place  = "shop/orders.(*Repository).Insert@orders.go:20"
	ship   = "shop/outbox.(*Worker).ship@worker.go:55"
	report = "SELECT day, sum(cents) FROM ledger WHERE region = $1 GROUP BY day"
	wide   = `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"ledger","Filter":"(region = $1)","Total Cost":53800,"Plan Rows":10}}]`
)

// ordering is a service whose requests wait 60 % of their time for one insert, as the hooks count it and the traces join it.
func ordering(whole int) *Builder {
	b := New(16, 10*ms).CPU(4, 0.8, 0.2, 0.1, 0.3).Gauge(series.DBBlocked, "", 0).Wait(breakdown.StateRunning, 4*ms, 2).
		Wait(breakdown.StateNetwork, 6*ms, 1, queryAt(place)...).Whole(whole)
	n := int64(b.Requests())
	return b.Statement(insert, n, 300*us, 1, 4, "").
		Asks(operation.Exec, insert, n, 6*ms, 1, Caller(1, 6*ms, "database/sql.(*DB).ExecContext", place)).Within(0, 6*ms, 1)
}

// worker is a caller in a goroutine that serves no request.
func worker() operation.Caller {
	return operation.Caller{Share: 1, MeanNS: int64(3 * ms), Sampled: 256,
		Stack: Stack("database/sql.(*DB).ExecContext", ship, "shop/outbox.(*Worker).Run@worker.go:30", "runtime.goexit")}
}

// TestStatementsOfAWorker: what a worker writes after each request is no part of a request, even if it is as much as if each request
// wrote it. Few whole requests in the traces do not show that.
func TestStatementsOfAWorker(t *testing.T) {
	after := func(whole int) *Builder {
		b := ordering(whole)
		n := int64(b.Requests())
		return b.Statement(outbox, 4*n, 100*us, 1, 4, "").Asks(operation.Exec, outbox, 4*n, 3*ms, 1, worker())
	}
	Expect(t, database.NPlusOne, after(1000))
	Expect(t, database.NPlusOne, after(20), "db-unbatched-write")
	// Requests run it as well: once each, as the traces show.
	both := ordering(1000)
	n := int64(both.Requests())
	both.Statement(outbox, 5*n, 100*us, 1, 4, "").Asks(operation.Exec, outbox, 5*n, 3*ms, 1, worker()).Within(0, ms, 1)
	Expect(t, database.NPlusOne, both)
	// Requests wait for the goroutine that runs it.
	handed := after(1000).Path([]breakdown.PathNode{{Kind: breakdown.PathGoroutine, Function: "shop/outbox.(*Worker).Run",
		State: breakdown.StateNetwork, NS: int64(ms), Share: 0.3}})
	Expect(t, database.NPlusOne, handed, "db-unbatched-write")
}

// TestStatementsOfAnotherProgram: the server counts what all programs run on the database, the hooks what this one does.
func TestStatementsOfAnotherProgram(t *testing.T) {
	other := func(b *Builder) *Builder { return b.Statement(report, 20, 4*time.Second, 10, 26000, wide) }
	for _, f := range Expect(t, slow.Query, other(ordering(1000))) {
		t.Errorf("%s: %s", f.Where.Function, f.Title)
	}
	unhooked := New(16, 10*ms).CPU(4, 0.8, 0.2, 0.1, 0.3).Gauge(series.DBBlocked, "", 0).Wait(breakdown.StateRunning, 4*ms, 2).
		Wait(breakdown.StateNetwork, 6*ms, 1, queryAt(place)...)
	Expect(t, slow.Query, unhooked.Statement(report, int64(unhooked.Requests()), 4*ms, 10, 26000, wide), "db-slow-query")
	// The hooks saw as many calls under another text: the name of a prepared statement.
	named := ordering(1000)
	n := int64(named.Requests())
	named.Statement(report, n, 5*ms, 10, 26000, wide).Asks(operation.Query, "report", n, 5*ms, 10).Within(0, 5*ms, 1)
	Expect(t, slow.Query, named, "db-slow-query")
	// The hooks do not see the texts in a batch.
	batched := ordering(1000)
	batched.Statement(report, n, 5*ms, 10, 26000, wide).Asks(operation.Batch, "batch", n, 5*ms, 10)
	Expect(t, slow.Query, batched, "db-slow-query")
}

// TestStatementThatFillsTheCPUs: on CPUs that the database fills, whatever it runs takes them from requests. Its place is not
// that of a request which waits meanwhile.
func TestStatementThatFillsTheCPUs(t *testing.T) {
	b := ordering(1000).CPU(4, 3.96, 0.3, 0.1, 3.5).Statement(report, 20, 1700*ms, 10, 26000, wide)
	found := Expect(t, slow.Query, b, "db-slow-query")
	if len(found) == 1 && (found[0].Where.Function != "" || found[0].ShareOf == "request time") {
		t.Errorf("%s of %s", found[0].Where.Function, found[0].ShareOf)
	}
}
