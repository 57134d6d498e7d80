package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/driver"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/statement"
)

const (
	// manyCalls is the number of calls of one statement per request, on average
	// over all kinds of request: a page may need two.
	manyCalls = 2.5
	// mostRepeated: if the leading statement has less than this part of the repeated time, the finding
	// says that it is not alone.
	mostRepeated = 0.8
	// manyExcess is the number of calls per request beyond the first, over all repeated
	// statements: what running each once would save. The order gateway's loop runs two
	// statements 3 and 4 times; neither alone seemed much.
	manyExcess = 2
	// manyWaits is the number of waits per request at one place, where statements
	// are not counted: one query may wait for the network twice (prepare, or a
	// large result).
	manyWaits = 8
	// mostOthers bounds how many other repeated statements are named.
	mostOthers = 2
	// severalRows is the number of rows per INSERT from which it is one of several rows: splitting a batch into some is no repetition.
	severalRows = 10
	// leastRepeatShare is the part of request time that the repeated calls take.
	leastRepeatShare = 0.15
)

// NPlusOne finds statements that a request runs again and again.
//
// The number of calls proves it, as counted by the server, the hooks, or waits in
// the trace. Time does not, because each call is fast. Different statements that
// run once each are no repetition (product-sheet), nor is one statement that many
// requests run once.
var NPlusOne = diagnose.Analyzer{
	Name:  "n-plus-one",
	Stage: diagnose.Database,
	Doc: "Divides the calls of each statement by the number of requests: one must run at least 2.5 times per request, and " +
		"all repeated ones together must make at least two calls more than needed. Without statement statistics, at least 8 " +
		"database waits per request at one place in the service's code count instead. The calls must take at least 15 % of " +
		"request time. If most of the repeated calls write, they are reported as unbatched writes.",
	Causes: []diagnose.Cause{nPlusOne, unbatchedWrite},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	After:  []string{"slow-query"},
	Run:    runNPlusOne,
}

// runNPlusOne takes the counts as proof and the time as weight. Its share is the
// part of the database's time that repeats; on saturated CPUs the gain comes from
// the CPU of a call on both sides instead, because a request's time is then mostly
// queueing.
func runNPlusOne(p *diagnose.Pass) ([]diagnose.Finding, error) {
	all, counted := demand.Statements(p)
	if len(all.Statements) == 0 && demand.InProcess(p) {
		uncounted(p)
		return nil, nil // a wait may be a call of C rather than a statement; slow-query goes by the CPU
	}
	if len(all.Statements) == 0 {
		return fromWaits(p), nil
	}
	share, source, ok := demand.RequestShare(p)
	if !ok {
		for _, cause := range []string{"db-n-plus-one", "db-unbatched-write"} {
			p.Unjudged(cause, "neither the requests' own time nor the load's service time is known")
		}
		return nil, nil
	}
	if source == diagnose.FromTrace && !demand.InProcess(p) {
		// Each call also costs the service itself: encoding, decoding, a wake-up.
		// Removing the call saves that time, on a CPU and queued for one.
		share = min(1, share+p.Waits().OnCPU()*demand.ClientCPU(p))
	}
	all, commits := demand.WithCommits(p, all)
	if commits > 0 {
		share = min(1, share+commits/p.Waits().MeanNS())
	}
	r := repetition(p, all)
	if statement.Writes(r.lead.Text) { // a request that repeats reads may commit something else, once
		r.commits = commits
	}
	if r.each < manyCalls || r.excess < manyExcess || share*r.part < leastRepeatShare {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-n-plus-one", Share: share * r.part, ShareOf: diagnose.OfRequest,
		Confidence: findings.Medium, Where: findings.Where{SQL: r.lead.Text},
		Evidence: r.evidence(p, counted, diagnose.Fact(source, share, diagnose.Ratio, "%s take %s of request time", doing(p),
			diagnose.Percent(share))),
		Remedy: joined(p, r.lead.Text),
	}
	r.promise(p, &f, share)
	what := fmt.Sprintf("runs one statement %s times", diagnose.Number(r.each))
	if statement.Writes(r.lead.Text) {
		f.Cause, f.Remedy, what = "db-unbatched-write", batched(p, r.lead.Text), r.writes()
	}
	of := "time"
	if f.ShareOf == diagnose.OfCPU {
		of = "CPU"
	}
	takes := "that takes"
	switch {
	case r.commits > 0:
		takes = "with its commits, that takes"
	case r.alone < mostRepeated:
		takes = "its repeated statements take"
	}
	f.Title = fmt.Sprintf("Each request %s%s; %s %s of its %s", what, describeRepeater(p, r.lead, &f), takes,
		diagnose.Percent(f.Share), of)
	return []diagnose.Finding{f}, nil
}

