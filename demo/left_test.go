package demo

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/demo/ladder"
)

// TestRemaining replays a ladder as it was measured on two cores, alone on the machine: whatever is
// said to be left is within a fifth of what it then took.
func TestRemaining(t *testing.T) {
	p95 := []time.Duration{1330, 671, 180, 207, 160, 141, 132, 143} // ms, of each rung
	span := func(a, b time.Duration, pairs int) time.Duration {
		turns := ladder.Lay(a*time.Millisecond, b*time.Millisecond, pairs, rand.New(rand.NewPCG(1, 1)))
		return turns.Span()
	}
	const end = 177.6
	const begins, laid, over = "begins", "before its turns", "looked at again"
	turned := time.Duration(0)
	for _, at := range []struct {
		seconds float64
		rung    int
		what    string
	}{
		{8.7, 1, begins}, {14.2, 1, laid}, {39.5, 2, begins}, {44.9, 2, laid}, {65.4, 3, begins}, {70.7, 3, laid},
		{83.5, 3, over}, {92.3, 4, begins}, {97.8, 4, laid}, {111.9, 5, begins}, {117.2, 5, laid}, {127.7, 6, begins},
		{133.1, 6, laid}, {143.2, 6, over}, {152.6, 7, begins}, {158, 7, laid}, {168.1, 7, over},
	} {
		c := course{took: time.Duration(at.seconds * float64(time.Second)), rungs: at.rung, turns: turned,
			laid: at.what == laid, left: usualSteps - at.rung + 1, least: span(0, 0, ladder.Pairs), again: 9 * time.Second}
		known := p95[at.rung-1]
		switch at.what {
		case laid:
			pairs := ladder.Pairs
			if at.rung < 3 {
				pairs = ladder.Fewest
			}
			c.ahead = append(c.ahead, span(p95[at.rung-1], p95[at.rung], pairs))
			turned += c.ahead[0]
			known = p95[at.rung]
		case over:
			c.rungs, c.left = c.rungs+1, c.left-1
			known = p95[at.rung]
		}
		c.ahead = append(c.ahead, span(known, known, ladder.Pairs))
		if got, want := c.remaining().Seconds(), end-at.seconds; math.Abs(got/want-1) > 0.2 {
			t.Errorf("rung %d, %s: %.0f s left, not %.0f", at.rung, at.what, got, want)
		}
	}
	if got := (course{took: time.Minute, left: 7}).remaining(); got != 0 {
		t.Errorf("before the first rung: %v", got)
	}
}
