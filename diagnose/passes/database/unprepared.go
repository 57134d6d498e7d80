package database

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/driver"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastPrepareShare is the part of request time spent waiting for statements to
	// be prepared.
	leastPrepareShare = 0.15
	// leastPrepares is their number per request: a statement cache prepares once
	// per connection.
	leastPrepares = 0.3
	// leastPrepareGain is the gain that preparing once must promise for more than
	// low confidence. A driver that does not keep statements waits twice for each
	// one with parameters (lib/pq), and a healthy service may live with that
	// (kennel-moves: 1.25; voucher-redeem, where it is the lesser defect, 1.32).
	leastPrepareGain = 1.3
	// leastPlanShare is planning's part of planning and execution together; a
	// statement that is planned once spends next to nothing on it.
	leastPlanShare = 0.5
	// leastUnpreparedShare is the part of request time spent on statements that the
	// driver sends as text for one use.
	leastUnpreparedShare = 0.25
	// leastOutside is the part of the server's CPU that is not execution of
	// statements: parsing and planning, as well as talking to clients.
	leastOutside = 0.3
)

// Unprepared finds statements that are prepared or planned for every use
// (PostgreSQL manual, PREPARE, and Message Flow: Extended Query).
//
// Any of three signs suffices, from most to least direct: waits in the driver's
// prepare, the server's own planning time (pg_stat_statements.track_planning, off
// by default), or statements sent as text while much of the server's CPU is not
// execution. Values written into the text look the same, because each text is new to
// every cache.
var Unprepared = diagnose.Analyzer{
	Name:  "unprepared",
	Stage: diagnose.Database,
	Doc: "Looks for waits in the driver's prepare (at least 15 % of request time and 0.3 per request), for planning that " +
		"takes at least half of planning and execution together (if the server tracks it), and for drivers that send " +
		"statements as text for one use (at least 25 % of request time) while at least 30 % of the server's CPU is not " +
		"execution.",
	Causes: []diagnose.Cause{unprepared},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedAnatomy},
	Run:    runUnprepared,
}

// runUnprepared tries the signs in order of directness and reports the first that
// holds; planning, where the server tracks it, is added as evidence to either.
func runUnprepared(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	share, times := w.Share(callstack.PrepareWait), w.Times(callstack.PrepareWait)
	planning, planned := planShare(p)
	isDatabase := w.Share(callstack.DatabaseWait, callstack.PrepareWait)
	f := diagnose.Finding{
		Cause: "db-unprepared", ShareOf: diagnose.OfRequest, Confidence: findings.Medium,
		Remedy: driver.Prepared(p),
	}
	switch {
	case share >= leastPrepareShare && times >= leastPrepares:
		site := w.Sites(callstack.PrepareWait)[0]
		f.Share, f.Where = share, diagnose.WhereOf(site.Place)
		if prepares(p, site.Part.Stack) {
			f.Remedy = fmt.Sprintf("%s prepares its statement for each use at %s: prepare it once and keep the *sql.Stmt "+
				"(tx.Stmt uses it in a transaction), or leave out Prepare if the driver caches statements (pgx does).",
				callstack.Short(site.Place.Function), diagnose.At(site.Place))
		}
		f.Title = fmt.Sprintf("Requests wait %s of their time for statements to be prepared%s",
			diagnose.Percent(share), placed(w.Sites(callstack.PrepareWait)))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, times, diagnose.Count,
			"%s while a statement is being prepared, several for one that comes in pieces", diagnose.PerRequest(times, "a wait", "waits")))
	case planned && planning >= leastPlanShare && isDatabase*planning >= leastPrepareShare:
		f.Share = isDatabase * planning
		f.Title = fmt.Sprintf("The database spends %s of its time planning statements", diagnose.Percent(planning))
		f.Remedy += " A statement that is prepared already is planned anew if the server expects plans for its values to be much better: " +
			"plan_cache_mode = force_generic_plan, set for the service's role, has it planned once per session."
	case demand.InProcess(p):
		return preparedInProcess(p, f), nil
	default:
		var ok bool
		if f, ok = asText(p, f); !ok {
			return nil, nil
		}
		return []diagnose.Finding{f}, nil
	}
	if planned {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, planning, diagnose.Ratio,
			"planning takes %s of planning and execution together", diagnose.Percent(planning)))
	}
	diagnose.Promise(&f, preparedGain(p, f.Share))
	if f.GainCeiling < leastPrepareGain || p.Load().Instant() {
		f.Confidence = findings.Low
	}
	return []diagnose.Finding{f}, nil
}

// preparedGain bounds the gain of preparing once. On saturated CPUs a request waits for the result as long as others use them: then the
// CPU of preparing on both sides counts, and the wait is the most. miniflux waits for it 40 % of its time, and gained 1.06x to 1.09x.
func preparedGain(p *diagnose.Pass, share float64) laws.Gain {
	g, c := demand.Gain(p, share, 1), p.CPU()
	use, err := p.Use()
	if err != nil || !c.Saturated() || !(c.Database > 0) {
		return g
	}
	client, server := use.With(callstack.DBPrepare)*p.Own(), c.Database*partOfWaits(p, callstack.PrepareWait)
	if outside, ok := outsideExecution(p); ok {
		server = min(server, outside*c.Database)
	}
	least := p.Freed(0, client, client+server)
	if least.Factor < g.Factor {
		least.Low, least.High = least.Factor, g.Factor
		return least
	}
	return g
}

