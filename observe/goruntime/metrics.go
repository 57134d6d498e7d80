package goruntime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Metrics delivers the probe's figures: each metric of runtime/metrics under its own name,
// the process's CPU time as read by the target, and the connection pools that the target
// publishes.
//
// Cumulative figures are split over the windows between two samples by their
// true times, a gauge is the value at the end of its window, and a histogram
// becomes a counter of its events (label q=count) and gauges over the events
// since the sample before (q=p50, p99, max), absent when there were none.
//
// If no sample arrives for longer than maxStride, the windows between stay absent instead
// of sharing the amount, and the health reports the gap.
type Metrics struct {
	subject observe.Subject
	reader  *ring.Reader
	came    time.Duration // instant of the ring's last sample; 0 before the first
	left    time.Duration // that of the previous ring, until the new one has a sample
	gaps    []record.Gap
	unseen  time.Duration // in all gaps
	begun   time.Duration // samples from before it are not delivered
	series  []line
	seen    map[series.Series]bool
	pools   totals
	sample  ring.Sample
	points  []series.Point
	bracket observe.Bracket
	last    int64 // the last window that got gauges
	lost    uint64
	foreign int64 // samples whose time is not possible
	trouble problems
}

var (
	_ observe.Source   = (*Metrics)(nil)
	_ observe.Reporter = (*Metrics)(nil)
)

// line is the series of one column.
type line struct {
	column  int
	named   int // the ring's name for its label, from 1; 0 for none
	series  series.Series
	counter *observe.Counter // nil for a gauge
}

// maxStride is how many windows may pass between two samples. A busy target
// leaves out one or two; after more it was stopped, and how its amounts spread over
// them is not known.
const maxStride = 5

// NewMetrics returns the source.
func NewMetrics() *Metrics { return &Metrics{} }

// Describe implements observe.Source.
func (m *Metrics) Describe() observe.Description {
	return observe.Description{
		Name:  "runtime",
		Doc:   "Figures of the Go runtime in every window: goroutines, scheduling, memory, collections, pauses; and connection pools.",
		Needs: "redline's probe in the target, on the same host: --build, or an import of redline/probe/auto.",
		Cost:  "5 to 30 us of CPU in the target per window, and a wake-up where it is idle; no allocation.",
	}
}

// Open implements observe.Source. It waits for the ring, which appears when the target's
// probe starts; a ring of another layout is an error at once.
func (m *Metrics) Open(ctx context.Context, subject observe.Subject) error {
	if subject.Ring == "" {
		return &observe.Unsupported{
			What:   "the target has no probe, so there are no runtime figures per window",
			Enable: "let redline build the target (--build), or import github.com/redline-go/redline/probe/auto in it",
		}
	}
	m.subject = subject
	deadline, cancel := context.WithTimeout(ctx, appear)
	defer cancel()
	for {
		err := m.attach()
		if err == nil {
			return nil
		}
		if deadline.Err() != nil || !errors.Is(err, os.ErrNotExist) {
			return &observe.Unsupported{What: "the probe's memory cannot be read",
				Enable: "run target and redline on one host, and build the target with the probe of this redline", Err: err}
		}
		sleepUntil(deadline, subject.Clock, subject.Clock.Now()+20*time.Millisecond)
	}
}

// attach opens the ring and prepares the series of its columns.
func (m *Metrics) attach() error {
	r, err := ring.Open(m.subject.Ring)
	if err != nil {
		return err
	}
	if m.reader != nil {
		m.lost += m.reader.Lost()
		_ = m.reader.Close() // opened for reading only
	}
	m.reader, m.series, m.came = r, nil, 0
	m.seen = map[series.Series]bool{}
	for i, c := range r.Columns {
		// A column of a later version whose kind or name is unknown here, or
		// that comes twice, is left out: its figures would be guesses.
		series, ok := seriesOf(c)
		if !ok || c.Named == 0 && m.seen[series] {
			continue
		}
		m.seen[series] = c.Named == 0
		l := line{column: i, series: series, named: c.Named}
		if c.Kind == ring.Cumulative {
			l.counter = &observe.Counter{Width: m.subject.Window}
		}
		m.series = append(m.series, l)
	}
	if note := r.Header.Note; note != "" {
		m.trouble.add("the probe reports: %s", note)
	}
	return nil
}

