package export

import (
	"math"

	"github.com/redline-go/redline/record/histogram"
)

// Histograms are exponential, base 2^(2^-scale), of seconds, as OTLP has them
// (opentelemetry-proto, metrics.proto, ExponentialHistogramDataPoint): bucket i
// takes (base^i, base^(i+1)]. Scale 3 is 9 % a bucket, 8 buckets an octave.
const (
	scale = 3
	// From 2^-24 s (60 ns) to 2^12 s (an hour is 2^11.8 s).
	lowest  = -24 << scale
	highest = 12<<scale - 1
)

// spread holds the values of one histogram line of the record by bucket.
type spread struct {
	from   int // index of the first bucket
	counts []uint64
	total  uint64
	sum    float64 // s
}

// spreadOf reduces counts of ns. A value lies where its bucket's upper end does.
func spreadOf(c *histogram.Counts) (s spread) {
	for b := range c.Buckets() {
		n := uint64(b.Count)
		i := bucketOf(float64(b.To) / 1e9)
		if s.total == 0 {
			s.from = i // buckets come in order
		}
		for len(s.counts) <= i-s.from {
			s.counts = append(s.counts, 0)
		}
		s.counts[i-s.from] += n
		s.total += n
		s.sum += float64(n) * (float64(b.From) + float64(b.To)) / 2e9
	}
	return s
}

// bucketOf returns the bucket of a value in seconds.
func bucketOf(v float64) int {
	if v <= 0 {
		return lowest
	}
	i := int(math.Ceil(math.Log2(v)*(1<<scale))) - 1
	return min(max(i, lowest), highest)
}

// bound returns the upper end of a bucket in seconds.
func bound(i int) float64 { return math.Exp2(float64(i+1) / (1 << scale)) }

// add adds o to s; s has its own memory.
func (s *spread) add(o spread) {
	if o.total == 0 {
		return
	}
	from, to := o.from, o.from+len(o.counts)
	if s.total > 0 {
		from, to = min(from, s.from), max(to, s.from+len(s.counts))
	}
	if s.total == 0 || from < s.from || to > s.from+len(s.counts) {
		grown := make([]uint64, to-from)
		if s.total > 0 {
			copy(grown[s.from-from:], s.counts)
		}
		s.from, s.counts = from, grown
	}
	for i, n := range o.counts {
		s.counts[o.from+i-s.from] += n
	}
	s.total += o.total
	s.sum += o.sum
}

// clone returns a copy that later additions do not change.
func (s *spread) clone() spread {
	c := *s
	c.counts = append([]uint64(nil), s.counts...)
	return c
}

// Bounds of Prometheus' classic histograms: every fourth bound, a factor of
// the square root of 2, from 15 us to 16 s. A classic bucket is a series, so
// that there are fewer of them; they are the same in every run, as le must be.
const (
	classicStep = 4
	classicFrom = -16<<scale - 1
	classicTo   = 4<<scale - 1
)

// classic yields the upper ends in seconds and how many values lie below each.
func (s *spread) classic(yield func(le float64, below uint64)) {
	below, next := uint64(0), s.from
	for at := classicFrom; at <= classicTo; at += classicStep {
		for ; next <= at && next < s.from+len(s.counts); next++ {
			below += s.counts[next-s.from]
		}
		yield(bound(at), below)
	}
	yield(math.Inf(1), s.total)
}
