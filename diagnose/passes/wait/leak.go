package wait

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastLeaked is the least number of goroutines of one kind added in the span:
	// a busier moment of a service that fans out adds some tens.
	leastLeaked = 100
	// leastLeakShare is their part of all goroutines at the end. The corpus'
	// cart-watchers and price-quotes-hedge have 0.8 and more, score-subscribers 0.
	leastLeakShare = 0.25
	// leastApart is the least distance between the profiles in seconds.
	leastApart = 2
	// underWay is the part of a growth that may be requests in flight at the end
	// and not at the beginning: beyond it the load grew, and the goroutines with
	// it.
	underWay = 0.25
	// quarters is the number of parts of the span. Goroutines must have grown in
	// each, by no less than evenness of the average growth of a part.
	quarters = 4
	evenness = 0.3
)

// Leak finds goroutines that stay behind.
//
// A goroutine that is blocked forever looks like one that waits for work. Only
// growth distinguishes them: under constant load the number of a service's
// goroutines levels off. So two profiles are subtracted by stack, and the runtime's
// count must rise in every quarter, which a burst does not. Go's goroutine leak
// profile, if the target has it, finds goroutines that nothing can wake any more,
// and needs no trend.
var Leak = diagnose.Analyzer{
	Name:  "goroutines",
	Stage: diagnose.Wait,
	Doc: "Subtracts the goroutine profile at the beginning of the steady span from that at its end, by stack. A kind of " +
		"goroutine leaks if it grew by 100 and by a quarter of all at the end, while the runtime's count rose in each " +
		"quarter of the span and requests in flight did not.",
	Causes: []diagnose.Cause{leakCause},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	Run:    runLeak,
}

// runLeak names the kind that grew most. It rejects, with the figure, growth that
// the load explains or that came in one burst.
func runLeak(p *diagnose.Pass) ([]diagnose.Finding, error) {
	snapshots, err := p.Snapshots()
	if err != nil {
		return nil, err
	}
	if len(snapshots) < 2 || snapshots[len(snapshots)-1].At.Seconds()-snapshots[0].At.Seconds() < leastApart {
		p.Unjudged("goroutine-leak", "two goroutine profiles at least %d s apart are needed, from the probe "+
			"(--build) or net/http/pprof (--pprof)", leastApart)
		return nil, nil
	}
	first, last := snapshots[0], snapshots[len(snapshots)-1]
	growth, ok := grown(p, first, last)
	if !ok || growth.by < leastLeaked || float64(growth.by) < leastLeakShare*float64(last.Total) {
		return nil, nil
	}
	if more, ok := risen(p.Series(series.LoadInFlight, "").Values); ok && more > underWay*float64(growth.by) {
		p.Reject("goroutine-leak", "goroutines at %s grew by %d, and requests in flight by %s",
			diagnose.At(growth.at), growth.by, diagnose.Number(more))
		return nil, nil
	}
	counts := p.Series("/sched/goroutines:goroutines", "").Values
	if !steadily(counts) {
		p.Reject("goroutine-leak", "goroutines at %s grew by %d, but not steadily", diagnose.At(growth.at), growth.by)
		return nil, nil
	}
	if p.CPU().Saturated() && locks(growth.stack) && named(p, growth) == 0 {
		p.Reject("goroutine-leak", "goroutines at %s grew by %d, but they wait for a lock on saturated CPUs: a backlog, which ends when "+
			"the load does", diagnose.At(growth.at), growth.by)
		return nil, nil
	}
	f := leaked(p, growth, first, last, len(counts) > 0)
	switch {
	case growth.entry == poolEntry: // of pools that each call makes and leaves behind
		p.Reached("goroutine-leak", []string{f.Where.Function})
	case !measured.ClientConn(growth.entry):
		p.Reached("goroutine-leak", nil) // no connections that each call leaves behind
	}
	return []diagnose.Finding{f}, nil
}

