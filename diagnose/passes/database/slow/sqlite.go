package slow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/driver"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// scannedRows is the size of a fully read table at which an index would save
	// most of the work: below it the scan costs about what an index look-up does.
	scannedRows = 1000
	// scannedPerRow is the number of rows read per row returned at which most are
	// discarded.
	scannedPerRow = 8
	// batch is the least number of rows for which a statement is run once to count as run in batches; once per row is
	// db-n-plus-one.
	batch = 10
	// manyPrepares is the part of the database's CPU spent on preparing that shows
	// that statements are many and small.
	manyPrepares = 0.3
)

// slowInProcess finds the statement that a service spends its time on, in a
// database within its process or on a server that redline did not read. It needs
// the hooks' counts; without them hotDatabase goes by the profile.
func slowInProcess(p *diagnose.Pass) []diagnose.Finding {
	share, from, ok := demand.InProcessShare(p)
	if !ok {
		if demand.InProcess(p) {
			return hotDatabase(p)
		}
		p.Unjudged("db-slow-query", "%s", p.Explain(diagnose.NeedStatements))
		return nil
	}
	lead, part, why := heaviestAsked(p)
	c, saves, planned := uncounted(p, lead)
	others, times := lacking(p, lead, &c, planned)
	switch why {
	case "slow":
		lead, part, others, times = sameRows(p, lead, part)
	case "sums":
		others, times, _ = summedToo(p, lead, part)
	}
	by, known := lead.Heaviest()
	at := asker.By{Place: by.Place}
	if part = min(1, part*times); why == "scan" || why == "index" {
		share = behindOthers(p, by.Place.Function, share, part)
	}
	if part > 0 {
		share = max(share, min(1, p.Serially(lead)/part))
	}
	if why == "" || share*part < demand.LeastRequestShare {
		return nil
	}
	share, _ = withQueue(p, shared{statements: []database.Statement{{Text: lead.Text}}}, at, known, share, part)
	f := diagnose.Finding{
		Cause: "db-slow-query", Share: share * part, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Where: findings.Where{SQL: lead.Text},
	}
	served := append(slices.Clone(others), lead)
	diagnose.Promise(&f, slowGain(p, share, part*saves, runs(p, served...)))
	place := ""
	if known {
		at.Describe(&f)
		place = " at " + diagnose.At(by.Place)
	}
	f.Evidence = append(f.Evidence, leads(p, lead, from, share*part)...)
	switch {
	case planned:
		c.word(&f, lead)
	case why == "sums":
		wordSums(&f, lead, place)
	default:
		wordScan(p, &f, lead, others, place)
	}
	wordOthers(p, &f, from, others, why)
	overWire(p, &f, part, saves, served...)
	if known && !planned && returnsMany(lead) {
		readsMany(p, &f, lead, by, share*part)
	}
	return []diagnose.Finding{f}
}

// leads is the evidence about a statement that takes a share of request time, 0 to 1: how often, from where, by what plan.
func leads(p *diagnose.Pass, lead evidence.Asked, from string, share float64) (facts []findings.Evidence) {
	each := demand.AskedPerRequest(p, lead.Calls)
	facts = append(facts, diagnose.Fact(from, share, diagnose.Ratio,
		"requests spend %s of their time in the statement and in queues that it causes: %s, %s each",
		diagnose.Percent(share), diagnose.PerRequest(each, "a call", "calls"), diagnose.Span(took(p, lead)/max(1e-9, each))))
	if who, ok := asker.Counted(p, lead.Text); ok {
		facts = append(facts, who)
	}
	if lead.Plan != nil {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, float64(len(lead.Plan.Rows)), "steps",
			"SQLite's plan: %s", strings.Join(lead.Plan.Rows, "; ")))
	}
	return facts
}

