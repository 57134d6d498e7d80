// Package notation fixes how figures are written everywhere redline prints
// them, and makes text of unknown origin safe to print.
//
// It knows units, not meanings: which figure is shown where is its callers'
// business. Times keep three significant digits, since a fourth is noise in any
// measurement this tool makes. SI words (ms, us) are ASCII so that they align in
// every terminal.
package notation

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/record/inert"
)

// Duration formats ns with three significant digits and the unit that a person
// would say: "850 ns", "3.10 ms", "12.4 s", "3 min 05 s".
func Duration(ns int64) string {
	d := time.Duration(ns)
	if d < 0 {
		return "-" + Duration(-max(ns, -math.MaxInt64)) // the least of all has no opposite
	}
	switch {
	case d < time.Microsecond:
		return strconv.FormatInt(ns, 10) + " ns"
	case d < 999500*time.Nanosecond:
		return three(float64(ns)/1e3) + " us"
	case d < 999500*time.Microsecond:
		return three(float64(ns)/1e6) + " ms"
	case d < 100*time.Second:
		return three(float64(ns)/1e9) + " s"
	}
	s := int64(d.Round(time.Second) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s%3600/60)
}

// three formats v with three significant digits, without an exponent.
func three(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// Count formats an integer with thousands separators.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Size formats bytes in binary units, as "1.46 MiB".
func Size(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(bytes) >= 1023.5 && i < len(units)-1 {
		bytes /= 1024
		i++
	}
	if i == 0 {
		return strconv.FormatFloat(bytes, 'f', 0, 64) + " B"
	}
	return three(bytes) + " " + units[i]
}

// Rate formats a rate per second: whole numbers from 1,000 on, two decimals
// below.
func Rate(v float64) string {
	if math.Abs(v) >= 1000 {
		return Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Percent formats a share; what is not zero is never printed as 0 %, nor what
// is not all as 100 %.
func Percent(share float64) string {
	p := share * 100
	switch {
	case p == 0 || p == 100:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case p > 0 && p < 0.01:
		return "< 0.01 %"
	case p < 1:
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p > 99 && p < 100:
		return strconv.FormatFloat(math.Floor(p*10)/10, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// Factor formats a ratio as "7.7x".
func Factor(v float64) string {
	if v >= 99.5 {
		return Count(int64(math.Round(v))) + "x"
	}
	if v >= 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64) + "x"
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + "x"
}

// Quantity formats a value of one of the record's units.
func Quantity(v float64, unit string) string {
	switch unit {
	case "ns":
		return Duration(int64(v))
	case "bytes":
		return Size(v)
	case "1/s":
		return Rate(v) + "/s"
	case "", "1":
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return Count(int64(v))
		}
		return three(v)
	}
	return three(v) + " " + Clean(unit)
}

// Clean makes text of unknown origin safe for a terminal and for one line: see
// inert.Text.
func Clean(s string) string { return inert.Text(s) }
