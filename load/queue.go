package load

import (
	"time"

	"github.com/redline-go/redline/load/pace"
)

// queue counts the tickets of an open loop that are due and not taken, while the
// loops run: the gauge of the live view. It belongs to the reporter.
type queue struct {
	run *run
	// ahead is a copy of the loops' arrivals, if due tickets can only be counted one
	// by one.
	ahead []pace.Arrivals
	due   int64
}

func newQueue(r *run) *queue {
	q := &queue{run: r}
	if r.plan.Open() && r.loops[0].arrivals.Poisson {
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
		q.due = q.run.pace.Due(at)
	}
	for i := range q.ahead {
		a := &q.ahead[i]
		// Each ticket of the load is drawn a second time here: as much work as the loops' own
		// draws, in the reporter's time.
		for _, next, ok := a.Peek(); ok && next < at; _, next, ok = a.Peek() {
			a.Take()
			q.due++
		}
	}
	var taken int64
	for _, l := range q.run.loops {
		taken += l.Taken.Load()
	}
	return max(0, q.due-taken)
}
