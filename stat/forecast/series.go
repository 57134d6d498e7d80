package forecast

import (
	"errors"
	"fmt"
	"math"
)

// Series is a history on a regular grid.
type Series struct {
	Values []float64 // NaN where nothing is known
	// Seasons are the lengths of its seasons in steps, shortest first; each at
	// least 2 and dividing the next. None means no season.
	Seasons []int
}

// LeastValues is how many known values a forecast needs.
const LeastValues = 12

// ErrShort is returned for a history from which nothing can be backtested.
var ErrShort = errors.New("the history is too short to forecast")

// Check returns why a series cannot be forecast; it wraps ErrShort where more
// values would help.
func (s Series) Check() error {
	known := 0
	for i, v := range s.Values {
		if math.IsInf(v, 0) {
			return fmt.Errorf("value %d is infinite", i+1)
		}
		if !math.IsNaN(v) {
			known++
		}
	}
	if known < LeastValues {
		return fmt.Errorf("%w: %d known values, and at least %d are needed", ErrShort, known, LeastValues)
	}
	if known*2 < len(s.Values) {
		return fmt.Errorf("%w: only %d of %d values are known", ErrShort, known, len(s.Values))
	}
	for i, m := range s.Seasons {
		if m < 2 || i > 0 && m%s.Seasons[i-1] != 0 {
			return fmt.Errorf("seasons of %v steps do not nest", s.Seasons)
		}
	}
	if m := s.longest(); m > 1 && len(s.Values) < 2*m {
		return fmt.Errorf("%w: %d steps, and two seasons of %d are needed", ErrShort, len(s.Values), m)
	}
	return nil
}

// longest returns the length of the longest season; 1 without a season.
func (s Series) longest() int {
	if len(s.Seasons) == 0 {
		return 1
	}
	return s.Seasons[len(s.Seasons)-1]
}

// until returns the series before step n, with the seasons that it shows at least twice.
func (s Series) until(n int) Series {
	out := Series{Values: s.Values[:n]}
	for _, m := range s.Seasons {
		if n >= 2*m {
			out.Seasons = append(out.Seasons, m)
		}
	}
	return out
}

// positive reports whether every known value is above zero.
func (s Series) positive() bool {
	for _, v := range s.Values {
		if v <= 0 {
			return false
		}
	}
	return true
}

// filled returns the values with gaps closed: by the values one season before and
// after, shifted by the level between them, or by a line between neighbours.
func (s Series) filled() []float64 {
	out := append([]float64{}, s.Values...)
	m := s.longest()
	for i, v := range s.Values {
		if !math.IsNaN(v) || m == 1 {
			continue
		}
		sum, n := 0.0, 0.0
		for _, j := range []int{i - m, i + m} {
			if j >= 0 && j < len(out) && !math.IsNaN(s.Values[j]) {
				sum, n = sum+s.Values[j], n+1
			}
		}
		if n > 0 {
			out[i] = sum / n
		}
	}
	last := -1
	for i, v := range out {
		if math.IsNaN(v) {
			continue
		}
		for j := last + 1; j < i; j++ {
			if out[j] = v; last >= 0 {
				out[j] = out[last] + (v-out[last])*float64(j-last)/float64(i-last)
			}
		}
		last = i
	}
	for j := last + 1; j < len(out); j++ {
		out[j] = out[last]
	}
	return out
}

// scale is the mean absolute seasonal difference, the denominator of MASE (Hyndman and
// Koehler, "Another look at measures of forecast accuracy", 2006). NaN where no two
// values lie a season apart.
func (s Series) scale() float64 {
	m := s.longest()
	sum, n := 0.0, 0.0
	for i := m; i < len(s.Values); i++ {
		if d := math.Abs(s.Values[i] - s.Values[i-m]); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / n
}

// MASE is the mean absolute error of a forecast, in units of the seasonal naive
// forecast's mean error by one season within the history. Unknown values are left out;
// NaN when none is known, or the history repeats itself exactly.
func MASE(history Series, actual, forecast []float64) float64 {
	sum, n := 0.0, 0.0
	for i, v := range actual {
		if d := math.Abs(v - forecast[i]); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	scale := history.scale()
	if n == 0 || scale == 0 {
		return math.NaN()
	}
	return sum / n / scale
}
