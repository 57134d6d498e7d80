package forecast

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// published is what reference.py left of its forecasts of a public series.
type published struct {
	Seasons []int              `json:"seasons"`
	Horizon int                `json:"horizon"`
	Origins []int              `json:"origins"`
	MASE    map[string]float64 `json:"mase"`
}

func publicSeries(t testing.TB, name string) []float64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "series", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for line := range strings.FieldsSeq(string(data)) {
		v, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func publishedErrors(t testing.TB) map[string]published {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "statsmodels.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Series map[string]published `json:"series"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all.Series
}

// scored is how Choose did on a series, at the origins that statsmodels had.
type scored struct {
	mase, held float64
	models     []string
	trials     map[string]float64 // after the fact, of every candidate
}

func score(t testing.TB, values []float64, p published, everyone bool) scored {
	t.Helper()
	out := scored{trials: map[string]float64{}}
	within, all := 0, 0
	for _, end := range p.Origins {
		training := Series{values[:end], p.Seasons}
		f, err := Choose(training, Options{Horizon: p.Horizon, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		actual := values[end : end+p.Horizon]
		out.mase += MASE(training, actual, f.Middle) / float64(len(p.Origins))
		out.models = append(out.models, f.Trials[0].Name)
		for i, v := range actual {
			all++
			if v >= f.Low[i] && v <= f.High[i] {
				within++
			}
		}
		if everyone {
			for _, c := range candidates {
				if m := c.fitted(training, p.Horizon); m != nil {
					out.trials[c.name] += MASE(training, actual, m.mean(p.Horizon)) / float64(len(p.Origins))
				}
			}
		}
	}
	out.held = float64(within) / float64(all)
	return out
}

func TestScore(t *testing.T) {
	only := os.Getenv("SERIES")
	for name, p := range publishedErrors(t) {
		if only != "" && !strings.Contains(only, name) {
			continue
		}
		s := score(t, publicSeries(t, name), p, true)
		best, by := 1e9, ""
		for kind, v := range p.MASE {
			if v < best {
				best, by = v, kind
			}
		}
		t.Logf("%-9s ours %.3f naive %.3f best %.3f (%s) ratio %.3f held %.2f\n   %v\n   %v", name, s.mase, p.MASE["seasonal naive"], best, by,
			s.mase/best, s.held, s.models, s.trials)
	}
}