// seriesOf returns the series of a column: one of runtime/metrics, or of a pool,
// whose label is still to come. The target must not report the other series of
// the catalogue.
func seriesOf(c ring.Column) (series.Series, bool) {
	info, known := series.Known(c.Name)
	unit, ok := map[ring.Unit]string{ring.One: "1", ring.Nanoseconds: "ns", ring.Bytes: "bytes"}[c.Unit]
	if !known || !ok || c.Kind != ring.Cumulative && c.Kind != ring.Gauge {
		return series.Series{}, false
	}
	if c.Named > 0 {
		pool := strings.HasPrefix(c.Name, "pool.") && c.Labels == info.Labels && unit == info.Unit &&
			(c.Kind == ring.Cumulative) == info.Counter
		return series.Series{Name: c.Name, Unit: unit}, pool
	}
	key, _, labelled := strings.Cut(c.Labels, "=")
	labelled = labelled && (key == "q" || key == "size") && !strings.ContainsRune(c.Labels, ',')
	return series.Series{Name: c.Name, Labels: c.Labels, Unit: unit}, strings.HasPrefix(c.Name, "/") && (c.Labels == "" || labelled)
}

// label gives a line of a named column its label, once the target named it.
func (m *Metrics) label(l *line) bool {
	if l.series.Labels != "" {
		return true
	}
	name, err := m.reader.Name(l.named - 1)
	if err != nil {
		m.trouble.add("%v", err)
	}
	if name == "" {
		return false
	}
	l.series.Labels = series.Labels("pool", name)
	if m.seen[l.series] { // two with one name would be added up
		l.series.Labels = ""
		return false
	}
	m.seen[l.series] = true
	return true
}

// Run implements observe.Source.
func (m *Metrics) Run(ctx context.Context, sink observe.Sink) error {
	defer func() { _ = m.reader.Close() }()
	m.begun = m.subject.Clock.Now()
	m.last = timebase.Window(m.begun, m.subject.Window) - 1
	err := observe.Every(ctx, m.subject.Clock, m.subject.Window, func(time.Duration) error {
		m.drain(sink)
		return nil
	})
	m.finish(sink)
	if h := &m.bracket; h.Samples() == 0 {
		m.trouble.add("no sample arrived: the target ended, or gets no CPU")
	}
	return err
}

// finish waits for the sample that closes the window in which the run ended,
// which comes a moment after that window's edge. A sample that was taken before the
// end and is read only now does not close it: with that one, the blocks of a comparison
// lost up to a tenth of their CPU.
func (m *Metrics) finish(sink observe.Sink) {
	ended := m.subject.Clock.Now()
	end := ended + m.subject.Window*5/2
	for m.subject.Clock.Now() < end && m.came < ended && !m.reader.Ended() {
		sleepUntil(context.Background(), m.subject.Clock, m.subject.Clock.Now()+m.subject.Window/8)
		m.drain(sink)
	}
	m.lost += m.reader.Lost()
	if stride := m.subject.Window * maxStride; m.came > 0 && m.subject.Clock.Now()-m.came > stride {
		m.blind(timebase.Span{From: m.came, To: m.subject.Clock.Now()}, "the target ended, or got no CPU")
	}
}

