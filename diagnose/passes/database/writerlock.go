package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastWriters is the mean number of requests within write statements at which
	// some wait: SQLite lets one write, so all the others wait.
	leastWriters = 1.5
	// mostRefused is the part of write statements that may fail before the lock is
	// named as the cause. Why they failed is not known here.
	mostRefused = 0.02
)

// WriterLock finds writers that wait for SQLite's write lock
// (sqlite.org/lockingv3.html, sqlite.org/wal.html).
//
// Drivers written in Go show the busy handler on the stack, which means exactly
// this wait. A driver in C (go-sqlite3) sleeps where no stack shows it; there
// Little's law counts writers, and the time that a transaction takes to begin is a
// wait, because an uncontended BEGIN takes microseconds. Where a pool has one connection, they wait for that.
var WriterLock = diagnose.Analyzer{
	Name:  "writer-lock",
	Stage: diagnose.Database,
	Doc: "For a database within the process: the request rate times the time that each request spends in writing statements " +
		"is the number of writers at a time (Little's law). SQLite allows one writer, so the rest wait. This is reported at " +
		"1.5 writers or more and at least 15 % of request time. Waits for a transaction to begin count in full.",
	Causes: []diagnose.Cause{writerLock},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	Run:    runWriterLock,
}

// runWriterLock prefers waits that are seen (the busy handler) to inferred ones
// (writers by Little's law, of which one does not wait). Failed statements count
// too: with a short busy_timeout writers fail instead of waiting.
func runWriterLock(p *diagnose.Pass) ([]diagnose.Finding, error) {
	if !writersKnown(p) {
		return nil, nil
	}
	w := writersOf(p)
	share := min(1, w.waits()/p.Waits().MeanNS())
	refused := w.refused(p)
	if share < demand.LeastRequestShare && refused < mostRefused {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-writer-lock", Share: share, ShareOf: diagnose.OfRequest,
		GainCeiling: diagnose.MinGain, Confidence: findings.High,
		Where:    findings.Where{SQL: w.lead.Text},
		Title:    fmt.Sprintf("Writers wait for SQLite's write lock for %s of request time", diagnose.Percent(share)),
		Evidence: []findings.Evidence{w.evidence()},
		Remedy:   w.remedy(),
	}
	if share < demand.LeastRequestShare {
		f.Title = fmt.Sprintf("%s of the statements that write fail, as they do while another connection has SQLite's write lock",
			diagnose.Percent(refused))
	}
	mean, missing := p.Waits().MeanNS(), p.Untraced()
	if missing > mean {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, mean+missing, diagnose.Nanosec,
			"the mean request takes %s for the client but %s in the traces, whose edges cut off the longest",
			diagnose.Span(mean+missing), diagnose.Span(mean)))
	}
	whole := (share*mean + missing*w.tail(p)) / (mean + missing)
	diagnose.Promise(&f, p.Polled(max(share, whole), committing(p)))
	at := w.at
	if by, ok := w.lead.Heaviest(); ok && at.Function == "" {
		at = written(p, by)
	}
	if at.Function != "" {
		asker.By{Place: at}.Describe(&f)
		f.Title += " at " + diagnose.At(at)
	}
	if refused >= mostRefused {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, refused, diagnose.Ratio,
			"%s of them fail, as with SQLITE_BUSY after busy_timeout", diagnose.Percent(refused)))
		f.Confidence = findings.Medium
	}
	if ops := p.Operations(); slices.ContainsFunc(ops.SQLite, func(d operation.SQLiteDatabase) bool { return d.Journal == "rollback" }) {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, 1, "",
			"the journal is a rollback journal: readers and the writer wait for each other, and each commit "+
				"waits for the disk more than once"))
		f.Remedy = "Set PRAGMA journal_mode=WAL (with synchronous=NORMAL), so that readers and the writer do not wait for " +
			"each other. " + f.Remedy
	}
	return []diagnose.Finding{f}, nil
}

// committing returns the part of the service's CPU, 0 to 1, that beginning and committing
// transactions takes, retries included: requests whose rows are committed together share
// it.
func committing(p *diagnose.Pass) float64 {
	use, err := p.Use()
	if err != nil {
		return 0
	}
	return use.With(callstack.DBTransact)
}

