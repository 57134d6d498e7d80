package bands

import (
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// leastRan is the number of requests from which a tenth of them is more than one.
const leastRan = 20

// ran returns how long requests ran, whatever they waited for; nil if there are few. Durations
// do not show it: on busy CPUs they depend on a request's position in the run queue. What a goroutine runs that a request starts and
// waits for, such as a handler below net/http.TimeoutHandler, the request runs.
func (a *Requests) ran(all []request) *breakdown.Ran {
	if len(all) < leastRan {
		return nil
	}
	times, sum := make([]time.Duration, len(all)), time.Duration(0)
	runs := a.running()
	for i, r := range all {
		for _, p := range a.parts[r.first:r.last] {
			if p.key.state == interned.Running || runs[p.chain] {
				times[i] += p.took
			}
		}
		sum += times[i]
	}
	slices.Sort(times)
	return &breakdown.Ran{MeanNS: sum / time.Duration(len(all)), P10NS: times[len(all)/10], P50NS: times[len(all)/2]}
}

// running returns the chains at whose ends goroutines run that work for one request.
func (a *Requests) running() map[goroutines.ChainID]bool {
	helps := map[interned.Name]bool{}
	for kind := range a.helpers {
		helps[kind.entry] = true
	}
	runs := map[goroutines.ChainID]bool{}
	for id := range goroutines.ChainID(len(a.Chains.Links)) {
		runs[id] = id != 0 && a.Chains.Links[id].State == interned.Running &&
			!slices.ContainsFunc(a.Chains.List(id), func(of goroutines.ChainID) bool {
				return !helps[a.Stacks.Called(a.Chains.Links[of].Entry)]
			})
	}
	return runs
}