// locks reports whether a goroutine waits for a mutex.
func locks(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool {
		return strings.HasPrefix(f.Function, "sync.(*Mutex).") || strings.HasPrefix(f.Function, "sync.(*RWMutex).")
	})
}

// poolEntry is where the goroutine of each pool of database/sql begins, which ends when the pool is closed.
const poolEntry = "database/sql.(*DB).connectionOpener"

// growth is the kind of goroutine that grew the most: by its entry and the place
// where it waits.
type growth struct {
	at    code.Frame // where it waits, in the user's code
	entry string     // the function that it began in
	by    int64
	from  int64
	stack []code.Frame
}

// grown subtracts two snapshots. Goroutines of connections belong to the load.
func grown(p *diagnose.Pass, first, last measured.Snapshot) (growth, bool) {
	kinds := map[string]*growth{}
	count := func(s measured.Snapshot, sign int64) {
		for _, one := range s.Stacks {
			if p.Stacks.Serves(one.Stack) {
				continue
			}
			at, _ := p.Stacks.Place(one.Stack)
			entry := measured.Entry(one.Stack)
			key := entry + " " + at.Function + ":" + strconv.Itoa(at.Line)
			g := kinds[key]
			if g == nil {
				g = &growth{at: at, entry: entry, stack: one.Stack}
				kinds[key] = g
			}
			g.by += sign * one.Value
			if sign < 0 {
				g.from += one.Value
			}
		}
	}
	count(last, 1)
	count(first, -1)
	list := make([]growth, 0, len(kinds))
	for _, g := range kinds {
		list = append(list, *g)
	}
	if len(list) == 0 {
		return growth{}, false
	}
	// Of several that grow together, the user's own is preferred.
	return slices.MaxFunc(list, func(a, b growth) int {
		return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(b.entry, a.entry), cmp.Compare(b.at.Line, a.at.Line))
	}), true
}

// quarterMeans returns the means of the quarters of a series; ok is false if one of
// them has no value.
func quarterMeans(values []float64) (means [quarters]float64, ok bool) {
	if len(values) < quarters {
		return means, false
	}
	for i := range means {
		part := values[i*len(values)/quarters : (i+1)*len(values)/quarters]
		sum, n := series.Sum(part)
		if n == 0 {
			return means, false
		}
		means[i] = sum / float64(n)
	}
	return means, true
}

// risen returns by how much a gauge rose from the first quarter to the last.
func risen(values []float64) (by float64, ok bool) {
	means, ok := quarterMeans(values)
	return means[quarters-1] - means[0], ok
}

// steadily reports whether a gauge rose in each quarter. A missing series counts as
// true: it speaks neither for a leak nor against it.
func steadily(values []float64) bool {
	means, ok := quarterMeans(values)
	if !ok {
		return true
	}
	each := (means[quarters-1] - means[0]) / (quarters - 1)
	for i := 1; i < quarters; i++ {
		if !(means[i]-means[i-1] > evenness*each) || math.IsNaN(each) {
			return false
		}
	}
	return each > 0
}

