package record

import (
	"sort"
	"strings"
)

// Series names one line of figures through the run.
type Series struct {
	// Name is a name of the catalogue (names.go), or of runtime/metrics
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
// characters in values are replaced by '_', because labels name things and carry
// no data.
func Labels(pairs ...string) string {
	if len(pairs) == 0 {
		return ""
	}
	parts := make([]string, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, pairs[i]+"="+strings.Map(labelRune, pairs[i+1]))
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

func labelRune(r rune) rune {
	if r == ',' || r == '=' || r < ' ' {
		return '_'
	}
	return r
}
