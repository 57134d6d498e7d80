package verify

import (
	"math"
	"slices"
)

// Latencies counts latencies in buckets of constant relative width, so that
// blocks can be added and compared without their samples. Keys are bucket
// numbers: bucket i holds latencies of (grain^(i-1), grain^i] ns.
type Latencies map[int]int64

// grain is the ratio of neighbouring buckets: a quantile's error of 0.25 % is
// well below any margin, and a block's latencies fill some hundred buckets.
const grain = 1.005

var perBucket = math.Log(grain)

// Add counts n latencies of ns nanoseconds; those below 1 ns count as 1.
func (l Latencies) Add(ns, n int64) {
	l[int(math.Ceil(math.Log(float64(max(1, ns)))/perBucket))] += n
}

// Total returns how many latencies were counted.
func (l Latencies) Total() (n int64) {
	for _, c := range l {
		n += c
	}
	return n
}

// Quantile returns the q-quantile in ns, a bucket's geometric middle; NaN when
// nothing was counted.
func (l Latencies) Quantile(q float64) float64 {
	d := l.dense()
	return d.quantile(q)
}

// dense is the same as a run of buckets, for adding many quickly.
type dense struct {
	first  int
	counts []int64
}

func (l Latencies) dense() dense {
	if len(l) == 0 {
		return dense{}
	}
	low, high := math.MaxInt, math.MinInt
	for i := range l {
		low, high = min(low, i), max(high, i)
	}
	d := dense{first: low, counts: make([]int64, high-low+1)}
	for i, c := range l {
		d.counts[i-low] = c
	}
	return d
}

func (d dense) quantile(q float64) float64 {
	total := int64(0)
	for _, c := range d.counts {
		total += c
	}
	if total <= 0 {
		return math.NaN()
	}
	rank, seen := int64(math.Ceil(q*float64(total))), int64(0)
	for i, c := range d.counts {
		if seen += c; seen >= max(1, rank) {
			return math.Exp((float64(d.first+i) - 0.5) * perBucket)
		}
	}
	return math.NaN()
}

// pool adds blocks up, those that indices name, into a scratch area of buckets
// first to last.
func pool(blocks []dense, indices []int, into []int64, first int) dense {
	clear(into)
	for _, i := range indices {
		at := blocks[i].first - first
		for j, c := range blocks[i].counts {
			into[at+j] += c
		}
	}
	return dense{first, into}
}

// span returns the first and last bucket of any block; ok is false when one is
// empty.
func span(blocks []dense) (first, last int, ok bool) {
	if slices.ContainsFunc(blocks, func(d dense) bool { return len(d.counts) == 0 }) || len(blocks) == 0 {
		return 0, 0, false
	}
	first, last = blocks[0].first, blocks[0].first
	for _, d := range blocks {
		first, last = min(first, d.first), max(last, d.first+len(d.counts)-1)
	}
	return first, last, true
}
