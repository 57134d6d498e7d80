package gctune

import (
	"fmt"
	"testing"
	"time"
)

// turns counts the most reversals of GOGC's direction within any minute of the seconds in a row.
func turns(percents []int) int {
	var at []int
	direction, most := 0, 0
	for i := 1; i < len(percents); i++ {
		d := sign(float64(percents[i] - percents[i-1]))
		if d == 0 {
			continue
		}
		if direction != 0 && d != direction {
			at = append(at, i)
		}
		direction = d
	}
	for i := range at {
		n := 0
		for _, other := range at[i:] {
			if other-at[i] < 60 {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// The mark of this package: from any start, at any load and with noise, the share of CPU or the latency of the assist
// sweep comes to its target and stays, with at most two reversals per minute, and memory never passes the limit.
func TestSweep(t *testing.T) {
	for _, start := range []int{-1, 25, 50, 75, 100, 150, 400, 1000} {
		for _, noise := range []float64{0, 0.05, 0.15} {
			for _, load := range []float64{0.25, 1, 2} {
				for _, aim := range []time.Duration{0, 2 * time.Millisecond, 5 * time.Millisecond} {
					name := fmt.Sprintf("GOGC=%d noise=%v load=%v aim=%v", start, noise, load, aim)
					p := service(uint64(start+2) + uint64(load*100))
					p.noise, p.limit, p.others = noise, 4<<30, 100<<20
					p.allocating, p.working = p.allocating*load, p.working*load
					p.set.percent = start
					o := Options{GCShare: 0.06, Min: 25, Max: 1000}
					if aim > 0 {
						p.latency, o.GCShare, o.Target = assist, 0, aim
					}
					var percents []int
					var sum float64
					late := 0
					tuner := drive(o, p, 900, func(second int, _ *Tuner) {
						percents = append(percents, p.set.percent)
						if second == 0 {
							p.highest = 0 // what was reached under the settings from before
						}
						if second < 600 { // time enough for a step that noise took back to be tried again
							return
						}
						late++
						if aim > 0 {
							sum += float64(p.p99) / float64(aim)
						} else {
							sum += p.gcShare / 0.06
						}
					})
					if mean := sum / float64(late); mean > 1.05 || mean < low*0.9 {
						t.Errorf("%s: at %.2f of the target in the end, %+v", name, mean, tuner.Stats())
					}
					if n := turns(percents); n > mostReversals {
						t.Errorf("%s: %d reversals within a minute: %v", name, n, percents)
					}
					if p.highest > p.limit {
						t.Errorf("%s: RSS %d MiB, the limit is %d", name, p.highest>>20, p.limit>>20)
					}
				}
			}
		}
	}
}

// Without noise the way to the target is straight: no reversal at all.
func TestNoOvershoot(t *testing.T) {
	for _, aim := range []time.Duration{0, time.Millisecond, 8 * time.Millisecond} {
		p := service(1)
		p.noise = 0
		o := Options{GCShare: 0.03, Max: 1000}
		if aim > 0 {
			p.latency, o.GCShare, o.Target = assist, 0, aim
		}
		if s := drive(o, p, 300, nil).Stats(); s.Reversals != 0 || s.Moves == 0 {
			t.Errorf("aim %v: %+v", aim, s)
		}
	}
}

// Live memory grows until GOGC must give way, step by step or at once: the limit holds, and GOGC comes
// back when memory does.
func TestGrowingHeap(t *testing.T) {
	p := service(2)
	p.limit = 2 << 30
	seen := map[State]bool{}
	tuner := drive(Options{GCShare: 0.03}, p, 900, func(second int, tuner *Tuner) {
		switch {
		case second < 300:
			p.live += 3 << 20 // to 1.3 GB
		case second == 600:
			p.live = 300 << 20
		}
		seen[tuner.Stats().State] = true
	})
	if p.highest > p.limit {
		t.Errorf("RSS %d MiB, the limit is %d", p.highest>>20, p.limit>>20)
	}
	if !seen[NoRoom] || p.gcShare > 0.033 {
		t.Errorf("states %v; in the end %v of the CPU: %+v", seen, p.gcShare, tuner.Stats())
	}
}

// A container's limit that is lowered while the program runs holds from the next reading on, and so do
// neighbours that grow.
func TestLimitMoves(t *testing.T) {
	p := service(3)
	p.limit, p.set.percent = 4<<30, 400
	drive(Options{GCShare: 0.02}, p, 400, func(second int, _ *Tuner) {
		switch second {
		case 100:
			p.limit, p.highest = 2<<30, 0
		case 200:
			p.others, p.highest = 700<<20, 0
		}
		if second == 101 || second == 201 {
			p.highest = 0 // what was reached before the limit was read
		}
		if p.highest > p.limit {
			t.Fatalf("second %d: RSS %d MiB, the limit is %d", second, p.highest>>20, p.limit>>20)
		}
	})
}

// A memory limit that was set before is never raised, and one below what lives is not asked for.
func TestMemoryLimitBounds(t *testing.T) {
	p := service(4)
	p.limit, p.set.memory = 8<<30, 1<<30
	drive(Options{}, p, 100, func(int, *Tuner) {
		if p.set.memory > 1<<30 {
			t.Fatalf("memory limit %d, it was set to %d", p.set.memory, 1<<30)
		}
	})
	p = service(5)
	p.noise, p.limit = 0, 300<<20 // less than lives
	if tuner := drive(Options{}, p, 100, nil); tuner.Stats().Memory != p.live+p.beside || tuner.Stats().GOGC != 50 {
		t.Errorf("%+v, want GOGC at its least and the limit at what lives", tuner.Stats())
	}
}

// CPU that rises with a larger heap, as by cache misses: the step is undone, and not tried again for a while.
func TestStepsBackWhenCPURises(t *testing.T) {
	p := service(6)
	p.dearer = func(percent int) float64 { return 1 + max(0, float64(percent)-120)/60 }
	highest := 0
	var percents []int
	tuner := drive(Options{GCShare: 0.03}, p, 200, func(int, *Tuner) {
		highest = max(highest, p.set.percent)
		percents = append(percents, p.set.percent)
	})
	s := tuner.Stats()
	if s.StepsBack == 0 || s.GOGC > 140 || turns(percents) > mostReversals {
		t.Errorf("%+v after %v", s, percents)
	}
	if s.State != Resting && s.State != Waiting {
		t.Errorf("state %q", s.State)
	}
}

// A step that cannot be undone because of its reversals stays on probation, and is undone once they lie a minute back.
func TestDampedIsUndoneLater(t *testing.T) {
	at := func(second int) sample {
		s := sample{at: time.Duration(second) * time.Second, soft: none, live: 1 << 20, budget: none}
		s.cycles, s.allocs = uint64(4*second), uint64(second)<<20
		s.gc, s.user, s.cpu = 0.2*float64(second), 0.8*float64(second), float64(second)
		return s
	}
	l := law{target: 0.05, least: 50, most: 400, originalSoft: none}
	l.begin(at(0))
	l.percent, l.direction, l.reversals = 150, 1, []time.Duration{0, 0}
	l.probation, l.suspicion, l.before, l.expected = true, true, 100, 0.5/(1<<20) // half of what is used
	for second := 1; second < 60; second++ {
		if d := l.decide(at(second)); d.state != Damped || d.percent != 150 {
			t.Fatalf("after %d s: %+v", second, d)
		}
	}
	if d := l.decide(at(60)); d.state != SteppedBack || d.percent != 100 {
		t.Errorf("a minute after the reversals: %+v", d)
	}

	l = law{target: 0.05, aim: time.Millisecond, least: 50, most: 400, originalSoft: none}
	l.begin(at(0))
	l.percent, l.direction, l.reversals = 220, 1, []time.Duration{0, 0}
	l.climb.percent, l.climb.signal = 100, 5
	for second := 1; second <= 60; second++ {
		s := at(second)
		s.latency, s.heard = 5*time.Millisecond, true
		want := Damped
		switch {
		case second == 1:
			want = Waiting // for a reading of these settings alone
		case second == 60:
			want = Deaf
		}
		if d := l.decide(s); d.state != want {
			t.Fatalf("a climb that latency does not follow, after %d s: %+v", second, d)
		}
	}
}

// One span of dear CPU, as by a neighbour, undoes nothing.
func TestOneDearSpanUndoesNothing(t *testing.T) {
	p := service(7)
	p.noise = 0
	doubted := false
	tuner := drive(Options{GCShare: 0.03}, p, 120, func(_ int, tuner *Tuner) {
		p.dearer = nil
		if tuner.Stats().State == Stepped && !doubted {
			p.dearer = func(int) float64 { return 1.6 }
		}
		doubted = doubted || tuner.Stats().State == Doubting
	})
	if s := tuner.Stats(); s.StepsBack != 0 || s.Moves == 0 {
		t.Errorf("%+v", s)
	}
}

// Latency that has other causes: the memory that the climb took is given back.
func TestDeafLatency(t *testing.T) {
	p := service(8)
	p.latency = func(float64, float64) time.Duration { return 50 * time.Millisecond }
	deaf := false
	tuner := drive(Options{Target: 5 * time.Millisecond, Max: 2000}, p, 200, func(_ int, tuner *Tuner) {
		deaf = deaf || tuner.Stats().State == Deaf
	})
	if s := tuner.Stats(); !deaf || s.GOGC > 110 {
		t.Errorf("deaf %v, %+v", deaf, s)
	}
}

// A p99 that jumps, as where one request in a hundred begins to meet a collection: no setting lies within the band. The
// target is held from above the cliff, and looking below it costs a few seconds every five minutes.
func TestCliff(t *testing.T) {
	for seed := range uint64(20) {
		p := service(seed)
		p.latency = func(_, percent float64) time.Duration {
			if percent < 95 {
				return 420 * time.Microsecond
			}
			return 110 * time.Microsecond
		}
		p.set.percent = 50
		within, all := 0, 0
		var percents []int
		drive(Options{Target: 211 * time.Microsecond}, p, 900, func(second int, _ *Tuner) {
			percents = append(percents, p.set.percent)
			if second >= 60 {
				all++
				if p.p99 <= 211*time.Microsecond {
					within++
				}
			}
		})
		if float64(within) < 0.95*float64(all) || turns(percents) > mostReversals {
			t.Errorf("seed %d: %d of %d seconds within the target, %d reversals in a minute: %v",
				seed, within, all, turns(percents), percents)
		}
	}
}

// Spans that are free after a cycle are room for objects, and what a slow cycle counts as live is not: neither takes
// GOGC down where the heap fits the limit.
func TestSpansToFill(t *testing.T) {
	p := service(3)
	p.noise, p.loose, p.floating, p.limit = 0, 400<<20, 0.3, 1500<<20
	tuner := drive(Options{GCShare: 0.06, Max: 110}, p, 600, nil)
	if s := tuner.Stats(); s.Reversals != 0 || s.GOGC < 100 {
		t.Errorf("%+v: the heap's goal is 840 MiB, the limit %d MiB", s, p.limit>>20)
	}
}

// A load that comes and goes by ten does not move GOGC: what collection costs per unit of work is the same.
func TestLoadSteps(t *testing.T) {
	p := service(9)
	p.noise = 0
	tuner := drive(Options{GCShare: 0.06}, p, 100, nil)
	before := tuner.Stats()
	for range 5 {
		for _, factor := range []float64{10, 0.1} {
			p.allocating, p.working = p.allocating*factor, p.working*factor
			for range 60 {
				tuner.step()
			}
		}
	}
	if s := tuner.Stats(); s.Moves != before.Moves {
		t.Errorf("%+v, before %+v", s, before)
	}
}

// Without load, and so without collections, nothing is decided.
func TestIdle(t *testing.T) {
	p := service(10)
	p.allocating = 0
	if s := drive(Options{}, p, 100, nil).Stats(); s.Moves != 0 || s.State != Waiting {
		t.Errorf("%+v", s)
	}
}

// GOGC never leaves its bounds, whatever the process does.
func TestBounds(t *testing.T) {
	for seed := range uint64(20) {
		p := service(seed)
		p.noise, p.limit = 1, 3<<30
		drive(Options{GCShare: 0.04, Min: 60, Max: 300}, p, 300, func(second int, tuner *Tuner) {
			if p.set.percent < 60 || p.set.percent > 300 {
				t.Fatalf("GOGC=%d", p.set.percent)
			}
			p.live = int64(float64(400<<20) * p.jitter())
		})
	}
}

func TestUnreadableGroup(t *testing.T) {
	p := service(11)
	p.limit = 4 << 30
	tuner := drive(Options{}, p, 10, nil)
	known := tuner.Stats().Memory
	p.fails, p.limit = errUnreadable, 0
	for range 10 {
		tuner.step()
	}
	if s := tuner.Stats(); s.Memory != known || s.Err != errUnreadable {
		t.Errorf("%+v, want the memory limit of before, %d", s, known)
	}
}