// writersKnown reports whether the database is within the process and its writers
// were observed; otherwise it notes what is missing.
func writersKnown(p *diagnose.Pass) bool {
	const cause = "db-writer-lock"
	switch {
	case !demand.InProcess(p):
		if !p.Has(diagnose.NeedAnatomy) && !p.Has(diagnose.NeedCPUProfile) && p.Operations() == nil {
			p.Unjudged(cause, "redline could not see whether the process contains a database: "+
				"%s", p.Explain(diagnose.NeedCPUProfile))
		}
		return false
	case len(p.Asked()) == 0:
		p.Unjudged(cause, "statements were not counted: let redline build the service (--build)")
		return false
	case !p.Has(diagnose.NeedAnatomy):
		p.Unjudged(cause, "%s", p.Explain(diagnose.NeedAnatomy))
		return false
	}
	return true
}

// writers are the requests within statements that write. Times are ns of the mean
// request.
type writers struct {
	calls, errors float64
	blocked       float64    // ns of the mean request within them, without queueing for a CPU
	begin         float64    // ns that it waits for a transaction to begin or end
	busy          float64    // ns that it is seen to wait for another's lock
	queue, commit float64    // ns that it waits for a pool's only connection while another commits, and that it commits
	behind        float64    // ns that it waits for a connection of a pool while those that hold them wait for another's lock
	at            code.Frame // the user's place where it waits most of that; zero without
	atOnce        float64
	lead          evidence.Asked
}

// waits is how long the mean request waits for another writer, in ns: as seen, or
// else as inferred.
func (w writers) waits() float64 {
	switch {
	case w.busy > 0:
		return w.busy + w.behind
	case w.queue > 0:
		return w.queue + w.commit
	case w.atOnce >= leastWriters:
		return w.begin + w.blocked*(1-1/w.atOnce)
	}
	return w.begin
}

// refused returns the part of the writing statements that fail, 0 to 1; 0 if too few writers meet for the lock to be the reason. One
// meets another no more often than there is one (Poisson arrivals see time averages, Wolff 1982), and a transaction keeps the lock
// for as long as its request takes, at most.
func (w writers) refused(p *diagnose.Pass) float64 {
	meets := w.atOnce
	if transacts(p) {
		meets = p.Load().Rate * p.Waits().MeanNS() / 1e9
	}
	if refused := w.errors / max(1, w.calls); refused <= meets {
		return refused
	}
	return 0
}

// transacts reports whether the service was seen to begin transactions.
func transacts(p *diagnose.Pass) bool {
	return slices.ContainsFunc(p.Operations().Operations, func(o operation.Operation) bool {
		return o.Kind == operation.Transaction && o.Calls > 0 || o.Kind.Statement() && statement.Verb(o.Text) == "BEGIN"
	})
}

func (w writers) remedy() string {
	if w.queue > 0 { // there is one connection already
		return "Commit less often: let one goroutine commit the rows of several requests together, and do not write in requests that " +
			"only read, or only once in a while."
	}
	return "Write through one connection (SetMaxOpenConns(1) on a pool for writes, a second pool for reads), " +
		"keep transactions short, and let one goroutine commit the rows of several requests together."
}

// tail returns the part of the tail's extra time that is this wait, 0 to 1: its part of the waits for the
// database in that time. Requests that traces cut are longer still, and wait for the same.
func (w writers) tail(p *diagnose.Pass) float64 {
	kinds := []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait, callstack.SleepWait}
	all := p.Waits().NS(kinds...)
	if !(all > 0) {
		return 0
	}
	return min(1, w.waits()/all) * p.Waits().Tail(kinds...)
}

// evidence gives the strongest proof that there is: waits in the busy handler, then
// for a transaction to begin, then the number of writers.
func (w writers) evidence() findings.Evidence {
	switch {
	case w.busy > 0:
		behind := ""
		if w.behind > 0 {
			behind = fmt.Sprintf("; it also waits %s for a connection, while those that have one sleep there", diagnose.Span(w.behind))
		}
		return diagnose.Fact(diagnose.FromTrace, w.busy+w.behind, diagnose.Nanosec,
			"the mean request sleeps %s in SQLite's busy handler: another connection has the lock, and it retries again and "+
				"again%s", diagnose.Span(w.busy), behind)
	case w.queue > 0:
		return diagnose.Fact(diagnose.FromTrace, w.queue+w.commit, diagnose.Nanosec,
			"the pool has one connection, whose holder commits most of the time: the mean request waits %s for other "+
				"requests' commits and %s for its own", diagnose.Span(w.queue), diagnose.Span(w.commit))
	case w.lead.Text == "BEGIN":
		return diagnose.Fact(diagnose.FromTrace, w.begin, diagnose.Nanosec,
			"the mean request waits %s for its transaction to begin: SQLite begins one at once unless another connection "+
				"has the lock", diagnose.Span(w.begin))
	}
	return diagnose.Fact(diagnose.FromTrace, w.atOnce, diagnose.Count,
		"%s requests at a time are in writing statements, and SQLite allows one writer: the mean request spends %s "+
			"there", diagnose.Times(w.atOnce), diagnose.Span(w.blocked+w.begin))
}

