package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of the ring: a minute and a half of windows, at most so many bytes.
const (
	mostEvents = 900
	mostBytes  = 16 << 20
)

// event is one message to the browsers, as it goes over the wire.
type event struct {
	id   int64
	wire []byte
}

// stream numbers events and keeps the last ones. Whoever waits for more waits on the channel that
// since returns.
type stream struct {
	run string // distinguishes this run's numbers from those of another at the same address

	mu     sync.Mutex
	events []event // without a gap, oldest first
	bytes  int
	next   int64
	more   chan struct{} // closed when the next event is there
	ended  bool          // nothing follows
}

func newStream(run string) *stream { return &stream{run: run, next: 1, more: make(chan struct{})} }

// send adds an event and returns its number.
func (s *stream) send(name string, data any) (int64, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return 0, fmt.Errorf("live page: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, nil
	}
	e := event{s.next, s.wire(s.next, name, text)}
	s.next++
	s.events, s.bytes = append(s.events, e), s.bytes+len(e.wire)
	for len(s.events) > mostEvents || s.bytes > mostBytes && len(s.events) > 1 {
		s.bytes -= len(s.events[0].wire)
		s.events[0].wire = nil
		s.events = s.events[1:]
	}
	close(s.more)
	s.more = make(chan struct{})
	return e.id, nil
}

// wire is an event as the browser's EventSource reads it. JSON has no line ends of its own.
func (s *stream) wire(id int64, name string, data []byte) []byte {
	return fmt.Appendf(nil, "id: %s-%d\nevent: %s\ndata: %s\n\n", s.run, id, name, data)
}

// end says that nothing follows.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.more)
	}
}

// since returns the events after one, and what is closed when there are more. Known is false where the
// ring no longer has all of them.
func (s *stream) since(after int64) (events []event, more <-chan struct{}, known, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.next - int64(len(s.events))
	if after+1 < first || after >= s.next {
		return nil, s.more, false, s.ended
	}
	return slices.Clone(s.events[after+1-first:]), s.more, true, s.ended
}

// newest is the number of the last event, 0 before the first.
func (s *stream) newest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next - 1
}

// after parses the number that a browser saw last; -1 if it saw none of this run.
func (s *stream) after(id string) int64 {
	number, ok := strings.CutPrefix(id, s.run+"-") // the run's name may hold dashes
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 0 {
		return -1
	}
	return n
}
