package bands

import (
	"cmp"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
)

const (
	// fewWhole is the number of whole requests below which those cut by an edge of a
	// trace count as well. A slow service has most of its requests at an edge, and
	// leaving those out would assess it by its fastest.
	fewWhole = 20
	// manyCut is the number of cut requests, as a share of the whole ones, from which they count if they hold more time
	// than these: the longer a request, the likelier an edge cuts it, so that the whole ones of a service that
	// stalls are those that did not. Below it they would only blur the durations, and a few streams would
	// hide all else.
	manyCut = 0.1
	// manyMissed is how many times as long as the whole requests the load's mean request must be for the cut ones to count if
	// they hold more time: the load then says itself that the whole ones are its fastest, however few an edge cuts.
	manyMissed = 2
	// maxPartial bounds how many cut requests are kept until it is known whether they count.
	maxPartial = 1000
)

// AddPartial adds the part of a cut request that lies within the trace.
func (a *Requests) AddPartial(segments []goroutines.Segment, samples []goroutines.CPUSample) {
	if len(a.partial) >= maxPartial || len(segments) == 0 || segments[len(segments)-1].To <= segments[0].From {
		return
	}
	a.partial = append(a.partial, a.gather(segments, samples))
}

// counted returns the requests that the bands are made of, shortest first, and
// how many of them are partial.
func (a *Requests) counted() (all []request, partial int) {
	all = a.requests
	if a.partialCount() {
		all, partial = slices.Concat(all, a.partial), len(a.partial)
	}
	slices.SortStableFunc(all, func(x, y request) int { return cmp.Compare(x.took, y.took) })
	return all, partial
}

// partialCount reports whether cut requests count.
func (a *Requests) partialCount() bool {
	whole, took := len(a.requests), taken(a.requests)
	if whole < fewWhole {
		return true
	}
	many := float64(a.cut) >= manyCut*float64(whole) || a.options.Mean >= manyMissed*took/time.Duration(whole)
	return many && taken(a.partial) > took
}

// taken is the time that requests took together.
func taken(requests []request) (sum time.Duration) {
	for _, r := range requests {
		sum += r.took
	}
	return sum
}
