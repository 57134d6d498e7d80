package anatomy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// OtherSites is the site of the parts that lie below a list's bound, and
// UnknownSite that of waits whose stack the trace does not hold.
const (
	OtherSites  = "(other sites)"
	UnknownSite = "(unknown)"
)

// anatomy contrasts the bands.
func (a *collector) anatomy() *breakdown.Anatomy {
	all, partial := a.counted()
	n, whole := len(all), len(a.requests)
	out := &breakdown.Anatomy{Merged: a.merged, Hijacked: a.hijacked, Markers: a.markers, Traced: a.traced}
	out.Requests, out.Cut, out.Partial = whole, a.cut, partial
	out.Slowest = slices.Concat([]breakdown.Timeline{}, a.slowest.list)
	out.Marked = a.marked.list
	for s, served := range a.served {
		if served.Server = servers[s]; served.Requests+served.Cut > 0 && s != int(serverNone) {
			out.Served = append(out.Served, served)
		}
	}
	out.Align = alignment(a.clockErrors)
	switch {
	case n == 0:
		a.warn("no whole request in the traces: no server that is known, no load, or requests longer than a trace")
	case partial > 0:
		a.warn(fmt.Sprintf("only %d whole requests are in the traces: %d that an edge cuts count with what they did so far", whole, partial))
	}
	if n > 0 {
		out.Coverage = float64(n) / float64(n+a.mergedInto)
		out.P50NS, out.P99NS = percentile(all, 50), percentile(all, 99)
	}
	if whole > 0 {
		out.Operations = a.perRequests()
		out.Spawned = float64(a.spawned) / float64(whole)
	}
	middle := all[n*2/5 : max(n*3/5, min(n, n*2/5+1))]
	tail := all[min(n*99/100, max(n-1, 0)):]
	sums := a.sums(all)
	out.All, out.MeanNS = a.band(all, sums)
	out.Median, out.MedianNS = a.band(middle, a.sums(middle))
	out.Tail, out.TailNS = a.band(tail, a.sums(tail))
	out.Path = a.path(sums, all, partial)
	out.CPU = a.profile(all, middle, tail)
	out.Serial = a.serial()
	out.Helpers = a.helperList()
	if a.merged > 0 {
		a.warn(fmt.Sprintf("%d requests could not be distinguished and are left out", a.mergedInto))
	}
	out.Warnings = slices.Concat([]string{}, a.warnings)
	return out
}

// percentile returns the nearest rank of sorted requests, of which there is one.
func percentile(all []request, p int) time.Duration {
	rank := (len(all)*p + 99) / 100
	return all[max(rank, 1)-1].took
}

// sum is what the requests of a band add up to in one state at one stack.
type sum struct {
	partKey
	took   time.Duration
	times  int64
	merged bool                      // of parts below the list's bound
	wakers map[stackID]time.Duration // the time of the waits that each ended
	behind map[chainID]time.Duration // the time that was followed to each
}

// band returns the mean request of a band and its mean duration.
func (a *collector) band(requests []request, sums []*sum) ([]breakdown.Part, time.Duration) {
	if len(requests) == 0 {
		return []breakdown.Part{}, 0
	}
	var total time.Duration
	for _, r := range requests {
		total += r.took
	}
	return a.list(sums, len(requests), total), total / time.Duration(len(requests))
}

// sums adds up what requests did, the longest first.
func (a *collector) sums(requests []request) []*sum {
	byKey := map[partKey]*sum{}
	for _, r := range requests {
		for _, p := range a.parts[r.first:r.last] {
			s := byKey[p.key]
			if s == nil {
				s = &sum{partKey: p.key}
				byKey[p.key] = s
			}
			s.took += p.took
			s.times += int64(p.times)
			if p.waker != 0 {
				if s.wakers == nil {
					s.wakers = map[stackID]time.Duration{}
				}
				s.wakers[p.waker] += p.took
			}
			if p.chain != 0 {
				if s.behind == nil {
					s.behind = map[chainID]time.Duration{}
				}
				s.behind[p.chain] += p.took
			}
		}
	}
	sums := make([]*sum, 0, len(byKey))
	for _, s := range byKey {
		sums = append(sums, s)
	}
	slices.SortFunc(sums, func(x, y *sum) int {
		return cmp.Or(cmp.Compare(y.took, x.took), cmp.Compare(x.state, y.state), cmp.Compare(x.stack, y.stack),
			cmp.Compare(x.operation, y.operation))
	})
	return sums
}

