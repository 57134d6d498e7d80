package diagnosetest

import (
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/timebase"
)

// Asks adds an operation as the hooks count it: a statement that the service runs so
// many times in the steady span, and how long each takes. Within sets its share of the
// mean request.
func (b *Builder) Asks(kind operation.Kind, text string, calls int64, each time.Duration, rows float64,
	callers ...operation.Caller) *Builder {
	b.operations.Queries = true
	b.operations.Operations = append(b.operations.Operations, operation.Operation{
		ID: 1 + len(b.operations.Operations), Kind: kind, Text: text, Calls: calls, TotalNS: calls * int64(each), MaxNS: 2 * int64(each),
		Rows: int64(rows * float64(calls)), Callers: callers,
	})
	return b
}

// CountedFor says how long the hooks' counts cover; otherwise it is the steady span.
func (b *Builder) CountedFor(d time.Duration) *Builder {
	b.operations.Span = timebase.Span{From: warmup, To: warmup + d}
	return b
}

// Dials adds connections that net/http's client opened, as the hooks count them.
func (b *Builder) Dials(host string, opened int64, callers ...operation.Caller) *Builder {
	b.operations.Operations = append(b.operations.Operations, operation.Operation{
		ID: 1 + len(b.operations.Operations), Kind: operation.Dial, Text: host, Calls: opened, Opened: opened, Callers: callers})
	return b
}

// Undated says that no call of the operation added last had a deadline, and how
// long the longest took.
func (b *Builder) Undated(longest time.Duration) *Builder {
	op := &b.operations.Operations[len(b.operations.Operations)-1]
	op.NoDeadline, op.MaxNS = op.Calls, int64(longest)
	return b
}

// Duplicates sets the part of the calls of the operation added last that begin while the same call is under way, 0 to 1.
func (b *Builder) Duplicates(part float64) *Builder {
	op := &b.operations.Operations[len(b.operations.Operations)-1]
	op.Duplicates = int64(part * float64(op.Calls))
	return b
}

// Failing sets the share of the calls of the operation added last that fail, 0 to 1.
func (b *Builder) Failing(part float64) *Builder {
	op := &b.operations.Operations[len(b.operations.Operations)-1]
	op.Errors = int64(part * float64(op.Calls))
	return b
}

// Caller is a stack that called an operation, for a share of its calls.
func Caller(share float64, each time.Duration, frames ...string) operation.Caller {
	return operation.Caller{Share: share, MeanNS: int64(each), Stack: append(Stack(frames...), Serving()...), Sampled: 256}
}

// Within sets how long the mean request is within the operation added last, and the most
// executions in one request.
func (b *Builder) Within(running, waiting time.Duration, most int64) *Builder {
	a, id := b.anatomyOf(), len(b.operations.Operations)
	op := b.operations.Operations[id-1]
	a.Operations = append(a.Operations, breakdown.OperationsPerRequest{
		Operation: id, Mean: float64(op.Calls) / b.Requests(), Max: most, Requests: int64(a.Requests),
		RunningNS: int64(running), WaitingNS: int64(waiting),
	})
	return b
}

// SQLite sets the database file that the target has open.
func (b *Builder) SQLite(journal string) *Builder {
	b.operations.SQLite = []operation.SQLiteDatabase{{File: "shop.db", Journal: journal, Bytes: 8 << 20}}
	return b
}

// Plan sets SQLite's query plan of the operation added last.
func (b *Builder) Plan(rows []string, scans ...operation.SQLiteScan) *Builder {
	text := b.operations.Operations[len(b.operations.Operations)-1].Text
	b.operations.Plans = append(b.operations.Plans, operation.SQLitePlan{Text: text, File: "shop.db", Rows: rows, Scans: scans})
	return b
}

// ServerPlan sets the server's plan of the operation added last: EXPLAIN (FORMAT JSON).
func (b *Builder) ServerPlan(plan string, trip time.Duration) *Builder {
	if b.operations.Postgres == nil {
		b.operations.Postgres = &operation.ServerPlans{Trip: trip}
	}
	text := b.operations.Operations[len(b.operations.Operations)-1].Text
	b.operations.Postgres.Plans = append(b.operations.Postgres.Plans, operation.ServerPlan{Text: text, Plan: []byte(plan)})
	return b
}

// Kept sets the total time for which the connections that the operation added last got were held.
func (b *Builder) Kept(total time.Duration, opened int64) *Builder {
	op := &b.operations.Operations[len(b.operations.Operations)-1]
	op.HeldNS, op.Opened = int64(total), opened
	return b
}
