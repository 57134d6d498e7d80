package pace

import (
	"testing"
	"time"
)

func TestReserve(t *testing.T) {
	p := New(100)
	start := time.Now()
	for i, c := range []struct{ at, want time.Duration }{
		{0, 0}, {0, 10 * time.Millisecond}, {5 * time.Millisecond, 15 * time.Millisecond},
		{time.Second, 0}, {time.Second, 10 * time.Millisecond}, // no burst after a pause
	} {
		if got := p.reserve(start.Add(c.at)); got != c.want {
			t.Errorf("call %d waits %v, want %v", i, got, c.want)
		}
	}
	New(0).Take() // must not panic or wait
}
