package cpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/stat"
)

const (
	growsWithState = "grows-with-state"
	// growthSpans is the number of parts of the steady span, or fewer, at least fewestSpans. A trend is
	// assessed from that many points: with fewer, Kendall's test has no power; with
	// more, each covers only a few requests.
	growthSpans = 12
	fewestSpans = 8
	// leastGrowth is the least factor, between the first and the last spans, by
	// which the cost per request must rise; leastFilled is that of the stored data.
	// A warming cache or a heap that finds its size grows less than either.
	leastGrowth = 1.25
	leastFilled = 1.1
	// surely is the required number of standard errors. A trend that strong arises
	// by chance once in 700 runs; it means that 55 of the 66 pairs of points rise.
	surely = 3
)

// Growth finds services whose requests cost more CPU with each request that went
// before.
//
// Two things must rise together: the cost per request, and some stored data. Cost
// alone also rises when the host slows down (thermal limits, other programs), and a
// growing heap alone is a leak or a cache. ring-history, which scans a list of all
// past calls, is the model case: its profile shows a hot function like any other,
// and only time shows that it gets worse.
var Growth = diagnose.Analyzer{
	Name:  "growth",
	Stage: diagnose.CPUUse,
	Doc: "Follows the CPU time per request of the service and of its database over the run: it must rise by a quarter, " +
		"nearly steadily (Kendall), while what the service or its database stores grows too.",
	Causes: []diagnose.Cause{{
		ID: growsWithState, Title: "Requests cost more CPU as data accumulates",
		Doc: "The work per request grows with the data that earlier requests left behind: a scan over all entries, a list that " +
			"is sorted or copied in full, a response that contains everything. It is reported before it brings the service " +
			"down.",
		Knows: "CPU time per request, of the service and of a database on this host, rises over the run by at least a quarter, " +
			"nearly steadily (Kendall's test over eight to twelve points, three standard errors), while the live heap or the " +
			"database's own cost grows by a tenth. Parts of the run in which other programs took more of the host do not " +
			"count. Where: the service's function with the most CPU.",
		Remedy: "Use an index or a map instead of a scan, a running total instead of a count, pages instead of everything, and " +
			"limit the data kept.",
		Example: diagnose.Example{Lang: "go",
			Before: "for _, r := range h.rings { // all that ever were\n\tif r.door == door { n++ }\n}",
			After:  "h.byDoor[door]++ // when it is added\n...\nreturn h.byDoor[door]"},
		Verify: "Run twice as long: CPU per request at the end is the same as at the beginning.",
		Cases:  []string{"ring-history"}, Grows: true,
		FollowsFrom: []string{"http-client-churn"}, // whose connections pile up
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad, diagnose.NeedProcess},
	Run:   runGrowth,
}

// runGrowth names the service's hottest function as the place: it is the likeliest
// to grow, but a profile of the whole run cannot show growth. Hence never more than
// medium confidence.
func runGrowth(p *diagnose.Pass) ([]diagnose.Finding, error) {
	g, ok := grows(p)
	if !ok {
		return nil, nil
	}
	use, err := p.Use()
	if err != nil {
		return nil, err
	}
	var where usage.Hot
	if h, ok := use.Hottest(leastBackground); ok {
		where = h.Hot
	} else if own := use.Own(); len(own) > 0 {
		where = own[0]
	}
	if least := (1 - 1/g.factor) * (1 - g.database); where.Share < least {
		// What grows has at least the growth's part of the CPU. Where none of the service's functions has, a dependency does,
		// or the handler itself with what it calls.
		at, share, ok := use.Deepest(least)
		if !ok && where.Share < leastBackground {
			at, share, ok = within(p, use, least)
		}
		if ok {
			where = usage.Hot{Place: at, Share: share, User: p.Stacks.User(at)}
		}
	}
	in, remedy := g.words(where)
	// A request at the end could cost as little as one at the beginning: at least
	// 1-1/factor of its CPU is growth, and more in a longer run.
	share := max(1-1/g.factor, g.grown(where.Share))
	f := diagnose.Finding{
		Cause: growsWithState, Share: share, ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(where.Place), Confidence: findings.Medium,
		Title: fmt.Sprintf("A request costs %s times as much CPU at the end of the run as at its beginning%s",
			diagnose.Times(g.factor), in),
		Evidence: append(g.evidence(), saturation(p)...),
		Remedy:   remedy,
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: share, Function: where.Place.Function}))
	if g.database >= mostly {
		f.Where = findings.Where{} // the service's hottest function is not what grows
	}
	if !p.PilesUp() {
		p.Reached(growsWithState, nil) // no connections that each call leaves behind
	}
	return []diagnose.Finding{f}, nil
}

