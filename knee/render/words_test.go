package render

import (
	"testing"
	"time"

	"github.com/redline-go/redline/knee"
)

// TestSoak: a service that exits in the soak has no p99.
func TestSoak(t *testing.T) {
	s := knee.Step{Rate: 643.6, Measured: 15 * time.Second, Outcome: knee.Holds, P99: 6_390_000}
	if got, want := soak(s), "643.6/s for 15.0 s: holds, p99 6.39 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Outcome, s.P99, s.Why = knee.Ended, 0, []string{"the target ended: exit status 2"}
	if got, want := soak(s), "643.6/s for 15.0 s: ended (the target ended: exit status 2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
