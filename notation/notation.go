// Package notation fixes how figures are written everywhere redline prints
// them, and makes text of unknown origin safe to print (see also inert).
//
// It knows units, not meanings: which figure is shown where is its callers'
// business. Times, sizes and ratios keep three significant digits, because a
// fourth is noise in any measurement this tool makes; whole numbers are written
// out, with thousands separators. No figure has an exponent, and a larger value is
// never written as a smaller one. A value that is no number reads "unknown".
//
// The page's TypeScript (web/page/src/format.ts) writes the same figures:
// testdata/cases.json holds both to one table.
package notation

import (
	"math"
	"strconv"
	"strings"

	"github.com/redline-go/redline/notation/inert"
)

// Unknown is how a figure that is no number is written.
const Unknown = "unknown"

// Count formats an integer with thousands separators.
func Count(n int64) string { return grouped(strconv.FormatInt(n, 10)) }

// Whole formats a figure that is counted, not measured, to the nearest whole number.
func Whole(v float64) string {
	if text, odd := noNumber(v); odd {
		return text
	}
	return grouped(fixed(v, 0))
}

// grouped puts separators into the whole part of a decimal number.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	whole, rest, _ := strings.Cut(digits, ".")
	if rest != "" {
		rest = "." + rest
	}
	var b strings.Builder
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String() + rest
}

// Size formats bytes in binary units, as "1.46 MiB".
func Size(bytes float64) string {
	if text, odd := noNumber(bytes); odd {
		return text
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(bytes) >= 1023.5 && i < len(units)-1 {
		bytes /= 1024
		i++
	}
	if i == 0 {
		return fixed(bytes, 0) + " B"
	}
	text := three(bytes)
	if i == len(units)-1 {
		text = grouped(text)
	}
	return text + " " + units[i]
}

// Rate formats a rate per second, without its unit: whole numbers from 1,000 on,
// four digits and at most two decimals below. A value other than zero is not printed as 0.
func Rate(v float64) string {
	if text, odd := noNumber(v); odd {
		return text
	}
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a >= 999.95:
		return grouped(fixed(v, 0))
	case a >= 99.995:
		return fixed(v, 1)
	case a < 0.01:
		return least(v, "0.01")
	}
	return fixed(v, 2)
}

// Percent formats a share; a share other than zero is never printed as 0 %, nor what
// is not all as 100 %.
func Percent(share float64) string {
	if text, odd := noNumber(share); odd {
		return text
	}
	p := share * 100
	switch a := math.Abs(p); {
	case p == 0 || p == 100:
		return fixed(p, 0) + " %"
	case a < 0.01:
		return least(p, "0.01") + " %"
	case a < 0.995:
		return fixed(p, 2) + " %"
	case a < 9.95:
		return fixed(p, 1) + " %"
	case p > 99 && p < 100:
		return fixed(math.Floor(p*10)/10, 1) + " %"
	case p > 100 && p < 101:
		return fixed(math.Ceil(p*10)/10, 1) + " %"
	}
	return grouped(fixed(p, 0)) + " %"
}

// Change formats a relative change, 0.053 as "+5.3 %": with its sign, and one
// decimal up to 100 %.
func Change(relative float64) string {
	if text, odd := noNumber(relative); odd {
		return text
	}
	text := grouped(fixed(100*relative, decimal(100*relative)))
	if relative >= 0 {
		text = "+" + text
	}
	return text + " %"
}

// Confidence writes a level of confidence, 0 to 1, with as many digits as distinguish it from certainty: "95 %",
// "99.93 %". The chance of error is rounded to two figures at most.
func Confidence(level float64) string {
	err, digits := 1-level, 0
	switch {
	case err > 0 && err < 1e-8:
		return "above 99.999999 %"
	case err > 0 && err < 0.01:
		digits = int(math.Ceil(-math.Log10(err))) - 1
	case err < 0.1 && math.Abs(100*level-math.Round(100*level)) > 1e-9:
		digits = 1
	}
	text := fixed(100*level, digits)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

// Tenths formats a share to a tenth of a percent, for bounds that are compared with each other:
// 0.053 as "5.3 %".
func Tenths(share float64) string {
	if text, odd := noNumber(share); odd {
		return text
	}
	return grouped(fixed(100*share, decimal(100*share))) + " %"
}

// Bound formats a share that somebody set or a design gives, 0.05 as "5 %" and 0.025 as "2.5 %": it was not measured,
// so zeros at its end would claim nothing.
func Bound(share float64) string {
	return strings.Replace(Tenths(share), ".0 %", " %", 1)
}

// decimal is how many decimals a percentage has that is shown in tenths.
func decimal(p float64) int {
	if math.Abs(p) >= 99.95 {
		return 0
	}
	return 1
}

// Factor formats a ratio as "7.69x".
func Factor(v float64) string { return Figure(v) + "x" }

// Figure formats a number without a unit with three significant digits; from
// 1,000 on it is whole.
func Figure(v float64) string {
	if text, odd := noNumber(v); odd {
		return text
	}
	if v != 0 && math.Abs(v) < 0.01 {
		return least(v, "0.01")
	}
	return grouped(three(v))
}

// Quantity formats a value of one of the record's units.
func Quantity(v float64, unit string) string {
	switch unit {
	case "ns":
		return Span(v)
	case "bytes":
		return Size(v)
	case "1/s":
		return Rate(v) + "/s"
	case "", "1":
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return Count(int64(v))
		}
		return Figure(v)
	}
	return Figure(v) + " " + Clean(unit)
}

// ASCII writes figures in ASCII alone, for terminals without UTF-8. The µ of times is the only other character in them.
func ASCII(figures string) string { return strings.ReplaceAll(figures, "µ", "u") }

// Clean makes text of unknown origin safe for a terminal and for one line: see
// inert.Text.
func Clean(s string) string { return inert.Text(s) }

// Short formats a number as Figure does, without zeros at its end: "2", "1.5", "12.3". It is for
// numbers in sentences, such as "2 calls".
func Short(v float64) string {
	text := Figure(v)
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