// writes says what requests do that repeat a statement which writes.
func (r repeats) writes() string {
	if float64(r.lead.Rows) >= demand.Again*float64(r.lead.Calls) {
		return fmt.Sprintf("runs one statement that writes %s times", diagnose.Number(r.each))
	}
	return fmt.Sprintf("writes %s rows one by one", diagnose.Number(r.each))
}

// uncounted says that statements were not counted, unless there was somebody to count them: then requests run none. That a profile shows
// many of them is judged by slow-query.
func uncounted(p *diagnose.Pass) {
	if p.Operations() != nil {
		return
	}
	causes := []string{"db-unbatched-write"}
	if !slices.ContainsFunc(p.Findings("slow-query"), func(f diagnose.Finding) bool { return f.Cause == "db-n-plus-one" }) {
		causes = append(causes, "db-n-plus-one")
	}
	for _, cause := range causes {
		p.Unjudged(cause, "statements were not counted: let redline build the service (--build)")
	}
}

// doing names what the database's part of a request consists of.
func doing(p *diagnose.Pass) string {
	if demand.InProcess(p) {
		return "statements and commits"
	}
	return "the database and the round trips to it"
}

// evidence gives the counts, from the server or the hooks, and the database's part of a request.
func (r repeats) evidence(p *diagnose.Pass, counted string, part findings.Evidence) []findings.Evidence {
	partly := ""
	if requests := demand.Requests(p); float64(r.lead.Calls) < 0.99*r.each*requests {
		partly = ", some of them in part"
	}
	facts := []findings.Evidence{
		diagnose.Fact(counted, r.each, diagnose.Count, "the statement runs %s times per request (%s in %s%s)", diagnose.Times(r.each),
			diagnose.Counted(float64(r.lead.Calls), "call", "calls"), diagnose.Counted(demand.Requests(p), "request", "requests"), partly),
		diagnose.Fact(counted, r.excess, diagnose.Count, "%s calls per request repeat a statement that the request "+
			"already ran", diagnose.Times(r.excess)),
		part,
	}
	for _, s := range r.others[:min(len(r.others), mostOthers)] {
		times := demand.Times(p, s)
		facts = append(facts, diagnose.Fact(counted, times, diagnose.Count, "another one runs %s times per request: %s",
			diagnose.Times(times), statement.Brief(s.Text)))
	}
	return facts
}

// promise bounds the gain of removing the repeated calls, with their cost in the
// service's CPU. share is the database's part of request time.
func (r repeats) promise(p *diagnose.Pass, f *diagnose.Finding, share float64) {
	if statement.Writes(r.lead.Text) {
		r.part -= r.ran // one statement for all rows still writes each of them
	}
	cpu := demand.Repeated(p, statement.Writes(r.lead.Text))
	if !(cpu.Take > 0) {
		worth := share
		if both, ok := demand.CallCPU(p); ok {
			// On saturated CPUs throughput is CPUs over CPU per request. A call not
			// made saves its CPU on both sides, whatever requests queue for.
			worth = both
		}
		diagnose.Promise(f, demand.Gain(p, worth, r.part))
		return
	}
	// The driver is the smaller part of a call through an object mapper, which
	// builds the statement and scans its rows: in a service with gin and GORM the
	// calls took 88 % of the CPU, but seemed worth only 1.2x when just the driver
	// counted.
	saved := func(goes float64) laws.Gain {
		part := r.part
		if demand.InProcess(p) {
			part = r.inProcess(p, goes)
		}
		return demand.Spared(p, share*part, part, goes)
	}
	high := saved(cpu.Most)
	if p.CPU().Saturated() && !demand.InProcess(p) && !p.Has(diagnose.NeedStatements) {
		r.part = min(r.part, r.executes)
	}
	gain, low := saved((cpu.Goes+cpu.Most)/2), saved(cpu.Goes)
	if high.Factor > low.Factor {
		gain.Low, gain.High = low.Factor, high.Factor
	}
	diagnose.Promise(f, gain)
	if p.CPU().Saturated() && cpu.Take > f.Share {
		// Requests wait for the CPU, and the time queued for it belongs to other
		// places.
		f.Share, f.ShareOf = cpu.Take, diagnose.OfCPU
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, cpu.Take, diagnose.Ratio,
		"the repeated calls take %s of the service's CPU, including building the statement and reading its "+
			"rows", diagnose.Percent(cpu.Take)))
}

