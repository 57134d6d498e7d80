package tune

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseRange divides a range into levels with two significant digits.
func (k *Knob) parseRange(lowText, highText string) error {
	low, unit, err := amount(lowText)
	if err != nil {
		return err
	}
	high, unitHigh, err := amount(highText)
	if err != nil {
		return err
	}
	if !(low < high) {
		return fmt.Errorf("%s..%s is not a range from a low value to a high one", lowText, highText)
	}
	if (unit == "") != (unitHigh == "") {
		return fmt.Errorf("one end of %s..%s has a unit, the other does not", lowText, highText)
	}
	whole := unit != "" || !strings.Contains(lowText+highText, "..") && !strings.Contains(lowText+highText, ".")
	k.Numeric = true
	k.scale(low, high)
	seen := map[string]bool{}
	count := sweptLevels
	if !k.Log && whole && unit == "" && high-low < sweptLevels+2 {
		count = int(high-low) + 1
	}
	for i := range count {
		v := k.value(float64(i) / float64(count-1))
		switch {
		case i == 0:
			v = low
		case i == count-1:
			v = high
		default:
			v = rounded(v, whole)
		}
		text := written(v, unit != "", whole)
		if v < low || v > high || seen[text] {
			continue
		}
		seen[text] = true
		k.Levels = append(k.Levels, Level{Text: text, At: k.at(v)})
	}
	return nil
}

// amount reads a number, which may be a size.
func amount(text string) (v float64, unit string, err error) {
	m := number.FindStringSubmatch(text)
	if m == nil {
		return 0, "", fmt.Errorf("%q is not a number (hint: 50..400, 64MiB..1GiB, or a list a,b,c)", text)
	}
	v, err = strconv.ParseFloat(m[1], 64)
	if err != nil || math.Abs(v) > 1e15 {
		return 0, "", fmt.Errorf("%q is out of range for a setting", text)
	}
	return v * sizes[m[2]], m[2], nil
}

// rounded keeps two significant digits: nobody deploys a pool of 23.78.
func rounded(v float64, whole bool) float64 {
	if v == 0 {
		return 0
	}
	step := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	if whole {
		step = math.Max(step, 1)
	}
	return math.Round(v/step) * step
}

// written formats a number; a size in the largest unit in which it is whole.
func written(v float64, size, whole bool) string {
	if size {
		for _, unit := range unitsDown {
			if n := v / sizes[unit]; n >= 10 || n >= 1 && n == math.Trunc(n) {
				return strconv.FormatFloat(math.Round(n), 'f', -1, 64) + unit
			}
		}
	}
	if whole {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// scale sets the ends, and whether ratios or differences count.
func (k *Knob) scale(low, high float64) {
	k.Log = low > 0 && high/low >= logRatio
	k.low, k.high = low, high
}

// at returns the position of a value on the scale.
func (k *Knob) at(v float64) float64 {
	if k.Log {
		return math.Log(math.Max(v, k.low/1e3)/k.low) / math.Log(k.high/k.low)
	}
	return (v - k.low) / (k.high - k.low)
}

// value is at's inverse.
func (k *Knob) value(at float64) float64 {
	if k.Log {
		return k.low * math.Pow(k.high/k.low, at)
	}
	return k.low + at*(k.high-k.low)
}

// Scale names how a knob's values are spaced.
func (k *Knob) Scale() string {
	switch {
	case !k.Numeric:
		return "list"
	case k.Log:
		return "log"
	}
	return "linear"
}
