// Package clock reads the time at the cost of a load from memory: one goroutine reads the real clock at a
// fixed resolution, and readers take its latest reading.
//
// # When not to use it
//
// Not for measuring latency, spans or benchmarks: a reading is as old as the last tick, and on a starved machine
// older. Not for a handful of readings per request: time.Now costs tens of nanoseconds, and a hundred of them per
// millisecond-long request are below 1 % of it. Not for ordering events: all readings between two ticks are equal. It
// pays where one core reads the clock millions of times per second and a millisecond does not matter: expiry in a
// cache, token buckets, timestamps of log lines, idle limits of connections.
//
// # How old a reading may be
//
// The resolution, plus how late the runtime wakes the goroutine. With all Ps busy
// the goroutine waits its turn behind goroutines that may each run for 10 ms before they are preempted, and a
// throttled control group stops it altogether. [Clock.Stats] has the longest gap that occurred. No reading is ever
// ahead of the real clock.
//
// # Designs tried and rejected
//
//   - The kernel's vvar page read through unsafe, as some reports advise: its layout is no interface and changes between kernels.
//   - runtime.nanotime by linkname: restricted from Go 1.23 on, and no faster than the vDSO that time.Now already calls.
//   - clock_gettime(CLOCK_MONOTONIC_COARSE): its vDSO path is out of reach without linkname or cgo, and the system call costs more
//     than time.Now.
//   - The reading as an atomic integer of nanoseconds: one load as well, but each conversion to a time.Time costs more
//     than the load. A pointer to a time.Time gives wall clock and monotonic reading in one piece, for one allocation of 32 bytes per tick.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Bounds and default of a clock's resolution.
const (
	// Finest is the finest resolution: below it the goroutine's wake-ups cost more than they are worth.
	Finest = 100 * time.Microsecond
	// Usual is the resolution that zero means.
	Usual = time.Millisecond
)

// Clock is a coarse clock. The zero value works and never goes stale: it reads the real clock each time, at
// the real clock's cost, as a stopped Clock does. All methods may be called by any number of goroutines. A
// Clock must not be copied after first use.
type Clock struct {
	latest     atomic.Pointer[time.Time] // nil means: read the real clock
	resolution time.Duration

	ticks  atomic.Int64
	widest atomic.Int64 // nanoseconds

	stop  func() // asks the goroutine to end; nil in the zero value
	ended chan struct{}
}

// Stats describes how a Clock has kept its resolution.
type Stats struct {
	// Resolution is the requested interval between two ticks, within bounds; zero in the zero Clock.
	Resolution time.Duration
	// Ticks counts readings of the real clock.
	Ticks int64
	// Widest is the longest interval between two of them: the age of the oldest reading that could be taken.
	Widest time.Duration
}

// Start returns a Clock that ticks at the resolution, in a goroutine of its own until Stop. Zero and below mean Usual;
// finer than Finest means Finest.
func Start(resolution time.Duration) *Clock {
	if resolution <= 0 {
		resolution = Usual
	}
	done := make(chan struct{})
	c := &Clock{
		resolution: max(resolution, Finest),
		stop:       sync.OnceFunc(func() { close(done) }),
		ended:      make(chan struct{}),
	}
	ticker := time.NewTicker(c.resolution)
	c.tick(time.Now())
	go c.run(ticker, done)
	return c
}

func (c *Clock) run(ticker *time.Ticker, done <-chan struct{}) {
	defer close(c.ended)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			c.latest.Store(nil)
			return
		case <-ticker.C:
			// Not the channel's time: that is when the tick was due, and it may have waited there.
			c.tick(time.Now())
		}
	}
}

// tick publishes a reading. Only one goroutine calls it at a time.
func (c *Clock) tick(now time.Time) {
	if last := c.latest.Load(); last != nil {
		if gap := int64(now.Sub(*last)); gap > c.widest.Load() {
			c.widest.Store(gap)
		}
	}
	c.ticks.Add(1)
	c.latest.Store(&now)
}

// Now returns the latest reading, with wall clock and monotonic part as time.Now has them. Readings never go back,
// within one goroutine or from one that hands over to another. Mixed with time.Now they are still never ahead of it:
// the difference between this reading and one that time.Now gave earlier may be negative, by up to the reading's age.
func (c *Clock) Now() time.Time {
	if latest := c.latest.Load(); latest != nil {
		return *latest
	}
	return time.Now()
}

// Stats returns a snapshot; its parts may be one tick apart.
func (c *Clock) Stats() Stats {
	return Stats{c.resolution, c.ticks.Load(), time.Duration(c.widest.Load())}
}

// Stop ends the goroutine and returns once it has ended. From then on the Clock reads the real clock. A second Stop
// does nothing, nor does that of the zero value.
func (c *Clock) Stop() {
	if c.stop == nil {
		return
	}
	c.stop()
	<-c.ended
}
