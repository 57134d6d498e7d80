package ladder

import (
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/scenario"
)

// Window is the grid of turns: what is measured comes in windows of this width, so a
// turn begins and ends with one.
const Window = 100 * time.Millisecond

const (
	leastHold = 3 * Window
	mostRamp  = 6 * Window
)

// Turns is how two sides that are both up share one span of load: a rest, and then two
// slots for each pair, one of each side. In its slot a side is loaded for Ramp and Hold
// and gets no request during Rest; in the other's it gets none at all.
//
// The ramp is not in the throughput. A closed loop that begins anew sends all of its
// connections' requests at once and answers none for the length of a latency; the rest
// drains as many. Counted in, they would flatter the slower side.
type Turns struct {
	Ramp, Hold, Rest time.Duration
	// First says of each pair whether side a has the first slot.
	First []bool
}

// Lay plans turns for two sides whose 95th percentiles of latency are known: the rest is as
// long as the slower one's and the ramp half of that, near its mean. Pairs have their sides in random order, every
// other pair in that of the one before it turned round, so that a drift cancels.
func Lay(p95a, p95b time.Duration, pairs int, rng *rand.Rand) Turns {
	windows := func(d time.Duration) time.Duration {
		return min(max(Window, (d+Window-1)/Window*Window), mostRamp)
	}
	slower := max(p95a, p95b)
	ramp := windows(slower / 2)
	t := Turns{Ramp: ramp, Hold: max(leastHold, ramp+Window), Rest: windows(slower)}
	for n := range pairs {
		first := rng.IntN(2) == 0
		if n%2 == 1 {
			first = !t.First[n-1]
		}
		t.First = append(t.First, first)
	}
	return t
}

// Slot is the time of one side's turn.
func (t Turns) Slot() time.Duration { return t.Ramp + t.Hold + t.Rest }

// Span is the time of all turns and the rest before them.
func (t Turns) Span() time.Duration { return t.Rest + time.Duration(2*len(t.First))*t.Slot() }

// own reports whether a slot, from 0, is side a's.
func (t Turns) own(slot int, a bool) bool { return (t.First[slot/2] == (slot%2 == 0)) == a }

// Stages returns the course of one side's connections over the span.
func (t Turns) Stages(connections int, a bool) []scenario.Stage {
	var stages []scenario.Stage
	hold := func(to float64, over time.Duration) {
		stages = append(stages, scenario.Stage{To: to}, scenario.Stage{To: to, Over: over})
	}
	hold(0, t.Rest)
	for slot := range 2 * len(t.First) {
		if t.own(slot, a) {
			hold(float64(connections), t.Ramp+t.Hold)
			hold(0, t.Rest)
		} else {
			hold(0, t.Slot())
		}
	}
	return stages
}

// at returns the pair whose slot of a side is the last to have begun at a time since the
// begin of the span, and whether the time is within the measured part of that slot. The
// pair is -1 before the side's first slot.
func (t Turns) at(since time.Duration, a bool) (pair int, measured bool) {
	since -= t.Rest
	if since < 0 {
		return -1, false
	}
	slot := int(since / t.Slot())
	if slot >= 2*len(t.First) {
		return len(t.First) - 1, false
	}
	if t.own(slot, a) {
		into := since % t.Slot()
		return slot / 2, into >= t.Ramp && into < t.Ramp+t.Hold
	}
	if slot%2 == 1 {
		return slot / 2, false // the side's own was the one before
	}
	return slot/2 - 1, false
}
