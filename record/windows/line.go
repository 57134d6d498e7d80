package windows

import (
	"math"
	"sort"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Line is a series over a span, on an even grid of windows. In a short run these are the
// run's windows. If the span touches windows that were joined because the run was long,
// the whole line has the coarsest resolution met, so that its values are comparable;
// Width is that resolution.
type Line struct {
	// From is the beginning of the first value's window.
	From time.Duration
	// Width is the width of each value's window, a multiple of Run.Window.
	Width time.Duration
	// Values holds a value per window, NaN if there is none; nil if there is
	// no such series. For a counter it is the amount within Width.
	Values []float64

	window  time.Duration // Run.Window
	counts  []uint16      // windows of Run.Window behind each value; nil for one each
	joining joining
}

// Recent returns a line of windows that no table holds yet, one value per window of the
// given width.
func Recent(from, width time.Duration, values []float64) Line {
	return Line{From: from, Width: width, Values: values, window: width}
}

// Span returns the window of a value.
func (l Line) Span(i int) timebase.Span {
	from := l.From + time.Duration(i)*l.Width
	return timebase.Span{From: from, To: from + l.Width}
}

// Sum returns the sum over the windows of Run.Window that hold a value, and how
// many these are: sum/present is the mean per such window, and for a counter
// the sum is the amount. A gauge counts with each window that it stands for.
func (l Line) Sum() (sum float64, present int) {
	if l.counts == nil {
		return series.Sum(l.Values)
	}
	for i, v := range l.Values {
		if v != v {
			continue
		}
		if l.joining != joinSum {
			v *= float64(l.counts[i])
		}
		sum += v
		present += int(l.counts[i])
	}
	return sum, present
}

// PerSecond returns a counter's amounts as rates over the time for which each was seen,
// in a new slice; nil if there is no such series.
func (l Line) PerSecond() []float64 {
	if l.Values == nil {
		return nil
	}
	rates := make([]float64, len(l.Values))
	for i, v := range l.Values {
		over := l.window
		if l.counts != nil {
			over *= time.Duration(max(1, l.counts[i]))
		}
		rates[i] = v / over.Seconds()
	}
	return rates
}

// Width returns the width of the values that line returns for a span.
func (t *Table) Width(s timebase.Span) time.Duration {
	if s.To <= s.From {
		return t.width
	}
	from, to := timebase.Window(s.From, t.width), timebase.Window(s.To-1, t.width)+1
	return time.Duration(t.grid.coarsest(from, to)) * t.width
}

// Line returns the series with exactly this name and these labels over s, at a
// resolution that is no finer than width; 0 takes the finest. Windows that s only
// touches count; of a joined window s must cover half, unless s is shorter than
// that. A span of more than MaxPoints windows is cut there.
func (t *Table) Line(name, labels string, s timebase.Span, width time.Duration) Line {
	window := t.width
	l := Line{From: timebase.WindowSpan(timebase.Window(s.From, window), window).From, Width: window, window: window}
	index, ok := t.index[seriesKey{name, labels}]
	if !ok {
		return l
	}
	c := &t.series[index]
	l.joining = c.joining
	if s.To <= s.From {
		l.Values = []float64{}
		return l
	}
	from, to := timebase.Window(s.From, window), timebase.Window(s.To-1, window)+1
	factor := max(t.grid.coarsest(from, to), int64(width/window))
	if factor == 1 {
		to = min(to, from+MaxPoints)
		l.Values = absent(to - from)
		c.fill(l.Values, from)
		return l
	}
	first, end := FloorDiv(from, factor), FloorDiv(to-1, factor)+1
	end = min(end, first+MaxPoints)
	l.From, l.Width = time.Duration(first*factor)*window, time.Duration(factor)*window
	l.Values, l.counts = absent(end-first), make([]uint16, end-first)
	t.fillJoined(c, &l, from, to, factor)
	return l
}

// fillJoined writes c's values of the windows [from, to) to l, whose values stand for
// factor windows each.
func (t *Table) fillJoined(c *column, l *Line, from, to, factor int64) {
	first := FloorDiv(from, factor)
	i := sort.Search(len(c.windows), func(i int) bool { return int64(c.windows[i]) > from-factor })
	for ; i < len(c.windows) && int64(c.windows[i]) < to; i++ {
		w := int64(c.windows[i])
		own := t.grid.of(w)
		if covered := min(to, w+own) - max(from, w); covered <= 0 || 2*covered < own && to-from >= own {
			continue
		}
		at := FloorDiv(w, factor) - first
		if at < 0 || at >= int64(len(l.Values)) {
			continue
		}
		if l.counts[at] == 0 {
			l.Values[at], l.counts[at] = c.values[i], c.count(i)
		} else {
			l.Values[at], l.counts[at] = c.joining.join(l.Values[at], l.counts[at], c.values[i], c.count(i))
		}
	}
}

// absent returns n absent values.
func absent(n int64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.NaN()
	}
	return values
}
