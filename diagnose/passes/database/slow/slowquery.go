// Package slow finds the statement that a service spends its time on, on a server that counts statements (slowquery.go), or
// in the process or on another server, where the hooks count them (sqlite.go).
package slow

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastStatementShare is the leading statement's part of all execution time.
	leastStatementShare = 0.40
	// wastefulBlocks is the number of blocks per call of a statement without a
	// plan, which may or may not aggregate: an index look-up of a few rows touches
	// 4 to 20 blocks of 8 KiB, and a sequential scan of 64 (half a megabyte) costs
	// some ten times as much.
	wastefulBlocks = 64
	// blocksPerRow is for a statement without a plan: twice the descent of three
	// blocks and the row's own.
	blocksPerRow = index.Halves * 4
	// slowMeanNS per execution is slow by itself, whatever the plan (20 ms). It
	// must be well above what CPU contention adds to a fast statement.
	slowMeanNS = 20e6
	// heavyNS is the server's CPU per execution that is slow by itself, where CPU
	// is observed (5 ms); contention adds nothing to it. revenue-board takes 9 ms,
	// parts-catalogue 0.3 ms.
	heavyNS = 5e6
	// secondShare is the least part of all execution time at which a wasteful
	// statement is named although another, not wasteful, leads.
	secondShare = 0.25
)

// Query finds the statement that the database spends its time on.
//
// Frequent is not slow: the statement must be wasteful (an index would halve its
// work, see plan.go) or slow by itself. Its share of the request is all that it
// causes: execution, its part of the round trips, and the queue for connections
// while it holds one. It runs after lock-wait and cache-stampede, which explain a
// slow statement better than the statement does.
var Query = diagnose.Analyzer{
	Name:  "slow-query",
	Stage: diagnose.Database,
	Doc: "Takes the statement with the most execution time: at least 40 % of all, and at least 15 % of request time. It is " +
		"reported if an index would at least halve its work, comparing the planner's costs and the blocks it touched with " +
		"the descent of an index and the rows wanted; without a plan, at 64 blocks or more and 8 blocks or more per row " +
		"returned; and in any case if one execution takes at least 20 ms, or 5 ms of the server's CPU. A wasteful statement " +
		"is reported at 25 % of execution time or more even if another leads. Statements that lack the same index are one " +
		"finding. If no server counts statements, redline's build counts them, and redline infers the statement's part of " +
		"the server's CPU from the service's waits; with --postgres, the server still gives its plan. For SQLite without " +
		"that build, the CPU profile names the function. A fast, indexed statement is never reported for being frequent.",
	Causes: []diagnose.Cause{cause},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	After:  []string{"lock-wait", "cache-stampede"},
	Run:    runQuery,
}

// runQuery multiplies two parts: the database's part of the request (or of the
// CPU), and the statement's part of that. The gain assumes that of the statement's
// cost remains what an index leaves, or nothing if no index is advised.
func runQuery(p *diagnose.Pass) ([]diagnose.Finding, error) {
	if !p.Has(diagnose.NeedStatements) {
		return slowInProcess(p), nil
	}
	d, ok := demanded(p)
	if !ok {
		p.Unjudged("db-slow-query", "neither the requests' own time nor the load's service time is known")
		return nil, nil
	}
	ran := p.Statements()
	all := d.statements(p)
	locks := queuedFor(p)
	lead, c, ok := heaviest(p, all, locks)
	if !ok {
		return nil, nil
	}
	group := sharing(p, all, lead, &c)
	executes := group.executes(ran)
	at, known := asker.Of(p, lead)
	share, part, queue := d.share, executes, 0.0 // the part of the queue that the statement causes
	if d.of == diagnose.OfRequest {
		part = group.waits(p, all, d)
		share, queue = withQueue(p, group, at, known, share, part)
	}
	took, of := d.reading(p, c, share*part, executes)
	held := locks.behind(c, lead.Text)
	if of.of == diagnose.OfRequest {
		took = min(1, took+held)
	}
	if took < demand.LeastRequestShare || explained(p, lead.Text) {
		return nil, nil
	}
	if _, seen := p.Mean(series.DBBlocked, ""); !c.wasteful && !seen {
		c.confidence = findings.Low // whether its time is another session's lock was not seen
	}
	f := diagnose.Finding{
		Cause: "db-slow-query", Share: took, ShareOf: of.of, Confidence: c.confidence,
		Title: c.title(took, of.took, lead),
		Where: findings.Where{SQL: lead.Text},
		Evidence: append([]findings.Evidence{
			c.executed(lead, evidence.StatementShare(ran, lead)),
			diagnose.Fact(d.source, share, diagnose.Ratio, "%s %s of %s", d.takes(queue), diagnose.Percent(share), d.took),
		}, c.evidence(lead.Text)...),
		Remedy: c.remedy(lead.Text),
	}
	others := append(notFreed(p, at, known && d.of == diagnose.OfRequest), p.Alongside()...)
	diagnose.Promise(&f, demand.Gain(p, share, part*group.saved, others...), demand.Executing(p, executes*group.saved, others...))
	askedBy(p, &f, at, known)
	if held > 0 {
		locks.add(p, &f, share*part, group.saved)
	}
	f.Evidence = append(f.Evidence, group.others(p, c.advice.Create != "")...)
	if c.many {
		promiseRows(p, &f, c.read, executes)
	}
	if queue >= demand.LeastPoolShare && c.wasteful {
		f.Title += fmt.Sprintf("; requests queue for a connection (%s of their time) because of it", diagnose.Percent(queue))
	}
	return []diagnose.Finding{f}, nil
}