// partOfWaits returns a kind's part of the waits for databases, 0 to 1.
func partOfWaits(p *diagnose.Pass, kind callstack.Wait) float64 {
	w := p.Waits()
	if all := w.Share(callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait); all > 0 {
		return w.Share(kind) / all
	}
	return 0
}

// prepares reports whether the service itself calls for the preparing that a stack waits for.
func prepares(p *diagnose.Pass, stack []code.Frame) bool {
	i := p.Stacks.Innermost(stack)
	if i < 1 {
		return false
	}
	_, name := callstack.Split(stack[i-1].Function)
	return strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "Prepare")
}

// asText finds drivers that send statements unprepared, by the frames that wait: a
// query with parameters that reads the response of the simple protocol, or of an
// unnamed statement, was parsed and planned for this one use.
func asText(p *diagnose.Pass, f diagnose.Finding) (diagnose.Finding, bool) {
	var share, times float64
	var lead waits.Site
	for _, s := range p.Waits().Sites(callstack.DatabaseWait) {
		stack := s.Part.Stack
		i := p.Stacks.Find(stack, callstack.DBUnprepared)
		if i < 0 || i+1 >= len(stack) || callstack.Short(stack[i+1].Function) != "pgx.(*Conn).Query" {
			continue
		}
		share, times = share+s.Share, times+s.Times
		if s.NS > lead.NS {
			lead = s
		}
	}
	outside, ok := outsideExecution(p)
	if !ok || outside < leastOutside || share < leastUnpreparedShare || times < leastPrepares {
		return f, false
	}
	f.Share, f.Where = share*outside, diagnose.WhereOf(lead.Place)
	diagnose.Promise(&f, demand.Gain(p, share, outside))
	f.Title = fmt.Sprintf("Statements are parsed and planned for every use: requests wait %s of their time for statements "+
		"sent as text, most of it at %s", diagnose.Percent(share), diagnose.At(lead.Place))
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromTrace, times, diagnose.Count, "%s for statements that the driver sends unprepared",
			diagnose.PerRequest(times, "a wait", "waits")),
		diagnose.Fact(diagnose.FromPostgres, outside, diagnose.Ratio, "%s of the server's CPU goes into parsing, planning "+
			"and communication instead of executing statements", diagnose.Percent(outside)))
	return f, true
}

// outsideExecution returns the part of the database server's CPU that is not
// execution, 0 to 1; ok is false if its CPU is not known. Execution time includes
// waits, so this is a lower bound.
func outsideExecution(p *diagnose.Pass) (part float64, ok bool) {
	cpu, ok := p.Sum(series.DBCPU, "")
	all := p.Statements()
	if !ok || cpu <= 0 || all == nil {
		return 0, false
	}
	var execution float64
	for _, s := range all.Statements {
		execution += float64(s.Time)
	}
	return max(0, 1-execution/cpu), true
}

// planShare returns planning over planning and execution, 0 to 1; ok is false if
// the server does not track planning.
func planShare(p *diagnose.Pass) (share float64, ok bool) {
	var planning, execution float64
	for _, labels := range p.Record.Labels(series.StatementPlan) {
		t, present := p.Sum(series.StatementPlan, labels)
		planning, ok = planning+t, ok || present
	}
	for _, labels := range p.Record.Labels(series.StatementTime) {
		t, _ := p.Sum(series.StatementTime, labels)
		execution += t
	}
	if !ok || planning+execution <= 0 {
		return 0, false
	}
	return planning / (planning + execution), true
}

// leastPrepareCPU is the part of the service's CPU that a database within its
// process spends on preparing statements. If each were prepared once, it would
// spend none.
const leastPrepareCPU = 0.25

// preparedInProcess handles SQLite, whose drivers prepare each text that the
// service has not prepared, on the service's own CPUs.
func preparedInProcess(p *diagnose.Pass, f diagnose.Finding) []diagnose.Finding {
	use, err := p.Use()
	if err != nil {
		return nil
	}
	share := use.With(callstack.DBPrepare)
	if share < leastPrepareCPU {
		return nil
	}
	f.Share, f.ShareOf, f.GainCeiling = share, diagnose.OfCPU, p.CPUGain(share)
	f.Title = fmt.Sprintf("Preparing statements again for every use takes %s of the service's CPU", diagnose.Percent(share))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio,
		"%s of the service's CPU is spent in SQLite's parser and planner", diagnose.Percent(share)))
	f.Remedy = "Prepare each statement once, with values as parameters, and keep it (db.Prepare at start-up, sql.Stmt); or " +
		"run fewer statements."
	most := 0.0
	for _, a := range p.Asked() {
		if by, ok := a.Lead(); ok && a.Calls > most {
			most, f.Where.SQL = a.Calls, a.Text
			asker.By{Place: by.Place}.Describe(&f)
		}
	}
	if places := use.Places(callstack.DBClient); most == 0 && len(places) > 0 {
		f.Where = diagnose.WhereOf(places[0].Place)
	}
	return []diagnose.Finding{f}
}
