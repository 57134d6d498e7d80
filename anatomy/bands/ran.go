package bands

import (
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// leastRan is the number of requests from which a tenth of them is more than one.
const leastRan = 20

// ran returns how long requests ran, whatever they waited for; nil if there are few. Durations
// do not show it: on busy CPUs they depend on a request's position in the run queue.
func (a *Requests) ran(all []request) *breakdown.Ran {
	if len(all) < leastRan {
		return nil
	}
	times, sum := make([]time.Duration, len(all)), time.Duration(0)
	for i, r := range all {
		for _, p := range a.parts[r.first:r.last] {
			if p.key.state == interned.Running {
				times[i] += p.took
			}
		}
		sum += times[i]
	}
	slices.Sort(times)
	return &breakdown.Ran{MeanNS: sum / time.Duration(len(all)), P10NS: times[len(all)/10], P50NS: times[len(all)/2]}
}
