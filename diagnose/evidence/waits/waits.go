// Package waits sorts the time of requests by what they waited for, and at which place:
// each wait of the anatomy is divided into what the goroutines that ended it did. It
// also finds who ends waits, and reads the critical path.
package waits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Requests is what requests waited for in a run, by its anatomy.
type Requests struct {
	*measured.Run
	waits measured.Memo[*Table]
}

// Table is the anatomy by what requests waited for.
type Table struct {
	all  map[callstack.Wait][]Site
	mean float64 // ns
	gap  float64 // tail minus median, ns
	by   *divider
}

// Site is one place of one kind of wait.
type Site struct {
	Wait callstack.Wait
	// Place is the user's innermost frame, or the nearest thing to it.
	Place code.Frame
	// User reports whether Place is the user's own code.
	User bool
	// NS and Times are per mean request; Share is of its duration, 0 to 1.
	NS, Times, Share float64
	// Tail is the site's part of the time by which the tail exceeds the median,
	// 0 to 1.
	Tail float64
	// TailNS is that time, in ns per slow request.
	TailNS float64
	// Part is the largest of the anatomy's parts at this place.
	Part breakdown.Part
	// Via is how the request itself waits if the wait is that of a goroutine it waits for:
	// JoinWait or ChannelWait for a goroutine that it started or a worker, FlightWait for
	// another request's computation. "" otherwise.
	Via callstack.Wait
	// From is the place at which the request itself waits in that case.
	From code.Frame
	// By is the entry of the goroutine that has the wait; "" where Via is "".
	By string
}

// Waits returns the anatomy sorted into kinds of wait; it is empty without one.
func (p *Requests) Waits() *Table {
	return p.waits.Get(p.readWaits)
}

// readWaits divides every part of the three bands into pieces and sums them by
// place. A site's part of the tail is the slow requests' time there less the median
// ones', so it shows what makes a request slow rather than where it spends time.
func (p *Requests) readWaits() *Table {
	w := &Table{all: map[callstack.Wait][]Site{}}
	a := p.Anatomy
	if a == nil || a.MeanNS <= 0 {
		return w
	}
	w.mean, w.gap = float64(a.MeanNS), float64(a.TailNS-a.MedianNS)
	sites := map[siteKey]*Site{}
	site := func(one piece) *Site {
		key := siteKey{one.kind, one.via, one.place.Function, one.place.Line}
		s := sites[key]
		if s == nil {
			s = &Site{Wait: one.kind, Via: one.via, From: one.from, By: one.by, Place: one.place,
				User: p.Stacks.User(one.place), Part: one.part}
			sites[key] = s
		}
		return s
	}
	d := newDivider(p)
	w.by = d
	for _, part := range a.All {
		for _, one := range d.divide(part) {
			s := site(one)
			if one.part.NS > s.Part.NS {
				s.Part = one.part
			}
			s.NS += float64(one.part.NS)
			s.Times += one.part.Times
		}
	}
	for _, part := range a.Tail {
		for _, one := range d.divide(part) {
			site(one).TailNS += float64(one.part.NS)
		}
	}
	for _, part := range a.Median {
		for _, one := range d.divide(part) {
			site(one).TailNS -= float64(one.part.NS)
		}
	}
	for _, s := range sites {
		s.Share = min(1, s.NS/w.mean)
		if w.gap > 0 {
			s.Tail = max(0, min(1, s.TailNS/w.gap))
		}
		s.NS, s.Times = d.outer*s.NS, d.outer*s.Times
		w.all[s.Wait] = append(w.all[s.Wait], *s)
	}
	w.mean *= d.outer
	for _, list := range w.all {
		slices.SortFunc(list, func(a, b Site) int {
			return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(b.TailNS, a.TailNS),
				cmp.Compare(a.Place.Function, b.Place.Function), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Via, b.Via))
		})
	}
	return w
}

type siteKey struct {
	wait     callstack.Wait
	via      callstack.Wait
	function string
	line     int
}

const (
	// FewRequests: with fewer, the mean request depends on a few, and a share's
	// standard error can exceed 0.1 (0.5/√20). Findings that rest on them have at
	// most medium confidence.
	FewRequests = 20
	// leastCoverage is the part of the requests that must have been broken down to
	// represent the rest, if they are few.
	leastCoverage = 0.5
)

// MostlyLost reports whether the anatomy holds few requests, and most of those in the
// traces were lost. There must be an anatomy.
func (p *Requests) MostlyLost() bool {
	return p.Anatomy.Requests < FewRequests && p.Anatomy.Coverage < leastCoverage
}

// Traced reports whether enough requests were broken down to represent the rest.
func (p *Requests) Traced() bool {
	return p.Anatomy != nil && p.Anatomy.Requests+p.Anatomy.Partial > 0 && p.Anatomy.MeanNS > 0 && !p.MostlyLost()
}

// Sites returns the places of one kind of wait, largest first.
func (w *Table) Sites(kind callstack.Wait) []Site { return w.all[kind] }

// Kinds returns the kinds of wait in the anatomy, in a fixed order.
func (w *Table) Kinds() []callstack.Wait { return slices.Sorted(maps.Keys(w.all)) }

// Share returns the part of request time that kinds of wait take, 0 to 1.
func (w *Table) Share(kinds ...callstack.Wait) float64 {
	return min(1, w.sum(kinds, func(s Site) float64 { return s.Share }))
}

// Tail returns the part of the time above the median that kinds of wait take.
func (w *Table) Tail(kinds ...callstack.Wait) float64 {
	return min(1, w.sum(kinds, func(s Site) float64 { return s.Tail }))
}

// NS returns the time per request that kinds of wait take.
func (w *Table) NS(kinds ...callstack.Wait) float64 {
	return w.sum(kinds, func(s Site) float64 { return s.NS })
}

// Times returns how often per request kinds of wait were entered.
func (w *Table) Times(kinds ...callstack.Wait) float64 {
	return w.sum(kinds, func(s Site) float64 { return s.Times })
}

func (w *Table) sum(kinds []callstack.Wait, of func(Site) float64) (sum float64) {
	for _, kind := range kinds {
		for _, s := range w.all[kind] {
			sum += of(s)
		}
	}
	return sum
}

// OnCPU returns the part of request time spent on a CPU, queued for one, or
// assisting the collector.
func (w *Table) OnCPU() float64 {
	return w.Share(callstack.Busy, callstack.Queued, callstack.Collector)
}

// MeanNS returns the mean request's duration inside the trace, in ns; 0 without
// anatomy.
func (w *Table) MeanNS() float64 { return w.mean }

// GapNS returns by how much the tail's mean exceeds the median band's, in ns.
func (w *Table) GapNS() float64 { return w.gap }
