package live

import (
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

// state is the progress so far. Senders write it, the view reads it in
// its own time.
type state struct {
	mu       sync.Mutex
	last     Event
	messages []string
	load     history // by second of load: see the names of figures below
	service  history // by second of the run
	// latency holds all of the measured span.
	latency    histogram.Counts
	statements statements
	soFar      *SoFar
	left       bool // the view has ended: see leave
}

// maxMessages bounds the lines that wait when the terminal is stopped.
const maxMessages = 100

// leave ends the view: what no frame has shown any more is passed on, and add takes
// nothing from now on. Both are one step, or an event that comes just then would be lost.
func (s *state) leave(shown Event, pass func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	if s.last.Phase != shown.Phase {
		pass(Event{Phase: s.last.Phase})
	}
	for _, text := range s.messages {
		pass(Event{Message: text})
	}
	s.messages = nil
}

// add takes an event, unless the view was left.
func (s *state) add(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return false
	}
	s.take(e)
	return true
}

func (s *state) take(e Event) {
	if e.Message != "" && len(s.messages) < maxMessages {
		s.messages = append(s.messages, notation.Clean(e.Message))
	}
	s.statements.name(e.Statement)
	if e.SoFar != nil {
		judged := *e.SoFar
		if judged.At == 0 {
			judged.At = s.last.Done
		}
		s.soFar = &judged
	}
	e.Message, e.Statement, e.SoFar = "", Statement{}, nil
	if e.Phase == "" {
		e.Phase = s.last.Phase
	}
	// An event that carries nothing but a phase or a message keeps the figures.
	if e.Requests == 0 && e.Done == 0 && e.Rate == 0 && s.last.Done > 0 {
		phase := e.Phase
		e = s.last
		e.Phase = phase
		s.last = e
		return
	}
	// A window in which nothing ended has no percentiles; the last known stay.
	answered := e.Max > 0
	if !answered {
		e.P50, e.P90, e.P99, e.Max = s.last.P50, s.last.P90, s.last.P99, s.last.Max
	}
	if e.Done > 0 {
		s.keep(e, answered)
	}
	s.last = e
}

// keep adds a window of load to the history of its second.
func (s *state) keep(e Event, answered bool) {
	second := int64(e.Done / time.Second)
	s.load.mean(figureRate, second, e.Rate)
	if answered {
		s.load.mean(figureP50, second, float64(e.P50))
		s.load.mean(figureP99, second, float64(e.P99))
	}
	s.load.sum(figureErrors, second, float64(max(e.Errors-s.last.Errors, 0)))
	s.load.most(figureLag, second, float64(e.LagP99))
	s.load.mean(figureGenerator, second, e.GeneratorCPU)
}

// Add implements Feed.
func (s *state) Add(points []series.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range points {
		s.point(&points[i])
	}
}

// Latency implements Feed.
func (s *state) Latency(c *histogram.Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency.Merge(c)
}

// snapshot is a copy of the state, for one frame.
type snapshot struct {
	last          Event
	load, service history
	latency       histogram.Quantiles // of the measured span so far
	statements    []statement         // those that take the most time, first
	soFar         *SoFar
}

// snapshot returns the state and takes the messages that wait.
func (s *state) snapshot() (snapshot, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages
	s.messages = nil
	shown := snapshot{last: s.last, load: s.load.clone(), service: s.service.clone(), soFar: s.soFar,
		statements: slices.Clone(s.statements.top())}
	if s.latency.Total() > 0 {
		shown.latency = s.latency.Quantiles()
	}
	return shown, messages
}
