package record

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

// BenchmarkHistogram merges a minute of one kind.
func BenchmarkHistogram(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "x"), testRun(b))
	must(b, err)
	h := latencies(1000)
	for i := range int64(600) {
		must(b, w.Histogram("query", histogram.Latency, spanOf(i, i+1), h))
	}
	must(b, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		m, err := r.Histogram("", histogram.Latency, spanOf(0, 600))
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
			must(b, w.Add(series.Point{Window: i, Series: series.Series{Name: "series",
				Labels: series.Labels("n", string(rune('a'+s))), Unit: "ns"}, Value: float64(i) * 1.7}))
		}
	}
	must(b, w.Close(Complete, ""))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Open(w.Dir())
		must(b, err)
	}
}

// latencies fills a histogram with n values of a plausible shape.
func latencies(n int) *hdrhistogram.Histogram {
	h, rng := histogram.New(), rand.New(rand.NewPCG(1, 2))
	for range n {
		h.RecordValue(int64(200_000 + rng.ExpFloat64()*800_000))
	}
	return h
}
