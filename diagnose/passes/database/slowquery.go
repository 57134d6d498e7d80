package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastStatementShare of all execution time: the statement that leads.
	leastStatementShare = 0.40
	// leastRequestShare of request time that it takes: less is not what stops
	// the service.
	leastRequestShare = 0.15
	// wastefulBlocks per call: an index look-up of a few rows touches 4 to 20
	// blocks, a sequential scan of 64 blocks (half a megabyte) is already some
	// ten times dearer.
	wastefulBlocks = 64
	// blocksPerRow from which reading counts as discarding: a block holds tens of
	// rows, so eight blocks per row returned means hundreds of rows for one.
	blocksPerRow = 8
	// wastefulRemoved rows discarded per call, where the plan was run.
	wastefulRemoved = 1000
	// wastefulCost of a scan in planner units, where blocks were not counted:
	// about 1,000 sequential pages or 80,000 rows.
	wastefulCost = 1000
	// slowMeanNS per execution: slow by itself, whatever the plan says. It must
	// be well above what CPU contention adds to a fast statement.
	slowMeanNS = 20e6
	// heavyNS of the server's CPU per execution, where it is seen: contention adds
	// nothing to it. revenue-board takes 9 ms, parts-catalogue 0.3 ms.
	heavyNS = 5e6
	// secondShare of all execution time, for a statement that is wasteful while
	// another that is not leads.
	secondShare = 0.25
)

// SlowQuery finds the statement that the database spends its time on.
var SlowQuery = diagnose.Analyzer{
	Name:  "slow-query",
	Stage: diagnose.Database,
	Doc: "Takes the statement with most execution time, from 40 % of all and 15 % of request time. It is named when " +
		"its plan filters rows away from a scan and it touches 64 blocks and 8 blocks per row returned (or discards " +
		"1,000 rows), when it touches that much without a plan, or when one execution takes 20 ms, or 5 ms of the server's CPU. " +
		"One that wastes is named from 25 % of execution time where another leads. A fast, indexed " +
		"statement is never named for being frequent.",
	Causes: []diagnose.Cause{slowQuery},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedStatements},
	After:  []string{"lock-wait", "cache-stampede"},
	Run:    runSlowQuery,
}

func runSlowQuery(p *diagnose.Pass) ([]diagnose.Finding, error) {
	share, source, ok := requestShare(p)
	if !ok {
		p.Unjudged("db-slow-query", "neither the requests' own time nor the load's service time is known")
		return nil, nil
	}
	of, took := diagnose.OfRequest, "request time"
	if cpu := executionCPU(p); cpu > share {
		// The database fills the CPUs: what its statements cost is what the
		// load can have of them, wherever the requests queue meanwhile.
		share, source, of, took = cpu, diagnose.FromPostgres, diagnose.OfCPU, "the CPU that the load uses"
	}
	all := p.Statements()
	lead, c, ok := heaviest(p, all)
	part := diagnose.StatementShare(all, lead)
	executes := part
	at, known := callerOf(p, lead)
	if of == diagnose.OfRequest && known {
		share = max(0, share-otherQueue(p, at))
	}
	if of == diagnose.OfRequest && source == diagnose.FromTrace {
		part = waitPart(p, all, lead)
	}
	if !ok || share*part < leastRequestShare {
		return nil, nil
	}
	for _, f := range p.Findings("cache-stampede") {
		if f.Where.SQL == lead.Text {
			p.Reject("db-slow-query", "the leading statement runs in bursts, when an entry of a cache expires: %s", brief(lead.Text))
			return nil, nil // once for each expiry it would do no harm
		}
	}
	if !c.wasteful && len(p.Findings("lock-wait")) > 0 {
		return nil, nil // its time is another session's lock, and that is found
	}
	if _, seen := p.Mean(record.DBBlocked, ""); !c.wasteful && !seen {
		c.confidence = record.Low // whether its time is another session's lock was not seen
	}
	f := diagnose.Finding{
		Cause: "db-slow-query", Share: share * part, ShareOf: of,
		Confidence: c.confidence, Where: record.Where{SQL: lead.Text},
	}
	diagnose.Promise(&f, gain(p, share, part))
	if known {
		f.Where.Function, f.Where.File, f.Where.Line = at.Function, at.File, at.Line
	}
	f.Title = c.title(share*part, took, lead)
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromPostgres, executes, diagnose.Ratio, "the statement holds %s of all execution time: %d calls of %s", diagnose.Percent(executes), lead.Calls, diagnose.Span(c.mean)),
		diagnose.Fact(source, share, diagnose.Ratio, "executing statements takes %s of %s", diagnose.Percent(share), took))
	f.Evidence = append(f.Evidence, c.evidence()...)
	if queue := p.Waits().Share(callstack.PoolWait) - otherQueue(p, at); queue >= leastPoolShare && c.wasteful {
		f.Title += fmt.Sprintf("; requests queue for a connection (%s of their time) because of it", diagnose.Percent(queue))
	}
	f.Remedy = c.remedy()
	return []diagnose.Finding{f}, nil
}

