// Package sampler reads the Go runtime's metrics, the process's CPU time and the
// connection pools that the program shows, each window, into the ring. It
// allocates nothing per sample.
//
// It takes every metric of runtime/metrics that the target's Go version has,
// except the settings of GODEBUG and two histograms that repeat others, so that
// the metrics of a new release need no change here. Units become ns, bytes or 1.
//
// About the figures: /cpu/classes/* change only once per GC cycle, and
// /sched/latencies and /sync/mutex/wait are the runtime's own samples of one
// goroutine in eight, so the count of the former is about an eighth of the
// goroutines that ran. The count of goroutines includes the probe's own, four at
// most while it serves no request.
package sampler

import (
	"math"
	"runtime/metrics"
	"strings"

	"github.com/redline-go/redline/probe/ring"
)

// none stands for "no figure".
var none = math.NaN()

// A Sampler holds what is reused from sample to sample. It has one user.
type Sampler struct {
	samples []metrics.Sample
	dest    []column // one per entry of samples
	usage   usage
	pools   pools
	columns []ring.Column
	values  []float64
}

// column says where a metric's values go.
type column struct {
	first int     // index of its first value
	scale float64 // to the ring's unit
	hist  *histogram
}

// New returns a sampler of all that this Go version offers, up to the ring's
// bound, with the histograms' counts so far as their base.
func New() *Sampler {
	s := &Sampler{}
	s.columns = append(s.columns, s.usage.columns()...)
	s.pools.first = len(s.columns)
	s.columns = append(s.columns, s.pools.columns()...)
	for _, d := range metrics.All() {
		if skip(d.Name) || len(s.columns)+4+len(allocSizes)+1 > ring.MaxColumns {
			continue
		}
		unit, scale := unitOf(d.Name)
		c := column{first: len(s.columns), scale: scale}
		kind := ring.Gauge
		if d.Cumulative {
			kind = ring.Cumulative
		}
		switch {
		case d.Kind == metrics.KindUint64 || d.Kind == metrics.KindFloat64:
			s.columns = append(s.columns, ring.Column{Name: d.Name, Kind: kind, Unit: unit})
		case d.Kind == metrics.KindFloat64Histogram && d.Cumulative:
			c.hist = &histogram{}
			s.columns = append(s.columns, histogramColumns(d.Name, unit)...)
			if d.Name == allocsBySize {
				c.hist.steps = allocSizes[:]
				s.columns = append(s.columns, stepColumns(d.Name)...)
			}
		default:
			continue // a kind of a later Go version, unknown to this probe
		}
		s.samples = append(s.samples, metrics.Sample{Name: d.Name})
		s.dest = append(s.dest, c)
	}
	s.values = make([]float64, len(s.columns))
	s.Read() // the runtime allocates its histograms now, and ours take their base
	return s
}

// Columns describes the values that Read returns.
func (s *Sampler) Columns() []ring.Column { return s.columns }

// Read takes and returns a reading. The slice is valid until the next call.
func (s *Sampler) Read() []float64 {
	s.pools.read(s.values)
	s.take()
	return s.reading()
}

// take asks the runtime and the kernel for their figures. It may be called
// again before reading; then the last figures count.
func (s *Sampler) take() {
	metrics.Read(s.samples)
	s.usage.read(s.values)
}

// reading puts what take got into the columns.
func (s *Sampler) reading() []float64 {
	for i := range s.samples {
		c, v := &s.dest[i], s.samples[i].Value
		switch v.Kind() {
		case metrics.KindUint64:
			s.values[c.first] = float64(v.Uint64()) * c.scale
		case metrics.KindFloat64:
			s.values[c.first] = v.Float64() * c.scale
		case metrics.KindFloat64Histogram:
			c.hist.read(v.Float64Histogram(), c.scale, s.values[c.first:])
		default:
			s.values[c.first] = none
		}
	}
	return s.values
}

func skip(name string) bool {
	return strings.HasPrefix(name, "/godebug/") ||
		name == "/gc/pauses:seconds" || // repeats /sched/pauses/total/gc
		name == "/gc/heap/frees-by-size:bytes" // adds nothing to the allocations
}

// unitOf maps the unit in a metric's name to the ring's, as the record does.
func unitOf(name string) (ring.Unit, float64) {
	unit := name[strings.LastIndexByte(name, ':')+1:]
	switch {
	case strings.Contains(unit, "seconds"):
		return ring.Nanoseconds, 1e9
	case unit == "bytes":
		return ring.Bytes, 1
	default:
		return ring.One, 1
	}
}
