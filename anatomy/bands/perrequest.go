package bands

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// perRequest sums up how often requests began an operation, and how long they were
// within it.
type perRequest struct {
	calls, most, requests    int64
	running, queued, waiting time.Duration
}

// countOperations adds the operations of one whole request.
func (a *Requests) countOperations(c *goroutines.Conn) {
	if len(c.Operations)+len(c.Spent) == 0 {
		return
	}
	for _, s := range c.Spent {
		p := a.operations[s.Operation]
		switch s.State {
		case interned.Running, interned.Assist:
			p.running += s.Took
		case interned.Runnable, interned.Stopped, interned.StoppedByCall:
			p.queued += s.Took
		default:
			p.waiting += s.Took
		}
		a.operations[s.Operation] = p
	}
	own := map[goroutines.Operation]int64{}
	for _, id := range c.Operations {
		own[id]++
	}
	for id, n := range own {
		p := a.operations[id]
		p.calls, p.most, p.requests = p.calls+n, max(p.most, n), p.requests+1
		a.operations[id] = p
	}
}

// perRequests returns the counts per request, the largest first.
func (a *Requests) perRequests() []breakdown.OperationsPerRequest {
	var list []breakdown.OperationsPerRequest
	for _, id := range slices.Sorted(maps.Keys(a.operations)) {
		p, n := a.operations[id], time.Duration(len(a.requests))
		list = append(list, breakdown.OperationsPerRequest{
			Operation: int(id), Mean: float64(p.calls) / float64(n), Max: p.most, Requests: p.requests,
			RunningNS: int64(p.running / n), QueuedNS: int64(p.queued / n), WaitingNS: int64(p.waiting / n),
		})
	}
	slices.SortStableFunc(list, func(x, y breakdown.OperationsPerRequest) int { return cmp.Compare(y.Mean, x.Mean) })
	return list
}
