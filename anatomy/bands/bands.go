// Package bands sums up requests: all of them, those around the median and the slowest,
// so that the bands can be compared; with the critical path, what the CPU ran, and the
// goroutines that requests queue for. It takes whole requests and gives the record's
// breakdown.Anatomy.
package bands

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// otherSites is the site of the parts beyond a list's bound, unknownSite that of waits
// without a stack in the trace.
const (
	otherSites  = "(other sites)"
	unknownSite = "(unknown)"
)

// Anatomy contrasts the bands.
func (a *Requests) Anatomy() *breakdown.Anatomy {
	all, partial := a.counted()
	n, whole := len(all), len(a.requests)
	out := &breakdown.Anatomy{Merged: a.Merged, Hijacked: a.Hijacked, Markers: a.Markers, Traced: a.Traced}
	out.Requests, out.Cut, out.Partial = whole, a.cut, partial
	out.Slowest = slices.Concat([]breakdown.Timeline{}, a.slowest.list)
	out.Marked = a.marked.list
	for s, served := range a.served {
		if served.Server = server.Names[s]; served.Requests+served.Cut > 0 && s != int(server.None) {
			out.Served = append(out.Served, served)
		}
	}
	out.Align = alignment(a.ClockErrors)
	switch {
	case n == 0:
		a.Warn("no complete request in the traces: no known server, no load, or requests longer than a trace")
	case partial > 0 && whole >= fewWhole:
		a.Warn(fmt.Sprintf("%d requests that were cut off by the start or end of a trace took more time than the %d complete ones: "+
			"the breakdown uses them too", partial, whole))
	case partial > 0 && whole == 0:
		a.Warn(fmt.Sprintf("no trace contains a complete request; the breakdown uses %d incomplete ones", partial))
	case partial > 0:
		a.Warn(fmt.Sprintf("the traces contain only %d complete requests; the breakdown also uses %d incomplete ones", whole, partial))
	}
	if n > 0 {
		out.Coverage = a.coverage()
		out.P50NS, out.P99NS = percentile(all, 50), percentile(all, 99)
	}
	if whole > 0 {
		out.Operations = a.perRequests()
		out.Spawned = float64(a.spawned) / float64(whole)
	}
	middle, tail := split(all)
	sums := a.sums(all)
	var kept []*sum
	out.All, kept, out.MeanNS = a.band(all, sums)
	out.Median, _, out.MedianNS = a.band(middle, a.sums(middle))
	out.Tail, _, out.TailNS = a.band(tail, a.sums(tail))
	out.During = a.during(all, kept)
	out.Named = a.named(all, kept)
	out.Ran = a.ran(a.requests)
	out.Path = a.path(sums, all, partial)
	out.CPU = a.profile(all, middle, tail)
	out.Serial = a.serial()
	out.Helpers, out.Left, out.Woken = a.helperList(a.helpers), a.helperList(a.left), a.wokenList()
	if a.Merged > 0 {
		a.Warn(fmt.Sprintf("%d requests could not be distinguished and are left out", a.MergedInto))
	}
	out.Warnings = slices.Concat([]string{}, a.warnings)
	return out
}

// coverage is the share of whole requests among those seen whole. Where a trace is shorter
// than any request none was, so none is missing.
func (a *Requests) coverage() float64 {
	seen := len(a.requests) + a.MergedInto
	if seen == 0 {
		return 1
	}
	return float64(len(a.requests)) / float64(seen)
}

// percentile returns the nearest rank of sorted requests, of which there is at least one.
func percentile(all []request, p int) time.Duration {
	rank := (len(all)*p + 99) / 100
	return all[max(rank, 1)-1].took
}

// sum is what the requests of a band add up to in one state at one stack.
type sum struct {
	partKey
	took   time.Duration
	times  int64
	timed  time.Duration                    // of waits that ended because of a timer
	merged bool                             // of parts below the list's bound
	wakers map[interned.Stack]time.Duration // the time of the waits that each ended
	behind map[goroutines.ChainID]followed
}

