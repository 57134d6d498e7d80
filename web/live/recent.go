package live

import (
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// kept is how many windows stay as they were measured: sources deliver within seconds of a
// window's end, and what comes later is in the report alone.
const kept = 64

// key names a series; its unit follows from it.
type key struct{ name, labels string }

// column is the last windows of one series.
type column struct {
	values [kept]float64 // of window w at w mod kept
	total  float64       // of the whole run
}

// recent holds the last windows of a run.
type recent struct {
	width   time.Duration
	hide    func(string) string
	columns map[key]*column
	shown   map[key]key         // labels as they came to labels without secrets
	labels  map[string][]string // by name, sorted
	last    int64               // the newest window; windows up to last-kept are gone
	begun   bool
	late    int64 // points whose window was gone
}

func newRecent(width time.Duration, hide func(string) string) *recent {
	return &recent{width: width, hide: hide, columns: map[key]*column{}, shown: map[key]key{}, labels: map[string][]string{}}
}

// add puts a point into its window and reports which; false if it came too late or is none.
func (r *recent) add(p *series.Point) (window int64, ok bool) {
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
		return 0, false
	}
	if !r.begun {
		r.begun, r.last = true, p.Window
	}
	if p.Window <= r.last-kept {
		r.late++
		return 0, false
	}
	r.reach(p.Window)
	c := r.column(key{p.Series.Name, p.Series.Labels})
	if c == nil {
		return 0, false
	}
	at := &c.values[slot(p.Window)]
	if math.IsNaN(*at) {
		*at = 0
	}
	*at += p.Value
	c.total += p.Value
	return p.Window, true
}

func slot(window int64) int64 { return ((window % kept) + kept) % kept }

// reach makes room for the windows up to one.
func (r *recent) reach(window int64) {
	for w := max(r.last+1, window-kept+1); w <= window; w++ {
		for _, c := range r.columns {
			c.values[slot(w)] = math.NaN()
		}
	}
	r.last = max(r.last, window)
}

// column returns a series' column, which it makes when the series is new; nil if there are too many.
func (r *recent) column(k key) *column {
	clean, known := r.shown[k]
	if known {
		return r.columns[clean]
	}
	if len(r.shown) >= series.MaxSeries {
		return nil
	}
	clean = key{k.name, r.hide(k.labels)}
	r.shown[k] = clean
	if c := r.columns[clean]; c != nil {
		return c
	}
	c := &column{}
	for i := range c.values {
		c.values[i] = math.NaN()
	}
	r.columns[clean] = c
	list := r.labels[k.name]
	at, _ := slices.BinarySearch(list, clean.labels)
	r.labels[k.name] = slices.Insert(list, at, clean.labels)
	return c
}

// Labels implements rundata.Windows.
func (r *recent) Labels(name string) []string { return r.labels[name] }

// Series implements rundata.Windows. Windows that are gone are absent.
func (r *recent) Series(name, labels string, s timebase.Span) windows.Line {
	from, to := timebase.Window(s.From, r.width), timebase.Window(s.To-1, r.width)+1
	begin := timebase.WindowSpan(from, r.width).From
	c := r.columns[key{name, labels}]
	if c == nil {
		return windows.Recent(begin, r.width, nil)
	}
	values := make([]float64, max(0, to-from))
	for i := range values {
		if w := from + int64(i); w > r.last-kept && w <= r.last {
			values[i] = c.values[slot(w)]
		} else {
			values[i] = math.NaN()
		}
	}
	return windows.Recent(begin, r.width, values)
}

// amount is what a series came to so far, without regard to sign.
func (r *recent) amount(name, labels string) float64 {
	if c := r.columns[key{name, labels}]; c != nil {
		return c.total
	}
	return 0
}
