// Package asker finds the user's function that runs a statement.
//
// The hooks of an instrumented build count callers. Otherwise the server knows the
// statement and the trace knows the place that waits; only the number and length of
// the waits connect them, and By says that the caller is inferred.
package asker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
)

// By is the user's place that runs a statement, and how that is known: counted
// by the hooks of an instrumented build, or inferred from times.
type By struct {
	Place code.Frame
	// Others are places that may run it just as well: their waits agree in time and
	// number. Empty if counted.
	Others   []code.Frame
	Inferred bool
	// Loosely: of the places that wait for the database it agrees best, but its waits differ from the server's figures.
	Loosely bool
}

// alike is the ratio within which the waits at two places agree equally well with
// the server's figures of a statement. A call waits for the network once or twice,
// and for the server's CPU, so a smaller ratio would claim more precision than
// there is.
const alike = 4

// Of returns the user's place that runs a statement: as counted by the hooks,
// otherwise as inferred from the waits for the database. ok is false if no request
// waits for one, or runs this one.
func Of(p *diagnose.Pass, s database.Statement) (at By, ok bool) {
	if a, known := p.AskedAs(s.Text); known {
		if by, known := a.Heaviest(); known && by.User {
			return By{Place: by.Place}, true
		}
	}
	if demand.Foreign(p, s) {
		return By{}, false
	}
	return infer(p, demand.PerRequest(p, float64(s.Time)), demand.PerRequest(p, float64(s.Calls)))
}

// Spot sums the waits for the database at one place: ns and number per request.
type Spot struct {
	Place     code.Frame
	NS, Times float64
}

// Spots returns the user's places that wait for statements or for their
// preparation, longest first. A driver that prepares implicitly waits for both in
// one call.
func Spots(p *diagnose.Pass) (list []Spot) {
	for _, kind := range []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait} {
		for _, site := range p.Waits().Sites(kind) {
			if !site.User {
				continue
			}
			i := slices.IndexFunc(list, func(s Spot) bool { return s.Place == site.Place })
			if i < 0 {
				i, list = len(list), append(list, Spot{Place: site.Place})
			}
			list[i].NS, list[i].Times = list[i].NS+site.NS, list[i].Times+site.Times
		}
	}
	slices.SortStableFunc(list, func(a, b Spot) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Place.Function, b.Place.Function), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return list
}

// infer returns the place whose waits agree best with a statement's ns and calls
// per request: of those that wait about as often, the one that waits about as long.
// The server knows the session but not the function. Both time and number are
// needed: time alone named the wrong one of two places that wait equally long, one
// of them once and the other 100 times.
func infer(p *diagnose.Pass, ns, calls float64) (at By, ok bool) {
	all := Spots(p)
	if len(all) == 0 {
		return By{}, false
	}
	// Without the server's time only the place that waits longest is left to name.
	if !(ns > 0) {
		return By{Place: all[0].Place, Inferred: len(all) > 1, Loosely: true}, true
	}
	often, loosely := all, false
	if calls > 0 {
		often = slices.DeleteFunc(slices.Clone(all), func(s Spot) bool { return apart(s.Times, calls) > math.Log(alike) })
	}
	// A loop whose driver pipelines waits once for all its calls: no place waits as
	// often as the statement runs, and time has to decide.
	if len(often) == 0 {
		often, loosely = all, true
	}
	best := slices.MinFunc(often, func(a, b Spot) int { return cmp.Compare(apart(a.NS, ns), apart(b.NS, ns)) })
	at = By{Place: best.Place, Inferred: len(all) > 1, Loosely: loosely || apart(best.NS, ns) > math.Log(alike)}
	for _, s := range often {
		// A place where requests wait for less time than the server worked does not
		// run it.
		if s.Place != best.Place && s.NS*alike >= ns && apart(s.NS, ns) <= apart(best.NS, ns)+math.Log(alike) {
			at.Others = append(at.Others, s.Place)
		}
	}
	return at, true
}

// apart is the absolute logarithm of the ratio of two amounts, so that half and
// double are equally far; infinite if either is not positive.
func apart(a, b float64) float64 {
	if !(a > 0) || !(b > 0) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(a / b))
}

// Describe sets the finding's place to the statement's caller. If it is inferred,
// evidence says so, and confidence is at most medium: the statement is certain, but
// not the place.
func (s By) Describe(f *diagnose.Finding) {
	f.Where.Function, f.Where.File, f.Where.Line = s.Place.Function, s.Place.File, s.Place.Line
	if !s.Inferred {
		return
	}
	if f.Confidence == findings.High {
		f.Confidence = findings.Medium
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, float64(1+len(s.Others)), "places", "%s", s.inference()))
}

// inference says what a caller is inferred from.
func (s By) inference() string {
	places := []string{diagnose.At(s.Place)}
	for _, o := range s.Others {
		places = append(places, diagnose.At(o))
	}
	list := strings.Join(places, ", ")
	switch {
	case s.Loosely && len(places) > 1:
		return "the caller is inferred, one of " + list + ": of the places that wait for the database, they agree best with how often " +
			"and how long the server ran the statement"
	case s.Loosely:
		return "the caller is inferred: of the places that wait for the database, " + list + " agrees best with how often and how " +
			"long the server ran the statement"
	case len(places) > 1:
		return "the caller is inferred, one of " + list + ": they wait about as often and as long as the server ran the statement"
	}
	return "the caller is inferred: " + list + " waits about as often and as long as the server ran the statement"
}

// Counted says who runs a statement, as counted by the hooks; false if they did not
// count it.
func Counted(p *diagnose.Pass, text string) (findings.Evidence, bool) {
	a, ok := p.AskedAs(text)
	if !ok || len(a.Callers) == 0 {
		return findings.Evidence{}, false
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
		parts = append(parts, fmt.Sprintf("other places (%s)", diagnose.Percent(rest)))
	}
	each := demand.AskedPerRequest(p, a.Calls)
	most := ""
	if a.Most > 0 {
		most = fmt.Sprintf(", at most %d in one", a.Most)
	}
	rows := ""
	if a.Rows > 0 { // a driver that does not report them has none either
		rows = "; " + diagnose.Mean(a.Rows/max(1, a.Calls), "row", "rows") + " per call"
	}
	return diagnose.Fact(diagnose.FromProbe, each, diagnose.Count, "%s%s, counted in the service, from %s%s",
		diagnose.PerRequest(each, "a call", "calls"), most, strings.Join(parts, ", "), rows), true
}

// Longest returns the user's place that waits longest for the database.
func Longest(p *diagnose.Pass) (code.Frame, bool) {
	all := Spots(p)
	if len(all) == 0 {
		return code.Frame{}, false
	}
	return all[0].Place, true
}

// Held returns a statement's part of the time that requests spend within
// statements, and so hold connections, 0 to 1; ok is false if the hooks did not
// count it, or if the traces hold few whole requests. Operations are joined to
// whole requests only, and the few that a trace of a slow service holds are its
// fastest.
func Held(p *diagnose.Pass, text string) (part float64, ok bool) {
	if p.Anatomy != nil && p.Anatomy.Partial > 0 {
		return 0, false
	}
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
