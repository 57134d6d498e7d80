// Package criteria holds what a scenario says about passing: thresholds of one run,
// and how far two sides may differ. It compares figures and measures none.
package criteria

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

// Threshold is a pass/fail expression over a metric of the summary.
type Threshold struct {
	Expr   string  `json:"expr"`   // as written
	Metric string  `json:"metric"` // p50, p90, p95, p99, p99_9, max, mean, rate, errors, requests
	Op     string  `json:"op"`     // < <= > >=
	Limit  float64 `json:"limit"`  // ns for latencies, 1/s for rate, share (0 to 1) for errors
}

// Units of a threshold's limit.
const (
	unitTime  = "time"
	unitRate  = "rate"
	unitShare = "share"
	unitCount = "count"
)

// thresholdMetrics names the metrics and their units, in the order of help.
var thresholdMetrics = []struct{ name, unit string }{
	{"p50", unitTime}, {"p90", unitTime}, {"p95", unitTime}, {"p99", unitTime}, {"p99_9", unitTime},
	{"max", unitTime}, {"mean", unitTime}, {"rate", unitRate}, {"errors", unitShare}, {"requests", unitCount},
}

var thresholdForm = regexp.MustCompile(`^\s*([^\s<>=!]+)\s*([<>=!]+)\s*(.*?)\s*$`)

// ParseThreshold parses an expression such as "p99 < 42ms", "errors < 0.1%" or
// "rate >= 2000/s".
func ParseThreshold(expr string) (Threshold, error) {
	const form = `write it as "p99 < 42ms", "errors < 0.1%" or "rate >= 2000/s"`
	m := thresholdForm.FindStringSubmatch(expr)
	if m == nil || m[3] == "" {
		return Threshold{}, mistake.Newf(form, "%.60q is not a threshold", expr)
	}
	t := Threshold{Expr: strings.TrimSpace(expr), Metric: m[1], Op: m[2]}
	unit := ""
	var names []string
	for _, known := range thresholdMetrics {
		names = append(names, known.name)
		if known.name == t.Metric {
			unit = known.unit
		}
	}
	if unit == "" {
		return Threshold{}, mistake.Newf(mistake.DidYouMean(t.Metric, names), "no metric named %.40q", t.Metric)
	}
	if !slices.Contains([]string{"<", "<=", ">", ">="}, t.Op) {
		return Threshold{}, mistake.Newf("use <, <=, > or >=", "a threshold cannot compare with %.10q", t.Op)
	}
	var err error
	switch unit {
	case unitTime:
		var d time.Duration
		d, err = scalar.ParseDuration(m[3])
		t.Limit = float64(d)
	case unitRate:
		t.Limit, err = scalar.ParseRate(m[3])
	case unitShare:
		t.Limit, err = scalar.ParseShare(m[3])
	case unitCount:
		var n int
		n, err = scalar.ParseCount(m[3], 0, math.MaxInt)
		t.Limit = float64(n)
	}
	return t, err
}

// Check tests the threshold. metric returns a figure in the unit of Limit and
// whether it is known. A figure that is missing or NaN is never OK, and value
// is then nil.
func (t Threshold) Check(metric func(name string) (float64, bool)) (ok bool, value *float64) {
	v, known := metric(t.Metric)
	if !known || math.IsNaN(v) {
		return false, nil
	}
	switch t.Op {
	case "<":
		ok = v < t.Limit
	case "<=":
		ok = v <= t.Limit
	case ">":
		ok = v > t.Limit
	case ">=":
		ok = v >= t.Limit
	}
	return ok, &v
}
