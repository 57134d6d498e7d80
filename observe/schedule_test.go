package observe

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

const ms = time.Millisecond

func startClock(t *testing.T) timebase.Clock {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	return clock
}

// In a synctest bubble the clock moves only while all goroutines sleep, so edges
// are exact.
func TestEdgesAreAlignedAndSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := startClock(t)
		time.Sleep(37 * ms) // the schedule starts inside a window
		edges := &Edges{Clock: clock, Width: 100 * ms}
		work := []time.Duration{0, 99 * ms, 100 * ms, 250 * ms, 10 * ms}
		var seen, called []time.Duration
		stop := errors.New("enough")
		err := edges.Each(t.Context(), func(edge time.Duration) error {
			seen, called = append(seen, edge), append(called, clock.Now())
			if len(seen) > len(work) {
				return stop
			}
			time.Sleep(work[len(seen)-1])
			return nil
		})
		if !errors.Is(err, stop) {
			t.Fatalf("Each = %v, want f's error", err)
		}
		// 300 runs exactly until 400, which is therefore past; 500 until 750.
		want := []time.Duration{100 * ms, 200 * ms, 300 * ms, 500 * ms, 800 * ms, 900 * ms}
		if !slices.Equal(seen, want) {
			t.Errorf("edges %v, want %v", seen, want)
		}
		if !slices.Equal(called, want) {
			t.Errorf("called at %v: the schedule drifts", called)
		}
		if got := edges.Missed(); got != 3 {
			t.Errorf("missed %d edges, want 3 (400, 600, 700)", got)
		}
	})
}

func TestEveryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := startClock(t)
		ctx, cancel := context.WithTimeout(t.Context(), 350*ms)
		defer cancel()
		calls := 0
		if err := Every(ctx, clock, 0, func(time.Duration) error { calls++; return nil }); err != nil {
			t.Errorf("Every = %v at the end of its context", err)
		}
		if calls != 3 {
			t.Errorf("%d calls in 350 ms of the default window, want 3", calls)
		}
		cancel()
		if err := Every(ctx, clock, ms, func(time.Duration) error { t.Error("called after the end"); return nil }); err != nil {
			t.Error(err)
		}
	})
}

func TestEnded(t *testing.T) {
	for edge, want := range map[time.Duration]int64{100 * ms: 0, 200 * ms: 1, 0: -1} {
		if got := Ended(edge, 100*ms); got != want {
			t.Errorf("Ended(%v) = %d, want %d", edge, got, want)
		}
	}
}

type reading struct {
	at    time.Duration
	value float64
}

func TestCounter(t *testing.T) {
	tests := []struct {
		name     string
		readings []reading
		want     map[int64]float64
	}{
		{"the first reading is only a base", []reading{{100 * ms, 5000}}, nil},
		{"on the edges", []reading{{100 * ms, 10}, {200 * ms, 40}, {300 * ms, 40}}, map[int64]float64{1: 30, 2: 0}},
		{"late readings are split", []reading{{100 * ms, 0}, {210 * ms, 110}, {305 * ms, 205}},
			map[int64]float64{1: 100, 2: 100}},
		{"a missed edge", []reading{{100 * ms, 0}, {400 * ms, 300}}, map[int64]float64{1: 100, 2: 100, 3: 100}},
		{"several readings in one window", []reading{{100 * ms, 0}, {150 * ms, 1}, {160 * ms, 2}, {200 * ms, 7}},
			map[int64]float64{1: 7}},
		{"a window covered in part is absent", []reading{{137 * ms, 0}, {200 * ms, 63}, {300 * ms, 100}},
			map[int64]float64{2: 37}},
		{"a reset leaves its interval absent", []reading{{100 * ms, 900}, {200 * ms, 1000}, {300 * ms, 5}, {400 * ms, 15}},
			map[int64]float64{1: 100, 3: 10}},
		{"a reading out of order is ignored", []reading{{100 * ms, 0}, {200 * ms, 10}, {200 * ms, 99}, {150 * ms, 0}, {300 * ms, 15}},
			map[int64]float64{1: 10, 2: 5}},
		{"before the epoch", []reading{{-100 * ms, 0}, {100 * ms, 200}}, map[int64]float64{-1: 100, 0: 100}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Counter{Width: 100 * ms}
			got := map[int64]float64{}
			for _, r := range test.readings {
				c.Read(r.at, r.value, func(w int64, amount float64) {
					if _, twice := got[w]; twice {
						t.Errorf("window %d delivered twice", w)
					}
					got[w] = amount
				})
			}
			if len(got) != len(test.want) {
				t.Errorf("windows %v, want %v", got, test.want)
			}
			for w, want := range test.want {
				if math.Abs(got[w]-want) > 1e-9 {
					t.Errorf("window %d: %v, want %v", w, got[w], want)
				}
			}
		})
	}
}

func TestCounterBreakLeavesAGap(t *testing.T) {
	c := Counter{Width: 100 * ms}
	var windows []int64
	deliver := func(w int64, _ float64) { windows = append(windows, w) }
	c.Read(100*ms, 0, deliver)
	c.Read(250*ms, 15, deliver)
	c.Break()
	c.Read(620*ms, 50, deliver)
	c.Read(800*ms, 70, deliver)
	if want := []int64{1, 7}; !slices.Equal(windows, want) {
		t.Errorf("windows %v, want %v: nothing of the gap, nothing in part", windows, want)
	}
}

func TestBracket(t *testing.T) {
	var b Bracket
	if b.Samples() != 0 || b.Align() != (timebase.Align{}) {
		t.Error("the zero bracket tells of readings")
	}
	if at := b.Add(100*ms, 102*ms); at != 101*ms {
		t.Errorf("middle %v, want 101ms", at)
	}
	for range 98 {
		b.Add(0, 20*time.Microsecond)
	}
	b.Add(0, time.Hour) // beyond what is resolved
	align := b.Align()
	if b.Samples() != 100 {
		t.Errorf("%d samples, want 100", b.Samples())
	}
	if align.P50 < 9*time.Microsecond || align.P50 > 11*time.Microsecond {
		t.Errorf("p50 %v, want about 10us", align.P50)
	}
	if align.P99 < 990*time.Microsecond || align.P99 > 1010*time.Microsecond {
		t.Errorf("p99 %v, want about 1ms", align.P99)
	}
}

func TestBracketReadsAgainWhenWide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := startClock(t)
		b := Bracket{Limit: ms}
		calls := 0
		at, err := b.Read(clock, func() error {
			calls++
			if calls == 1 {
				time.Sleep(50 * ms) // preempted
			}
			return nil
		})
		if err != nil || calls != 2 || at != 50*ms {
			t.Errorf("at %v after %d calls (%v), want 50ms after 2", at, calls, err)
		}
		calls = 0
		if _, err := b.Read(clock, func() error { calls++; time.Sleep(50 * ms); return nil }); err != nil || calls != 3 {
			t.Errorf("%d calls (%v): a slow reading must be taken in the end", calls, err)
		}
		failed := errors.New("gone")
		if _, err := b.Read(clock, func() error { return failed }); !errors.Is(err, failed) || b.Samples() != 2 {
			t.Errorf("err %v with %d samples: a failed reading counts", err, b.Samples())
		}
	})
}
