package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record"
)

// asker is the user's place that runs a statement, and how that is known: counted
// by the hooks of an instrumented build, or inferred from times.
type asker struct {
	place record.Frame
	// others may run it just as well; only the time and number of waits could tell
	// them apart. Empty if counted.
	others   []record.Frame
	inferred bool
}

// alike is the ratio within which the waits at two places agree equally well with
// what the server counted of a statement. A call waits for the network once or
// twice, and for the server's CPU as well, so a smaller ratio would claim a
// precision that is not there.
const alike = 4

// callerOf returns the user's place that runs a statement: as counted by the hooks,
// otherwise as inferred from the waits for the database. ok is false if no request
// waits for one.
func callerOf(p *diagnose.Pass, s record.Statement) (at asker, ok bool) {
	if a, known := p.AskedAs(s.Text); known {
		if by, known := a.Heaviest(); known && by.User {
			return asker{place: by.Place}, true
		}
	}
	return infer(p, perRequest(p, float64(s.Time)), perRequest(p, float64(s.Calls)))
}

// spot sums the waits for the database at one place: ns and number per request.
type spot struct {
	place     record.Frame
	ns, times float64
}

// spots returns the user's places that wait for statements or for their
// preparation, longest first. A driver that prepares implicitly waits for both in
// one call.
func spots(p *diagnose.Pass) (list []spot) {
	for _, kind := range []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait} {
		for _, site := range p.Waits().Sites(kind) {
			if !site.User {
				continue
			}
			i := slices.IndexFunc(list, func(s spot) bool { return s.place == site.Place })
			if i < 0 {
				i, list = len(list), append(list, spot{place: site.Place})
			}
			list[i].ns, list[i].times = list[i].ns+site.NS, list[i].times+site.Times
		}
	}
	slices.SortStableFunc(list, func(a, b spot) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.place.Function, b.place.Function), cmp.Compare(a.place.Line, b.place.Line))
	})
	return list
}

// infer returns the place whose waits agree best with a statement's ns and calls
// per request: of those that wait about as often, the one that waits about as long.
// The server knows the session but not the function. Both witnesses are needed: by
// time alone the wrong one of two places was named where they wait as long but 1
// and 100 times.
func infer(p *diagnose.Pass, ns, calls float64) (at asker, ok bool) {
	all := spots(p)
	if len(all) == 0 {
		return asker{}, false
	}
	// Without the server's time only the place that waits longest is left to name.
	if !(ns > 0) {
		return asker{place: all[0].place, inferred: len(all) > 1}, true
	}
	often := all
	if calls > 0 {
		often = slices.DeleteFunc(slices.Clone(all), func(s spot) bool { return apart(s.times, calls) > math.Log(alike) })
	}
	// A loop whose driver pipelines waits once for all its calls: no place waits as
	// often as the statement runs, and time has to decide.
	if len(often) == 0 {
		often = all
	}
	best := slices.MinFunc(often, func(a, b spot) int { return cmp.Compare(apart(a.ns, ns), apart(b.ns, ns)) })
	at = asker{place: best.place, inferred: len(all) > 1}
	for _, s := range often {
		// A place where requests wait for less than the server worked does not ask.
		if s.place != best.place && s.ns*alike >= ns && apart(s.ns, ns) <= apart(best.ns, ns)+math.Log(alike) {
			at.others = append(at.others, s.place)
		}
	}
	return at, true
}

// apart is the ratio of two amounts as the absolute value of its logarithm, so that
// half and double differ alike; infinite if either is not positive.
func apart(a, b float64) float64 {
	if !(a > 0) || !(b > 0) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(a / b))
}

// describe sets the finding's place to the statement's caller. If it is inferred,
// evidence says so, and confidence is at most medium: the statement is certain, but
// not the place.
func (s asker) describe(f *diagnose.Finding) {
	f.Where.Function, f.Where.File, f.Where.Line = s.place.Function, s.place.File, s.place.Line
	if !s.inferred {
		return
	}
	if f.Confidence == record.High {
		f.Confidence = record.Medium
	}
	text := "the caller is inferred: " + diagnose.At(s.place) + " waits about as often and as long as the server ran the statement"
	if len(s.others) > 0 {
		places := []string{diagnose.At(s.place)}
		for _, o := range s.others {
			places = append(places, diagnose.At(o))
		}
		text = fmt.Sprintf("the caller is inferred, one of %s: they wait about as often and as long as the "+
			"server ran the statement", strings.Join(places, ", "))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, float64(1+len(s.others)), "places", "%s", text))
}

