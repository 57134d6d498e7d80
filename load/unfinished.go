package load

import (
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/record/timebase"
)

// unfinished are the requests intended in a span that the loops did not finish.
type unfinished struct {
	begun   int64         // and not ended
	waiting int64         // due and never begun
	oldest  time.Duration // how long the oldest of the begun ones had waited
}

// unfinished may be called once the loops are over.
func (r *run) unfinished(span timebase.Span, now time.Duration) (u unfinished) {
	for _, l := range r.loops {
		for i := range l.lanes {
			lane := &l.lanes[i]
			if lane.state != laneFree && account.Within(span, lane.intended) {
				u.begun++
				u.oldest = max(u.oldest, now-lane.intended)
			}
			for _, t := range lane.behind {
				if account.Within(span, t.At) {
					u.waiting++
				}
			}
		}
		if r.plan.Open() {
			// Tickets are taken in order, so those from the last taken one on were never begun.
			from := max(l.counted.Taken, l.arrivals.Due(span.From-r.start))
			u.waiting += max(0, l.arrivals.Due(span.To-r.start)-from)
		}
	}
	return u
}

// ages may be called once the loops are over.
func (r *run) ages(span timebase.Span, now time.Duration) (a account.Ages) {
	steps := r.collector.Totals.StepCount()
	add := func(request int, intended time.Duration) { a.Add(request, steps, now-intended) }
	for _, l := range r.loops {
		// An untaken ticket has no request of the mix yet: it is given one as it would have
		// been.
		rng := rand.NewPCG(r.seed, uint64(l.index))
		draw := func(n int64) int {
			if replay := r.plan.Replay; replay != nil {
				return int(replay.Request[n])
			}
			return r.mix.Pick(rng)
		}
		for i := range l.lanes {
			u := &l.lanes[i]
			if u.state != laneFree && account.Within(span, u.intended) {
				add(u.x.Request, r.intended(u))
				if u.x.Sent > 0 {
					a.AddSent(now-u.x.Sent, u.x.FirstByte > 0)
				}
			}
			for _, t := range u.behind {
				if account.Within(span, t.At) {
					add(draw(t.N), t.At)
				}
			}
		}
		if !r.plan.Open() {
			continue
		}
		rest := l.arrivals
		for n, at, ok := rest.Peek(); ok && at+r.start < span.To; n, at, ok = rest.Peek() {
			if at += r.start; at >= span.From {
				add(draw(n), at)
			}
			rest.Take()
		}
	}
	return a
}

// intended is the time from which a lane's request counts: in a closed loop, once its
// connection was there.
func (r *run) intended(u *lane) time.Duration {
	if r.plan.Open() || u.x.Sent == 0 {
		return u.intended
	}
	return min(max(u.since, u.intended), u.x.Sent)
}

// logOpen writes the ages of requests that never ended after the latency log's last
// interval, over the grace time, in which they were last awaited.
func (r *run) logOpen(now time.Duration) {
	span := timebase.Span{From: min(r.steady.To, now), To: now}
	r.sunk(r.collector.WriteUnfinished(r.Record, span))
}
