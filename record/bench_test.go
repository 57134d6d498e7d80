package record

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencies fills a histogram with n values of a plausible shape.
func latencies(n int) *hdrhistogram.Histogram {
	h, rng := NewHistogram(), rand.New(rand.NewPCG(1, 2))
	for range n {
		h.RecordValue(int64(200_000 + rng.ExpFloat64()*800_000))
	}
	return h
}

// BenchmarkHlogLine encodes a window of so many requests.
func BenchmarkHlogLine(b *testing.B) {
	for _, n := range []int{20, 200, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			c, err := countsOf(latencies(n))
			must(b, err)
			var p encoders
			e := p.get()
			var line []byte
			b.ReportAllocs()
			for b.Loop() {
				line, err = hlogLine(e, "query", Latency, Span{0, testWidth}, c)
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

// BenchmarkHistogram merges a minute of one kind.
func BenchmarkHistogram(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "x"), testRun(b))
	must(b, err)
	h := latencies(1000)
	for i := range int64(600) {
		must(b, w.Histogram("query", Latency, windows(i, i+1), h))
	}
	must(b, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		m, err := r.Histogram("", Latency, windows(0, 600))
		must(b, err)
		if m.TotalCount() != 600_000 {
			b.Fatal(m.TotalCount())
		}
	}
}

// BenchmarkOpen opens a minute of 300 series.
func BenchmarkOpen(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "x"), testRun(b))
	must(b, err)
	for i := range int64(600) {
		for s := range 300 {
			must(b, w.Add(Point{i, Series{Name: "series", Labels: Labels("n", string(rune('a'+s))), Unit: "ns"}, float64(i) * 1.7}))
		}
	}
	must(b, w.Close(Complete, ""))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Open(w.Dir())
		must(b, err)
	}
}