// drain delivers all samples that have come, and follows a target that
// restarted to its new ring.
func (m *Metrics) drain(sink observe.Sink) {
	// Bounded: a hostile target may write faster than we read.
	for range ring.MaxSlots {
		ok, err := m.reader.Next(&m.sample)
		if err != nil {
			m.trouble.add("%v", err)
			return
		}
		if !ok {
			break
		}
		m.deliver(sink)
	}
	if !m.reader.Same(m.subject.Ring) {
		before, left := m.reader.Header.PID, max(m.came, m.left)
		if err := m.attach(); err != nil {
			m.trouble.add("the target restarted: %v", err)
			return
		}
		m.left = left
		m.trouble.add("the target restarted (process %d, before %d): its counters start over", m.reader.Header.PID, before)
	}
}

// mostGaps bounds the gaps that are listed one by one.
const mostGaps = 100

// blind reports a gap.
func (m *Metrics) blind(s timebase.Span, why string) {
	m.unseen += s.Len()
	if len(m.gaps) < mostGaps {
		m.gaps = append(m.gaps, record.Gap{Span: s, Why: why})
	}
}

// gap drops the counters' bases when too much time passed since the last sample.
func (m *Metrics) gap(at time.Duration) {
	if stride := m.subject.Window * maxStride; m.came > 0 && at-m.came > stride {
		for i := range m.series {
			if c := m.series[i].counter; c != nil {
				c.Break()
			}
		}
		m.blind(timebase.Span{From: m.came, To: at}, "the target's probe got no CPU")
	}
	if m.left > 0 {
		m.blind(timebase.Span{From: m.left, To: at}, "the target restarted")
		m.left = 0
	}
	m.came = at
}

// deliver turns one sample into points.
func (m *Metrics) deliver(sink observe.Sink) {
	clock, slack := m.subject.Clock, m.reader.Header.ClockError
	before := clock.FromMonotonic(m.sample.Before)
	after := clock.FromMonotonic(m.sample.After)
	if before < m.begun {
		return // it covers the time before the source was opened
	}
	if after > clock.Now()+time.Second || slack < 0 || slack > time.Minute {
		m.foreign++
		return
	}
	at := m.bracket.Add(before-slack, after+slack)
	m.gap(at)
	m.points, m.pools = m.points[:0], totals{}
	// A sample comes a little after the edge that it is meant for (the probe
	// leaves out one that would come later than three quarters of a window), and
	// delivers the gauges of the window that ended there, unless it ended before the
	// source ran.
	window := timebase.Window(at-m.subject.Window*3/4, m.subject.Window)
	for i := range m.series {
		l := &m.series[i]
		value := m.sample.Values[l.column]
		switch {
		case math.IsNaN(value) || math.IsInf(value, 0):
		case l.named > 0 && !m.label(l):
		case l.counter != nil:
			l.counter.Read(at, value, func(w int64, amount float64) {
				m.points = append(m.points, series.Point{Window: w, Series: l.series, Value: amount})
			})
		case window > m.last:
			m.points = append(m.points, series.Point{Window: window, Series: l.series, Value: value})
			if l.named > 0 {
				m.pools.add(l.series.Name, value)
			}
		}
	}
	m.points = m.pools.points(m.points, window)
	m.last = max(m.last, window)
	if err := sink.Add(m.points...); err != nil {
		m.trouble.add("store: %v", err)
	}
}

// Health implements observe.Reporter.
func (m *Metrics) Health() record.SourceHealth {
	texts := m.trouble.texts
	if m.lost > 0 {
		texts = append(texts, fmt.Sprintf("%d samples were overwritten before redline read them", m.lost))
	}
	if len(m.gaps) > 0 {
		first := m.gaps[0]
		texts = append(texts, fmt.Sprintf("no figures for %s, first from %.1f s to %.1f s: %s", notation.Time(m.unseen),
			first.From.Seconds(), first.To.Seconds(), first.Why))
	}
	if m.foreign > 0 {
		texts = append(texts, fmt.Sprintf("%d samples have timestamps in the future", m.foreign))
	}
	n := m.bracket.Samples()
	return record.SourceHealth{
		Name: m.Describe().Name, OK: n > 0, Why: strings.Join(texts, "; "),
		Samples: n, Align: m.bracket.Align(), Gaps: m.gaps,
	}
}