// words says where most of the growth is, as the end of a title, and what to do there.
func (g growth) words(where usage.Hot) (in, remedy string) {
	name, part := callstack.Short(where.Place.Function), where.Share*(1-g.database)
	switch {
	case g.database >= mostly:
		return ", most of it in the database", "Find the statement whose cost grows with the rows that requests store, and index it, " +
			"page it, or limit what is kept."
	case name == "":
		return "", "Find what requests iterate over that grows with each of them, and index it, keep a running result, or limit its size."
	case part >= mostly:
		in = ", most of it"
	default:
		in = ", the largest part"
	}
	return fmt.Sprintf("%s in %s at %s", in, name, diagnose.At(where.Place)), fmt.Sprintf("Find what %s iterates over that grows "+
		"with each request, and index it, keep a running result, or limit its size.", name)
}

// within returns the deepest function of the service below which more than least of its CPU runs, with its share.
func within(p *diagnose.Pass, use *usage.Table, least float64) (at code.Frame, share float64, ok bool) {
	var all measured.Inclusive
	total := 0.0
	for b := range use.All {
		total += float64(b.Value)
		all.Add(b.Stack, float64(b.Value), func(_ string, f code.Frame) bool { return p.Stacks.User(f) })
	}
	at, sum, ok := all.Deepest(least * total)
	return at, sum / max(1, total), ok
}

// growth is how much the cost of a request rose over the run, and how much the stored data
// grew.
type growth struct {
	factor      float64 // of the CPU time per request
	first, last float64 // CPU time per request in the first and last quarter of the run, ns
	filled      float64 // factor of the stored data; 1 if unknown
	kept, from  string  // what that is, and who says so
	// stored is the part of the mean cost over the run that exceeds the cost with nothing
	// stored, and database the database's part of it, 0 to 1.
	stored, database float64
}

// grows applies the rule: the cost per request rises, other programs do not explain
// it, and stored data grows too.
func grows(p *diagnose.Pass) (g growth, ok bool) {
	own, database, foreign, why := perRequest(p)
	if why != "" {
		p.Unjudged(growsWithState, "%s", why)
		return g, false
	}
	// The database's CPU counts: an unindexed table that fills up costs there, not
	// in the service.
	total := make([]float64, len(own))
	for i := range own {
		total[i] = own[i] + database[i]
	}
	factor, sure := trend(total)
	if factor < leastGrowth || !sure {
		return g, false
	}
	// On a busier host the same work takes more CPU time, because caches and
	// hyper-threads are shared.
	if alone, _ := trend(undisturbed(total, foreign)); alone < leastGrowth {
		p.Reject(growsWithState, "a request costs %s times as much CPU at the end as at the beginning, but other "+
			"programs used more of the host as well", diagnose.Times(factor))
		return g, false
	}
	filled, kept, from := filling(p)
	inDatabase, _ := trend(database)
	// The database's own growth needs no other evidence, because its data, the
	// tables, is not visible here. It must be a tenth of the cost, so as not to be
	// a trend of rounding errors.
	if filled < leastFilled && !(inDatabase >= leastGrowth && database[0] > 0.1*total[0]) {
		p.Reject(growsWithState, "a request costs %s times as much CPU at the end as at the beginning, but neither the "+
			"live heap nor other stored data grew", diagnose.Times(factor))
		return g, false
	}
	g = growth{factor: factor, filled: filled, kept: kept, from: from}
	g.first, g.last = ends(total)
	g.stored, g.database = stored(p, total, database)
	return g, true
}

