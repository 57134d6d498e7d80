// Package scalar parses the single values of scenarios and flags: rates, durations,
// counts, shares, commands. A value without its unit, or beyond its bound, is a
// mistake with a hint.
package scalar

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/mistake"
)

// Bounds of a load.
const (
	MaxRate        = 10e6 // 1/s
	MaxConnections = 100_000
	MaxDuration    = 24 * time.Hour // of each duration in a scenario
)

var (
	bareNumber = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	rateForm   = regexp.MustCompile(`^([0-9.]+(?:[eE]\+?[0-9]+)?)(?:\s*(?:/|per)\s*(s|sec|second|m|min|minute|h|hour))?$`)
)

// ParseRate parses a rate of requests, such as "2000/s", "300/m" or "2000"
// (per second), and returns it per second. It is positive and finite.
func ParseRate(text string) (float64, error) {
	const hint = "write it as 2000/s, 300/m or 2000"
	m := rateForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		if strings.HasPrefix(strings.TrimSpace(text), "-") {
			return 0, mistake.Newf("", "rate %.40q is negative", text)
		}
		return 0, mistake.Newf(hint, "%.40q is not a rate", text)
	}
	rate, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, mistake.Newf(hint, "%.40q is not a rate", text)
	}
	switch {
	case strings.HasPrefix(m[2], "m"):
		rate /= 60
	case strings.HasPrefix(m[2], "h"):
		rate /= 3600
	}
	if rate <= 0 || rate > MaxRate || math.IsNaN(rate) {
		return 0, mistake.Newf("", "rate %.40q is not above 0 and at most %.0f/s", text, MaxRate)
	}
	return rate, nil
}

// ParseDuration parses a duration with its unit, such as "30s" or "1m30s". It
// is not negative and at most MaxDuration.
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	switch {
	case bareNumber.MatchString(text) && !strings.HasPrefix(text, "-"):
		// time.ParseDuration takes a bare 0; users need not know that.
		return 0, mistake.Newf("add its unit, as in "+text+"s or "+text+"ms", "duration %.40q has no unit", text)
	case strings.HasPrefix(text, "-"):
		return 0, mistake.Newf("", "duration %.40q is negative", text)
	case err != nil:
		return 0, mistake.Newf("write it as 500ms, 30s, 5m or 1h", "%.40q is not a duration", text)
	case d > MaxDuration:
		return 0, mistake.Newf("", "duration %.40q is over %v", text, MaxDuration)
	}
	return d, nil
}

// ParsePositive parses a duration that is not 0.
func ParsePositive(text string) (time.Duration, error) {
	d, err := ParseDuration(text)
	if err == nil && d == 0 {
		err = mistake.Newf("", "a duration of 0 makes no sense here")
	}
	return d, err
}

// ParseCount parses a whole number from low to high.
func ParseCount(text string, low, high int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	switch {
	case err != nil && bareNumber.MatchString(strings.TrimSpace(text)):
		return 0, mistake.Newf("", "%.40q is not a whole number from %d to %d", text, low, high)
	case err != nil:
		return 0, mistake.Newf("", "%.40q is not a number", text)
	case n < 0 && low >= 0:
		return 0, mistake.Newf("", "%d is negative", n)
	case n < low || n > high:
		return 0, mistake.Newf("", "%d is not from %d to %d", n, low, high)
	}
	return n, nil
}

// ParseShare parses "0.1%" or "0.001".
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) {
		return 0, mistake.Newf("write it as 0.1% or 0.001", "%.40q is not a share", text)
	}
	if percent {
		v /= 100
	}
	switch {
	case v < 0:
		return 0, mistake.Newf("", "share %.40q is negative", text)
	case v > 1 && percent:
		return 0, mistake.Newf("", "share %.40q is above 100%%", text)
	case v > 1:
		return 0, mistake.Newf("did you mean "+strconv.Quote(text+"%")+"?", "share %.40q is above 1", text)
	}
	return v, nil
}
