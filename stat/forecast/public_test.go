package forecast

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// published is what reference.py kept of its forecasts of a public series.
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

// TestPublicSeries forecasts public series from the origins that statsmodels had: the error is never above that of
// the seasonal naive forecast, and at most 5 % above that of the statsmodels model that turned out best; 70 to 90 % of
// the values lie within the intervals. Those with a season take minutes of computing: PUBLIC_SERIES=all includes them.
// docs/forecast.md has the figures of all.
func TestPublicSeries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute of computing")
	}
	for name, p := range publishedErrors(t) {
		values := publicSeries(t, name)
		t.Run(name, func(t *testing.T) {
			if len(p.Seasons) > 0 && os.Getenv("PUBLIC_SERIES") != "all" {
				t.Skip("takes minutes of computing: set PUBLIC_SERIES=all")
			}
			t.Parallel()
			judge(t, name, values, p)
		})
	}
}

func judge(t *testing.T, name string, values []float64, p published) {
	mase, held := score(t, values, p)
	best, by := math.Inf(1), ""
	for kind, v := range p.MASE {
		if v < best {
			best, by = v, kind
		}
	}
	naive := p.MASE[yardstick]
	t.Logf("| `%s` | %d | %d x %d | %.3f | %.3f | %.3f (%s) | %.2f | %.0f %% |", name, len(values), len(p.Origins),
		p.Horizon, naive, mase, best, by, mase/best, 100*held)
	if mase > naive || mase > 1.05*best {
		t.Errorf("MASE %.3f, the seasonal naive %.3f, statsmodels' best %.3f", mase, naive, best)
	}
	if held < 0.7 || held > 0.9 {
		t.Errorf("the intervals hold %.1f %% of the values", 100*held)
	}
}

// score is the mean MASE of Choose over the origins, and the share of values within its
// intervals.
func score(t testing.TB, values []float64, p published) (mase, held float64) {
	t.Helper()
	within, all := 0.0, 0.0
	for _, end := range p.Origins {
		training := Series{values[:end], p.Seasons}
		f, err := Choose(training, Options{Horizon: p.Horizon, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		actual := values[end : end+p.Horizon]
		mase += MASE(training, actual, f.Middle) / float64(len(p.Origins))
		for i, v := range actual {
			all++
			if v >= f.Low[i] && v <= f.High[i] {
				within++
			}
		}
	}
	return mase, within / all
}