// wordOthers adds the other statements that the remedy serves, and why it does.
func wordOthers(p *diagnose.Pass, f *diagnose.Finding, from string, others []evidence.Asked, why string) {
	shares := "lacks the index"
	switch why {
	case "slow":
		shares = "reads the same rows"
	case "sums":
		shares = "sums up the same table"
	}
	for _, a := range others {
		by, _ := a.Heaviest()
		f.Evidence = append(f.Evidence, diagnose.Fact(from, demand.AskedPerRequest(p, a.Calls), diagnose.Count,
			"another statement %s, at %s: %s", shares, diagnose.At(by.Place), statement.Brief(a.Text)))
	}
}

// behindOthers returns the part of request time, 0 to 1, within statements and behind others that run a statement in a function:
// who has a lock, a goroutine that runs it for all, or the request in flight. share is the part within statements, and part that of
// the statement in it.
func behindOthers(p *diagnose.Pass, function string, share, part float64) float64 {
	share += behind(p, function, callstack.LockWait, callstack.ReadLockWait) / part
	flight := 0.0
	for _, site := range p.Waits().Sites(callstack.DatabaseWait) {
		if site.Via == callstack.FlightWait && callstack.Enclosing(site.Place.Function) == callstack.Enclosing(function) {
			flight += site.Share
		}
	}
	return min(1, max(share, behind(p, function, callstack.ChannelWait)/part, flight/part))
}

// behind returns the part of request time, 0 to 1, in which requests wait for a lock or a goroutine whose holder waits for the
// database in a function: a statement that does not run is not waited for there either.
func behind(p *diagnose.Pass, function string, queues ...callstack.Wait) (share float64) {
	kinds := []callstack.Wait{callstack.DatabaseWait}
	if demand.InProcess(p) {
		kinds = append(kinds, callstack.Busy)
	}
	for _, queue := range queues {
		for _, site := range p.Waits().Sites(queue) {
			share += site.Share * p.MeanwhileAt(site, function, kinds...)
		}
	}
	return share
}

// returnsMany reports whether a statement returns many rows because they were queried.
func returnsMany(a evidence.Asked) bool {
	_, scans := wastefulScan(a)
	return !scans && a.Rows >= leastMany*a.Calls && !statement.Shuffles(a.Text) && !statement.Skips(a.Text) &&
		!statement.Counts(a.Text)
}

// readsMany promises what not reading many rows saves: also what the line that queries them makes of each, such as a mapper's
// values, and what its function then queries for them, as many rows again. How much of that depends on how many rows are left, and
// whether the database still looks at the others.
func readsMany(p *diagnose.Pass, f *diagnose.Finding, lead evidence.Asked, by evidence.AskedBy, share float64) {
	calls := usage.Calls{by.Place: 1}
	cpu := p.Spared(calls)
	f.Remedy = manyRows(lead.Rows / lead.Calls)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio,
		"querying its rows and reading them at %s takes %s of the service's CPU", diagnose.At(by.Place), diagnose.Percent(cpu)))
	for _, a := range p.Asked() {
		other, ok := a.Heaviest()
		if ok && callstack.Enclosing(other.Place.Function) == callstack.Enclosing(by.Place.Function) &&
			demand.AskedPerRequest(p, a.Rows) >= leastMany && batch*a.Calls <= lead.Rows {
			calls[other.Place] = 1
		}
	}
	if with := p.Spared(calls); with > cpu {
		cpu = with
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio,
			"with the queries that %s then runs for these rows: %s", callstack.Short(by.Place.Function), diagnose.Percent(cpu)))
	}
	low, g := cmp.Or(f.GainLow, f.GainCeiling), demand.InProcessGain(p, share, cpu)
	if g.Factor > low {
		g.Low, g.High, g.AtLeast = low, cmp.Or(g.High, g.Factor), false
		diagnose.Promise(f, g)
	}
	p.Cover(*f, callstack.Enclosing(by.Place.Function))
}

