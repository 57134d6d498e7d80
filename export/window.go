package export

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
	"github.com/redline-go/redline/redact"
)

// sendDelay is how long after its end a window is sent. Sources deliver within a
// second, and a second is left for a host that is busy.
const sendDelay = 2 * time.Second

// Bounds on the queue of the goroutine that sends. A second of a run with all
// sources on is some 10,000 points.
const (
	mostPending = 1 << 18 // points and histograms
	mostHeld    = 1 << 18 // values of windows that are not sent yet
)

// window is one closed window for the exporters.
type window struct {
	index  int64
	at     time.Time // its end, by the wall clock
	values []value
}

// value is a line's value at a window's end. Counters and histograms have
// their totals since the run began.
type value struct {
	*line
	number float64
	spread spread // of a histogram
}

// logged is a line of the latency log.
type logged struct {
	window int64
	key    histogramKey
	spread spread
}

type histogramKey struct {
	kind    histogram.Kind
	request string
}

// gather collects the run's points and returns them window by window.
type gather struct {
	clock timebase.Clock
	width time.Duration
	hide  *redact.Redactor

	mu      sync.Mutex
	points  []series.Point
	logs    []logged
	dropped int64 // did not fit

	// Of the sending goroutine alone.
	lines      map[series.Series]*line
	histograms map[histogramKey]*line
	frames     map[int64]*frame
	held       int
	sent       int64 // all windows up to this one are out
	late       int64 // gauges that came after their window
}

// frame is a window in the making.
type frame struct {
	values  map[*line]float64
	spreads map[*line]*spread
}

func newGather(clock timebase.Clock, width time.Duration, hide *redact.Redactor) *gather {
	return &gather{
		clock: clock, width: width, hide: hide, sent: -1 << 62,
		lines: map[series.Series]*line{}, histograms: map[histogramKey]*line{}, frames: map[int64]*frame{},
	}
}

// add copies points. The run waits for it.
func (g *gather) add(points []series.Point) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fit := min(len(points), mostPending-len(g.points)-len(g.logs))
	g.points = append(g.points, points[:fit]...)
	g.dropped += int64(len(points) - fit)
}

// log copies a line of the latency log, reduced.
func (g *gather) log(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) {
	// A line ends with its window, or is a part of it.
	l := logged{window: timebase.Window(max(s.From, s.To-1), g.width), key: histogramKey{kind, step}, spread: spreadOf(c)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.points)+len(g.logs) >= mostPending {
		g.dropped++
		return
	}
	g.logs = append(g.logs, l)
}

// take returns the windows that ended by then, in order, and sorts those that have
// come since into their windows.
func (g *gather) take(by time.Duration) []window {
	g.mu.Lock()
	points, logs := g.points, g.logs
	g.points, g.logs = make([]series.Point, 0, min(len(points), mostPending/4)), nil
	g.mu.Unlock()
	for _, p := range points {
		g.sort(p)
	}
	for _, l := range logs {
		g.sortLog(l)
	}
	var ended []int64
	for w := range g.frames {
		if timebase.WindowSpan(w, g.width).To <= by {
			ended = append(ended, w)
		}
	}
	slices.Sort(ended)
	var out []window
	for _, w := range ended {
		out = append(out, g.close(w))
	}
	g.sent = max(g.sent, timebase.Window(by, g.width)-1)
	return out
}

func (g *gather) sort(p series.Point) {
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || p.Window > windows.MaxWindow || p.Window < -windows.MaxWindow {
		return // the record has no such points either
	}
	l := g.lines[p.Series]
	if l == nil {
		if len(g.lines) >= series.MaxSeries {
			g.drop()
			return
		}
		// Values whose labels differ in nothing but a secret are of one line, as
		// they are in the record.
		shown := p.Series
		shown.Labels = g.hide.Sweep(shown.Labels)
		if l = g.lines[shown]; l == nil {
			l = newLine(shown)
			g.lines[shown] = l
		}
		g.lines[p.Series] = l
	}
	if p.Window <= g.sent && !l.counter {
		g.late++
		return
	}
	f := g.frame(p.Window)
	if _, there := f.values[l]; !there {
		if g.held >= mostHeld {
			g.drop()
			return
		}
		g.held++
	}
	f.values[l] += p.Value
}

func (g *gather) sortLog(e logged) {
	l := g.histograms[e.key]
	if l == nil {
		if len(g.histograms) >= 1<<10 {
			g.drop()
			return
		}
		l = newHistogramLine(e.key.kind, text8(g.hide.Sweep(e.key.request)))
		g.histograms[e.key] = l
	}
	f := g.frame(e.window)
	if f.spreads[l] == nil {
		if g.held >= mostHeld {
			g.drop()
			return
		}
		g.held++
		f.spreads[l] = &spread{}
	}
	f.spreads[l].add(e.spread)
}

func (g *gather) drop() {
	g.mu.Lock()
	g.dropped++
	g.mu.Unlock()
}

// lost returns how many values did not fit.
func (g *gather) lost() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dropped
}

// frame returns a window's frame; late points belong to the next one out.
func (g *gather) frame(w int64) *frame {
	w = max(w, g.sent+1)
	f := g.frames[w]
	if f == nil {
		f = &frame{values: map[*line]float64{}, spreads: map[*line]*spread{}}
		g.frames[w] = f
	}
	return f
}

// close turns a frame into a window, in the order of names.
func (g *gather) close(w int64) window {
	f := g.frames[w]
	delete(g.frames, w)
	g.held -= len(f.values) + len(f.spreads)
	out := window{index: w, at: g.clock.EpochWall.Add(timebase.WindowSpan(w, g.width).To)}
	for l, v := range f.values {
		if l.counter {
			l.total += max(v, 0)
			v = l.total
		}
		out.values = append(out.values, value{line: l, number: v / l.per})
	}
	for l, s := range f.spreads {
		l.spread.add(*s)
		out.values = append(out.values, value{line: l, spread: l.spread.clone()})
	}
	slices.SortFunc(out.values, byName)
	return out
}
