package tune

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// recorded is a sweep of the lab's order gateway: the outcomes of every setting, measured on one machine.
// docs/tuning.md says how it was made.
type recorded struct {
	Present map[string]string `json:"present"`
	Knobs   []string          `json:"knobs"`
	Trials  []struct {
		Setting Setting   `json:"setting"`
		Gains   []float64 `json:"gains"` // logarithms of the throughput's ratio
	} `json:"trials"`
}

// gains are the outcomes of a setting; none for the present one.
func (r recorded) gains(x Setting) []float64 {
	for _, t := range r.Trials {
		if slices.Equal(t.Setting, x) {
			return t.Gains
		}
	}
	return nil
}

// gain is the mean of a setting's outcomes, the truth where outcomes are drawn from these.
func (r recorded) gain(x Setting) float64 {
	if gains := r.gains(x); len(gains) > 0 {
		return stat.Mean(gains, nil)
	}
	return 0
}

// TestNearTheGatewaysOptimum searches the settings of the gateway with outcomes drawn from the sweep, so with the
// noise of real launches. Each search takes at most a quarter of the sweep's trials.
func TestNearTheGatewaysOptimum(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "gateway-sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	space := spaceOf(t, r.Present, r.Knobs...)
	best, trials := 0.0, 0
	for _, x := range r.Trials {
		best, trials = max(best, r.gain(x.Setting)), trials+len(x.Gains)
	}
	const searches = 20
	within, worse, lost, taken := 0, 0, 0.0, 0
	for seed := range uint64(searches) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := searched(space, Options{Trials: trials / 4, Seed: seed}, func(x Setting) float64 {
			gains := r.gains(x)
			return gains[rng.IntN(len(gains))]
		})
		taken += len(s.Trials())
		got := 0.0
		if x, ok := s.Chosen(); ok {
			got = r.gain(x)
		}
		if lost += best - got; best-got <= math.Log(1.02) {
			within++
		}
		if got < 0 {
			worse++
		}
	}
	t.Logf("%d settings, %d trials; the best gains %.1f %%; %d trials per search: within 2 %% of it in %d of %d, "+
		"%.1f %% from it on average",
		space.Size(), trials, 100*math.Expm1(best), taken/searches, within, searches, 100*lost/searches)
	if within < searches*9/10 || worse > 0 {
		t.Errorf("within 2 %% of the optimum in %d of %d, worse than the start in %d", within, searches, worse)
	}
}