// list turns sums into parts per request. What lies below the bound is merged by
// state, so that shares by state stay exact. Each part is the difference of two
// rounded running sums, so that the parts add up to the rounded mean.
func (a *collector) list(sums []*sum, n int, total time.Duration) []breakdown.Part {
	if rest := len(sums) - a.o.MaxParts; rest > 0 {
		var merged [len(states)]*sum
		for _, s := range sums[a.o.MaxParts:] {
			m := merged[s.state]
			if m == nil {
				m = &sum{partKey: partKey{state: s.state}, merged: true}
				merged[s.state] = m
			}
			m.took += s.took
			m.times += s.times
		}
		sums = sums[:a.o.MaxParts:a.o.MaxParts]
		for _, m := range merged {
			if m != nil {
				sums = append(sums, m)
			}
		}
	}
	parts := make([]breakdown.Part, 0, len(sums))
	var before, running time.Duration
	for _, s := range sums {
		running += s.took
		after := running / time.Duration(n)
		info := a.stacks.info(s.stack)
		p := breakdown.Part{State: states[s.state], Site: info.site, Operation: int(s.operation),
			NS: int64(after - before), Times: float64(s.times) / float64(n), Stack: info.frames}
		if total > 0 {
			p.Share = float64(s.took) / float64(total)
		}
		if s.merged {
			p.Site = OtherSites
		} else if s.state.sited() && s.stack == 0 {
			p.Site = UnknownSite
		}
		p.Waker = a.wakerOf(s)
		p.Behind = a.behind(s, n, total)
		parts = append(parts, p)
		before = after
	}
	slices.SortStableFunc(parts, func(x, y breakdown.Part) int { return cmp.Compare(y.NS, x.NS) })
	return parts
}

// wakerOf returns the stack that ended the longest of a part's waits, taken
// together.
func (a *collector) wakerOf(s *sum) []code.Frame {
	best, most := stackID(0), time.Duration(0)
	for id, took := range s.wakers {
		if took > most || took == most && id < best {
			best, most = id, took
		}
	}
	switch best {
	case 0:
		return nil
	case timerWaker:
		return []code.Frame{{Function: breakdown.WakerTimer}}
	}
	return a.stacks.info(best).frames
}

// Bounds of what is reported of the chains behind one part.
const (
	maxBehind  = 8
	leastShare = 0.01 // of the part
)

// behind returns what a part's waits waited for, the longest first.
func (a *collector) behind(s *sum, n int, total time.Duration) []breakdown.Chain {
	var list []breakdown.Chain
	ids := slices.SortedFunc(maps.Keys(s.behind), func(x, y chainID) int {
		return cmp.Or(cmp.Compare(s.behind[y], s.behind[x]), cmp.Compare(x, y))
	})
	for _, id := range ids[:min(len(ids), maxBehind)] {
		took := s.behind[id]
		if float64(took) < leastShare*float64(s.took) {
			break
		}
		list = append(list, breakdown.Chain{
			NS: int64(took) / int64(n), Share: float64(took) / float64(total), Links: a.links(id, true),
		})
	}
	return list
}

// links returns a chain; the stack of its last link, if wanted.
func (a *collector) links(id chainID, stack bool) []breakdown.Link {
	if id == 0 {
		return nil
	}
	ids := a.chains.list(id)
	links := make([]breakdown.Link, len(ids))
	for i, id := range ids {
		l := a.chains.links[id]
		links[i] = breakdown.Link{Goroutine: a.stacks.names[l.entry], Request: l.request, State: states[l.state], Site: a.stacks.names[l.site]}
	}
	if stack {
		links[len(links)-1].Stack = a.stacks.info(a.chains.stacks[id]).frames
	}
	return links
}
