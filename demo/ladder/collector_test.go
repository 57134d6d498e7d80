package ladder

import (
	"testing"
	"time"
)

// two pairs: a first, then b first. Slots of 500 ms after a rest of 100 ms.
var known = Turns{Ramp: 100 * ms, Hold: 300 * ms, Rest: 100 * ms, First: []bool{true, false}}

// TestWorkBelongsToItsTurn: what ends in the ramp, in the rest or in the other side's slot
// has a latency and is not in the throughput.
func TestWorkBelongsToItsTurn(t *testing.T) {
	from := 7 * time.Second
	for _, c := range []struct {
		name     string
		a        bool
		at       time.Duration // since the begin of the span
		turn     int           // -1 for none
		measured bool
	}{
		{"the first rest", true, 0, -1, false},
		{"a's ramp", true, 100 * ms, 0, false},
		{"a's measured part begins", true, 200 * ms, 0, true},
		{"and ends", true, 400 * ms, 0, true},
		{"a's rest", true, 500 * ms, 0, false},
		{"b has had no turn", false, 200 * ms, -1, false},
		{"a's late request", true, 700 * ms, 0, false},
		{"b's measured part", false, 700 * ms, 0, true},
		{"b again, as the second pair's first", false, 1200 * ms, 1, true},
		{"a's request from the first pair", true, 1200 * ms, 0, false},
		{"a's last slot", true, 1800 * ms, 1, true},
		{"b's request from its last slot", false, 1800 * ms, 1, false},
		{"after the end", false, 9 * time.Second, 1, false},
		{"in the warm-up", true, -300 * ms, -1, false},
	} {
		col := &Collector{Turns: known, A: c.a, From: from}
		col.Answered(from+c.at, int64(5*ms), 30)
		col.Spent(from+c.at, 60e6)
		for i, b := range col.Blocks() {
			answers := b.Latency.Total()
			if want := int64(0); i == c.turn {
				want = 30
				if answers != want || b.Values[CPU] != 2e6 {
					t.Errorf("%s: turn %d has %d answers and %v of CPU each", c.name, i, answers, b.Values[CPU])
				}
			} else if answers != want {
				t.Errorf("%s: turn %d has %d answers", c.name, i, answers)
			}
			if rate, there := b.Values[Throughput]; there != (c.measured && i == c.turn) || there && rate != 100 {
				t.Errorf("%s: turn %d has a throughput of %v", c.name, i, rate)
			}
		}
	}
}

// TestWhole: all turns together are one block, whose rate is over the measured time alone.
func TestWhole(t *testing.T) {
	c := &Collector{Turns: known, A: true}
	c.Answered(100*ms, int64(ms), 30) // in the ramp
	c.Answered(200*ms, int64(ms), 30)
	c.Answered(1800*ms, int64(9*ms), 90)
	c.Spent(1800*ms, 300e6)
	b := c.Whole()
	if b.Values[Throughput] != 200 || b.Values[CPU] != 2e6 || b.Latency.Total() != 150 {
		t.Errorf("%+v", b.Values)
	}
	if q := b.Latency.Quantile(0.5); !(q > 8e6 && q < 10e6) {
		t.Errorf("the median of 60 x 1 ms and 90 x 9 ms is %v", q)
	}
}