// joined is the remedy of a statement that reads again and again.
func joined(p *diagnose.Pass, text string) string {
	switch {
	case !statement.TakesValues(text):
		return "Run it once per request, or keep the result for longer: it takes no value, so each run returns the same rows: " +
			statement.Brief(text)
	case statement.Lists(text):
		return "Collect the keys of all its calls and run the statement once (it already takes a list of keys): " +
			statement.Brief(text)
	}
	how := onlyKeys(p)
	if !demand.InProcess(p) {
		how += driver.GORM(p, "; GORM: Preload")
	}
	if statement.Counts(text) {
		return fmt.Sprintf("Count for all keys with one statement (SELECT key, COUNT(*) ... %s GROUP BY key) instead of: %s", onlyKeys(p),
			statement.Brief(text))
	}
	return fmt.Sprintf("Fetch all rows with one statement (a join, or %s) instead of: %s", how, statement.Brief(text))
}

// onlyKeys is the condition that selects the rows of many keys with one statement.
func onlyKeys(p *diagnose.Pass) string {
	if demand.InProcess(p) {
		return "WHERE key IN (...)"
	}
	return driver.OnlyKeys(p)
}

// batched is the remedy of a statement that writes again and again.
func batched(p *diagnose.Pass, text string) string {
	if demand.InProcess(p) {
		return fmt.Sprintf("Write all rows in one transaction (one commit, one sync of the disk), if they are not in one yet, with a "+
			"statement that is prepared once: %s", statement.Brief(text))
	}
	const instead = ", in one transaction, instead of: "
	switch statement.Change(text) {
	case "DELETE":
		return "Delete all rows with one statement (" + onlyKeys(p) + ")" + instead + statement.Brief(text)
	case "UPDATE":
		return "Update all rows with one statement (UPDATE with " + onlyKeys(p) + ", or joined with the new values" +
			driver.FromArrays(p, ", as in FROM ") + ")" + instead + statement.Brief(text)
	}
	return "Write all rows with one statement (INSERT with several rows" + driver.FromArrays(p, " or from ") + driver.Batch(p, ", ") +
		driver.GORM(p, "; GORM: CreateInBatches") + ")" + instead + statement.Brief(text)
}

// repeats is what requests run more than once.
type repeats struct {
	lead     database.Statement   // of those that run many times, the one whose repeated calls take most time; else the most frequent
	each     float64              // how often, per request
	excess   float64              // calls per request that repeat, over all statements
	alone    float64              // the lead's part of the repeated time
	part     float64              // the part of the waits for the database that removing repeats saves
	executes float64              // part as far as a server that nobody read executes it
	ran      float64              // of this, the part in which a server executes the repeats; 0 if it is not known
	commits  float64              // ns of the mean request in which what it writes is committed
	others   []database.Statement // further statements that run many times
}

// inProcess returns the part of the waits that is saved if the database is within the
// process and the repeated calls take cpu of the service's CPU, 0 to 1. A single
// statement still handles all rows, so running time shrinks as the CPU below the calls
// does; waits, such as for the disk, are per call.
func (r repeats) inProcess(p *diagnose.Pass, cpu float64) float64 {
	waits := 0.0
	if a, ok := p.AskedAs(r.lead.Text); ok && a.Took() > 0 {
		// A prepared statement also queues for its connection, behind other
		// statements.
		w := p.Waits()
		queue := max(0, a.Took()+w.NS(callstack.PoolWait)-w.MeanNS())
		if own := a.Took() - queue + r.commits; own > 0 {
			waits = (max(0, a.Waiting-queue) + r.commits) / own
		}
	}
	return r.part*waits + min(r.part, cpu)*(1-waits)
}

