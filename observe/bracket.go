package observe

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // quantiles of any number of readings in bounded memory

	"github.com/redline-go/redline/record/timebase"
)

// maxError is the largest alignment error that is resolved; larger ones count as this.
const maxError = time.Minute

// Bracket dates readings and bounds the error: it reads the clock before and after, takes
// the middle as the reading's instant, and half the width as the bound. It keeps a
// histogram of the bounds, about 30 KB for a run of any length.
//
// The zero Bracket is ready to use. It is safe for concurrent use.
type Bracket struct {
	// Limit is the error above which Read takes a reading again, at most twice:
	// a preemption inside the bracket is rarely followed by another. Zero
	// takes every reading once.
	Limit time.Duration

	mu     sync.Mutex
	errors *hdrhistogram.Histogram // ns
}

// Read calls f between two readings of the clock and returns the instant that f's figures
// belong to. f may run several times (see Limit); the last run counts. If f fails, Read
// returns its error and does not count the reading.
func (b *Bracket) Read(clock timebase.Clock, f func() error) (at time.Duration, err error) {
	for try := 0; ; try++ {
		before := clock.Now()
		if err := f(); err != nil {
			return 0, err
		}
		after := clock.Now()
		if b.Limit <= 0 || (after-before)/2 <= b.Limit || try == 2 {
			return b.Add(before, after), nil
		}
	}
}

// Add counts a reading that was taken between two instants of run time and
// returns the instant to date it with, their middle.
func (b *Bracket) Add(before, after time.Duration) (at time.Duration) {
	half := max(0, (after-before)/2)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		b.errors = hdrhistogram.New(1, int64(maxError), 2)
	}
	// The value is clamped to the histogram's range, so that recording cannot
	// fail; below 1 ns it counts as 1.
	_ = b.errors.RecordValue(int64(min(max(half, 1), maxError)))
	return before + half
}

// Samples returns the number of readings.
func (b *Bracket) Samples() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		return 0
	}
	return b.errors.TotalCount()
}

// Align returns the distribution of the error bounds, zero without readings.
func (b *Bracket) Align() timebase.Align {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		return timebase.Align{}
	}
	return timebase.Align{
		P50: time.Duration(b.errors.ValueAtQuantile(50)),
		P99: time.Duration(b.errors.ValueAtQuantile(99)),
	}
}
