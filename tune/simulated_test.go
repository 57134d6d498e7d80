package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// surface is a service with four knobs whose best setting is known: a collector that
// costs less the rarer it runs until memory becomes dear, processors with an optimum that
// workers move, a pool with a knee behind which contention grows.
type surface struct {
	space                        Space
	gc, memory, procs, pool, mix float64
	optimum, knee                float64
	flat                         bool
}

func fourKnobs(t testing.TB) Space {
	var knobs []Knob
	for _, text := range []string{"GOGC=50..800", "GOMAXPROCS=1..8", "env:POOL=2..64", "flag:-workers=1..16"} {
		k, err := ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		knobs = append(knobs, k)
	}
	space, err := NewSpace(knobs, func(k Knob) (string, bool) {
		return map[string]string{"GOGC": "100", "GOMAXPROCS": "2", "env:POOL": "4", "flag:-workers": "4"}[k.Name], true
	})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func drawSurface(space Space, rng *rand.Rand) surface {
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	return surface{
		space: space, gc: between(0.02, 0.25), memory: between(0, 0.15), procs: between(0.05, 0.4), pool: between(0.1, 0.6),
		mix: between(0, 0.15), optimum: between(0, 1), knee: between(0.1, 0.8),
	}
}

// value is the logarithm of the throughput at a setting.
func (f surface) value(x Setting) float64 {
	if f.flat {
		return 0
	}
	at := func(i int) float64 { return f.space.Knobs[i].Levels[x[i]].At }
	g, p, c, w := at(0), at(1), at(2), at(3)
	v := f.gc*(1-math.Exp(-3*g)) - f.memory*g*g*g
	v -= f.procs * (p - f.optimum) * (p - f.optimum)
	v += f.pool*math.Min(c, f.knee)/f.knee - 0.1*f.pool*math.Max(0, c-f.knee)
	return v - f.mix*(w-p)*(w-p)
}

func (f surface) gain(x Setting) float64 { return f.value(x) - f.value(f.space.Present) }

func (f surface) best() (top float64) {
	f.space.each(func(x Setting) { top = math.Max(top, f.gain(x)) })
	return top
}

// trial draws an outcome: a launch of each side deviates by sd, one in twenty of them is hit by a
// neighbour.
func (f surface) trial(x Setting, sd float64, rng *rand.Rand) float64 {
	launch := func() float64 {
		v := sd * rng.NormFloat64()
		if rng.IntN(20) == 0 {
			v -= 3 * sd * rng.Float64()
		}
		return v
	}
	return f.gain(x) + launch() - launch()
}

func TestSimulatedRegret(t *testing.T) {
	space := fourKnobs(t)
	for _, sd := range []float64{0.02, 0.05, 0.08} {
		for _, trials := range []int{120, 240} {
			rng := rand.New(rand.NewPCG(3, 5))
			within, sum, worse, model, noise := 0, 0.0, 0, 0.0, 0.0
			const n = 20
			for i := range n {
				f := drawSurface(space, rng)
				s := NewSearch(space, Options{Trials: trials, Seed: uint64(i)})
				for {
					tr, ok := s.Next()
					if !ok {
						break
					}
					tr.Gain = f.trial(tr.Setting, sd, rng)
					s.Observe(tr)
				}
				got := 0.0
				x, ok := s.Chosen()
				if ok {
					got = f.gain(x)
				}
				top, arg := math.Inf(-1), Setting(nil)
				s.refit()
				space.each(func(y Setting) {
					if m := s.model.mean(y); m > top {
						top, arg = m, y
					}
				})
				model += f.best() - f.gain(arg)
				noise += s.model.theta.noise / n
				if os.Getenv("SHOW") != "" {
					fmt.Println(x, arg, f.best()-got, f.best()-f.gain(arg), s.model.theta, s.count(x), len(s.tried()))
				}
				regret := f.best() - got
				if regret <= math.Log(1.02) {
					within++
				}
				sum += regret
				if got < -0.005 {
					worse++
				}
			}
			fmt.Printf("grid %d sd %.2f trials %d: within %d of %d, mean regret %.4f, worse %d model %.4f noise %.3f\n", space.Size(), sd, trials, within, n, sum/n, worse, model/n, noise)
		}
	}
}
