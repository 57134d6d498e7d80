package scenario

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
		return Threshold{}, mistakef(form, "%.60q is not a threshold", expr)
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
		return Threshold{}, mistakef(didYouMean(t.Metric, names), "no metric named %.40q", t.Metric)
	}
	if !slices.Contains([]string{"<", "<=", ">", ">="}, t.Op) {
		return Threshold{}, mistakef("use <, <=, > or >=", "a threshold cannot compare with %.10q", t.Op)
	}
	var err error
	switch unit {
	case unitTime:
		var d time.Duration
		d, err = ParseDuration(m[3])
		t.Limit = float64(d)
	case unitRate:
		t.Limit, err = ParseRate(m[3])
	case unitShare:
		t.Limit, err = parseShare(m[3])
	case unitCount:
		var n int
		n, err = parseCount(m[3], 0, math.MaxInt)
		t.Limit = float64(n)
	}
	return t, err
}

// parseShare parses "0.1%" or "0.001".
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) {
		return 0, mistakef("write it as 0.1% or 0.001", "%.40q is not a share", text)
	}
	if percent {
		v /= 100
	}
	switch {
	case v < 0:
		return 0, mistakef("", "share %.40q is negative", text)
	case v > 1:
		return 0, mistakef("did you mean "+strconv.Quote(text+"%")+"?", "share %.40q is above 1", text)
	}
	return v, nil
}

// Check judges the threshold. metric returns a figure in the unit of Limit and
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