// askedBy names who runs a finding's statement.
func askedBy(p *diagnose.Pass, f *diagnose.Finding, at asker.By, known bool) {
	if known {
		at.Describe(f)
	}
	if who, ok := asker.Counted(p, f.Where.SQL); ok {
		f.Evidence = append(f.Evidence, who)
	}
}

// executed gives a statement's part of all execution time.
func (c cost) executed(s database.Statement, part float64) findings.Evidence {
	return diagnose.Fact(diagnose.FromPostgres, part, diagnose.Ratio, "the statement takes %s of all execution time: %s of "+
		"%s each",
		diagnose.Percent(part), diagnose.Counted(float64(s.Calls), "call", "calls"), diagnose.Span(c.mean))
}

// databasePart is the share that executing statements takes of request time or, on
// CPUs that the database fills, of the CPU in use.
type databasePart struct {
	share      float64 // 0 to 1
	source, of string  // as Fact and Finding.ShareOf have them
	took       string  // what it takes a share of, in words
}

// takes says what takes the share, as the subject of a sentence with its verb. queue is the part of it in which requests queue for
// connections.
func (d databasePart) takes(queue float64) string {
	switch {
	case d.of == diagnose.OfCPU:
		return "executing statements takes"
	case queue > 0:
		return "the database, with the queue for its connections, takes"
	}
	return "the database takes"
}

// demanded returns the database's part; false if neither the requests' own time nor
// the load's service time is known.
func demanded(p *diagnose.Pass) (d databasePart, ok bool) {
	share, source, ok := demand.RequestShare(p)
	if cpu := demand.ExecutionCPU(p); cpu > share {
		// The database fills the CPUs: a statement then takes CPU from the whole
		// load, wherever requests queue.
		return databasePart{cpu, diagnose.FromPostgres, diagnose.OfCPU, theLoadsCPU}, ok
	}
	return databasePart{share, source, diagnose.OfRequest, "request time"}, ok
}

// statements returns the statements that take it: all that the server runs of CPU, and those of requests of their time.
func (d databasePart) statements(p *diagnose.Pass) *database.Statements {
	if d.of == diagnose.OfCPU {
		return p.Statements()
	}
	return demand.OfRequests(p, p.Statements())
}

// explained reports whether another finding says why the leading statement takes its time.
func explained(p *diagnose.Pass, text string) bool {
	for _, f := range p.Findings("cache-stampede") {
		if f.Where.SQL == text {
			p.Reject("db-slow-query", "the leading statement runs in bursts, when a cache entry expires: %s", statement.Brief(text))
			return true // once for each expiry it would do no harm
		}
	}
	return false
}

