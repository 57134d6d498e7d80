package run

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

// seat is one source and how it fared.
//
// Hazard: a late source goes on in a goroutine of its own. What that goroutine
// writes is read only after its channel was closed, and a late source is asked for
// nothing more.
type seat struct {
	source observe.Source
	state  atomic.Int32 // opening, then taken or abandoned
	late   error        // the step that it did not finish in time; nil if it finished all

	giveUp context.CancelFunc // ends an Open that is late
	opened chan struct{}      // closed when Open has returned
	ended  chan struct{}      // closed when the source is done with
	ran    bool               // Open went well, and Run was called
	err    error              // of Open or Run
	cpu    time.Duration
}

// The states of a seat.
const (
	opening = iota
	taken
	abandoned
)

// reported is a source's report after its end.
type reported struct {
	health chan record.SourceHealth
	stored chan stored
}

// stored is the file of a source's own, if it leaves one.
type stored struct {
	file  string
	value any
	err   error
}

// take opens the source and runs it once the watch begins, concurrently with the caller. One that opens after
// it was given up is released at once.
func (s *seat) take(ctx context.Context, subject observe.Subject, w *Watch) {
	s.opened, s.ended = make(chan struct{}), make(chan struct{})
	var own context.Context
	own, s.giveUp = context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		err := s.source.Open(own, subject)
		switch inTime := s.state.CompareAndSwap(opening, taken); {
		case inTime:
			s.err, s.ran = err, err == nil
		case err == nil:
			_ = s.source.Run(own, nowhere{}) // its context has ended: it only tidies up
		}
		close(s.opened)
		if s.ran {
			<-w.begun
			s.cpu = threadCPU(func() { s.err = s.source.Run(ctx, w.sink) })
		}
	}()
}

// abandon gives up a source that has not opened yet.
func (s *seat) abandon(why error) {
	if s.state.CompareAndSwap(opening, abandoned) {
		s.late = why
		s.giveUp()
	}
}

// end waits until Run has delivered pending data.
func (s *seat) end(within context.Context, p patience) {
	if s.state.Load() == taken && !before(s.ended, within) {
		s.late = fmt.Errorf("it did not end within %v after the load: later data is missing", p.end)
	}
}

// ask has the source report its health and its file, concurrently with the caller.
func (s *seat) ask() reported {
	t := reported{make(chan record.SourceHealth, 1), make(chan stored, 1)}
	go func() {
		t.health <- s.health()
		var left stored
		if storer, ok := s.source.(observe.Storer); ok && s.late == nil && s.ran {
			left.file, left.value, left.err = storer.Store()
		}
		t.stored <- left
	}()
	return t
}

// gather adds a source's report, if it has one when the context ends.
func (s *seat) gather(out *Watched, t reported, within context.Context, p patience) {
	name := s.source.Describe().Name
	health, ok := received(t.health, within)
	if !ok {
		health = record.SourceHealth{Name: name, CPU: s.cpu, Why: fmt.Sprintf("it did not report its health within %v: "+
			"its figures may be incomplete", p.end)}
	}
	out.Health = append(out.Health, health)
	left, reported := received(t.stored, within)
	switch {
	case !reported && ok:
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s: its file is missing, because it was not ready within %v", name, p.end))
	case left.err != nil:
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v", name, left.err))
	case left.file != "":
		out.Files[left.file] = left.value
	}
}

func (s *seat) health() record.SourceHealth {
	name := s.source.Describe().Name
	if s.late != nil {
		return record.SourceHealth{Name: name, Why: s.late.Error()}
	}
	health := record.SourceHealth{OK: s.err == nil}
	if reporter, ok := s.source.(observe.Reporter); ok && s.ran {
		health = reporter.Health()
	}
	health.Name, health.CPU = name, s.cpu
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		health.OK, health.Why = false, s.err.Error()
		var refusal *observe.Unsupported
		health.NotAsked = errors.As(s.err, &refusal) && refusal.NotAsked
	}
	return health
}

// before reports whether a channel was closed before the context ended.
func before(done <-chan struct{}, within context.Context) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-within.Done():
		return false
	}
}

// received is before for a channel that sends a value.
func received[T any](from <-chan T, within context.Context) (value T, ok bool) {
	select {
	case value = <-from:
		return value, true
	default:
	}
	select {
	case value = <-from:
		return value, true
	case <-within.Done():
		return value, false
	}
}

// nowhere is a sink for late data.
type nowhere struct{}

var _ observe.Sink = nowhere{}

// Add implements observe.Sink.
func (nowhere) Add(...series.Point) error { return nil }

// Profile implements observe.Sink.
func (nowhere) Profile(record.Profile) error { return nil }

// Trace implements observe.Sink.
func (nowhere) Trace(record.Trace) error { return nil }
