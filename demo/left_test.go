package demo

import (
	"math"
	"testing"
	"time"
)

// TestRemaining tells the time left at each step of a ladder as measured: rungs of 13 s beside
// their turns, and turns that shorten from 22 to 7 s as latency falls.
func TestRemaining(t *testing.T) {
	const fixed, again = 13 * time.Second, 11 * time.Second
	seconds := []float64{0, 22.8, 18.6, 11.3, 11.3, 8.4, 8.4, 7} // turns of each rung
	total, turned := again, time.Duration(0)
	for _, s := range seconds {
		total += fixed + time.Duration(s*float64(time.Second))
	}
	turns := func(rung int) []time.Duration {
		if rung >= len(seconds) {
			return nil
		}
		return []time.Duration{time.Duration(seconds[rung] * float64(time.Second))}
	}
	took := fixed // the first rung has no turns
	for rung := 1; rung < len(seconds); rung++ {
		at := course{took: took, turns: turned, rungs: rung, left: len(seconds) - rung, ahead: turns(rung),
			least: 7 * time.Second, again: again}
		check := func(what string) {
			if got, want := at.remaining(), total-at.took; math.Abs(got.Seconds()/want.Seconds()-1) > 0.2 {
				t.Errorf("rung %d, %s: %v left, not %v", rung, what, got, want)
			}
		}
		check("at its begin")
		at.took += time.Duration(diagnosed * float64(fixed))
		at.laid, at.ahead = true, append(at.ahead, turns(rung+1)...)
		check("before its turns")
		turned += at.ahead[0]
		took += fixed + turns(rung)[0]
	}
	if got := (course{took: time.Minute, left: 7}).remaining(); got != 0 {
		t.Errorf("before the first rung: %v", got)
	}
}
