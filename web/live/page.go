package live

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/web/rundata"
)

// Recording is a run whose record is open.
type Recording struct {
	Dir    string
	Run    record.Run
	Steady timebase.Span // the planned one
	Hide   func(string) string
	// Mark records the present moment.
	Mark func(text string) (record.Mark, error)
}

// Event is a step of the run. Zero values are nothing new.
type Event struct {
	Phase   string
	Message string
	Window  *Window
	Traced  timebase.Span // of an execution trace
	QueryID string        // of a statement, with its text
	Text    string
}

// Window is the last window of load, as the terminal shows it.
type Window struct {
	Done     float64 `json:"done"` // seconds of load
	Total    float64 `json:"total"`
	Warmup   bool    `json:"warmup"`
	Rate     float64 `json:"rate"`
	P50      int64   `json:"p50"`
	P90      int64   `json:"p90"`
	P99      int64   `json:"p99"`
	Max      int64   `json:"max"`
	InFlight int64   `json:"in_flight"`
	LagP99   int64   `json:"lag_p99"`
	CPU      float64 `json:"-"`
	// GeneratorCPU is CPU as JSON can hold it: null where it is not known.
	GeneratorCPU *float64 `json:"generator_cpu"`
}

// Figures are those of the measured span so far. Counted as those of a run that was killed now
// would be; the run's own summary replaces them at its end.
type Figures struct {
	Seconds  float64             `json:"seconds"`
	Requests int64               `json:"requests"`
	Errors   int64               `json:"errors"`
	Rate     float64             `json:"rate"`
	Latency  histogram.Quantiles `json:"latency_ns"`
}

// heatWidth is the width of a column of the live heat map.
const heatWidth = 500 * time.Millisecond

// state is all that the page knows. Its methods need mu.
type state struct {
	recording *Recording
	recent    *recent
	history   history
	texts     map[string]string // of statements, by query id

	heat      map[int64]map[int]int64 // requests by column and row
	latency   histogram.Counts        // of the measured span
	requests  float64                 // of it
	errors    float64
	until     int64 // one past the newest window of the measured span with requests
	figures   Figures
	spans     []span
	phase     string
	messages  []string
	window    *Window
	findings  *soFar
	lag       lag
	end       *ending
	dirtyFrom int64 // windows from here on changed since the last event; none when above the newest
	dirtyHeat map[int64]bool
	newSpans  bool
	lost      bool // more came than was taken, and the page says so
}

