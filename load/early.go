package load

import (
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/load/socket"
	"github.com/redline-go/redline/load/usage"
)

// Bounds of waking early. A thread that sleeps until a request is due wakes late: the timer's
// interrupt, leaving an idle state and a run queue take 20 to 40 us on a virtual machine, and all
// of it would be in the request's latency, which counts from when it is due. So a loop sleeps
// until a little before, and polls its sockets for the rest. It takes only CPU time that nobody
// uses, and only part of it: what sleeping would have cost is free.
const (
	// earlyShare bounds the share of a loop's time that goes into this.
	earlyShare = 0.25
	// earlySpare is how many CPUs per loop have to be idle: as much again stays idle.
	earlySpare = 2 * earlyShare
	// mostEarly bounds one spell. A wake-up later than that has another cause, such as other
	// programs on the CPU, which waiting does not remedy.
	mostEarly = 100 * time.Microsecond
	// mostSaved bounds what a quiet period saves up for a burst.
	mostSaved = time.Millisecond
	// wakesLate is the share of wake-ups that may still be late.
	wakesLate = 0.1
)

// early decides how long before a due time a loop wakes. The zero value wakes at the time
// itself until it has seen how late that is.
type early struct {
	usual time.Duration // lateness that wakesLate of the wake-ups exceed
	saved time.Duration // that may be spent now
	at    time.Duration // when saved was last added to
	sleep time.Duration // CPU time of going to sleep and waking up; zero until it is measured
	total atomic.Int64  // ns spent; the reporter reads it
}

// sleeps is how often a loop sleeps to measure what that costs: one or two milliseconds in all.
const sleeps = 16

// measure measures what sleeping costs the calling thread. On a virtual machine, where idle CPUs leave the guest, it may be
// as much as a request.
func (e *early) measure(poll *socket.Poller) {
	before := socket.CPU()
	for range sleeps {
		if n, err := poll.Wait(time.Microsecond); n > 0 || err != nil {
			return
		}
	}
	e.sleep = max(0, min(mostEarly/4, (socket.CPU()-before)/sleeps))
}

// lead returns how long before a due time to wake, zero for not at all.
func (e *early) lead(now time.Duration) time.Duration {
	if e.saved < mostSaved {
		e.saved = min(mostSaved, e.saved+time.Duration(earlyShare*float64(now-e.at)))
	}
	e.at = now
	if e.saved < e.usual {
		return 0
	}
	return e.usual
}

// woke learns how late a wait ended. The quantile moves a step up or down, and the ratio of the
// steps is that of the probabilities, so it needs no memory of earlier values (stochastic
// approximation, Robbins and Monro 1951). The step is proportional to the quantile, which
// therefore reaches any size within some dozens of wake-ups.
func (e *early) woke(late time.Duration) {
	step := max(time.Microsecond, e.usual/8)
	if late > e.usual {
		e.usual = min(mostEarly, e.usual+time.Duration((1-wakesLate)*float64(step)))
	} else {
		e.usual = max(0, e.usual-time.Duration(wakesLate*float64(step)))
	}
}

// spent subtracts the time that a spell took, without what it saved if it took the place of a sleep. One that other
// threads interrupted takes more than was saved, and the next ones wait until that is made up.
func (e *early) spent(d time.Duration, slept bool) {
	e.total.Add(int64(d))
	if !slept {
		d = max(0, d-e.sleep)
	}
	e.saved -= d
}

// spare is whether CPUs are idle: the reporter writes it, the loops read it.
type spare struct {
	idle  *usage.Idle
	read  time.Duration // when it was last read
	loops int
	yes   atomic.Bool
}

// spareEvery is how often the idle time is read: the kernel generates the file at each
// read, which takes a millisecond with hundreds of CPUs.
const spareEvery = time.Second

func (s *spare) look(now time.Duration) {
	if s.read > 0 && now-s.read < spareEvery {
		return
	}
	s.read = now
	cpus, ok := s.idle.CPUs()
	s.yes.Store(ok && cpus >= earlySpare*float64(s.loops))
}

// wait waits for events until the loop has something else to do.
func (l *loop) wait() (int, error) {
	at, exact := l.next()
	if at < 0 {
		return l.poll.Wait(-1)
	}
	now := l.now()
	free := at-now <= l.early.sleep // no dearer than to sleep
	if at <= now || !exact || !free && !l.run.spare.yes.Load() {
		return l.poll.Wait(max(0, at-now))
	}
	slept := false
	if from := at - l.early.lead(now); from > now && !free {
		n, err := l.poll.Wait(from - now)
		now, slept = l.now(), true
		if n > 0 || err != nil {
			return n, err
		}
		// Not if a signal ended the wait before its time.
		if now >= from {
			l.early.woke(now - from)
		}
	}
	began := now
	for now < at {
		// Answers that arrive meanwhile are handled at once.
		if n, err := l.poll.Wait(0); n > 0 || err != nil {
			l.early.spent(l.now()-began, slept)
			return n, err
		}
		now = l.now()
	}
	l.early.spent(now-began, slept)
	return 0, nil
}
