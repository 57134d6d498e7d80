package anatomy

import (
	"cmp"
	"slices"
)

const (
	// fewWhole is the number of whole requests below which those that an edge of a
	// trace cuts count as well. A service that answers slowly has most of its
	// requests at an edge, and leaving those out would judge it by its fastest. Above
	// it the cut ones would only blur the durations.
	fewWhole = 20
	// maxPartial bounds what is kept of cut requests before it is known whether
	// whole ones are few.
	maxPartial = 1000
)

// addPartial takes what a request did within the trace whose edge cuts it.
func (a *collector) addPartial(segments []segment, samples []sample) {
	if len(a.requests) >= fewWhole || len(a.partial) >= maxPartial || len(segments) == 0 || segments[len(segments)-1].to <= segments[0].from {
		return
	}
	a.partial = append(a.partial, a.gather(segments, samples))
}

// counted returns the requests that the bands are made of, shortest first, and
// how many of them are partial.
func (a *collector) counted() (all []request, partial int) {
	all = a.requests
	if len(all) < fewWhole {
		all, partial = slices.Concat(all, a.partial), len(a.partial)
	}
	slices.SortStableFunc(all, func(x, y request) int { return cmp.Compare(x.took, y.took) })
	return all, partial
}

// cutAtEnd ends the request that a goroutine still serves as the trace ends.
//
// Subtle: the wait that it is in has no end, so what ends it is not known. Where
// one goroutine alone ended all waits of requests in the same function, it is taken for
// the one that is waited for; else the time counts as its state at its stack.
func (t *tracker) cutAtEnd(g *goroutine) {
	c := g.conn
	var e ended
	if w := t.stacks.info(g.stack).waits; g.state.followed() && w.trace == t.stacks.trace && !w.several && w.by != g.id {
		e.by = w.by
	}
	g.stay(t.last, e, t.follower)
	overlong := c.overlong
	begin := c.begin
	segments, samples := c.take(t.last)
	t.all.cutOff(c.server)
	for len(segments) > 0 && segments[0].from < begin {
		segments = segments[1:]
	}
	if !overlong {
		t.all.addPartial(segments, samples)
	}
}

// sorted returns those alive or remembered by id, so that a replay gives the same.
func (all *goroutines) sorted() []*goroutine {
	list := make([]*goroutine, 0, len(all.byID))
	for _, g := range all.byID {
		list = append(list, g)
	}
	slices.SortFunc(list, func(x, y *goroutine) int { return cmp.Compare(x.id, y.id) })
	return list
}