// callers words who runs a statement, as counted by the hooks; false if they did
// not count it.
func callers(p *diagnose.Pass, text string) (record.Evidence, bool) {
	a, ok := p.AskedAs(text)
	if !ok || len(a.Callers) == 0 {
		return record.Evidence{}, false
	}
	var parts []string
	rest := 1.0
	for _, c := range a.Callers[:min(3, len(a.Callers))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", diagnose.At(c.Place), diagnose.Percent(c.Share)))
		rest -= c.Share
	}
	if len(a.Callers) == 1 {
		parts = []string{diagnose.At(a.Callers[0].Place)}
	} else if rest > 0.005 {
		parts = append(parts, fmt.Sprintf("others (%s)", diagnose.Percent(rest)))
	}
	each := perRequest(p, a.Calls)
	most := ""
	if a.Most > 0 {
		most = fmt.Sprintf(", at most %d in one", a.Most)
	}
	return diagnose.Fact(diagnose.FromProbe, each, diagnose.Ratio, "%s%s, counted in the service, from %s; %s rows per call",
		diagnose.PerRequest(each, "a call", "calls"), most, strings.Join(parts, ", "), diagnose.Times(a.Rows/max(1, a.Calls))), true
}

// caller returns the user's place that waits longest for the database.
func caller(p *diagnose.Pass) (record.Frame, bool) {
	all := spots(p)
	if len(all) == 0 {
		return record.Frame{}, false
	}
	return all[0].place, true
}

// withQueue returns how much of request time is due to the database where a
// statement leads, and how much of that is the queue for connections which the
// statement causes. share is the database's part of request time with all queues,
// part the statement's part of execution; known says that its caller is counted
// rather than inferred.
//
// A statement causes no queue at a pool that its requests do not use (dispatch-desk
// has two pools). Where the hooks count, it accounts for as much of the queue as it
// has of the time that connections are held, which is not the server's execution
// time: a statement that runs while the rows of another are open holds both
// connections.
func withQueue(p *diagnose.Pass, s record.Statement, at asker, known bool, share, part float64) (all, queue float64) {
	queue = p.Waits().Share(callstack.PoolWait)
	if !known || queue == 0 {
		return share, queue
	}
	rest := max(0, share-queue)
	if !slices.Contains(through(p.Waits().Sites(callstack.PoolWait)), at.place.Function) {
		return rest, 0
	}
	own, exact := held(p, s.Text)
	if !exact || !(part > 0) {
		return share, queue
	}
	return min(1, rest+queue*own/part), queue * own
}

// held returns a statement's part of the time that requests spend within
// statements, and so hold connections, 0 to 1; ok is false if the hooks did not
// count it.
func held(p *diagnose.Pass, text string) (part float64, ok bool) {
	a, known := p.AskedAs(text)
	total := 0.0
	for _, other := range p.Asked() {
		total += other.Took()
	}
	if !known || !(total > 0) {
		return 0, false
	}
	return a.Took() / total, true
}

// tellRepeater sets the finding's place to the one that repeats a statement, and
// returns it in words for the title, with a leading " at "; "" if unknown.
func tellRepeater(p *diagnose.Pass, lead record.Statement, f *diagnose.Finding) (at string) {
	if a, known := p.AskedAs(lead.Text); known {
		if by, ok := a.Lead(); ok && by.User {
			asker{place: by.Place}.describe(f)
			who, _ := callers(p, lead.Text)
			f.Evidence, f.Confidence = append(f.Evidence, who), record.High
			// The loop is often one function up, in the caller of a repository method.
			if callers := p.Stacks.Callers(by.Stack, by.Place); len(callers) > 0 {
				f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, float64(len(callers)),
					"functions", "called by %s", evidence.ThroughWords(callers)))
			}
			return " at " + diagnose.At(by.Place)
		}
	}
	site, ok := busiest(p)
	if !ok {
		return ""
	}
	at = " at " + diagnose.At(site.Place)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Ratio,
		"a request's goroutine waits at the database's connection %.0f times%s; an answer that comes in "+
			"pieces takes several waits", site.Times, at))
	// The trace counts waits, not calls: one answer may take two. Twice the limit
	// leaves no doubt.
	if site.Times >= 2*manyCalls {
		f.Confidence = record.High
	}
	by := asker{place: site.Place}
	for _, s := range spots(p) {
		if s.place != site.Place && s.times >= repeated {
			by.others, by.inferred = append(by.others, s.place), true
		}
	}
	by.describe(f)
	return at
}

// holders words which statements hold connections longest, as counted by the hooks:
// three at most, from 5 % of the time. It answers what to shorten where a pool is
// not to be raised.
func holders(p *diagnose.Pass) (record.Evidence, bool) {
	asked := slices.Clone(p.Asked())
	slices.SortStableFunc(asked, func(a, b evidence.Asked) int { return cmp.Compare(b.Took(), a.Took()) })
	var parts []string
	for _, a := range asked[:min(3, len(asked))] {
		part, ok := held(p, a.Text)
		if !ok || part < 0.05 {
			break
		}
		text := fmt.Sprintf("%s (%s of it, %s", brief(a.Text), diagnose.Percent(part),
			diagnose.PerRequest(perRequest(p, a.Calls), "a call", "calls"))
		if by, ok := a.Heaviest(); ok {
			text += ", at " + diagnose.At(by.Place)
		}
		parts = append(parts, text+")")
	}
	if len(parts) == 0 {
		return record.Evidence{}, false
	}
	return diagnose.Fact(diagnose.FromProbe, float64(len(parts)), "statements", "connections are held for %s", strings.Join(parts, "; ")), true
}
