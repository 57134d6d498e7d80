package bands

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// Bounds on what is kept about the goroutines that requests wait for.
const (
	maxSerial      = 16 // kinds that the record keeps
	maxSerialKinds = 1024
)

// serialKind sums goroutines that began in one function, over all traces.
type serialKind struct {
	goroutines           int
	requests             int
	waits, busy          time.Duration
	onCPU, queued, lived time.Duration
	calls                goroutines.Calls
}

// AddServing adds the work of the goroutines of one trace, which ends at end.
func (a *Requests) AddServing(list []*goroutines.Serving, end trace.Time) {
	kinds := map[interned.Name]*serialKind{} // of this trace: the same goroutines live in the next one
	for _, s := range list {
		k := kinds[s.Entry]
		if k == nil {
			k = &serialKind{}
			k.calls.Merge(s.Calls)
			kinds[s.Entry] = k
		}
		busy := s.Closed
		for _, b := range s.Busy {
			busy += b.To.Sub(b.From)
		}
		k.goroutines++
		k.requests += s.Requests
		k.waits, k.busy, k.onCPU, k.queued = k.waits+s.Waits, k.busy+busy, k.onCPU+s.OnCPU, k.queued+s.Queued
		k.lived += max(1, end.Sub(s.From))
	}
	for entry, k := range kinds {
		sum := a.serials[entry]
		if sum == nil {
			if len(a.serials) >= maxSerialKinds {
				continue
			}
			sum = &serialKind{}
			a.serials[entry] = sum
		}
		sum.goroutines = max(sum.goroutines, k.goroutines)
		sum.requests += k.requests
		sum.waits, sum.busy, sum.onCPU, sum.queued = sum.waits+k.waits, sum.busy+k.busy, sum.onCPU+k.onCPU, sum.queued+k.queued
		sum.lived += k.lived
		sum.calls.Merge(&k.calls)
	}
}

// serial returns the goroutines that requests wait for, those waited for longest
// first.
func (a *Requests) serial() []breakdown.Serial {
	var list []breakdown.Serial
	for entry, k := range a.serials {
		part := func(d time.Duration) float64 { return min(1, float64(d)/float64(k.lived)) }
		list = append(list, breakdown.Serial{
			Goroutine: a.Stacks.Names[entry], Goroutines: k.goroutines, Requests: k.requests, WaitNS: int64(k.waits) / int64(k.requests),
			Utilization: part(k.busy), OnCPU: part(k.onCPU), Queued: part(k.queued),
			Kernel: part(k.calls.Took()), KernelAlone: part(k.calls.Alone()), ServiceNS: int64(k.busy) / int64(k.requests),
		})
	}
	slices.SortFunc(list, func(x, y breakdown.Serial) int {
		return cmp.Or(cmp.Compare(y.WaitNS*int64(y.Requests), x.WaitNS*int64(x.Requests)), cmp.Compare(x.Goroutine, y.Goroutine))
	})
	return list[:min(len(list), maxSerial)]
}
