package load

import "time"

// queue counts the tickets of an open loop that are due and not taken, while the
// loops run: the gauge of the live view. It belongs to the reporter.
type queue struct {
	run *run
	// ahead are the loops' arrivals once more, where the tickets that are due
	// can only be counted one by one.
	ahead []arrivals
	due   int64
}

func newQueue(r *run) *queue {
	q := &queue{run: r}
	if r.plan.Open() && r.loops[0].arrivals.poisson {
		for _, l := range r.loops {
			q.ahead = append(q.ahead, l.arrivals)
		}
	}
	return q
}

// waiting returns how many tickets wait at a run time, which must not go back.
func (q *queue) waiting(at time.Duration) int64 {
	if !q.run.plan.Open() {
		return 0
	}
	at -= q.run.start
	if q.ahead == nil {
		q.due = q.run.pace.due(at)
	}
	for i := range q.ahead {
		a := &q.ahead[i]
		for _, next, ok := a.peek(); ok && next < at; _, next, ok = a.peek() {
			a.take()
			q.due++
		}
	}
	var taken int64
	for _, l := range q.run.loops {
		taken += l.taken.Load()
	}
	return max(0, q.due-taken)
}
