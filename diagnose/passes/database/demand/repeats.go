package demand

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
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
	// are no more rows, while the first looks for the place.
	Goes, Most float64
}

// perStatement is what an embedded database does per statement, whatever rows it writes.
// With one transaction it does this once; writing the rows remains, in proportion to
// their number. A database in C shows none of it; then all that the calls do is the
// bound.
const perStatement = callstack.DBAutocommit | callstack.DBPrepare

// Repeated returns what repeated statements cost the service. writes says that most of them write.
func Repeated(p *diagnose.Pass, writes bool) Repeats {
	calls, rows := repeatedAt(p)
	take := p.Spared(calls)
	if writes {
		if per := p.SparedIn(calls, perStatement); per > 0 && InProcess(p) {
			return Repeats{Take: take, Goes: per, Most: per}
		}
		return Repeats{Take: take, Goes: take, Most: take}
	}
	// The single statement still reads the same rows.
	goes := take - p.SparedIn(calls, callstack.DBRows)
	if !InProcess(p) {
		return Repeats{Take: take, Goes: goes, Most: goes}
	}
	all, steps := p.SparedAround(calls, 0), p.SparedAround(calls, callstack.DBRows)
	return Repeats{Take: all, Goes: min(all, goes+steps/(rows+1)), Most: all}
}

// repeatedAt returns the user's places that repeat statements, each with the part
// of its calls that are repeats, 0 to 1, and the mean number of rows that such a call reads; nil if no hooks counted callers.
func repeatedAt(p *diagnose.Pass) (repeats usage.Calls, rows float64) {
	made, repeats := map[code.Frame]float64{}, usage.Calls{}
	calls := 0.0
	for _, a := range p.Asked() {
		times := PerRequest(p, a.Calls)
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
			}
		}
	}
	for place := range repeats {
		repeats[place] /= made[place]
	}
	return repeats, rows / max(1, calls)
}
