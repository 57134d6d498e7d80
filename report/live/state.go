package live

import (
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
)

// historyLength bounds the remembered rates: more than the widest terminal.
const historyLength = 512

// state is the progress so far. Senders write it, the view reads it in
// its own time.
type state struct {
	mu       sync.Mutex
	last     Event
	messages []string
	// rates holds the mean rate of each second of load that is over.
	rates  []float64
	second int64
	sum    float64
	count  int
}

// maxMessages bounds the lines that wait when the terminal is stopped.
const maxMessages = 100

func (s *state) add(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Message != "" && len(s.messages) < maxMessages {
		s.messages = append(s.messages, notation.Clean(e.Message))
	}
	e.Message = ""
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
	if e.Max == 0 {
		e.P50, e.P90, e.P99, e.Max = s.last.P50, s.last.P90, s.last.P99, s.last.Max
	}
	s.last = e
	if e.Done > 0 {
		s.rate(int64(e.Done/time.Second), e.Rate)
	}
}

func (s *state) rate(second int64, rate float64) {
	if second != s.second && s.count > 0 {
		s.rates = append(s.rates, s.sum/float64(s.count))
		s.rates = s.rates[max(0, len(s.rates)-historyLength):]
		s.sum, s.count = 0, 0
	}
	s.second = second
	s.sum += rate
	s.count++
}

// snapshot returns the state and takes the messages that wait.
func (s *state) snapshot() (last Event, rates []float64, messages []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rates = append([]float64(nil), s.rates...)
	if s.count > 0 {
		rates = append(rates, s.sum/float64(s.count))
	}
	messages, s.messages = s.messages, nil
	return s.last, rates, messages
}
