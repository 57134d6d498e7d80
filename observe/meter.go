package observe

import (
	"math"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Meter gathers the points of one source between two deliveries: it keeps one
// Counter per cumulative series and knows each series' unit from the catalogue.
// A name that is not in the catalogue is a mistake of the source and panics.
//
// The zero Meter, with Width set, is ready. It is not safe for concurrent use.
type Meter struct {
	Width time.Duration // of a window; zero means timebase.DefaultWindow

	units    map[string]string
	counters map[key]*Counter
	points   []series.Point
}

// key is a series: its unit follows from the name.
type key struct{ name, labels string }

// Count takes the cumulative value of a counter, read at the run time at.
func (m *Meter) Count(name, labels string, at time.Duration, total float64) {
	k := key{name, labels}
	counter := m.counters[k]
	if counter == nil {
		if m.counters == nil {
			m.counters = map[key]*Counter{}
		}
		counter = &Counter{Width: m.Width}
		m.counters[k] = counter
	}
	counter.Read(at, total, func(w int64, amount float64) { m.Put(name, labels, w, amount) })
}

// Gauge takes the value of a gauge, read at an edge: it belongs to the window
// that ends there. A value that is NaN or infinite is unknown and left out.
func (m *Meter) Gauge(name, labels string, edge time.Duration, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	width := m.Width
	if width <= 0 {
		width = timebase.DefaultWindow
	}
	m.Put(name, labels, Ended(edge, width), value)
}

// Forget drops a counter, so that a series that ended costs nothing more.
func (m *Meter) Forget(name, labels string) { delete(m.counters, key{name, labels}) }

// Break marks a gap in all counters: see Counter.Break.
func (m *Meter) Break() {
	for _, counter := range m.counters {
		counter.Break()
	}
}

// Flush delivers the amounts gathered since the last call.
func (m *Meter) Flush(sink Sink) error {
	if len(m.points) == 0 {
		return nil
	}
	err := sink.Add(m.points...)
	// A sink may keep the slice, so the next batch gets one of its own.
	m.points = make([]series.Point, 0, len(m.points))
	return err
}

// Put adds one point unchanged, for sources that count by themselves.
func (m *Meter) Put(name, labels string, window int64, value float64) {
	unit, ok := m.units[name]
	if !ok {
		info, known := series.Known(name)
		if !known {
			panic("observe: series " + name + " is not in the catalogue")
		}
		if m.units == nil {
			m.units = map[string]string{}
		}
		unit, m.units[name] = info.Unit, info.Unit
	}
	m.points = append(m.points, series.Point{
		Window: window,
		Series: series.Series{Name: name, Labels: labels, Unit: unit},
		Value:  value,
	})
}