// otherQueue returns the part of request time that is waited for connections at
// pools which the requests that run a statement do not come to.
func otherQueue(p *diagnose.Pass, at record.Frame) float64 {
	queues := p.Waits().Sites(callstack.PoolWait)
	if slices.Contains(through(queues), at.Function) {
		return 0
	}
	return p.Waits().Share(callstack.PoolWait)
}

// heaviest returns the statement that is to blame: the one with most execution
// time where that is slow by itself or wasteful, else another that is wasteful.
func heaviest(p *diagnose.Pass, all *record.Statements) (lead record.Statement, c cost, ok bool) {
	for i, s := range all.Statements { // longest first
		part := diagnose.StatementShare(all, s)
		if s.Calls <= 0 || part < secondShare {
			break
		}
		c = costOf(p, s)
		if c.wasteful || i == 0 && part >= leastStatementShare && (c.mean >= slowMeanNS || cpuPerCall(p, s, part) >= heavyNS) {
			return s, c, true
		}
		if i == 0 {
			p.Reject("db-slow-query", "the leading statement takes %s and reads %s per call: %s", diagnose.Span(c.mean), c.blocksText(), brief(s.Text))
		}
	}
	return lead, c, false
}

// cpuPerCall returns the server's CPU per execution of a statement, by its part
// of execution time; 0 where the server's CPU is not seen.
func cpuPerCall(p *diagnose.Pass, s record.Statement, part float64) float64 {
	used, ok := p.Sum(record.DBCPU, "")
	if !ok {
		return 0
	}
	return min(used*part, float64(s.Time)) / float64(s.Calls)
}

// cost is what one execution of a statement costs and why.
type cost struct {
	mean         float64 // ns
	rows, blocks float64 // per call; blocks is -1 when not counted
	plan         scan
	planned      bool // plan is set
	planError    string
	wasteful     bool
	confidence   record.Confidence
}

func costOf(p *diagnose.Pass, s record.Statement) cost {
	calls := float64(s.Calls)
	c := cost{mean: float64(s.Time) / calls, rows: float64(s.Rows) / calls, blocks: -1, planError: s.PlanError, confidence: record.Medium}
	labels := record.Labels("queryid", s.QueryID)
	hits, okHits := p.Sum(record.StatementHits, labels)
	reads, okReads := p.Sum(record.StatementReads, labels)
	if counted, ok := p.Sum(record.StatementCalls, labels); ok && counted > 0 && (okHits || okReads) {
		c.blocks = (hits + reads) / counted
	}
	if len(s.Plan) > 0 {
		root, err := parsePlan(s.Plan)
		if err != nil {
			c.planError = err.Error()
		} else {
			c.plan, c.planned = costliest(root)
		}
	}
	muchRead := c.blocks >= wastefulBlocks && c.blocks >= blocksPerRow*c.rows
	switch {
	case c.planned && (muchRead || c.plan.Removed >= wastefulRemoved):
		c.wasteful, c.confidence = true, record.High
	case c.planned && c.blocks < 0 && c.plan.Cost >= wastefulCost:
		c.wasteful = true
	case muchRead && len(s.Plan) == 0:
		c.wasteful = true
	}
	return c
}

func (c cost) blocksText() string {
	if c.blocks < 0 {
		return "an unknown number of blocks"
	}
	return fmt.Sprintf("%.0f blocks", c.blocks)
}

func (c cost) title(share float64, of string, s record.Statement) string {
	switch {
	case c.wasteful && c.planned && c.plan.Index == "":
		return fmt.Sprintf("A sequential scan of %s takes %s of %s", c.plan.Table, diagnose.Percent(share), of)
	case c.wasteful && c.planned:
		return fmt.Sprintf("A scan of %s through %s that discards most rows takes %s of %s", c.plan.Table, c.plan.Index, diagnose.Percent(share), of)
	}
	return fmt.Sprintf("One statement takes %s of %s at %s per call: %s", diagnose.Percent(share), of, diagnose.Span(c.mean), brief(s.Text))
}

func (c cost) evidence() []record.Evidence {
	var facts []record.Evidence
	if c.blocks >= 0 {
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.blocks, "blocks", "each call touches %.0f blocks of 8 kB and returns %.1f rows", c.blocks, c.rows))
	}
	if c.planned {
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.plan.Cost, "cost", "plan: %s on %s, Filter %s", c.plan.Node, c.plan.Table, c.plan.Filter))
		if c.plan.Removed > 0 {
			facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.plan.Removed, "rows", "the filter discards %.0f rows per call", c.plan.Removed))
		}
	} else if c.planError != "" {
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, 0, "", "no plan: %s", c.planError))
	}
	return facts
}

func (c cost) remedy() string {
	if c.wasteful && c.planned {
		if index := c.plan.indexFor(); index != "" {
			return index + "; then the scan reads only the rows it returns."
		}
		return fmt.Sprintf("Rewrite the condition on %s so that an index can serve it (a plain column compared with a value): %s", c.plan.Table, c.plan.Filter)
	}
	return "Look at EXPLAIN (ANALYZE, BUFFERS) of the statement; read fewer rows, or cache the answer."
}

// brief shortens a statement for one line.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}
