package demand

import (
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// leastWhole is the number of whole requests in traces from which hardly any request runs what none of these ran: at most 3 %,
// with a confidence of 95 % (rule of three).
const leastWhole = 100

// OfRequests returns the statements without those that no request runs. A server counts what all programs run on the database, and the
// hooks what all goroutines of the service do. Neither is a part of a request's time, or repeated by one. Without hooks it returns all.
func OfRequests(p *diagnose.Pass, all *database.Statements) *database.Statements {
	if all == nil || len(p.Asked()) == 0 {
		return all
	}
	other, own := unmatched(p), *all
	own.Statements = slices.DeleteFunc(slices.Clone(all.Statements), func(s database.Statement) bool { return foreign(p, s, other) })
	return &own
}

// Foreign reports whether a statement is known to be run by no request.
func Foreign(p *diagnose.Pass, s database.Statement) bool { return foreign(p, s, unmatched(p)) }

// foreign reports whether no request runs a statement: the hooks did not count it, nor as many calls under other texts; or goroutines that
// no request waits for run it. What begins and ends transactions has no callers.
func foreign(p *diagnose.Pass, s database.Statement, unmatched float64) bool {
	if statement.Utility(s.Text) || len(p.Asked()) == 0 {
		return false
	}
	a, counted := p.AskedAs(s.Text)
	if !counted {
		return 2*unmatched < float64(s.Calls)
	}
	return a.Most == 0 && a.Took() == 0 && joined(p, a)
}

// unmatched returns how many calls the hooks counted for which the server names no statement, or another text: pgx runs what
// it prepared by a name, and the hooks do not see the texts in a batch, whose number is unknown.
func unmatched(p *diagnose.Pass) (calls float64) {
	known := map[string]bool{}
	if all := p.Statements(); all != nil {
		for _, s := range all.Statements {
			if a, ok := p.AskedAs(s.Text); ok {
				known[a.Text] = true
			}
		}
	}
	for _, a := range p.Asked() {
		if !known[a.Text] {
			calls += a.Calls
		}
	}
	if ops := p.Operations(); ops != nil {
		calls += float64(ops.Others)
		if batches(ops) {
			return math.Inf(1)
		}
	}
	return calls
}

func batches(ops *operation.Operations) bool {
	return slices.ContainsFunc(ops.Operations, func(o operation.Operation) bool { return o.Kind == operation.Batch && o.Calls > 0 })
}

// joined reports whether the traces would show that requests run a statement: they hold enough whole requests, to which others are
// joined, and no request waits for the goroutines that run it.
func joined(p *diagnose.Pass, a evidence.Asked) bool {
	t := p.Anatomy
	if t == nil || t.Requests < leastWhole || t.Partial > 0 || len(a.Callers) == 0 || batches(p.Operations()) {
		return false
	}
	waited := func(by evidence.AskedBy) bool { _, ok := p.Path().Behind(entry(by.Stack)); return ok }
	return slices.ContainsFunc(p.Asked(), func(o evidence.Asked) bool { return o.Most > 0 }) && !slices.ContainsFunc(a.Callers, waited)
}

// Times returns how often the mean request runs a statement that was called so many times: not more often than the traces show for any
// request, because other goroutines may run it too, and exactly as often if that is the same for all. NaN without requests.
func Times(p *diagnose.Pass, s database.Statement) float64 {
	return ofRequest(p, s.Text, PerRequest(p, float64(s.Calls)))
}

// mostInParts is how far the calls in a span divided by its requests may be off because some requests are in it with a part of theirs.
const mostInParts = 0.15

// leastAlike is the number of whole requests in traces that must run a statement equally often for all others to be taken to.
const leastAlike = 5

func ofRequest(p *diagnose.Pass, text string, times float64) float64 {
	a, ok := p.AskedAs(text)
	switch off := math.Abs(times/a.Always - 1); {
	case !ok:
	case a.Always > 0 && p.Anatomy.Requests >= leastAlike && off < mostInParts:
		return a.Always
	case a.Most > 0 && joined(p, a):
		return min(times, float64(a.Most))
	}
	return times
}
