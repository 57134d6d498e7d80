package anatomy_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/redline-go/redline/anatomy"
)

// BenchmarkAnalyze takes a fixture apart, or the trace that REDLINE_TRACE names.
func BenchmarkAnalyze(b *testing.B) {
	data := readFixture(b, "go1.26.trace")
	if path := os.Getenv("REDLINE_TRACE"); path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	requests := 0
	for b.Loop() {
		a, err := analyze(bytes.NewReader(data), anatomy.Options{})
		if err != nil {
			b.Fatal(err)
		}
		requests = a.Requests
	}
	b.ReportMetric(float64(requests), "requests")
}