// undisturbed returns the costs of those spans in which other programs took no more of the host than in the first ones. It
// ignores a rise of 0.1 CPUs, and returns nil if too few spans are left to show a trend.
func undisturbed(costs, foreign []float64) (kept []float64) {
	usual := median(foreign[:len(foreign)/4])
	for i, c := range costs {
		if foreign[i] <= usual+0.1 {
			kept = append(kept, c)
		}
	}
	if len(kept) < 2*len(costs)/3 {
		return nil
	}
	return kept
}

// grown returns the part of a request's cost that is growth, 0 to 1, if the growing
// function has a share of the service's CPU: no more than that function and the database
// cost.
func (g growth) grown(share float64) float64 {
	return min(g.stored, g.database+(1-g.database)*share)
}

// stored returns growth's stored and database. costs per request, and the database's part
// of them, are of the parts of the steady span. The first of them is not
// the cost with nothing stored: the warm-up has stored data already, and a fast service
// grows within seconds. So that cost is the intercept of the line through costs over the
// requests so far. 0 if unknown.
func stored(p *diagnose.Pass, costs, database []float64) (grown, db float64) {
	requests := division(p, len(costs)).of(p.Series(series.LoadRequests, "").Values)
	before := 0.0
	for _, n := range p.Record.Series(series.LoadRequests, "", timebase.Span{To: p.Steady().From}).Values {
		if n > 0 {
			before += n
		}
	}
	until, all, sum, inDatabase := make([]float64, len(costs)), 0.0, 0.0, 0.0
	for i, n := range requests {
		until[i] = before + n/2
		before += n
		all, sum, inDatabase = all+n, sum+n*costs[i], inDatabase+n*database[i]
	}
	if start, ok := stat.Intercept(until, costs); ok && sum > 0 {
		grown = 1 - max(0, min(1, start*all/sum))
	}
	return grown, inDatabase / max(1, sum)
}

func (g growth) evidence() []findings.Evidence {
	list := []findings.Evidence{diagnose.Fact(diagnose.FromProcess, g.factor, diagnose.Ratio,
		"CPU time per request rose from %s to %s", diagnose.Span(g.first), diagnose.Span(g.last))}
	if g.filled >= leastFilled {
		list = append(list, diagnose.Fact(g.from, g.filled, diagnose.Ratio,
			"over the same time, %s grew by a factor of %s", g.kept, diagnose.Times(g.filled)))
	}
	return list
}

// perRequest returns CPU time per request, in ns, of the service and of its
// database, and the number of CPUs used by programs that it does not call, over the
// parts of the steady span. why says what is missing: the CPU was not recorded, or there are too few requests. A database that was
// not watched counts 0.
func perRequest(p *diagnose.Pass) (own, database, foreign []float64, why string) {
	all, _ := p.Series(series.LoadRequests, "").Sum()
	n := min(growthSpans, int(all/leastPerSpan))
	if n < fewestSpans {
		few := diagnose.Counted(all, "request is", "requests are")
		return nil, nil, nil, few + " too few to see a trend; a longer run has more"
	}
	by := division(p, n)
	read := func(name string) []float64 { return by.of(p.Series(name, "").Values) }
	requests, user, system := read(series.LoadRequests), read(series.ProcessUser), read(series.ProcessSystem)
	if requests == nil || user == nil || system == nil {
		return nil, nil, nil, "the service's CPU time was not recorded over enough of the run"
	}
	db, busy, generator, peers := read(series.DBCPU), read(series.HostBusy), read(series.GeneratorCPU), by.of(p.PeersCPU())
	at := func(list []float64, i int) float64 {
		if list == nil {
			return 0
		}
		return list[i]
	}
	window := p.Steady().Len().Seconds() * 1e9 / float64(by[n])
	for i := range requests {
		// A span with hardly any requests says nothing about their cost.
		if requests[i] < leastPerSpan-1 { // whole windows are divided
			return nil, nil, nil, fmt.Sprintf("a part of the run has only %s; a longer run has more",
				diagnose.Counted(requests[i], "request", "requests"))
		}
		mine := user[i] + system[i]
		own = append(own, mine/requests[i])
		database = append(database, at(db, i)/requests[i])
		foreign = append(foreign, math.Max(0, at(busy, i)-mine-at(db, i)-at(generator, i)-at(peers, i))/(window*float64(by[i+1]-by[i])))
	}
	return own, database, foreign, ""
}