// leaked makes the finding. It promises no gain: memory runs out only after the
// run.
func leaked(p *diagnose.Pass, g growth, first, last measured.Snapshot, counted bool) diagnose.Finding {
	seconds := last.At.Seconds() - first.At.Seconds()
	share := min(1, float64(g.by)/float64(last.Total))
	f := diagnose.Finding{
		Cause: "goroutine-leak", Share: share, ShareOf: diagnose.OfGoroutines, GainCeiling: 1, Confidence: findings.Medium,
		Where: diagnose.WhereOf(g.at),
		Title: fmt.Sprintf("Goroutines pile up at %s: %s more in %s",
			diagnose.At(g.at), diagnose.Number(float64(g.by)), diagnose.Span(1e9*seconds)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, float64(g.by), diagnose.Count,
				"goroutines started in %s and waiting at %s rose from %s to %s, of %s in "+
					"all", callstack.Short(g.entry), diagnose.At(g.at),
				diagnose.Number(float64(g.from)), diagnose.Number(float64(g.from+g.by)), diagnose.Number(float64(last.Total))),
		},
		Remedy: fmt.Sprintf("End the goroutine that waits at %s together with the request that started it: %s.", diagnose.At(g.at),
			ending(g.stack)),
	}
	if rate := p.Load().Rate; rate > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, float64(g.by)/seconds/rate, diagnose.Count,
			"goroutines left behind per request: %s", diagnose.Times(float64(g.by)/seconds/rate)))
	}
	if counted {
		f.Confidence = findings.High
	}
	if at, ok := leftBy(p, g.entry); ok {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, 1, diagnose.Count,
			"requests start them at %s and finish before them", diagnose.At(at)))
		if !p.Stacks.User(g.at) { // nothing of the user's is on their stacks
			f.Where = diagnose.WhereOf(at)
			f.Where.Detail = "in " + callstack.Short(g.entry)
			f.Title = fmt.Sprintf("Goroutines of %s, started at %s, pile up: %s more in %s", callstack.Short(g.entry), diagnose.At(at),
				diagnose.Number(float64(g.by)), diagnose.Span(1e9*seconds))
			f.Remedy = fmt.Sprintf("End whatever %s starts together with the request: close, stop or cancel it (defer), or make it once "+
				"and reuse it.", diagnose.At(at))
		}
	}
	if at, ok := p.Dialler(); ok && measured.ClientConn(g.entry) && !p.Stacks.User(g.at) {
		f.Where = diagnose.WhereOf(at)
		f.Title = fmt.Sprintf("Connections of an HTTP client, opened at %s, pile up with their goroutines: %s more in %s",
			diagnose.At(at), diagnose.Number(float64(g.by)), diagnose.Span(1e9*seconds))
		f.Remedy = fmt.Sprintf("Make the client called at %s, or its Transport, once and share it: each call leaves "+
			"connections of its own behind.", diagnose.At(at))
	}
	if n := named(p, g); n > 0 {
		f.Confidence = findings.High
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, float64(n), diagnose.Count,
			"nothing can ever wake %d of them (the runtime's leak profile)", n))
	}
	return f
}

// ending says how a goroutine can end that waits as its stack shows.
func ending(stack []code.Frame) string {
	switch site.Stood(stack) {
	case breakdown.StateChannel, breakdown.StateSelect:
		return "give its channel a buffer of one, or let it select on a context's Done"
	case breakdown.StateSleep:
		return "let it select on a timer and a context's Done instead of sleeping"
	case breakdown.StateNetwork:
		return "close the connection that it waits at, or set a deadline on it"
	case breakdown.StateLock:
		return "find who keeps the lock that it waits for"
	case breakdown.StateSync:
		return "see to it that what it waits for is always signalled, also after an error"
	}
	return "pass it a context, and let it return when that is done"
}

// leftBy returns the user's line at which requests start the goroutines of a function that outlive them. ok is false where no
// trace saw one begin.
func leftBy(p *diagnose.Pass, entry string) (at code.Frame, ok bool) {
	if p.Anatomy == nil {
		return at, false
	}
	return started(p, slices.DeleteFunc(slices.Clone(p.Anatomy.Left), func(h breakdown.Helper) bool { return h.Entry != entry }))
}

// named returns how many goroutines of a kind the runtime's leak profile contains.
func named(p *diagnose.Pass, g growth) int64 {
	prof, err := p.Profile("goroutineleak", "goroutineleak")
	if err != nil {
		return 0
	}
	var n int64
	for _, s := range prof.Samples {
		if at, ok := p.Stacks.Place(s.Stack); ok && at.Function == g.at.Function && strings.HasPrefix(measured.Entry(s.Stack), g.entry) {
			n += s.Value
		}
	}
	return n
}