// heaviest returns the statement to blame: the one with most execution time if it
// is slow by itself or wasteful, otherwise another that is wasteful. A leader that
// is neither is rejected with its figures, and so is one that is slow where sessions wait
// for locks: its time may be that wait.
func heaviest(p *diagnose.Pass, all *database.Statements, locks lockQueue) (lead database.Statement, c cost, ok bool) {
	rest, first := locks.rest(all), true
	for _, s := range all.Statements { // longest first
		part := evidence.StatementShare(all, s) / rest
		if locks.waits(s.Text) {
			continue // its time is another statement's
		}
		if s.Calls <= 0 || part < secondShare {
			break
		}
		c = costOf(p, s)
		if c.returnsMany(s.Text) {
			c.read, c.many = demand.ReadRows(p, s)
		}
		slow := first && part >= leastStatementShare && (c.mean >= slowMeanNS || cpuPerCall(p, c, s, part) >= heavyNS)
		locked := len(p.Findings("lock-wait")) > 0
		if c.wasteful || slow && !locked {
			return s, c, true
		}
		switch {
		case slow:
			first = false
			p.Reject("db-slow-query", "the leading statement takes %s per call, but sessions wait for each other's locks, and no index "+
				"would help it: %s", diagnose.Span(c.mean), statement.Brief(s.Text))
		case first:
			first = false
			p.Reject("db-slow-query", "the leading statement takes %s and reads %s per call: %s",
				diagnose.Span(c.mean), c.blocksText(), statement.Brief(s.Text))
		}
	}
	return lead, c, false
}

// cpuPerCall returns the CPU per execution of a statement in ns: the server's, estimated
// by its part of execution time, and the service's for reading many rows. 0 if neither
// was seen. The server's is never more than its time: a statement without parallel
// workers cannot use more.
func cpuPerCall(p *diagnose.Pass, c cost, s database.Statement, part float64) (ns float64) {
	if used, ok := p.Sum(series.DBCPU, ""); ok {
		ns = min(used*part, float64(s.Time)) / float64(s.Calls)
	}
	if c.many {
		ns += c.read.CPUPerCall(p, s)
	}
	return ns
}

// reading adds what the service spends on rows to what a statement took of d. On saturated CPUs it is
// a part of these, if that is more.
func (d databasePart) reading(p *diagnose.Pass, c cost, took, executes float64) (float64, databasePart) {
	if !c.many {
		return took, d
	}
	if d.of == diagnose.OfRequest {
		took = min(1, took+c.read.Running)
	}
	if cpu := c.read.LoadCPU(p, executes); cpu > took {
		return cpu, databasePart{cpu, diagnose.FromProfile, diagnose.OfCPU, theLoadsCPU}
	}
	return took, d
}

// promiseRows promises the finding what both sides spend on rows, and notes the function that reads them: its
// allocations and their collection are for these rows.
func promiseRows(p *diagnose.Pass, f *diagnose.Finding, rows demand.Rows, executes float64) {
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, rows.CPU, diagnose.Ratio,
		"%s spends %s of the service's CPU on reading its rows", callstack.Short(rows.Function), diagnose.Percent(rows.CPU)))
	if rows.Function != callstack.Enclosing(f.Where.Function) {
		f.Where.Detail = "read in " + callstack.Short(rows.Function)
	}
	share := f.Share
	if f.ShareOf == diagnose.OfCPU {
		share = 0
	}
	diagnose.Promise(f, demand.Spared(p, share, executes, rows.CPU))
	p.Cover(*f, append(rows.Helpers, rows.Function)...)
}

const theLoadsCPU = "the CPU that the load uses"

// notFreed returns the pool that requests queue at if the statement, whose caller must be counted,
// does not use it: a faster statement leaves that queue as it is.
func notFreed(p *diagnose.Pass, at asker.By, known bool) []laws.Resource {
	r, ok := demand.Pool(p)
	if !ok || !known || slices.Contains(demand.Through(p), at.Place.Function) {
		return nil
	}
	return []laws.Resource{r}
}

// withQueue returns the share of request time that is due to the database if a
// statement leads, and the share that is the queue for connections which the
// statement causes. share is the database's part of request time with all queues,
// part the statement's part of execution; known says that its caller is counted
// rather than inferred.
//
// A statement causes no queue at a pool that its requests do not use (dispatch-desk
// has two pools). Where the hooks count, its part of the queue is its part of the
// time that connections are held. That differs from the server's execution time: a
// statement that runs while the rows of another are open holds both connections.
func withQueue(p *diagnose.Pass, s shared, at asker.By, known bool, share, part float64) (all, queue float64) {
	queue = p.Waits().Share(callstack.PoolWait)
	if !known || queue == 0 {
		return share, queue
	}
	rest := max(0, share-queue)
	if !slices.Contains(demand.Through(p), at.Place.Function) {
		return rest, 0
	}
	own, exact := s.held(p)
	if !exact || !(part > 0) {
		return share, queue
	}
	return min(1, rest+queue*own/part), queue * own
}
