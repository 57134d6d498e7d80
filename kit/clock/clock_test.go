package clock

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// waitFor polls until the condition holds. Only a broken clock takes a minute, on however slow a machine.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited a minute in vain")
		}
	}
}

func TestTicks(t *testing.T) {
	c := Start(0)
	defer c.Stop()
	first := c.Now()
	waitFor(t, func() bool { return c.Now().After(first) })
	stats := c.Stats()
	if stats.Resolution != Usual || stats.Ticks < 2 || stats.Widest <= 0 {
		t.Errorf("stats %+v after a tick", stats)
	}
}

// Never ahead of the real clock, never back, whoever reads, and through Stop.
func TestOrder(t *testing.T) {
	c := Start(Finest)
	defer c.Stop()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var last time.Time
			for i := range 200_000 {
				now := c.Now()
				if now.Before(last) {
					t.Errorf("reading %d went back by %v", i, last.Sub(now))
					return
				}
				if ahead := time.Until(now); ahead > 0 {
					t.Errorf("reading %d is %v ahead of the real clock", i, ahead)
					return
				}
				last = now
			}
		})
	}
	waitFor(t, func() bool { return c.Stats().Ticks > 3 })
	c.Stop()
	readers.Wait()
}

// A reading has the monotonic part, so that differences survive a clock that is set.
func TestMonotonic(t *testing.T) {
	c := Start(time.Hour)
	defer c.Stop()
	if now := c.Now(); now == now.Round(0) {
		t.Error("a reading without its monotonic part")
	}
}

func TestStopLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	var clocks []*Clock
	for range 50 {
		clocks = append(clocks, Start(Finest))
	}
	for _, c := range clocks {
		c.Stop()
	}
	// Stop returns when the goroutine closes its channel: its last instructions may still be ahead.
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
}

// After Stop the clock reads the real one: it never stands still.
func TestUseAfterStop(t *testing.T) {
	c := Start(time.Hour)
	frozen := c.Now()
	waitFor(t, func() bool { return time.Since(frozen) > time.Millisecond })
	if c.Now() != frozen {
		t.Error("a tick before the first was due")
	}
	c.Stop()
	c.Stop()
	before := time.Now()
	if now := c.Now(); now.Before(before) {
		t.Errorf("a stopped clock reads %v less than the real one", before.Sub(now))
	}
}

func TestConcurrentStop(t *testing.T) {
	c := Start(0)
	var stops sync.WaitGroup
	for range 8 {
		stops.Go(func() {
			c.Stop()
			select {
			case <-c.ended:
			default:
				t.Error("Stop returned before the goroutine ended")
			}
		})
	}
	stops.Wait()
}

func TestZeroValue(t *testing.T) {
	var c Clock
	before := time.Now()
	if now := c.Now(); now.Before(before) || now.After(time.Now()) {
		t.Errorf("the zero clock is off by %v", now.Sub(before))
	}
	c.Stop()
	if c.Stats() != (Stats{}) {
		t.Errorf("the zero clock has stats %+v", c.Stats())
	}
}

func TestResolutionBounds(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		-1: Usual, 0: Usual, 1: Finest, time.Millisecond: time.Millisecond, 1<<63 - 1: 1<<63 - 1,
	} {
		c := Start(asked)
		if got := c.Stats().Resolution; got != want {
			t.Errorf("asked for %v: %v, want %v", asked, got, want)
		}
		c.Stop()
	}
}

// The widest gap is the longest between two ticks, not the last.
func TestWidestGap(t *testing.T) {
	var c Clock
	start := time.Now()
	for _, at := range []time.Duration{0, 1, 9, 10, 12} {
		c.tick(start.Add(at * time.Millisecond))
	}
	if got := c.Stats(); got.Widest != 8*time.Millisecond || got.Ticks != 5 {
		t.Errorf("stats %+v, want 5 ticks, the widest gap 8 ms", got)
	}
}
