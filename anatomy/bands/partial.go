package bands

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/anatomy/goroutines"
)

const (
	// fewWhole is the number of whole requests below which those cut by an edge of a
	// trace count as well. A slow service has most of its requests at an edge, and
	// leaving those out would assess it by its fastest. Above it the cut ones would only
	// blur the durations.
	fewWhole = 20
	// maxPartial bounds how many cut requests are kept until it is known whether whole
	// ones are few.
	maxPartial = 1000
)

// AddPartial adds the part of a cut request that lies within the trace.
func (a *Requests) AddPartial(segments []goroutines.Segment, samples []goroutines.CPUSample) {
	if len(a.requests) >= fewWhole || len(a.partial) >= maxPartial || len(segments) == 0 ||
		segments[len(segments)-1].To <= segments[0].From {
		return
	}
	a.partial = append(a.partial, a.gather(segments, samples))
}

// counted returns the requests that the bands are made of, shortest first, and
// how many of them are partial.
func (a *Requests) counted() (all []request, partial int) {
	all = a.requests
	if len(all) < fewWhole {
		all, partial = slices.Concat(all, a.partial), len(a.partial)
	}
	slices.SortStableFunc(all, func(x, y request) int { return cmp.Compare(x.took, y.took) })
	return all, partial
}
