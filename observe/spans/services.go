package spans

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // quantiles of any number of durations in bounded memory

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/redact"
)

const (
	maxServices = 16
	// others is the service of those beyond.
	others = "(other services)"
	// unnamed is the service of spans whose resource does not name one.
	unnamed = "(unnamed)"
)

// services gathers figures per service and window until the windows settle.
type services struct {
	all     map[string]*service
	closed  int64 // windows below were delivered
	crowded int64 // spans of services beyond maxServices
	spare   []*hdrhistogram.Histogram
}

// service holds one service's counts. At most late's worth of windows are open.
type service struct {
	label   string        // its name, redacted
	from    int64         // the first window with a span
	sent    time.Duration // when its last span arrived
	failing bool          // it had an error: zeros are delivered from then on
	windows map[int64]*figures
}

// figures are one service's entries that ended in one window.
type figures struct {
	calls, errors int64
	took          *hdrhistogram.Histogram // in microseconds
}

// of returns the service of a name.
func (s *services) of(name string) *service {
	if name == "" {
		name = unnamed
	}
	if known := s.all[name]; known != nil {
		return known
	}
	if len(s.all) >= maxServices {
		s.crowded++
		if known := s.all[others]; known != nil {
			return known
		}
		name = others
	}
	if s.all == nil {
		s.all = map[string]*service{}
	}
	made := &service{label: redact.Text(name), from: -1, windows: map[int64]*figures{}}
	s.all[name] = made
	return made
}

// sent notes that a span of a service arrived.
func (s *services) sent(name string, now time.Duration) { s.of(name).sent = now }

// silentSince reports whether a service has sent nothing since.
func (s *services) silentSince(t time.Duration) bool {
	for _, known := range s.all {
		if known.sent < t {
			return true
		}
	}
	return false
}

// add counts an entry of a service in an open window.
func (s *services) add(sp *span, window int64) {
	at := s.of(sp.service)
	f := at.windows[window]
	if f == nil {
		f = &figures{took: s.histogram()}
		at.windows[window] = f
	}
	if at.from < 0 || window < at.from {
		at.from = window
	}
	f.calls++
	if sp.status == statusError {
		f.errors++
		at.failing = true
	}
	const us = int64(time.Microsecond)
	_ = f.took.RecordValue(min(max(sp.took()/us, 1), int64(time.Hour)/us)) // within its range
}

// histogram returns an empty one, if possible a used one. Two digits over an hour in us
// take some 25 KB, and there is one per service and open window.
func (s *services) histogram() *hdrhistogram.Histogram {
	if n := len(s.spare); n > 0 {
		h := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return h
	}
	return hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 2)
}

// closeBelow delivers the windows below until.
func (s *services) closeBelow(until int64, meter *observe.Meter) {
	for ; s.closed < until; s.closed++ {
		for _, known := range s.all {
			if known.from >= 0 && known.from <= s.closed {
				s.deliver(known, s.closed, meter)
			}
		}
	}
}

// deliver delivers a service's window. Calls are delivered even if zero, so that a
// service that stopped shows; errors only once it had any.
func (s *services) deliver(known *service, window int64, meter *observe.Meter) {
	f := known.windows[window]
	if f == nil {
		f = &figures{}
	}
	label := series.Labels("service", known.label)
	meter.Put(series.SpanCalls, label, window, float64(f.calls))
	if known.failing {
		meter.Put(series.SpanErrors, label, window, float64(f.errors))
	}
	if f.took == nil {
		return
	}
	for q, at := range map[string]float64{"p50": 50, "p90": 90, "p99": 99, "max": 100} {
		took := time.Duration(f.took.ValueAtQuantile(at)) * time.Microsecond
		meter.Put(series.SpanDuration, series.Labels("service", known.label, "q", q), window, float64(took))
	}
	delete(known.windows, window)
	f.took.Reset()
	s.spare = append(s.spare, f.took)
}
