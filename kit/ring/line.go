package ring

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// all as a number of sleepers to wake.
const all = math.MaxInt

// line is where goroutines sleep until the other side changes something.
type line struct {
	len         atomic.Int64 // changed under mu; read without it by wakers
	mu          sync.Mutex
	first, last *sleeper
	spare       *sleeper // linked by next, for reuse
	_           pad
}

// sleeper is one goroutine in a line. Its channel has room for one, so that waking
// never waits.
type sleeper struct {
	woken      chan struct{}
	prev, next *sleeper
	queued     bool
}

// sleep sleeps until try succeeds; it tries each time that it is woken. It returns
// ctx's error if that ends it, and nil otherwise. The caller must pass on a wake-up
// that it may not have used.
func (l *line) sleep(ctx context.Context, try func() bool) error {
	s := l.sleeper()
	defer l.reuse(s)
	l.join(s, false)
	for !try() {
		select {
		case <-s.woken:
			if try() {
				return nil
			}
			l.join(s, true) // it waited longest
		case <-ctx.Done():
			l.leave(s)
			return ctx.Err()
		}
	}
	l.leave(s)
	return nil
}

// sleeper returns one that is in no line. Each line keeps its own: a channel that a
// test made in a synctest bubble must not turn up in another.
func (l *line) sleeper() *sleeper {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.spare
	if s == nil {
		return &sleeper{woken: make(chan struct{}, 1)}
	}
	l.spare, s.next = s.next, nil
	return s
}

func (l *line) reuse(s *sleeper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.next, l.spare = l.spare, s
}

func (l *line) join(s *sleeper, front bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.queued = true
	switch {
	case l.first == nil:
		l.first, l.last = s, s
	case front:
		s.next, l.first.prev = l.first, s
		l.first = s
	default:
		s.prev, l.last.next = l.last, s
		l.last = s
	}
	l.len.Add(1)
}

// leave removes s from the line; if s was woken meanwhile, it consumes the wake-up.
func (l *line) leave(s *sleeper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.queued {
		l.remove(s)
		return
	}
	<-s.woken
}

// some reports whether somebody is in the line.
func (l *line) some() bool { return l.len.Load() != 0 }

// wake wakes the first n in the line.
func (l *line) wake(n int) {
	if !l.some() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; n > 0 && l.first != nil; n-- {
		s := l.first
		l.remove(s)
		s.woken <- struct{}{}
	}
}

func (l *line) remove(s *sleeper) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next, s.queued = nil, nil, false
	l.len.Add(-1)
}
