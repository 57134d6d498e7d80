package demand

import (
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
)

// Again is the number of calls per request at which a statement counts as repeated. Below it are
// retries, and pages that run it twice.
const Again = 1.5

// Repeats is what the statements that requests repeat cost the service itself, as parts of its CPU, 0 to 1. All
// are 0 where no hooks counted callers.
type Repeats struct {
	// Take is all that the repeated calls take, with what they build and read.
	Take float64
	// Goes and Most are the least and the most that is saved if one statement does what all of them do. They differ where the
	// database is within the process: there reading rows is executing, and of a call's steps one finds that there
	// are no more rows, while the first looks for the place. What else the function does that is called for each is neither known
	// to be needed once for each nor once for all.
	Goes, Most float64
}

// perStatement is what an embedded database does per statement, whatever rows it writes.
// With one transaction it does this once; writing the rows remains, in proportion to
// their number. A database in C shows none of it; then all that the calls do is the
// bound.
const perStatement = callstack.DBAutocommit | callstack.DBPrepare

// Repeated returns what repeated statements cost the service. writes says that most of them write.
func Repeated(p *diagnose.Pass, writes bool) Repeats {
	calls, around, rows := repeatedAt(p)
	take := p.Spared(calls)
	whole := max(take, p.Spared(around))
	if writes {
		if per := p.SparedIn(calls, perStatement); per > 0 && InProcess(p) {
			return Repeats{Take: take, Goes: per, Most: per}
		}
		return Repeats{Take: take, Goes: take, Most: take}
	}
	// The single statement still reads the same rows.
	reads := p.SparedIn(calls, callstack.DBRows)
	goes := take - reads
	if !InProcess(p) {
		return Repeats{Take: take, Goes: goes, Most: max(goes, whole-reads)}
	}
	all, steps := p.SparedAround(calls, 0), p.SparedAround(calls, callstack.DBRows)
	return Repeats{Take: all, Goes: min(all, goes+steps/(rows+1)), Most: max(all, whole)}
}

// repeatedAt returns the user's places that repeat statements, each with the part
// of its calls that are repeats, 0 to 1; the lines around them that do, as far as they are known; and the mean number of rows that
// such a call reads. It is nil if no hooks counted callers.
func repeatedAt(p *diagnose.Pass) (repeats, around usage.Calls, rows float64) {
	made, repeats, around := map[code.Frame]float64{}, usage.Calls{}, usage.Calls{}
	calls := 0.0
	for _, a := range p.Asked() {
		if foreign(p, database.Statement{Text: a.Text}, math.Inf(1)) {
			continue
		}
		times := ofRequest(p, a.Text, AskedPerRequest(p, a.Calls))
		if times >= Again {
			calls, rows = calls+a.Calls, rows+a.Rows
		}
		for _, by := range a.Callers {
			if !by.User {
				continue
			}
			made[by.Place] += a.Calls * by.Share
			if times >= Again {
				repeats[by.Place] += a.Calls * by.Share * (1 - 1/times)
				if at, ok := repeater(p, by); ok {
					around[at] = max(around[at], 1-1/times)
				}
			}
		}
	}
	for place := range repeats {
		repeats[place] /= made[place]
	}
	return repeats, around, rows / max(1, calls)
}

// repeater returns the line that calls again and again what runs a statement: one of the service's own in a loop, by the sources.
// Where none is, it is that of a library or of generated code within the service's functions, which called the outermost of those that
// follow each other: a resolver, or what is done for each element. ok is false if neither is known.
func repeater(p *diagnose.Pass, by evidence.AskedBy) (at code.Frame, ok bool) {
	from := slices.Index(by.Stack, by.Place)
	if from < 0 {
		return at, false
	}
	loops, generated := callstack.LinesOf(p.Sources().Loops), callstack.LinesOf(p.Sources().Generated)
	inner := p.Stacks.Handler(by.Stack)
	if from >= len(inner) {
		return at, false
	}
	inner = inner[from:]
	if i := slices.IndexFunc(inner, func(f code.Frame) bool { return p.Stacks.User(f) && loops.Has(f) }); i >= 0 {
		return inner[i], true
	}
	i := slices.IndexFunc(inner, func(f code.Frame) bool { return !p.Stacks.User(f) || generated.Has(f) })
	if i < 0 || !slices.ContainsFunc(inner[i:], p.Stacks.User) {
		return at, false
	}
	return inner[i], true
}
