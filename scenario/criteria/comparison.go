package criteria

import (
	"slices"

	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

// Comparison says how ab and gate treat one metric. The zero value of a metric
// that is not named is verify's default.
type Comparison struct {
	Metric string `json:"metric"` // one of Compared
	// Margin is the relative change that is still acceptable, 0.05 for 5 %; 0
	// keeps the metric's default.
	Margin   float64 `json:"margin,omitempty"`
	Advisory bool    `json:"advisory,omitempty"` // reported, and does not decide
	Primary  bool    `json:"primary,omitempty"`  // decides; metrics that are not primary then do not
	Off      bool    `json:"off,omitempty"`      // not compared at all
}

// Compared names the metrics by which two sides can be compared.
func Compared() []string {
	return []string{"cpu_per_request", "throughput", "p50", "p90", "p99", "allocs_per_request", "bytes_per_request", "gc_cpu", "rss"}
}

// ParseMetric checks the name of a metric that two sides can be compared by.
func ParseMetric(name string) (string, error) {
	if !slices.Contains(Compared(), name) {
		return "", mistake.Newf(mistake.DidYouMean(name, Compared()), "no metric named %.40q", name)
	}
	return name, nil
}

// mostMargin is the largest margin: beyond twice as slow nothing is compared.
const mostMargin = 1

// ParseMargin parses a margin such as "5%" or "0.05": above 0 and at most 1.
func ParseMargin(text string) (float64, error) {
	margin, err := scalar.ParseShare(text)
	if err != nil {
		return 0, err
	}
	if !(margin > 0 && margin <= mostMargin) {
		return 0, mistake.Newf("write it as 5%", "a margin is above 0 and at most 100%%")
	}
	return margin, nil
}
