//go:build amd64 || arm64

package events

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/series"
)

// delivery names the series that a histogram is delivered as; time and label may be
// empty.
type delivery struct{ latency, count, time, label string }

var (
	runqueueSeries = delivery{latency: series.RunQueueLatency, count: series.RunQueueWaits}
	fsyncSeries    = delivery{latency: series.FsyncLatency, count: series.FsyncCalls, time: series.FsyncTime}
	// In the order of the map in block.bpf.c.
	blockSeries = []delivery{
		{series.BlockLatency, series.BlockRequests, series.BlockTime, "op=read"},
		{series.BlockLatency, series.BlockRequests, series.BlockTime, "op=write"},
		{series.BlockLatency, series.BlockRequests, series.BlockTime, "op=flush"},
		{series.BlockLatency, series.BlockRequests, series.BlockTime, "op=other"},
	}
)

// quantiles are the labels of a latency.
var quantiles = []struct {
	label string
	q     float64
}{{"q=p50", 0.5}, {"q=p99", 0.99}, {"q=max", 1}}

// distribution is a map of histograms in the kernel.
type distribution struct {
	object *object
	table  *ebpf.Map
	series []delivery
	cpus   []histogram // scratch
	last   []histogram
	edge   time.Duration // of the last reading; 0 before the first
}

// newDistribution returns nil if the object is not attached.
func newDistribution(o *object, table string, s ...delivery) *distribution {
	if o == nil {
		return nil
	}
	return &distribution{object: o, table: o.maps.Maps[table], series: s, last: make([]histogram, len(s))}
}

// sample reads the histograms at an edge.
func (d *distribution) sample(s *state, edge time.Duration) {
	whole := edge-d.edge < 2*s.subject.Window // else an edge was missed
	for i, names := range d.series {
		at, err := s.vitals.Bracket.Read(s.subject.Clock, func() error { return d.table.Lookup(uint32(i), &d.cpus) })
		if err != nil {
			s.vitals.Say("%s: %v", names.latency, err)
			continue
		}
		var now histogram
		for cpu := range d.cpus {
			now.add(&d.cpus[cpu])
		}
		added := now.since(&d.last[i])
		deliver(&s.meter, names, edge, at, &now, &added, whole && d.edge != 0)
		d.last[i] = now
	}
	d.edge = edge
}

// deliver delivers a histogram: its totals so far and, if added covers just one window,
// the quantiles of the added values.
func deliver(m *observe.Meter, s delivery, edge, at time.Duration, total, added *histogram, window bool) {
	if s.count != "" {
		m.Count(s.count, s.label, at, float64(total.Count))
	}
	if s.time != "" {
		m.Count(s.time, s.label, at, float64(total.Sum))
	}
	if !window {
		return
	}
	for _, quantile := range quantiles {
		label := quantile.label
		if s.label != "" {
			label = fmt.Sprintf("%s,%s", s.label, label)
		}
		if ns, ok := added.quantile(quantile.q); ok {
			m.Gauge(s.latency, label, edge, ns)
		}
	}
}
