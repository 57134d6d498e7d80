package downstream

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastStall is how many times longer than the median one request in a hundred
	// takes: below it is the spread of any service, and no deadline would cut it
	// off.
	leastStall = 10
	// leastUndated is the part of an operation's calls without a deadline: all but
	// those that a library makes on its own.
	leastUndated = 0.95
	// leastLonger is how many times as long as the mean call the longest must be: a deadline above what is usual cuts off nothing
	// otherwise, however long a call takes beside the requests that do not make it (lift-tickets loads its prices twice a second).
	leastLonger = 2
	// leastHung is how long the longest call must take on saturated CPUs, in ns: there calls queue for the CPUs at both ends, for tens
	// to hundreds of milliseconds, and a deadline below a second would cut off those.
	leastHung = 1e9
	// leastAwaited is how many of an operation's calls the traced requests must have made for the traces to show whether requests
	// wait for them.
	leastAwaited = 5
)

// stall is a call without a deadline that now and then takes as long as the slowest
// requests do.
type stall struct {
	op    operation.Operation
	stack []code.Frame // of its most frequent caller
	place code.Frame   // the user's
}

// stallOf returns the call that makes the tail of the latency, if it has no
// deadline. The median request shows that the dependency responds (otherwise it is
// slow, not stalled; tram-alerts was once reported so). At least half of the mean
// request's time beyond the median must be spent in the call.
func stallOf(p *diagnose.Pass) (s stall, ok bool) {
	load, ops := p.Load(), p.Operations()
	requests, counted := p.Sum(series.LoadRequests, "")
	if ops == nil || !counted || load.P50 <= 0 || load.P99 < leastStall*load.P50 {
		return s, false
	}
	for _, o := range ops.Operations {
		if o.Kind != operation.HTTP && o.Kind != operation.RPC || len(o.Callers) == 0 || o.Calls == 0 {
			continue
		}
		beyond := float64(o.TotalNS)/requests - load.P50
		// Sent by a goroutine that no request waits for, it delays none (falcosidekick's outputs).
		if p.WaitsForNoUpstream() && float64(o.Calls)/requests*float64(p.Anatomy.Requests) >= leastAwaited {
			continue
		}
		if float64(o.MaxNS) < leastLonger*float64(o.TotalNS)/float64(o.Calls) || p.CPU().Saturated() && o.MaxNS < leastHung {
			continue
		}
		if float64(o.NoDeadline) < leastUndated*float64(o.Calls) || float64(o.MaxNS) < load.P99/2 || beyond < (load.Mean-load.P50)/2 {
			continue
		}
		stack := o.Callers[0].Stack
		i := p.Stacks.Innermost(stack)
		if i < 0 || ok && o.TotalNS <= s.op.TotalNS {
			continue
		}
		place, _ := p.Stacks.Place(stack)
		s, ok = stall{op: o, stack: stack, place: place}, true
	}
	return s, ok
}

// finding reports what a deadline would cut off: the tail above the median.
func (s stall) finding(p *diagnose.Pass) findings.Finding {
	load := p.Load()
	share, of := beyond(load)
	return findings.Finding{
		Cause: "missing-timeout", Share: share, ShareOf: of, Confidence: findings.High,
		GainCeiling: max(diagnose.MinGain, diagnose.Ceiling(share)),
		Where:       diagnose.WhereOf(s.place),
		Title: fmt.Sprintf("The slowest requests wait up to %s for a call without a deadline at %s; the median request takes %s",
			diagnose.Span(float64(s.op.MaxNS)), diagnose.At(s.place), diagnose.Span(load.P50)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProcess, float64(s.op.NoDeadline), diagnose.Count,
				"%s of %s calls (%s) had no deadline, neither from their context nor from the client",
				diagnose.Number(float64(s.op.NoDeadline)), diagnose.Number(float64(s.op.Calls)), s.op.Text),
			diagnose.Fact(diagnose.FromProcess, float64(s.op.MaxNS), diagnose.Nanosec, "the longest call took %s, the mean one %s",
				diagnose.Span(float64(s.op.MaxNS)), diagnose.Span(float64(s.op.TotalNS)/float64(s.op.Calls))),
			diagnose.Fact(diagnose.FromLoad, load.P99, diagnose.Nanosec, "99 of 100 requests finish within %s, half of all "+
				"requests within %s", diagnose.Span(load.P99), diagnose.Span(load.P50)),
		},
		Remedy: fmt.Sprintf("Give the call at %s a deadline of a few times its usual duration (context.WithTimeout, "+
			"http.Client.Timeout; the median request takes %s in all), and respond with an older value or an error when it "+
			"passes.",
			diagnose.At(s.place), diagnose.Span(load.P50)),
	}
}

// isStall returns whether a function's call is the one without a deadline. If another call is found to outlive its callers, that one is
// reported alone.
func isStall(p *diagnose.Pass) func(function string) bool {
	s, ok := stallOf(p)
	ok = ok && (len(p.Findings("timeout")) == 0 || outlivedAt(p, s.place.Function))
	return func(function string) bool {
		return ok && callstack.Enclosing(function) == callstack.Enclosing(s.place.Function)
	}
}
