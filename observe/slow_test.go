package observe

import (
	"testing"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

func TestSlowWindows(t *testing.T) {
	s := NewSlow(0)
	if s.Window(0, time.Second) {
		t.Error("the first window is slow: there is nothing to tell it by")
	}
	window := int64(0)
	feed := func(n int, p99 time.Duration) (slow int) {
		for range n {
			window++
			if s.Window(window, p99) {
				slow++
			}
		}
		return slow
	}
	if n := feed(30, 10*ms); n != 0 {
		t.Errorf("%d steady windows are slow", n)
	}
	if n := feed(5, 35*ms); n != 0 {
		t.Errorf("%d windows of thrice the median are slow", n)
	}
	if n := feed(3, 0); n != 0 {
		t.Errorf("%d empty windows are slow", n)
	}
	first := window + 1
	if n := feed(3, 90*ms); n != 3 {
		t.Errorf("%d of 3 windows of nine medians are slow", n)
	}
	if got, want := <-s.C, timebase.WindowSpan(first, 100*ms); got != want {
		t.Errorf("told of %v, want %v", got, want)
	}
	select {
	case span := <-s.C:
		t.Errorf("%v was kept for a reader who was busy", span)
	default:
	}
	// A long slow spell is no new steady state at once: it does not move the median,
	// but the median of a service that has changed follows in time.
	feed(200, 30*ms)
	if n := feed(1, 90*ms); n != 0 {
		t.Errorf("the median did not follow: thrice of it is slow")
	}
}

func TestSlowWindowsOfAFastService(t *testing.T) {
	s := NewSlow(100 * ms)
	for w := range int64(50) {
		s.Window(w, 100*time.Microsecond)
	}
	if s.Window(50, 900*time.Microsecond) {
		t.Error("0.8 ms are no matter")
	}
	if !s.Window(51, 2*ms) {
		t.Error("2 ms where 0.1 is usual are not slow")
	}
}