// followed is what was followed to a chain: the time, and how often each link began.
type followed struct {
	took  time.Duration
	begun [goroutines.MaxLinks]float64
}

func (f followed) plus(o followed) followed {
	f.took += o.took
	for i := range f.begun {
		f.begun[i] += o.begun[i]
	}
	return f
}

// band returns the mean request of a band, the sum that each of its parts comes from, and its mean
// duration.
func (a *Requests) band(requests []request, sums []*sum) ([]breakdown.Part, []*sum, time.Duration) {
	if len(requests) == 0 {
		return []breakdown.Part{}, nil, 0
	}
	took := taken(requests)
	parts, kept := a.list(sums, len(requests), took)
	return parts, kept, took / time.Duration(len(requests))
}

// sums adds up what requests did, the longest first.
func (a *Requests) sums(requests []request) []*sum {
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
			if p.timed {
				s.timed += p.took
			}
			if p.waker != 0 {
				if s.wakers == nil {
					s.wakers = map[interned.Stack]time.Duration{}
				}
				s.wakers[p.waker] += p.took
			}
			if p.chain != 0 {
				if s.behind == nil {
					s.behind = map[goroutines.ChainID]followed{}
				}
				f := followed{took: p.took}
				for i, n := range p.begun {
					f.begun[i] = float64(n)
				}
				s.behind[p.chain] = s.behind[p.chain].plus(f)
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

// list turns sums into parts per request. Those below the bound are merged by state, so
// that shares by state stay exact. Each part is the difference of two rounded running
// sums, so that the parts add up to the rounded mean. kept are the sums of the parts, in
// the same order.
func (a *Requests) list(sums []*sum, n int, total time.Duration) (parts []breakdown.Part, kept []*sum) {
	if rest := len(sums) - a.options.MaxParts; rest > 0 {
		var merged [len(interned.States)]*sum
		for _, s := range sums[a.options.MaxParts:] {
			m := merged[s.state]
			if m == nil {
				m = &sum{partKey: partKey{state: s.state}, merged: true}
				merged[s.state] = m
			}
			m.took += s.took
			m.times += s.times
		}
		sums = sums[:a.options.MaxParts:a.options.MaxParts]
		for _, m := range merged {
			if m != nil {
				sums = append(sums, m)
			}
		}
	}
	type listed struct {
		breakdown.Part
		of *sum
	}
	all := make([]listed, 0, len(sums))
	var before, running time.Duration
	for _, s := range sums {
		running += s.took
		after := running / time.Duration(n)
		info := a.Stacks.Info(s.stack)
		p := breakdown.Part{State: interned.States[s.state], Site: info.Site, Operation: int(s.operation), Cut: info.Cut,
			NS: int64(after - before), Times: float64(s.times) / float64(n), Stack: info.Frames}
		if total > 0 {
			p.Share = float64(s.took) / float64(total)
		}
		if s.timed > 0 {
			p.Timed = float64(s.timed) / float64(s.took)
		}
		if s.merged {
			p.Site = otherSites
		} else if s.state.Sited() && s.stack == 0 {
			p.Site = unknownSite
		}
		p.Waker = a.wakerOf(s)
		p.Behind = a.behind(s, n, total)
		all = append(all, listed{p, s})
		before = after
	}
	slices.SortStableFunc(all, func(x, y listed) int { return cmp.Compare(y.NS, x.NS) })
	parts, kept = make([]breakdown.Part, 0, len(all)), make([]*sum, 0, len(all))
	for _, l := range all {
		parts, kept = append(parts, l.Part), append(kept, l.of)
	}
	return parts, kept
}

// wakerOf returns the stack that ended the longest of a part's waits, taken
// together.
func (a *Requests) wakerOf(s *sum) []code.Frame {
	best, most := interned.Stack(0), time.Duration(0)
	for id, took := range s.wakers {
		if took > most || took == most && id < best {
			best, most = id, took
		}
	}
	switch best {
	case 0:
		return nil
	case goroutines.TimerWaker:
		return []code.Frame{{Function: breakdown.WakerTimer}}
	}
	return a.Stacks.Info(best).Frames
}
