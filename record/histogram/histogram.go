package histogram

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // the field's histogram and its log format
)

// Kind is the quantity that a histogram of the latency log measures.
type Kind string

// Kinds of histogram: time from the intended start, from sending, to the first
// byte, the lag between intended start and sending, and the time failures took.
const (
	Latency      Kind = "latency"
	Service      Kind = "service"
	FirstByte    Kind = "firstbyte"
	Lag          Kind = "lag"
	ErrorLatency Kind = "error"
	Unfinished   Kind = "unfinished" // ages, from the intended start, of requests that never ended
)

// The one configuration of every histogram, so that any two can be merged
// without loss. Values are ns. Steps of 64 ns below 131 us and three significant
// digits above are finer than the clock readings around a request on loopback (some
// 100 ns); a fourth digit would cost eight times the memory and mean nothing. An hour
// is beyond any timeout, but in an open loop against a stalled target the latency may
// be as long as the run. A histogram of this configuration takes about 220 KB.
const (
	lowest  = int64(100)
	Highest = int64(time.Hour)
	digits  = 3
)

// New returns an empty histogram of the one configuration. Its RecordValue refuses
// values above Highest.
func New() *hdrhistogram.Histogram {
	return hdrhistogram.New(lowest, Highest, digits)
}

// quantilesReported are the percentiles of Quantiles.
var quantilesReported = [...]float64{50, 90, 95, 99, 99.9}

// QuantilesOf returns the figures of h that are reported; all zero when h is
// nil or empty. A quantile is the upper end of the bucket that it falls in,
// but never above the largest recorded bucket.
func QuantilesOf(h *hdrhistogram.Histogram) Quantiles {
	if h == nil || h.TotalCount() == 0 {
		return Quantiles{}
	}
	q := h.ValueAtPercentilesSlice(quantilesReported[:])
	return Quantiles{
		Min: h.Min(), Mean: int64(h.Mean()), Max: h.Max(),
		P50: q[0], P90: q[1], P95: q[2], P99: q[3], P999: q[4],
	}
}

// Quantiles of a histogram, in ns; all zero when it is empty.
type Quantiles struct {
	Min  int64 `json:"min"`
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P95  int64 `json:"p95"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
	// Unfinished is the number of requests that count here without having ended, at
	// their age at the end of the run; see Counts.Censored.
	Unfinished int64 `json:"unfinished,omitempty"`
	// AtLeast is the first of the percentiles 50, 90, 95, 99, 99.9 and 100 (the max)
	// that is only a lower bound because it falls on unfinished requests; all later
	// ones and the mean then are too. 0 if there is none.
	AtLeast float64 `json:"at_least_from,omitempty"`
}

// Bound reports whether a percentile is only a lower bound; 100 is the max, and
// the mean is one when the max is.
func (q Quantiles) Bound(percentile float64) bool { return q.AtLeast > 0 && percentile >= q.AtLeast }
