package notation

import (
	"math"
	"strconv"
)

// fixed formats v with the given number of decimals, halves away from zero. FormatFloat takes
// halves to the even digit, and the page's toFixed away from zero: one figure would
// read differently in two outputs of one run.
func fixed(v float64, decimals int) string {
	power := math.Pow10(decimals)
	scaled := v * power
	if math.FMA(v, power, -scaled) == 0 && math.Abs(scaled-math.Trunc(scaled)) == 0.5 {
		v = math.Nextafter(v, math.Copysign(math.Inf(1), v))
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if text[0] == '-' && zero(text[1:]) {
		return text[1:]
	}
	return text
}

func zero(text string) bool {
	for _, c := range text {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}

// three formats v with three significant digits, at most two of them decimals, and
// without an exponent.
func three(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return fixed(v, 0)
	case a >= 9.995:
		return fixed(v, 1)
	default:
		return fixed(v, 2)
	}
}

// least is written for a value that is not zero but nearer to zero than bound.
func least(v float64, bound string) string {
	if v < 0 {
		return "> -" + bound
	}
	return "< " + bound
}

// noNumber returns how NaN and the infinities are written.
func noNumber(v float64) (text string, odd bool) {
	switch {
	case math.IsNaN(v):
		return Unknown, true
	case math.IsInf(v, 1):
		return "infinite", true
	case math.IsInf(v, -1):
		return "-infinite", true
	}
	return "", false
}
