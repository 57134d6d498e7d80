package series

import (
	"sort"
	"strings"
	"time"
)

// Bounds on series. Writers keep to them, and files that exceed them are refused.
const (
	// MaxSeries is the number of series; a label with a value per request reaches it,
	// and causes an error instead of using up the memory.
	MaxSeries = 1 << 16
	// MaxSeriesText is the length of a series' name, labels or unit, in bytes.
	MaxSeriesText = 4 << 10
)

// Series names one line of figures through the run.
type Series struct {
	// Name is a name of the catalogue, or of runtime/metrics
	// verbatim, as in "/sched/goroutines:goroutines".
	Name string
	// Labels is the canonical label text made by Labels; empty for none.
	Labels string
	// Unit is "ns", "bytes", "1" for counts and ratios, or "1/s".
	Unit string
}

// Point is the value of a series in one window: for a counter the amount that
// accrued in the window, for a gauge its value at the window's end.
type Point struct {
	Window int64
	Series Series
	Value  float64
}

// Labels returns the canonical text of labels given as name, value, name,
// value...: sorted by name, `a=x,b=y`. Commas, equals signs and control
// characters in values are replaced by '_', because labels are names and not data.
func Labels(pairs ...string) string {
	if len(pairs) == 0 {
		return ""
	}
	parts := make([]string, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, pairs[i]+"="+strings.Map(LabelRune, pairs[i+1]))
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

// Label returns the value of one label of a canonical label text, or "".
func Label(labels, name string) string {
	for part := range strings.SplitSeq(labels, ",") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

// LabelRune returns r in the form allowed in a label: '_' for a character with a meaning
// in the canonical text, and for control characters.
func LabelRune(r rune) rune {
	if r == ',' || r == '=' || r < ' ' {
		return '_'
	}
	return r
}

// Sum returns the sum of the values that are present and the number of windows
// that hold one.
func Sum(values []float64) (sum float64, present int) {
	for _, v := range values {
		if v == v {
			sum += v
			present++
		}
	}
	return sum, present
}

// PerSecond converts an amount over a span to a rate; 0 for an empty span.
func PerSecond(amount float64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return amount / over.Seconds()
}
