package load

import (
	"math"
	"runtime/metrics"
	"time"
)

// schedMeter reads how long the process's own goroutines were ready and waited
// for a P. A response that has arrived is seen only when its goroutine runs, so
// this time is inside of the measured ones. The runtime samples one transition
// in eight.
type schedMeter struct {
	sample [1]metrics.Sample
	from   []uint64 // counts at the start
}

func newSchedMeter() *schedMeter {
	m := &schedMeter{}
	m.sample[0].Name = "/sched/latencies:seconds"
	return m
}

// start begins the measured stretch.
func (m *schedMeter) start() {
	metrics.Read(m.sample[:])
	if m.sample[0].Value.Kind() == metrics.KindFloat64Histogram {
		m.from = append(m.from[:0], m.sample[0].Value.Float64Histogram().Counts...)
	}
}

// waited returns the mean and the 99th percentile of the waits since start;
// zero when there is none or the runtime does not tell. Waits count as their
// bucket's lower bound, so both err to the low side.
func (m *schedMeter) waited() (mean, p99 time.Duration) {
	metrics.Read(m.sample[:])
	if m.from == nil || m.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0, 0
	}
	h := m.sample[0].Value.Float64Histogram()
	if len(h.Counts) != len(m.from) {
		return 0, 0
	}
	var n uint64
	var sum float64
	for i, c := range h.Counts {
		c -= m.from[i]
		n += c
		sum += float64(c) * lower(h.Buckets[i])
	}
	if n == 0 {
		return 0, 0
	}
	above := n / 100
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if c := h.Counts[i] - m.from[i]; c > above {
			p99 = time.Duration(lower(h.Buckets[i]) * 1e9)
			break
		} else {
			above -= c
		}
	}
	return time.Duration(sum / float64(n) * 1e9), p99
}

func lower(bound float64) float64 {
	if math.IsInf(bound, -1) {
		return 0
	}
	return bound
}
