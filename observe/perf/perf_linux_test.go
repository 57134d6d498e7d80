package perf

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// standIn is a counter that every machine has, the clock of the threads.
var standIn = []event{{series.PerfCycles, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}}

func TestConformance(t *testing.T) {
	own := events
	var refusal *observe.Unsupported
	switch err := New().Open(t.Context(), observe.Subject{PID: os.Getpid()}); {
	case errors.As(err, &refusal) && refusal.Err == nil: // no hardware counters
		t.Logf("with a counter that stands in: %v", err)
		own = standIn
	case err != nil:
		t.Skip(err)
	}
	observetest.Run(t, func() observe.Source { return &Source{events: own} }, observe.Subject{PID: os.Getpid()})
}

func TestSince(t *testing.T) {
	last := reading{100, 1000, 500}
	for now, want := range map[reading]float64{
		{200, 2000, 1000}: 200, // on for half of the time
		{200, 2000, 1500}: 100,
		{100, 1000, 500}:  0, // slept
	} {
		if got, ok := now.since(last); got != want || !ok {
			t.Errorf("%+v since %+v: %v, %v", now, last, got, ok)
		}
	}
	if _, ok := (reading{100, 2000, 500}).since(last); ok {
		t.Error("a counter that was never on is known")
	}
}

// Existing threads and threads born later add up to the CPU time that the process
// used, by the clock that stands in for the hardware's counters.
func TestEveryThreadIsCounted(t *testing.T) {
	s := &Source{events: standIn}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: 20 * time.Millisecond, PID: os.Getpid()}); err != nil {
		var refusal *observe.Unsupported
		if errors.As(err, &refusal) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	st := s.state
	defer st.release()
	c := st.counters[0]
	c.read()
	before, err := observe.CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	base, done := c.total, make(chan struct{})
	for range 3 {
		go func() {
			runtime.LockOSThread() // ends with the goroutine: a thread born here
			for begin, now := time.Duration(0), time.Duration(0); now-begin < 50*time.Millisecond; {
				var ts unix.Timespec
				_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
				now = time.Duration(ts.Nano())
				if begin == 0 {
					begin = now
				}
			}
			done <- struct{}{}
		}()
	}
	for range 3 {
		<-done
	}
	after, err := observe.CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	c.read()
	counted, used := c.total-base, float64(after-before)
	if math.Abs(counted-used) > 0.1*used || counted < 140e6 {
		t.Errorf("%v ns counted, %v ns used", counted, used)
	}
}

// A machine without the counter says what would enable it.
func TestMissingHardwareIsSaid(t *testing.T) {
	s := &Source{events: []event{{series.PerfCycles, unix.PERF_TYPE_HARDWARE, 1 << 20}}}
	var refusal *observe.Unsupported
	err := s.Open(context.Background(), observe.Subject{PID: os.Getpid()})
	if !errors.As(err, &refusal) || refusal.What == "" || refusal.Enable == "" {
		t.Errorf("Open: %v", err)
	}
}
