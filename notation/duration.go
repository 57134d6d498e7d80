package notation

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration formats ns with three significant digits and the unit that a person
// would say: "850 ns", "12.4 µs", "3.10 ms", "12.4 s", "3 min 05 s".
func Duration(ns int64) string { return Span(float64(ns)) }

// Time formats d as Duration does.
func Time(d time.Duration) string { return Span(float64(d)) }

// Span formats a time in ns that was computed, as Duration does; a value that is no number
// is "unknown".
func Span(ns float64) string {
	if text, odd := noNumber(ns); odd {
		return text
	}
	if ns <= -0.01 {
		return "-" + Span(-ns)
	}
	// Each bound is where the unit below would show a fourth digit.
	switch {
	case ns < 999.5:
		return below(ns)
	case ns < 999.5e3:
		return three(ns/1e3) + " µs"
	case ns < 999.5e6:
		return three(ns/1e6) + " ms"
	case ns < 99.95e9:
		return three(ns/1e9) + " s"
	}
	s := math.Floor(ns/1e9 + 0.5)
	if s < 3600 {
		return fmt.Sprintf("%d min %02d s", int(s)/60, int(s)%60)
	}
	hours := math.Floor(s / 3600)
	return fmt.Sprintf("%s h %02d min", grouped(fixed(hours, 0)), int(math.Floor((s-hours*3600)/60)))
}

// below formats less than a microsecond: whole nanoseconds, which is all that clocks have, and
// digits of means below ten.
func below(ns float64) string {
	if ns == math.Trunc(ns) {
		return strconv.FormatInt(int64(ns), 10) + " ns"
	}
	return Figure(ns) + " ns"
}
