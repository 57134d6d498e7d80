package sampler

import "time"

// Clock reads CLOCK_MONOTONIC, the one clock of a run, from inside the target.
// The zero Clock is not usable; StartClock makes one.
type Clock struct {
	base time.Time // carries the runtime's own monotonic reading
	mono int64     // CLOCK_MONOTONIC at base, ns
	// Error bounds the difference to the true CLOCK_MONOTONIC.
	Error time.Duration
}

// At returns CLOCK_MONOTONIC at t in ns; t comes from time.Now.
func (c Clock) At(t time.Time) int64 { return c.mono + int64(t.Sub(c.base)) }

// Now returns CLOCK_MONOTONIC in ns. It makes no system call.
func (c Clock) Now() int64 { return c.At(time.Now()) }

// bracket ties the runtime's clock to read, a reading of CLOCK_MONOTONIC. The
// two cannot be read at one instant, so it keeps the tightest of some brackets.
func bracket(read func() (int64, bool)) (Clock, bool) {
	best := Clock{Error: time.Hour}
	for i := 0; i < 16; i++ {
		before, ok1 := read()
		now := time.Now()
		after, ok2 := read()
		if !ok1 || !ok2 {
			return Clock{}, false
		}
		if half := time.Duration(after-before) / 2; half >= 0 && half < best.Error {
			best = Clock{base: now, mono: before + int64(half), Error: half}
		}
	}
	return best, best.Error < time.Hour
}

// fromWall ties the runtime's clock to the run's epoch through the wall clock,
// where CLOCK_MONOTONIC itself is out of reach. Its error is unknown, because the
// wall clock may have been slewed since the epoch; a millisecond is stated.
func fromWall(epochMonotonic, epochWall int64) Clock {
	now := time.Now()
	return Clock{base: now, mono: epochMonotonic + now.UnixNano() - epochWall, Error: time.Millisecond}
}
