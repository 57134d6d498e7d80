package report_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
)

// TestBoundsSayAtLeast: a percentile that falls on unfinished requests never
// reads as a figure that was measured.
func TestBoundsSayAtLeast(t *testing.T) {
	s := reporttest.Sick()
	bound := histogram.Quantiles{Mean: 1e9, P50: 1e6, P90: 2e6, P95: 3e6, P99: 4_200_000_000, P999: 5e9, Max: 6e9,
		Unfinished: 40, AtLeast: 99}
	s.Load.Latency, s.Load.Resent = bound, 12
	s.Load.Steps[0].Latency = bound
	s.Thresholds = []record.ThresholdResult{{Expr: "p99 < 10s", Value: reporttest.Value(4.2e9), AtLeast: true}}
	var text, markdown, head strings.Builder
	for _, err := range []error{report.Text(&text, s, report.TextOptions{}), report.Markdown(&markdown, s),
		report.Head(&head, s, report.TextOptions{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, said := range map[string]string{"text": text.String(), "markdown": markdown.String()} {
		want := 3 // the distribution, the step, the threshold
		if name == "markdown" {
			want++ // the row of figures
		}
		if n := strings.Count(said, "≥ 4.20 s"); n != want {
			t.Errorf("%s says ≥ 4.20 s %d times:\n%s", name, n, said)
		}
		if strings.Contains(said, "≥ 3.00 ms") || !strings.Contains(said, "≥ 6.00 s") {
			t.Errorf("%s: p95 is known, the max is not:\n%s", name, said)
		}
	}
	if !strings.Contains(head.String(), "p99 ≥ 4.20 s") || !strings.Contains(text.String(), "12 requests sent again") {
		t.Errorf("head %q, text:\n%s", head.String(), text.String())
	}
}
