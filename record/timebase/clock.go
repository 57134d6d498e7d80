package timebase

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix" // CLOCK_MONOTONIC; package time hides its absolute value
)

// DefaultWindow is the width of a window unless the scenario says otherwise.
const DefaultWindow = 100 * time.Millisecond

// Clock is a run's one clock: CLOCK_MONOTONIC, counted from the run's epoch.
// Every instant in a bundle is a time.Duration since that epoch. eBPF timestamps and
// the clock snapshots of Go execution traces are already on CLOCK_MONOTONIC;
// FromMonotonic converts them.
//
// The zero Clock is not usable; Start makes one. A Clock is a value and
// may be copied and used concurrently.
type Clock struct {
	// EpochMonotonic is CLOCK_MONOTONIC at the epoch, in ns since boot.
	EpochMonotonic int64 `json:"epoch_monotonic_ns"`
	// EpochWall is the wall clock at the epoch.
	EpochWall time.Time `json:"epoch_wall"`
	// EpochError is half the width of the bracket in which the two were read:
	// the bound on the error of FromWall, in ns.
	EpochError time.Duration `json:"epoch_error_ns"`

	// base carries the runtime's own monotonic reading of the epoch, so that
	// Now needs no system call. It is lost when the clock is read from disk,
	// where Now has no meaning.
	base time.Time
}

// Start starts a clock whose epoch is now. The three readings it needs
// cannot be taken at one instant, so it brackets the wall reading between two
// monotonic ones several times and keeps the tightest bracket.
func Start() (Clock, error) {
	best := Clock{EpochError: time.Hour}
	for range 16 {
		before, err := monotonic()
		if err != nil {
			return Clock{}, err
		}
		wall := time.Now()
		after, err := monotonic()
		if err != nil {
			return Clock{}, err
		}
		if width := time.Duration(after-before) / 2; width < best.EpochError {
			best = Clock{EpochMonotonic: before + (after-before)/2, EpochWall: wall.Round(0), EpochError: width, base: wall}
		}
	}
	return best, nil
}

// Now returns the time since the epoch, with ns resolution.
func (c Clock) Now() time.Duration { return time.Since(c.base) }

// At returns the run time of t, which must carry a monotonic reading of this
// process (any time.Now does).
func (c Clock) At(t time.Time) time.Duration { return t.Sub(c.base) }

// Time returns the process-local instant of a run time; the inverse of At.
func (c Clock) Time(d time.Duration) time.Time { return c.base.Add(d) }

// FromMonotonic converts a CLOCK_MONOTONIC reading of this host, in ns.
func (c Clock) FromMonotonic(ns int64) time.Duration {
	return time.Duration(ns - c.EpochMonotonic)
}

// FromWall converts a wall clock reading of this host. Its error is EpochError
// plus whatever the wall clock was slewed since the epoch.
func (c Clock) FromWall(t time.Time) time.Duration { return t.Round(0).Sub(c.EpochWall) }

func monotonic() (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("read CLOCK_MONOTONIC: %w", err)
	}
	return ts.Nano(), nil
}