// repetition sums the repeated calls: of each statement all but the first, with
// their execution time as the server counted it and their part of the remaining
// wait, because all round trips cost about the same. Beginnings and ends of
// transactions count but never lead: they repeat because what they enclose does.
func repetition(p *diagnose.Pass, all *database.Statements) (r repeats) {
	var calls, repeatedCalls, repeatedTime, most float64
	r.executes = demand.ExecutedUnread(p, all, func(s database.Statement) float64 {
		if times := demand.Times(p, s); times >= demand.Again && !inBatches(s) {
			return 1 - 1/times
		}
		return 0
	})
	for _, s := range all.Statements {
		times := demand.Times(p, s)
		calls += times
		if !(times >= demand.Again) || inBatches(s) {
			continue
		}
		own := min(1, times/demand.PerRequest(p, float64(s.Calls))) // the part of its calls that requests make
		took := evidence.StatementShare(all, s) * own * (1 - 1/times)
		if times >= manyCalls && !statement.Utility(s.Text) {
			r.others = append(r.others, s)
		}
		more := cmp.Or(cmp.Compare(min(times, manyCalls), min(r.each, manyCalls)), cmp.Compare(took, most), cmp.Compare(times, r.each))
		if more > 0 && !statement.Utility(s.Text) {
			r.lead, r.each, most = s, times, took
		}
		r.excess += times - 1
		repeatedCalls += times - 1
		repeatedTime += took
	}
	r.alone = most / max(1e-9, repeatedTime)
	r.others = slices.DeleteFunc(r.others, func(s database.Statement) bool { return s.Text == r.lead.Text })
	if calls > 0 {
		ran := demand.Executed(p)
		r.part = ran*repeatedTime + (1-ran)*repeatedCalls/calls
		switch {
		case demand.InProcess(p):
			r.part = repeatedTime // there is no round trip that all calls share
		case p.Statements() != nil && p.Waits().NS(callstack.DatabaseWait, callstack.PrepareWait) > 0:
			r.ran = ran * repeatedTime
		}
	}
	return r
}

// inBatches reports whether a statement writes many rows at a time, as COPY does, or an INSERT of several rows.
func inBatches(s database.Statement) bool {
	switch cmp.Or(statement.Change(s.Text), statement.Verb(s.Text)) {
	case "COPY":
		return true
	case "INSERT", "REPLACE", "MERGE":
		return s.Rows >= severalRows*s.Calls
	}
	return false
}

// fromWaits is the rule for the trace alone, where neither server nor hooks counted
// statements.
func fromWaits(p *diagnose.Pass) []diagnose.Finding {
	if !p.Has(diagnose.NeedAnatomy) {
		for _, cause := range []string{"db-n-plus-one", "db-unbatched-write"} {
			p.Unjudged(cause, "%s; and without an execution trace, calls cannot be counted", p.Explain(diagnose.NeedStatements))
		}
		return nil
	}
	site, ok := busiest(p)
	if !ok || site.Times < manyWaits || site.Share < leastRepeatShare {
		return nil
	}
	part := 1 - 1/site.Times
	found := []diagnose.Finding{{
		Cause: "db-n-plus-one", Share: site.Share * part, ShareOf: diagnose.OfRequest,
		Confidence: findings.Medium, Where: diagnose.WhereOf(site.Place),
		Title: fmt.Sprintf("Each request waits for the database %s times at %s; that takes %s of its time", diagnose.Number(site.Times),
			diagnose.At(site.Place), diagnose.Percent(site.Share)),
		Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Count,
			"the mean request waits %s times for the database at %s, %s each", diagnose.Times(site.Times), diagnose.At(site.Place),
			diagnose.Span(site.NS/site.Times))},
		Remedy: fmt.Sprintf("Fetch all rows that the loop at %s reads with one statement (a join, or %s%s).",
			diagnose.At(site.Place), onlyKeys(p), driver.GORM(p, "; GORM: Preload")),
	}}
	if executes(p, site.Part.Stack) {
		f := &found[0]
		f.Cause = "db-unbatched-write"
		f.Remedy = fmt.Sprintf("Write all rows that the loop at %s writes with one statement (several rows or keys%s%s).",
			diagnose.At(site.Place), driver.Batch(p, ", "), driver.GORM(p, "; GORM: CreateInBatches"))
	}
	diagnose.Promise(&found[0], demand.Gain(p, site.Share, part))
	return found
}

// busiest returns the user's place that waits for the database most often.
func busiest(p *diagnose.Pass) (best waits.Site, ok bool) {
	for _, s := range p.Waits().Sites(callstack.DatabaseWait) {
		if s.Times > best.Times {
			best, ok = s, true
		}
	}
	return best, ok
}