// leastPerSpan is the number of requests at which single ones do not decide a mean.
const leastPerSpan = 5

// parts divides the windows of the steady span: the index of each part's first window, and behind them the number of windows.
type parts []int

// division divides the steady span into n parts of the same length, or if one of them has too few requests, of the same number
// of them: a service that slows down serves fewer in the end.
func division(p *diagnose.Pass, n int) parts {
	requests := p.Series(series.LoadRequests, "").Values
	same := make(parts, n+1)
	for i := range same {
		same[i] = i * len(requests) / n
	}
	counts := same.of(requests)
	if counts == nil || slices.Min(counts) >= leastPerSpan {
		return same
	}
	all := 0.0
	for _, c := range counts {
		all += c
	}
	by, so := make(parts, 1, n+1), 0.0
	for i, v := range requests {
		if len(by) < n && so >= all*float64(len(by))/float64(n) {
			by = append(by, i)
		}
		if v > 0 {
			so += v
		}
	}
	for len(by) <= n {
		by = append(by, len(requests))
	}
	return by
}

// of sums values up over the parts,
// scaled up for missing windows; nil if a part was not recorded at all.
func (d parts) of(values []float64) []float64 {
	n := len(d) - 1
	if len(values) < d[n] || d[n] < 2*n {
		return nil
	}
	sums := make([]float64, n)
	for i := range sums {
		part := values[d[i]:d[i+1]]
		known := 0
		for _, v := range part {
			if !math.IsNaN(v) {
				sums[i] += v
				known++
			}
		}
		if known == 0 {
			return nil
		}
		sums[i] *= float64(len(part)) / float64(known)
	}
	return sums
}

// trend returns the factor by which values rise over their span (infinite from
// nothing), from the median of the first quarter to that of the last, and whether
// Kendall's rank statistic says that they rise (Kendall 1938; as a test of trend
// Mann 1945; its variance without ties is n(n-1)(2n+5)/18). Ranks rather than a
// regression line: one slow span moves a slope, but only its own pairs of ranks.
func trend(values []float64) (factor float64, sure bool) {
	n := len(values)
	if n < 4 {
		return 1, false
	}
	from, to := ends(values)
	// Written so that NaN returns as well.
	if !(from >= 0) || from == to {
		return 1, false
	}
	s := 0
	for i := range values {
		for _, later := range values[i+1:] {
			switch {
			case later > values[i]:
				s++
			case later < values[i]:
				s--
			}
		}
	}
	deviation := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
	return to / from, float64(s) >= surely*deviation
}

// ends returns the medians of the first and the last quarter of values, of which there are four or more.
func ends(values []float64) (first, last float64) {
	quarter := len(values) / 4
	return median(values[:quarter]), median(values[len(values)-quarter:])
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// filling returns the factor by which the service's stored data grows over the run,
// its name, and who says so; 1 if unknown. The live heap comes first, because it contains no
// garbage; RSS, the only one that needs no probe, hardly ever falls and comes last.
func filling(p *diagnose.Pass) (factor float64, what, from string) {
	for _, of := range []struct{ name, what, from string }{
		{"/gc/heap/live:bytes", "the live heap", diagnose.FromProbe}, {series.GCLive, "the live heap", diagnose.FromProbe},
		{"/gc/heap/objects:objects", "the number of objects", diagnose.FromProbe},
		{series.ProcessRSS, "the service's memory", diagnose.FromProcess},
	} {
		var known []float64
		for _, v := range p.Series(of.name, "").Values {
			if !math.IsNaN(v) && v > 0 {
				known = append(known, v)
			}
		}
		if len(known) < growthSpans {
			continue
		}
		quarter := len(known) / 4
		return median(known[len(known)-quarter:]) / median(known[:quarter]), of.what, of.from
	}
	return 1, "", ""
}
