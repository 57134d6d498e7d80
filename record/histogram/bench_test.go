package histogram

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/timebase"
)

const testWidth = 100 * time.Millisecond

// latencies fills a histogram with n values of a plausible shape.
func latencies(n int) *hdrhistogram.Histogram {
	h, rng := New(), rand.New(rand.NewPCG(1, 2))
	for range n {
		h.RecordValue(int64(200_000 + rng.ExpFloat64()*800_000))
	}
	return h
}

// BenchmarkHlogLine encodes a window of so many requests.
func BenchmarkHlogLine(b *testing.B) {
	for _, n := range []int{20, 200, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			c, err := CountsOf(latencies(n))
			must(b, err)
			var p Encoders
			e := p.Get()
			var line []byte
			b.ReportAllocs()
			for b.Loop() {
				line, err = LogLine(e, "query", Latency, timebase.Span{From: 0, To: testWidth}, c)
				must(b, err)
			}
			b.ReportMetric(float64(len(line)), "B/line")
		})
	}
}

func BenchmarkCounts(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, 10_000)
	for i := range values {
		values[i] = int64(200_000 + rng.ExpFloat64()*800_000)
	}
	var c, sum Counts
	b.Run("Add", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			c.Add(values[i%len(values)])
		}
	})
	b.Run("Merge", func(b *testing.B) {
		for b.Loop() {
			sum.Merge(&c)
		}
	})
	b.Run("Quantiles", func(b *testing.B) {
		for b.Loop() {
			c.Quantiles()
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