// wordScan writes title and remedy: for the scan if it is wasteful, else for the statement.
func wordScan(p *diagnose.Pass, f *diagnose.Finding, lead evidence.Asked, others []evidence.Asked, place string) {
	if s, ok := servesMost(lead, others); ok {
		again := ""
		if s.Inner {
			again = " again for each row of another table"
		}
		f.Title = fmt.Sprintf("Reading all %s rows of %s%s takes %s of request time%s", thousands(s.Rows),
			s.Table, again, diagnose.Percent(f.Share), place)
		if f.Remedy = indexAdvice(s); strings.Contains(strings.ToUpper(lead.Text), " LIKE ") {
			f.Remedy += " LIKE uses an index only on a column with COLLATE NOCASE, and only if the pattern does not begin " +
				"with %."
		}
		if len(s.Columns) == 0 && statement.Counts(lead.Text) {
			f.Remedy = "Count less often (cache the result for some seconds, or keep it in a table that writes update), or " +
				"fetch one row more than a page shows instead of the total. The statement reads every row to count it, and " +
				"no condition leaves any out."
		}
	} else {
		f.Confidence = findings.Medium
		which := "One statement takes"
		if len(others) > 0 {
			which = "One statement and the others that read the same rows take"
		}
		f.Title = fmt.Sprintf("%s %s of request time%s: %s", which, diagnose.Percent(f.Share), place, statement.Brief(lead.Text))
		less := "read fewer rows, keep sums and counts in their own table, or cache the result."
		switch {
		case !demand.InProcess(p):
			f.Remedy = "Look at the plan (EXPLAIN) of the statement; " + mayLack(lead) + less
		default:
			f.Remedy = cmp.Or(longer(lead), "Look at EXPLAIN QUERY PLAN of the statement; ") + less
		}
	}
	switch {
	case statement.Shuffles(lead.Text):
		f.Remedy = shuffled
	case statement.Ranks(lead.Text) && !strings.HasPrefix(f.Remedy, "CREATE INDEX "):
		f.Remedy = ranked
	}
}

// servesMost returns a statement's wasteful scan, in the order that one of the others needs: that index serves both.
func servesMost(lead evidence.Asked, others []evidence.Asked) (worst operation.SQLiteScan, ok bool) {
	worst, ok = wastefulScan(lead)
	for _, a := range others {
		if s, wasteful := wastefulScan(a); wasteful && len(worst.Sorts) == 0 && len(s.Equal) == len(worst.Equal) {
			worst.Sorts = s.Sorts
		}
	}
	return worst, ok
}

// took returns the mean request's time in a statement, in ns, without nested statements if there are traces.
func took(p *diagnose.Pass, a evidence.Asked) float64 {
	if n := a.Took(); n > 0 || p.Has(diagnose.NeedAnatomy) {
		return n
	}
	return demand.AskedPerRequest(p, a.NS)
}

// overWire adds the gain of statements that one remedy serves on saturated CPUs if they run on a server that redline did not read.
// Their part of the server's CPU is then unknown, which does not mean zero: it is at most their part of
// the service's waits for results.
// saves is the part of the statements that the remedy saves, 0 to 1.
func overWire(p *diagnose.Pass, f *diagnose.Finding, part, saves float64, served ...evidence.Asked) {
	if demand.InProcess(p) {
		return
	}
	part, whose := executed(p, part, served...), "its"
	if len(served) > 1 {
		whose = "their"
	}
	diagnose.Promise(f, demand.Executing(p, part*saves))
	settles := "redline reads no statistics of this server"
	if driver.Postgres(p) {
		settles = "pg_stat_statements, read with --postgres, would settle it"
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, part, diagnose.Ratio, "%s part of the database's work (%s) is "+
		"inferred from the service's own waits: %s", whose, diagnose.Percent(part), settles))
}

// executed bounds the statements' part of what the server executes, 0 to 1: no more than
// their part of requests' waits, nor of all that the hooks counted, including background
// work.
func executed(p *diagnose.Pass, part float64, some ...evidence.Asked) float64 {
	all, own := 0.0, 0.0
	for _, a := range p.Asked() {
		all += a.NS
	}
	for _, a := range some {
		own += a.NS
	}
	return min(part, own/max(1, all))
}

