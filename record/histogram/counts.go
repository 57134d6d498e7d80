package histogram

import (
	"errors"
	"iter"
	mathbits "math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Counts is a histogram of the one configuration (see New) for the side that records:
// filling, adding up, emptying and encoding touch only the buckets from the least to
// the largest value. hdrhistogram-go walks all 27,648 of them, and copies them to
// encode them. Buckets and quantiles are the same; a test compares the two.
//
// The zero Counts is empty. Its buckets (216 KB, of which the system provides those
// that are touched) are allocated with the first value. Counts is not for concurrent
// use.
type Counts struct {
	buckets  *[hdrCounts]int64
	total    int64
	min, max int64 // exact
}

// Add counts a value. One below 0 counts as 0, one above Highest as Highest.
func (c *Counts) Add(v int64) {
	v = min(max(v, 0), Highest)
	if c.total == 0 {
		c.begin(v)
	}
	c.min, c.max = min(c.min, v), max(c.max, v)
	c.total++
	c.buckets[hdrIndex(v)]++
}

// begin readies an empty Counts for its first value.
func (c *Counts) begin(v int64) {
	if c.buckets == nil {
		c.buckets = new([hdrCounts]int64)
	}
	c.min, c.max = v, v
}

// addBucket counts n values of a bucket.
func (c *Counts) addBucket(index int, n int64) {
	low, width := hdrBucket(index)
	if c.total == 0 {
		c.begin(low)
	}
	c.min, c.max = min(c.min, low), max(c.max, low+width-1)
	c.total += n
	c.buckets[index] += n
}

// Merge adds all of o.
func (c *Counts) Merge(o *Counts) {
	if o.total == 0 {
		return
	}
	if c.total == 0 {
		c.begin(o.min)
	}
	c.min, c.max = min(c.min, o.min), max(c.max, o.max)
	c.total += o.total
	from := hdrIndex(o.min)
	theirs := o.used()
	ours := c.buckets[from : from+len(theirs)]
	for i, n := range theirs {
		if n > 0 {
			ours[i] += n
		}
	}
}

// used returns the buckets from the least to the largest value of a Counts that
// is not empty.
func (c *Counts) used() []int64 { return c.buckets[hdrIndex(c.min) : hdrIndex(c.max)+1] }

// Reset empties c and keeps its memory.
func (c *Counts) Reset() {
	if c.total > 0 {
		clear(c.used())
	}
	c.total, c.min, c.max = 0, 0, 0
}

// Total returns how many values were counted.
func (c *Counts) Total() int64 { return c.total }

// Max returns the largest value, exactly; 0 when there is none.
func (c *Counts) Max() int64 { return c.max }

// Buckets yields the buckets that are not empty, in order: the least and the
// largest value that each takes, and how many it counts.
func (c *Counts) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		if c.total == 0 {
			return
		}
		from := hdrIndex(c.min)
		for i, n := range c.used() {
			low, width := hdrBucket(from + i)
			if n > 0 && !yield(Bucket{From: low, To: low + width - 1, Count: n}) {
				return
			}
		}
	}
}

// Bucket is a range of values, both ends included, and how many lie in it.
type Bucket struct {
	From, To, Count int64
}

// Quantiles returns the figures of QuantilesOf, with the exact least and largest value.
// A quantile is the upper end of its bucket, but not above the largest value; the mean
// is that of the buckets' middles.
func (c *Counts) Quantiles() Quantiles {
	q := Quantiles{Min: c.min, Max: c.max}
	if c.total == 0 {
		return q
	}
	percentiles := [...]*int64{&q.P50, &q.P90, &q.P95, &q.P99, &q.P999}
	seen, sum, next := int64(0), 0.0, 0
	from := hdrIndex(c.min)
	for i, n := range c.used() {
		if n == 0 {
			continue
		}
		low, width := hdrBucket(from + i)
		seen += n
		sum += float64(n) * float64(low+width/2)
		for next < len(percentiles) && seen >= rank(quantilesReported[next], c.total) {
			*percentiles[next] = min(low+width-1, c.max)
			next++
		}
	}
	q.Mean = int64(sum / float64(c.total))
	return q
}

// rank returns how many values lie at or below a percentile, rounded as in
// hdrhistogram-go.
func rank(percentile float64, total int64) int64 {
	return min(max(int64(percentile/100*float64(total)+0.5), 1), total)
}

// Histogram returns a copy of c as a histogram of hdrhistogram-go.
func (c *Counts) Histogram() *hdrhistogram.Histogram {
	s := &hdrhistogram.Snapshot{
		LowestTrackableValue: lowest, HighestTrackableValue: Highest, SignificantFigures: digits,
	}
	if c.buckets != nil {
		s.Counts = c.buckets[:]
	}
	return hdrhistogram.Import(s)
}

// CountsOf converts a histogram of the one configuration.
func CountsOf(h *hdrhistogram.Histogram) (*Counts, error) {
	s := h.Export()
	if s.LowestTrackableValue != lowest || s.HighestTrackableValue != Highest ||
		s.SignificantFigures != digits || len(s.Counts) != hdrCounts {
		return nil, errors.New("the histogram is not of the configuration of histogram.New")
	}
	return &Counts{buckets: (*[hdrCounts]int64)(s.Counts), total: h.TotalCount(), min: h.Min(), max: h.Max()}, nil
}

// hdrIndex returns the bucket of a value from 0 to Highest.
func hdrIndex(v int64) int {
	doubled := mathbits.Len64(uint64(v)|(1<<(hdrUnit+hdrHalf+1)-1)) - (hdrUnit + hdrHalf + 1)
	return doubled<<hdrHalf + int(v>>(doubled+hdrUnit))
}

// hdrBucket returns the lowest value of a bucket and how many values it takes.
func hdrBucket(index int) (low, width int64) {
	doubled, sub := index>>hdrHalf-1, index&(1<<hdrHalf-1)+1<<hdrHalf
	if doubled < 0 {
		doubled, sub = 0, sub-1<<hdrHalf
	}
	return int64(sub) << (doubled + hdrUnit), 1 << (doubled + hdrUnit)
}
