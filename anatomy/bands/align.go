package bands

import (
	"slices"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// alignment sums the disagreements up; zero without any, which is also what a
// trace of a single generation gives.
func alignment(errors []time.Duration) timebase.Align {
	if len(errors) == 0 {
		return timebase.Align{}
	}
	slices.Sort(errors)
	rank := func(p int) time.Duration { return errors[(len(errors)*p+99)/100-1] }
	return timebase.Align{P50: rank(50), P99: rank(99)}
}