// executes reports whether a stack runs a statement that most likely writes: one that returns no rows, for which drivers name the
// method Exec, as database/sql does, or a mapper's that writes and reads back what the database made of it (RETURNING).
func executes(p *diagnose.Pass, stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool {
		_, name := callstack.Split(f.Function)
		return strings.Contains(name, ").Exec") && p.Stacks.Role(f.Function).Has(callstack.DBClient) || driver.MapperWrites(f.Function)
	})
}

// written returns the innermost of the user's lines on the way to a statement that is in no generated file: who repeats a statement of
// generated code is its caller. Without one it is the statement's own place.
func written(p *diagnose.Pass, by evidence.AskedBy) code.Frame {
	from := slices.Index(by.Stack, by.Place)
	if from < 0 || !callstack.LinesOf(p.Sources().Generated).Has(by.Place) {
		return by.Place
	}
	at, _ := byHand(p, by.Stack[from:])
	return at
}

// byHand returns the innermost of the user's lines on a stack that is in no generated file, or else the innermost one; false if there
// is none of the user's.
func byHand(p *diagnose.Pass, stack []code.Frame) (at code.Frame, ok bool) {
	generated := callstack.LinesOf(p.Sources().Generated)
	for _, f := range stack {
		if !p.Stacks.User(f) {
			continue
		}
		if !generated.Has(f) {
			return f, true
		}
		if !ok {
			at, ok = f, true
		}
	}
	return at, ok
}

// looping returns the innermost of the user's lines on the way to a statement that is in a loop, by the sources; false if none is
// known.
func looping(p *diagnose.Pass, by evidence.AskedBy) (at code.Frame, known bool) {
	loops := callstack.LinesOf(p.Sources().Loops)
	inner := p.Stacks.Handler(by.Stack) // what calls the handler repeats requests
	for i, f := range inner {
		if !p.Stacks.User(f) || !loops.Has(f) {
			continue
		}
		if p.Load().Messages && !slices.ContainsFunc(inner[i+1:], p.Stacks.User) {
			break // it reads messages, which are the requests
		}
		return f, true
	}
	return at, false
}

// describeCallers names the functions of the service through which a handler reaches a place on a stack.
func describeCallers(p *diagnose.Pass, stack []code.Frame, place code.Frame, f *diagnose.Finding) {
	if inner := p.Stacks.Handler(stack); slices.Contains(inner, place) {
		stack = inner // what calls the handler repeats nothing
	}
	callers := p.Stacks.Callers(stack, place)
	if len(callers) == 0 {
		return
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, float64(len(callers)),
		"functions", "called by %s", usage.ThroughWords(callers)))
	if f.Where.Detail == "" {
		f.Where.Detail = "called by " + usage.PathWords(callers)
	}
}

// describeRepeater sets the finding's place to the one that repeats a statement, and
// returns it for the title with a leading " at "; "" if unknown.
func describeRepeater(p *diagnose.Pass, lead database.Statement, f *diagnose.Finding) (at string) {
	if a, known := p.AskedAs(lead.Text); known {
		if by, ok := a.Lead(); ok && by.User {
			place := written(p, by)
			asker.By{Place: place}.Describe(f)
			who, _ := asker.Counted(p, lead.Text)
			f.Evidence, f.Confidence = append(f.Evidence, who), findings.High
			if place != by.Place {
				f.Where.Detail = "through " + callstack.Short(by.Place.Function)
			}
			// The loop is often one function up, in the caller of a repository method.
			if at, known := looping(p, by); known && at.Function != place.Function {
				f.Where.Detail = fmt.Sprintf("in the loop of %s at %s", callstack.Short(at.Function), diagnose.At(at))
			}
			describeCallers(p, by.Stack, place, f)
			return " at " + diagnose.At(place)
		}
	}
	site, ok := busiest(p)
	if !ok {
		return ""
	}
	at = " at " + diagnose.At(site.Place)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Count,
		"the mean request's goroutine waits for the database's connection %s times%s; a result in several pieces takes "+
			"several waits", diagnose.Number(site.Times), at))
	// The trace counts waits, not calls: one result may take two. Twice the limit
	// leaves no doubt.
	if site.Times >= 2*manyCalls {
		f.Confidence = findings.High
	}
	by := asker.By{Place: site.Place}
	for _, s := range asker.Spots(p) {
		if s.Place != site.Place && s.Times >= demand.Again {
			by.Others, by.Inferred, by.Loosely = append(by.Others, s.Place), true, true
		}
	}
	by.Describe(f)
	return at
}