// writersOf sums them, from the hooks' counts and from what the trace shows of the
// busy handler.
func writersOf(p *diagnose.Pass) (w writers) {
	for _, a := range p.Asked() {
		if !statement.Writes(a.Text) && !begins(a.Text) {
			continue
		}
		took := a.Running + a.Waiting
		if w.lead.Text == "" || took > w.lead.Running+w.lead.Waiting {
			w.lead = a
		}
		w.calls, w.errors, w.blocked = w.calls+a.Calls, w.errors+a.Errors, w.blocked+took
	}
	longest := int64(0)
	for _, part := range p.Anatomy.All {
		if callstack.AwaitsWriter(part.Stack) {
			w.busy += float64(part.NS)
			if f, ok := byHand(p, part.Stack); ok && part.NS > longest {
				w.at, longest = f, part.NS
			}
		}
		if part.State == breakdown.StateSleep && p.Stacks.Roles(part.Stack).Has(callstack.DBTransact) {
			w.begin += float64(part.NS)
		}
	}
	// The hooks count a transaction's end with its beginning. The trace shows the beginning of those that its edges cut, too.
	if ns, at := beginning(p); max(ns-demand.Ending(p), demand.Beginning(p)) > w.begin {
		ns = max(ns-demand.Ending(p), demand.Beginning(p))
		w.begin = ns
		if w.busy == 0 && ns > w.blocked {
			w.at, w.lead = at, evidence.Asked{Text: "BEGIN"}
		}
	}
	w.atOnce = p.Load().Rate * (w.blocked + w.begin) / 1e9
	w.queued(p)
	return w
}

// mostlyWrites is the part of the time that a pool's connections are held from which committing, or waiting for another to
// commit, is what their holders do.
const mostlyWrites = 0.5

// queued sets how long the mean request waits for a connection of a pool while others commit, or wait for that: a queue belongs to
// what those at its head do. A pool of one is what SQLite's documentation advises for writers; then they wait in Go instead
// of in its busy handler.
func (w *writers) queued(p *diagnose.Pass) {
	pool, size := p.Waits().NS(callstack.PoolWait), sizeOf(p, 1)
	if pool <= 0 || size.hold <= 0 {
		return
	}
	if w.busy > 0 {
		if part := min(1, w.busy/size.hold); part >= mostlyWrites {
			w.behind = part * pool
		}
		return
	}
	if size.now > 1 {
		return
	}
	commit, longest, at := 0.0, int64(0), code.Frame{}
	for _, part := range p.Anatomy.All {
		if p.Stacks.Wait(part) != callstack.DatabaseWait || !p.Stacks.Roles(part.Stack).Has(callstack.DBTransact) {
			continue
		}
		commit += float64(part.NS)
		if f, ok := byHand(p, part.Stack); ok && part.NS > longest {
			at, longest = f, part.NS
		}
	}
	if part := min(1, commit/size.hold); part >= mostlyWrites {
		w.queue, w.commit, w.at, w.lead = part*pool, commit, at, evidence.Asked{Text: "COMMIT"}
	}
}

// beginning returns how long the mean request waits for its transactions to begin,
// as the hooks counted, in ns, and the user's place that begins most of them.
// SQLite begins one at once unless it needs a lock that another connection has. A
// driver in C sleeps for the lock where neither the trace nor a stack shows it.
func beginning(p *diagnose.Pass) (ns float64, at code.Frame) {
	traced := map[int]breakdown.OperationsPerRequest{}
	for _, o := range p.Anatomy.Operations {
		traced[o.Operation] = o
	}
	most := int64(0)
	for _, o := range p.Operations().Operations {
		if o.Kind != operation.Transaction {
			continue
		}
		ns += float64(traced[o.ID].WaitingNS)
		if len(o.Callers) > 0 && o.TotalNS > most {
			at, _ = p.Stacks.Place(o.Callers[0].Stack)
			most = o.TotalNS
		}
	}
	return ns, at
}

// begins reports whether a statement takes the writer's lock for a transaction; a
// plain BEGIN is deferred and takes none (sqlite.org/lang_transaction.html).
func begins(text string) bool {
	return statement.Verb(text) == "BEGIN" && (strings.Contains(strings.ToUpper(text), "IMMEDIATE") ||
		strings.Contains(strings.ToUpper(text), "EXCLUSIVE"))
}
