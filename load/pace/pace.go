// Package pace computes when requests are due: the profile of a load's rate or
// connections, the tickets of an open loop in the order of their intended times, the
// choice among the mix, and think times. All of it is a pure function of plan, seed and
// time since the load's start; nothing in it waits.
package pace

import (
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// Pace is the course of a load's leading quantity (requests due per second, or
// requests in progress: connections times streams) over time since the load's start. It is a pure function: the
// n-th intended time follows in closed form from the integral of the rate, so
// that no error accumulates however long the load lasts.
//
// The warm-up holds the plan's base; the stages follow it, one after another,
// and the last value holds to the end. Stages beyond the end are cut.
//
// A replay follows the log's own times instead of the course.
type Pace struct {
	segments []segment
	end      time.Duration
	steady   time.Duration   // the warm-up's end
	replay   []time.Duration // intended times, ascending; nil where the course leads
	limit    int64           // tickets in all, by scenario.Load.Requests; negative for no bound
	bound    int64           // scenario.Load.Requests; 0 for no bound
}

// segment is a linear piece of the course.
type segment struct {
	from, to       time.Duration
	first, last    float64 // the quantity at from and at to
	before, beyond float64 // its integral up to from and up to to
}

// New returns the pace of a plan whose defaults are filled in.
func New(l scenario.Load) Pace {
	base, each := l.Rate, 1.0
	if !l.Open() {
		each = float64(max(1, l.Streams))
		base = each * float64(l.Connections)
	}
	p := Pace{end: l.Warmup + l.Duration, steady: l.Warmup, limit: -1, bound: max(0, l.Requests)}
	if l.Replay != nil {
		p.replay = l.Replay.At
		if p.replay == nil {
			p.replay = []time.Duration{}
		}
	}
	p.add(l.Warmup, base, base)
	for _, s := range l.Stages {
		p.add(s.Over, base, each*s.To)
		base = each * s.To
	}
	if reached := p.reached(); reached < p.end {
		p.add(p.end-reached, base, base)
	}
	if p.bound > 0 && l.Open() {
		p.limit = p.Due(p.steady) + p.bound
	}
	return p
}

func (p *Pace) reached() time.Duration {
	if len(p.segments) == 0 {
		return 0
	}
	return p.segments[len(p.segments)-1].to
}

// add appends a segment; one without length is a jump and is not stored.
func (p *Pace) add(over time.Duration, first, last float64) {
	from := p.reached()
	whole := over
	if over = min(over, p.end-from); over <= 0 {
		return
	}
	last = first + (last-first)*float64(over)/float64(whole)
	s := segment{from: from, to: from + over, first: first, last: last}
	if n := len(p.segments); n > 0 {
		s.before = p.segments[n-1].beyond
	}
	s.beyond = s.before + (first+last)/2*over.Seconds()
	p.segments = append(p.segments, s)
}

// at returns when ticket n (from 0) is due, and false when the load ends
// before. Ticket n is due once the integral of the rate reaches n.
func (p *Pace) at(n int64) (time.Duration, bool) {
	switch {
	case n < 0 || p.limit >= 0 && n >= p.limit:
		return 0, false
	case p.replay == nil:
		return p.reach(float64(n))
	case n >= int64(len(p.replay)):
		return 0, false
	default:
		return p.replay[n], p.replay[n] < p.end
	}
}

// reach returns when the integral of the rate reaches m, and false when the
// load ends before.
func (p *Pace) reach(m float64) (time.Duration, bool) {
	for i := range p.segments {
		s := &p.segments[i]
		// A segment's end belongs to the next one: a ticket that falls on the
		// very end of a ramp to zero is due when the rate rises again.
		if m < s.beyond {
			t := s.from + s.solve(m-s.before)
			return t, t < p.end
		}
	}
	return 0, false
}

// solve returns the time after s.from at which the integral over the segment reaches m:
// the positive root of k/2 t^2 + first t = m, in the form that avoids cancellation when k
// is small.
func (s *segment) solve(m float64) time.Duration {
	if m <= 0 {
		return 0
	}
	k := (s.last - s.first) / (s.to - s.from).Seconds()
	root := math.Sqrt(max(0, s.first*s.first+2*k*m))
	t := 2 * m / (s.first + root)
	return min(time.Duration(math.Round(t*1e9)), s.to-s.from)
}

// Due returns how many tickets are due before t: the smallest n with
// at(n) >= t.
func (p *Pace) Due(t time.Duration) int64 {
	if t <= 0 {
		return 0
	}
	t = min(t, p.end)
	if p.replay != nil {
		n, _ := slices.BinarySearch(p.replay, t)
		return p.bounded(int64(n))
	}
	n := p.bounded(int64(math.Ceil(p.integral(t))))
	// The estimate is off by one where at rounds to a nanosecond.
	before := func(n int64) bool { d, ok := p.at(n); return ok && d < t }
	// At most a step or two: the loops only correct rounding.
	for n > 0 && !before(n-1) {
		n--
	}
	for before(n) {
		n++
	}
	return n
}

func (p *Pace) bounded(n int64) int64 {
	if p.limit >= 0 {
		return min(n, p.limit)
	}
	return n
}

func (p *Pace) integral(t time.Duration) float64 {
	for i := range p.segments {
		if s := &p.segments[i]; t < s.to {
			d := (t - s.from).Seconds()
			return s.before + (s.first+s.value(t))/2*d
		}
	}
	if n := len(p.segments); n > 0 {
		return p.segments[n-1].beyond
	}
	return 0
}

func (s *segment) value(t time.Duration) float64 {
	return s.first + (s.last-s.first)*float64(t-s.from)/float64(s.to-s.from)
}

// On returns for how much of a span the course is above zero, plus a tail after each such
// stretch, in which its last requests are answered.
func (p *Pace) On(span timebase.Span, tail time.Duration) (on time.Duration) {
	reached := span.From
	for _, s := range p.segments {
		if s.first <= 0 && s.last <= 0 {
			continue
		}
		from, to := max(s.from, reached), min(s.to+tail, span.To)
		if to > from {
			on += to - from
			reached = to
		}
	}
	return on
}

// Most returns the largest number of connections that the course reaches.
func (p *Pace) Most() int {
	most := 0.0
	for _, s := range p.segments {
		most = max(most, s.first, s.last)
	}
	return int(math.Round(most))
}

// Active returns the first time at or after t at which connection i (from 0)
// takes part in a closed loop, and false when it never does again.
func (p *Pace) Active(i int, t time.Duration) (time.Duration, bool) {
	// Connection i takes part while the rounded course is above i.
	enough := float64(i) + 0.5 // math.Round reaches i+1 here
	for j := range p.segments {
		s := &p.segments[j]
		if t >= s.to {
			continue
		}
		from := max(t, s.from)
		if s.value(from) >= enough {
			return from, true
		}
		if s.last >= enough {
			slope := (s.last - s.first) / float64(s.to-s.from)
			at := s.from + time.Duration(math.Ceil((enough-s.first)/slope))
			// Rounding must not leave the segment, nor go back in time.
			return min(max(at, from), s.to-1), true
		}
	}
	return 0, false
}
