package load

import (
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
)

// unfinished are the loops' leftovers of the requests that were intended
// in a span.
type unfinished struct {
	begun   int64         // and not ended
	waiting int64         // due and never begun
	oldest  time.Duration // how long the oldest of the begun ones had waited
}

// unfinished may be asked when the loops are over.
func (r *run) unfinished(span timebase.Span, now time.Duration) (u unfinished) {
	for _, l := range r.loops {
		for i := range l.lanes {
			lane := &l.lanes[i]
			if lane.state != laneFree && within(span, lane.intended) {
				u.begun++
				u.oldest = max(u.oldest, now-lane.intended)
			}
			for _, t := range lane.behind {
				if within(span, t.at) {
					u.waiting++
				}
			}
		}
		if r.plan.Open() {
			from := max(l.counted.taken, l.arrivals.due(span.From-r.start))
			u.waiting += max(0, l.arrivals.due(span.To-r.start)-from)
		}
	}
	return u
}

// ages are how old the unfinished requests were when the run ended: values that
// the true ones are at least. The zero ages are none.
type ages struct {
	steps          []timing // from the intended time, by step; nil when there is none
	service, first timing   // from sending, of those that were sent; first of those without an answer's begin
}

// ages may be asked when the loops are over.
func (r *run) ages(span timebase.Span, now time.Duration) (a ages) {
	steps := len(r.collector.totals.steps)
	add := func(request int, intended time.Duration) {
		if a.steps == nil {
			a.steps = make([]timing, steps)
		}
		a.steps[min(request, steps-1)].add(now - intended)
	}
	for _, l := range r.loops {
		// An untaken ticket has no request of the mix yet: it gets one as
		// it would have.
		rng := rand.NewPCG(r.seed, uint64(l.index))
		draw := func(n int64) int {
			if replay := r.plan.Replay; replay != nil {
				return int(replay.Request[n])
			}
			return r.mix.pick(rng)
		}
		for i := range l.lanes {
			u := &l.lanes[i]
			if u.state != laneFree && within(span, u.intended) {
				add(u.x.Request, r.intended(u))
				a.sent(&u.x, now)
			}
			for _, t := range u.behind {
				if within(span, t.at) {
					add(draw(t.n), t.at)
				}
			}
		}
		if !r.plan.Open() {
			continue
		}
		rest := l.arrivals
		for n, at, ok := rest.peek(); ok && at+r.start < span.To; n, at, ok = rest.peek() {
			if at += r.start; at >= span.From {
				add(draw(n), at)
			}
			rest.take()
		}
	}
	return a
}

// intended is when a lane's request counts from: in a closed loop, once its
// connection was there.
func (r *run) intended(u *lane) time.Duration {
	if r.plan.Open() || u.x.Sent == 0 {
		return u.intended
	}
	return min(max(u.since, u.intended), u.x.Sent)
}

// sent adds a request that may have been sent.
func (a *ages) sent(x *Exchange, now time.Duration) {
	if x.Sent == 0 {
		return
	}
	a.service.add(now - x.Sent)
	if x.FirstByte == 0 {
		a.first.add(now - x.Sent)
	}
}

// logOpen writes the ages of requests that never ended behind the latency log's last
// interval, over the grace time, in which they were last waited for.
func (r *run) logOpen(now time.Duration) {
	span := timebase.Span{From: min(r.steady.To, now), To: now}
	for i := range r.collector.totals.open.steps {
		if t := &r.collector.totals.open.steps[i]; t.Total() > 0 {
			r.sunk(r.Record.Counts(r.collector.log.names[i], histogram.Unfinished, span, &t.Counts))
		}
	}
}
