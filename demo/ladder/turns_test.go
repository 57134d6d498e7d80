package ladder

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

const ms = time.Millisecond

func lay(p95 time.Duration, pairs int) Turns {
	return Lay(p95, p95/4, pairs, rand.New(rand.NewPCG(1, 2)))
}

// TestTurnsAreOnTheGrid: windows are what is measured, so a turn that ends within one
// would count the other side's requests.
func TestTurnsAreOnTheGrid(t *testing.T) {
	for _, p95 := range []time.Duration{0, 3 * ms, 100 * ms, 101 * ms, 640 * ms, time.Minute} {
		turns := lay(p95, Pairs)
		for _, d := range []time.Duration{turns.Ramp, turns.Hold, turns.Rest} {
			if d < Window || d%Window != 0 {
				t.Errorf("p95 %v: %+v is not of whole windows", p95, turns)
			}
		}
		if turns.Ramp < min(p95/2, mostRamp) || turns.Rest < min(p95, mostRamp) {
			t.Errorf("p95 %v: requests of a turn do not end before the next: %+v", p95, turns)
		}
		if turns.Ramp > mostRamp || turns.Rest > mostRamp {
			t.Errorf("p95 %v: a comparison takes minutes: %+v", p95, turns)
		}
	}
}

// TestStagesNeverLoadBoth: at each instant one side at most is loaded, each equally long,
// and the load ends with a rest.
func TestStagesNeverLoadBoth(t *testing.T) {
	turns := lay(250*ms, Pairs)
	const step = 50 * ms
	held := func(stages []scenario.Stage) (course []float64) {
		for _, s := range stages {
			for d := time.Duration(0); d < s.Over; d += step {
				course = append(course, s.To)
			}
		}
		return course
	}
	a, b := held(turns.Stages(64, true)), held(turns.Stages(64, false))
	if n := int(turns.Span() / step); len(a) != n || len(b) != n {
		t.Fatalf("courses of %d and %d steps, want %d", len(a), len(b), n)
	}
	loaded := [2]int{}
	for i := range a {
		if a[i] > 0 && b[i] > 0 {
			t.Fatalf("both are loaded at %v", time.Duration(i)*step)
		}
		for side, course := range [][]float64{a, b} {
			if course[i] == 64 {
				loaded[side]++
			}
		}
	}
	if want := int(Pairs * (turns.Ramp + turns.Hold) / step); loaded != [2]int{want, want} {
		t.Errorf("loaded for %v steps, want %d each", loaded, want)
	}
	for i := len(a) - int(turns.Rest/step); i < len(a); i++ {
		if a[i]+b[i] > 0 {
			t.Error("requests are sent in the last rest")
		}
	}
}

// TestOrderIsRandomAndBalanced: over two pairs each side is first once, and a different
// seed gives a different order.
func TestOrderIsRandomAndBalanced(t *testing.T) {
	seen := map[bool]bool{}
	for seed := range uint64(20) {
		first := Lay(0, 0, 8, rand.New(rand.NewPCG(seed, 0))).First
		for n := 0; n < len(first); n += 2 {
			if first[n] == first[n+1] {
				t.Errorf("seed %d: pairs %d and %d have the same order", seed, n, n+1)
			}
		}
		seen[first[0]] = true
	}
	if len(seen) != 2 {
		t.Error("the same side is first whatever the seed")
	}
}