// alone returns the time that a statement takes per call by itself, and the time at which that
// is slow, in ns. Over the wire it is the wait. On saturated CPUs a fast statement waits long
// too, so its part of the server's CPU decides, to which contention adds nothing.
func alone(p *diagnose.Pass, a evidence.Asked, part float64) (ns, least float64) {
	each := demand.AskedPerRequest(p, a.Calls)
	if demand.InProcess(p) {
		return (a.Running + a.Waiting) / each, heavyNS
	}
	ns = a.Waiting / each
	used, ok := p.Sum(series.DBCPU, "")
	if !ok || !p.CPU().Saturated() {
		return ns, slowMeanNS
	}
	return min(ns, used*executed(p, part, a)/a.Calls), heavyNS
}

// slowGain bounds the gain: within the process, removing a statement frees the
// service's CPUs in proportion to its part of statements' running time; over the wire
// it saves the wait (see overWire).
func slowGain(p *diagnose.Pass, share, part, runs float64) laws.Gain {
	if demand.InProcess(p) {
		return demand.InProcessGain(p, share*part, demand.ClientCPU(p)*max(part, runs))
	}
	return p.Waited(share * part)
}

// runs returns some statements' part of the time in which statements run, 0 to 1; 0 without
// a trace. This approximates their part of the CPU. Their part of the time does not: on
// saturated CPUs short statements wait for one too.
func runs(p *diagnose.Pass, some ...evidence.Asked) float64 {
	all, part := 0.0, 0.0
	for _, a := range p.Asked() {
		all += a.Running
	}
	for _, a := range some {
		part += a.Running
	}
	if !(all > 0) {
		return 0
	}
	return part / all
}

// heaviestAsked returns the statement to blame, its part of the time within
// statements, and why: "scan" if it reads rows that it discards, "index" if it does so on a
// server, "sums" if it sums up a table, alone or with others, "slow" if it is slow by itself, "" if none is to blame.
func heaviestAsked(p *diagnose.Pass) (lead evidence.Asked, part float64, why string) {
	all := slices.Clone(p.Asked())
	total := 0.0
	for _, a := range all {
		total += took(p, a)
	}
	slices.SortStableFunc(all, func(a, b evidence.Asked) int { return cmp.Compare(took(p, b), took(p, a)) })
	for i, a := range all {
		part = took(p, a) / max(1, total)
		each := demand.AskedPerRequest(p, a.Calls)
		if part < secondShare || !(each > 0) {
			break
		}
		if _, ok := wastefulScan(a); ok {
			return a, part, "scan"
		}
		if _, _, ok := uncounted(p, a); ok {
			return a, part, "index"
		}
		if _, times, ok := summedToo(p, a, part); ok && part*times >= leastStatementShare {
			return a, part, "sums"
		}
		if i == 0 && part >= leastStatementShare && slowAlone(p, a, part) {
			return a, part, "slow"
		}
		if i == 0 {
			took, _ := alone(p, a, part)
			scans := "reads no table in full"
			if a.Plan == nil && a.Server == nil {
				scans = "redline has no plan of it"
			}
			p.Reject("db-slow-query", "the leading statement takes %s per call and %s: %s", diagnose.Span(took), scans,
				statement.Brief(a.Text))
		}
	}
	return lead, 0, ""
}

// wastefulScan returns the largest table that a statement reads in full to return
// little of it. SQLite's plan says SCAN or SEARCH per table, without costs
// (sqlite.org/eqp.html), so the hooks' row counts are compared instead.
func wastefulScan(a evidence.Asked) (worst operation.SQLiteScan, ok bool) {
	if a.Plan == nil || !(a.Calls > 0) {
		return worst, false
	}
	filters := strings.Contains(strings.ToUpper(a.Text), "WHERE ")
	for _, s := range a.Plan.Scans {
		narrows := s.Virtual && s.Inner || len(s.Columns) > 0 || len(s.Sorts) > 0 || s.SortsBy != "" || filters && len(a.Plan.Scans) == 1
		if narrows && s.Rows >= scannedRows && float64(s.Rows) >= scannedPerRow*a.Rows/a.Calls && s.Rows > worst.Rows {
			worst, ok = s, true
		}
	}
	return worst, ok
}

