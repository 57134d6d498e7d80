package sampler

import (
	"math"
	"runtime/metrics"

	"github.com/redline-go/redline/probe/ring"
)

// histogram summarises the values added to one of the runtime's cumulative
// histograms since the last reading.
type histogram struct {
	last  []uint64
	delta []uint64
	// steps, if any, are bounds between which events are counted separately:
	// cumulative counts of the events up to each bound and above the one before,
	// and then of those above the last.
	steps []float64
}

// allocsBySize is reported by size, in addition to its quantiles. Its 68 size classes are
// too many for one series each.
const allocsBySize = "/gc/heap/allocs-by-size:bytes"

// allocSizes are size classes of the allocator, from 64 B to its last, 32 KB:
// larger objects have a span of their own.
var allocSizes = [...]float64{64, 512, 4096, 32768}

func stepColumns(name string) []ring.Column {
	labels := [...]string{"size=le64", "size=le512", "size=le4096", "size=le32768", "size=more"}
	var list []ring.Column
	for _, l := range labels {
		list = append(list, ring.Column{Name: name, Labels: l, Kind: ring.Cumulative, Unit: ring.One})
	}
	return list
}

func histogramColumns(name string, unit ring.Unit) []ring.Column {
	return []ring.Column{
		{Name: name, Labels: "q=count", Kind: ring.Cumulative, Unit: ring.One},
		{Name: name, Labels: "q=p50", Kind: ring.Gauge, Unit: unit},
		{Name: name, Labels: "q=p99", Kind: ring.Gauge, Unit: unit},
		{Name: name, Labels: "q=max", Kind: ring.Gauge, Unit: unit},
	}
}

// read puts the cumulative count and the quantiles of the added values into the
// first four entries of into, and the counts up to each step into the next.
// Without any event there are no quantiles.
func (h *histogram) read(now *metrics.Float64Histogram, scale float64, into []float64) {
	if len(h.last) != len(now.Counts) { // the first reading
		h.last = make([]uint64, len(now.Counts))
		h.delta = make([]uint64, len(now.Counts))
		copy(h.last, now.Counts)
	}
	var count, added uint64
	for i, n := range now.Counts {
		count += n
		// Subtle: the runtime reads its buckets one by one while they are
		// counted up, so a bucket is monotonic but the set is no snapshot.
		h.delta[i] = 0
		if n > h.last[i] {
			h.delta[i] = n - h.last[i]
			h.last[i] = n
		}
		added += h.delta[i]
	}
	into[0] = float64(count)
	into[1] = h.quantile(now.Buckets, added, 0.50) * scale
	into[2] = h.quantile(now.Buckets, added, 0.99) * scale
	into[3] = h.max(now.Buckets) * scale
	if len(h.steps) > 0 {
		h.countSteps(now, into[4:5+len(h.steps)])
	}
}

func (h *histogram) countSteps(now *metrics.Float64Histogram, into []float64) {
	for i := range into {
		into[i] = 0
	}
	step := 0
	for i, n := range now.Counts {
		// A bucket's upper edge is exclusive: one more than the size of the class.
		for step < len(h.steps) && now.Buckets[i] > h.steps[step] {
			step++
		}
		into[step] += float64(n)
	}
}

// quantile interpolates within the bucket that holds the quantile, as if its
// events were spread evenly; the runtime's time buckets are at most 25 % wide.
func (h *histogram) quantile(edges []float64, added uint64, q float64) float64 {
	if added == 0 {
		return none
	}
	rank := q * float64(added)
	var below float64
	for i, n := range h.delta {
		if n == 0 {
			continue
		}
		if below+float64(n) >= rank {
			low, high := finite(edges, i)
			return low + (high-low)*(rank-below)/float64(n)
		}
		below += float64(n)
	}
	return h.max(edges)
}

// max returns the upper edge of the highest bucket that got an event: the
// largest event was at most this, unless it fell in the open-ended bucket,
// whose lower edge is returned.
func (h *histogram) max(edges []float64) float64 {
	for i := len(h.delta) - 1; i >= 0; i-- {
		if h.delta[i] > 0 {
			_, high := finite(edges, i)
			return high
		}
	}
	return none
}

// finite returns the edges of bucket i; if one is infinite, the finite one stands
// for both.
func finite(edges []float64, i int) (low, high float64) {
	low, high = edges[i], edges[i+1]
	if math.IsInf(low, 0) {
		low = high
	}
	if math.IsInf(high, 0) {
		high = low
	}
	return low, high
}