type span struct {
	Kind string  `json:"kind"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Text string  `json:"text,omitempty"`
}

// pending is what was recorded since the last event. Its lock is the only one that who measures takes.
type pending struct {
	mu      sync.Mutex
	points  []series.Point
	lines   []logged
	events  []Event
	dropped int64
}

// logged is a line of the latency log.
type logged struct {
	span   timebase.Span
	counts histogram.Counts
}

// Bounds of what waits between two events.
const (
	mostPoints = 1 << 17
	mostLogged = 64 // each takes up to 200 KB
	mostSteps  = 4096
	mostTexts  = 2000
	mostNotes  = 50
)

// Begin informs the page that the record is open. Another record takes the place of the one before it: of a verb that makes
// several runs, the page shows each in turn.
func (p *Page) Begin(r Recording) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.state
	if s.recording != nil {
		p.take()
		*s = fresh(s.phase, s.messages)
	}
	defer func() { p.send("all", p.everything()) }() // with the bundle's folder, which the page names when it loses the run
	s.recording = &r
	s.recent = newRecent(r.Run.Window, func(labels string) string {
		if labels == "" || r.Hide == nil {
			return labels
		}
		return r.Hide(labels)
	})
	s.dirtyFrom = math.MaxInt64
	s.until = timebase.Window(r.Steady.From, r.Run.Window)
	s.spans = append(s.spans, span{Kind: "warm-up", From: 0, To: r.Steady.From.Seconds()})
	s.newSpans = true
}

// Add takes points as they are recorded.
func (p *Page) Add(points []series.Point) {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	fit := min(len(points), mostPoints-len(p.in.points))
	p.in.points = append(p.in.points, points[:fit]...)
	p.in.dropped += int64(len(points) - fit)
}

// Counts takes a line of the latency log.
func (p *Page) Counts(kind histogram.Kind, s timebase.Span, c *histogram.Counts) {
	if kind != histogram.Latency || c.Total() == 0 {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	for i := len(p.in.lines) - 1; i >= 0; i-- { // the requests of a mix log the same intervals
		if l := &p.in.lines[i]; l.span == s {
			l.counts.Merge(c)
			return
		}
	}
	if len(p.in.lines) >= mostLogged {
		p.in.dropped++
		return
	}
	// The elements are used again, with the buckets that they have.
	p.in.lines = slices.Grow(p.in.lines, 1)[:len(p.in.lines)+1]
	l := &p.in.lines[len(p.in.lines)-1]
	l.span = s
	l.counts.Reset()
	l.counts.Merge(c)
}

// Event takes a step of the run.
func (p *Page) Event(e Event) {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	if len(p.in.events) < mostSteps {
		p.in.events = append(p.in.events, e)
	}
}

// step brings the state up to date with a step of the run.
func (p *Page) step(e *Event) {
	s := &p.state
	if e.Phase != "" && e.Phase != s.phase {
		s.phase = notation.Clean(e.Phase)
		p.send("phase", s.phase)
	}
	if e.Message != "" {
		p.note(notation.Clean(e.Message))
	}
	if e.Window != nil {
		w := *e.Window
		if !math.IsNaN(w.CPU) {
			w.GeneratorCPU = &w.CPU
		}
		s.window = &w
		s.lag.window(w.LagP99, p.now())
	}
	if e.Traced.Len() > 0 {
		s.spans = append(s.spans, span{Kind: "trace", From: e.Traced.From.Seconds(), To: e.Traced.To.Seconds()})
		s.newSpans = true
	}
	if e.QueryID != "" && len(s.texts) < mostTexts {
		s.texts[e.QueryID] = notation.Clean(e.Text)
	}
}

// note shows a message; mu is held.
func (p *Page) note(text string) {
	if s := &p.state; len(s.messages) < mostNotes {
		s.messages = append(s.messages, text)
		p.send("message", text)
	}
}

// take moves what was recorded since the last event into its windows.
func (p *Page) take() {
	p.in.mu.Lock()
	p.points, p.in.points = p.in.points, p.points[:0]
	p.lines, p.in.lines = p.in.lines, p.lines[:0]
	events, lost := p.in.events, p.in.dropped
	p.in.events = nil
	p.in.mu.Unlock()
	s := &p.state
	for i := range events {
		p.step(&events[i])
	}
	if lost > 0 && !s.lost {
		s.lost = true
		p.note("values came faster than this page takes them: charts and figures lack some; the report will have all")
	}
	if s.recording == nil {
		return
	}
	steady, width := s.recording.Steady, s.recording.Run.Window
	from, to := timebase.Window(steady.From, width), timebase.Window(steady.To-1, width)+1
	for i := range p.points {
		at := &p.points[i]
		w, ok := s.recent.add(at)
		if !ok {
			continue
		}
		s.dirtyFrom = min(s.dirtyFrom, w)
		s.lag.point(at)
		if w < from || w >= to {
			continue
		}
		switch at.Series.Name {
		case series.LoadRequests:
			s.requests += at.Value
			s.until = max(s.until, w+1)
		case series.LoadErrors:
			s.errors += at.Value
		}
	}
	for i := range p.lines {
		l := &p.lines[i]
		s.logged(l)
		if steady.From <= l.span.From && l.span.From < steady.To {
			s.latency.Merge(&l.counts)
		}
	}
}

// logged adds a line of the latency log to the heat map.
func (s *state) logged(l *logged) {
	at := timebase.Window(l.span.From, heatWidth)
	rows := s.heat[at]
	if rows == nil {
		rows = map[int]int64{}
		s.heat[at] = rows
		held := int64(time.Duration(most) * s.recording.Run.Window / heatWidth)
		maps.DeleteFunc(s.heat, func(column int64, _ map[int]int64) bool { return column <= at-held })
	}
	for bar := range l.counts.Buckets() {
		rows[rundata.HeatRow(bar.To)] += bar.Count
	}
	s.dirtyHeat[at] = true
}

// sum brings the figures so far up to date.
func (s *state) sum() {
	steady, width := s.recording.Steady, s.recording.Run.Window
	length := min(timebase.WindowSpan(s.until, width).From, steady.To) - steady.From
	s.figures = Figures{Seconds: max(0, length).Seconds(), Requests: int64(s.requests), Errors: int64(s.errors),
		Rate: series.PerSecond(float64(int64(s.requests)-int64(s.errors)), length), Latency: histogram.QuantilesOf(s.latency.Histogram())}
}

// column is a column of the heat map: its number, then row, requests, row, requests...
func (s *state) column(at int64) []int64 {
	c := []int64{at}
	for _, row := range slices.Sorted(maps.Keys(s.heat[at])) {
		c = append(c, int64(row), s.heat[at][row])
	}
	return c
}