// indexAdvice proposes the index for a scan: columns compared for equality first,
// then the sort columns, otherwise one range. An index serves one range, and only
// after its equality columns (sqlite.org/queryplanner.html).
func indexAdvice(s operation.SQLiteScan) string {
	if s.Virtual {
		return fmt.Sprintf("Do not join %s by a plain column: a full-text table can be searched only by MATCH and by rowid. "+
			"Compare its rowid, read it in a separate statement (rowid IN ...), or keep the columns that the response needs "+
			"in the other table.", s.Table)
	}
	if s.SortsBy != "" && len(s.Equal) == 0 {
		return fmt.Sprintf("It sorts by an expression (%s), and no index of columns has that order: keep its value in a "+
			"column of %s, written with the row, and sort by that column, with an index that begins with it.",
			statement.Brief(s.SortsBy), s.Table)
	}
	columns := slices.Clone(s.Equal)
	for _, c := range s.Sorts {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	if len(s.Sorts) == 0 {
		for _, c := range s.Columns {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
				break
			}
		}
	}
	if len(columns) == 0 {
		return fmt.Sprintf("Rewrite the condition on %s so that an index can serve it (a plain column "+
			"compared with a value), or index the expression.", s.Table)
	}
	reads := "only the rows it returns"
	if slices.ContainsFunc(s.Columns, func(c string) bool { return !slices.Contains(columns, c) }) {
		reads = "far fewer rows"
	}
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = index.Quote(c)
	}
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s); then the statement reads %s.",
		index.Quote(s.Table+"_"+strings.Join(columns, "_")), index.Quote(s.Table), strings.Join(quoted, ", "), reads)
}

// thousands writes a count of rows with separators.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// hotDatabase goes by the CPU profile alone: it names the user's function below
// which the database works. The statement was not seen, so confidence is medium.
func hotDatabase(p *diagnose.Pass) []diagnose.Finding {
	use, err := p.Use()
	if err != nil {
		p.Unjudged("db-slow-query", "%s", p.Explain(diagnose.NeedCPUProfile))
		return nil
	}
	places := use.Places(callstack.DBClient)
	if len(places) == 0 || !p.Sampled(use, "db-slow-query") {
		return nil
	}
	top := places[0]
	gain := p.Ran(evidence.Work{Share: top.Share, Function: top.Place.Function})
	if w := p.Waits(); p.Has(diagnose.NeedAnatomy) {
		// Requests that queue for the connection wait for the same work.
		gain = demand.InProcessGain(p, min(1, w.Share(callstack.PoolWait)+w.OnCPU()*top.Share), top.Share)
	}
	if top.Share < demand.LeastRequestShare || gain.Factor < diagnose.MinGain {
		return nil
	}
	prepare := use.With(callstack.DBPrepare) / max(1e-9, use.Share(callstack.DBClient))
	f := diagnose.Finding{
		Cause: "db-slow-query", Share: top.Share, ShareOf: diagnose.OfCPU, Confidence: findings.Medium,
		Where: diagnose.WhereOf(top.Place),
		Title: fmt.Sprintf("%s of the service's CPU is spent in SQLite below %s at %s", diagnose.Percent(top.Share),
			callstack.Short(top.Place.Function), diagnose.At(top.Place)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, use.Share(callstack.DBClient), diagnose.Ratio,
				"SQLite within the process takes %s of the service's CPU, %s of that for preparing statements",
				diagnose.Percent(use.Share(callstack.DBClient)), diagnose.Percent(prepare)),
			diagnose.Fact(diagnose.FromProfile, 0, "", "the statement is inferred from its function; redline counts "+
				"statements if it builds the service (--build)"),
		},
		Remedy: "Run EXPLAIN QUERY PLAN on the statement there: a SCAN of a large table needs an index on the columns it compares.",
	}
	if prepare >= manyPrepares {
		f.Cause, f.Confidence = "db-n-plus-one", findings.Medium
		f.Remedy = "Count the statements that one request runs there: replace a loop that runs a query for each row of " +
			"another with a join, or with one statement with IN (...); prepare the rest once."
	}
	diagnose.Promise(&f, gain)
	return []diagnose.Finding{f}
}
