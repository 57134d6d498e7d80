package forecast

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// fixtures are statsmodels' parameters and forecasts (testdata/models.py).
type fixtures struct {
	ETS struct {
		Params   map[string]float64 `json:"params"`
		Forecast []float64          `json:"forecast"`
		SSE      float64            `json:"sse_relative"`
	} `json:"ets"`
	Airline struct {
		MA       float64   `json:"ma"`
		SMA      float64   `json:"sma"`
		Forecast []float64 `json:"forecast"`
	} `json:"airline"`
	Theta struct {
		Alpha    float64   `json:"alpha"`
		Forecast []float64 `json:"forecast"`
	} `json:"theta"`
	STL struct {
		Last []float64 `json:"last"` // cycle
	} `json:"stl"`
}

func statsmodels(t *testing.T) (f fixtures) {
	t.Helper()
	data, err := os.ReadFile("testdata/models.json")
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func alike(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]/want[i]-1) > tolerance {
			t.Errorf("%s, step %d: %v, statsmodels has %v", what, i+1, got[i], want[i])
		}
	}
}

// TestETSAsStatsmodels: with statsmodels' parameters, ETS(M,Ad,M) has the same errors and
// forecasts; and a fit of our own is hardly worse.
func TestETSAsStatsmodels(t *testing.T) {
	want, values := statsmodels(t).ETS, publicSeries(t, "airline")
	p := want.Params
	index := make([]float64, 12)
	for i := range index {
		index[i] = p[fmt.Sprintf("initial_seasonal.%d", 11-i)] // theirs count backwards
	}
	e := &ets{form: form{relative: true, trend: damped, season: 'M'}, alpha: p["smoothing_level"],
		beta: p["smoothing_trend"],
		phi:  p["damping_trend"], gamma: []float64{p["smoothing_seasonal"]}, seasons: []int{12}}
	s := state{level: p["initial_level"], slope: p["initial_trend"], indices: [][]float64{index}}
	var errs residuals
	theirs, _ := e.likelihood(values, &s, &errs)
	squares := 0.0
	for _, v := range errs {
		squares += v * v
	}
	if math.Abs(squares/want.SSE-1) > 1e-6 {
		t.Errorf("squared errors of %v, statsmodels has %v", squares, want.SSE)
	}
	e.state = s
	alike(t, "ETS", e.mean(24), want.Forecast, 1e-6)

	fitted, _ := fitForm(Series{values, []int{12}}, e.form)
	alike(t, "our fit", fitted.mean(24), want.Forecast, 0.06)
	if variance(fitted.errors) > 1.25*squares/float64(len(values)) {
		t.Errorf("our fit errs by %.4f, statsmodels' by %.4f (likelihood %.1f)", variance(fitted.errors),
			squares/float64(len(values)), theirs)
	}
}

// TestARIMAAsStatsmodels: the airline model of logarithms, with statsmodels' coefficients by
// exact likelihood, and with ours by conditional sum of squares.
func TestARIMAAsStatsmodels(t *testing.T) {
	want := statsmodels(t).Airline
	logs := inLogs(Series{Values: publicSeries(t, "airline")}).Values
	o := order{d: 1, q: 1, sd: 1, sq: 1, m: 12}
	ar, ma := polynomials(nil, nil, []float64{want.MA}, []float64{want.SMA}, 12)
	alike(t, "with their coefficients", assembled(o, logs, ar, ma, 0).mean(24), want.Forecast, 5e-4)
	x, _ := o.fit(logs)
	ar, ma, centre := o.coefficients(x)
	if math.Abs(coefficient(ma, 1)-want.MA) > 0.05 || math.Abs(coefficient(ma, 12)-want.SMA) > 0.05 {
		t.Errorf("coefficients of %.3f and %.3f, statsmodels has %.3f and %.3f", coefficient(ma, 1), coefficient(ma, 12),
			want.MA, want.SMA)
	}
	alike(t, "with ours", assembled(o, logs, ar, ma, centre).mean(24), want.Forecast, 2e-3)
}

func TestThetaAsStatsmodels(t *testing.T) {
	want := statsmodels(t).Theta
	m, err := fitTheta(Series{Values: publicSeries(t, "nile")})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*theta).alpha; math.Abs(got-want.Alpha) > 0.01 {
		t.Errorf("alpha %.4f, statsmodels has %.4f", got, want.Alpha)
	}
	alike(t, "Theta", m.mean(8), want.Forecast, 2e-3)
}

// TestFormsAreAveraged: forms between which the criterion hardly decides are averaged.
func TestFormsAreAveraged(t *testing.T) {
	of := func(v float64) model { return naive{last: []float64{v}, errors: residuals{0}} }
	m, err := akaike([]scored{{of(8), 2}, {of(2), 0}, {of(1000), 50}})
	if err != nil {
		t.Fatal(err)
	}
	// exp(-1) to 1: the weight of the second best form is 0.269.
	if got := m.mean(1)[0]; math.Abs(got-(2*0.7311+8*0.2689)) > 1e-3 || m.name() != "naive and 1 like it" {
		t.Errorf("%s forecasts %.4f", m.name(), got)
	}
	if m, _ := akaike([]scored{{of(8), 90}, {of(2), 0}}); m.mean(1)[0] != 2 || m.name() != "naive" {
		t.Errorf("%s, although one is far better", m.name())
	}
	if _, err := akaike(nil); err == nil {
		t.Error("no form fits, and there is a model")
	}
}

// TestNoneAlone: the three best are averaged, however far the first is ahead, and the yardstick is
// never among them.
func TestNoneAlone(t *testing.T) {
	weights := near([]Trial{{Name: "a", MASE: 1}, {Name: "b", MASE: 2}, {Name: yardstick, MASE: 2.1},
		{Name: "c", MASE: 4}, {Name: "d", MASE: 5}})
	if len(weights) != 3 || weights["c"] == 0 || math.Abs(weights["a"]/weights["b"]-4) > 1e-9 {
		t.Errorf("weights %v", weights)
	}
}

// TestClearlyWorseIsLeftOut: a candidate that is worse at every origin is not averaged, one that fails at a single origin is.
func TestClearlyWorseIsLeftOut(t *testing.T) {
	best := Trial{Name: "a", MASE: 1, errors: []float64{0.9, 1, 1.1, 1}}
	by := func(errors ...float64) Trial { return Trial{Name: "b", MASE: 2, errors: errors} }
	if weights := near([]Trial{best, by(1.9, 2.1, 2, 2)}); len(weights) != 1 {
		t.Errorf("worse at each origin, and averaged: %v", weights)
	}
	if weights := near([]Trial{best, by(0.8, 0.9, 1, 5.3)}); len(weights) != 2 {
		t.Errorf("worse at one origin, and left out: %v", weights)
	}
}

// TestNoSeasonIsFound: a weekly season is looked for, and the values have none.
func TestNoSeasonIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 120)
	for i := range values {
		values[i] = 1000 + 50*rng.NormFloat64()
	}
	m, err := fitETS(Series{values, []int{7}})
	if err != nil || !strings.Contains(m.name(), ",N)") {
		t.Errorf("%v, %v", m.name(), err)
	}
}

// TestSTLAsStatsmodels: the last cycle of the logarithms of airline passengers. The trend is smoothed at every second step
// instead of each, which moves the cycle a little.
func TestSTLAsStatsmodels(t *testing.T) {
	values := inLogs(Series{Values: publicSeries(t, "airline")}).Values
	cycles, rest := seasonal(values, []int{12})
	for i, want := range statsmodels(t).STL.Last {
		if math.Abs(cycles[0][i]-want) > 0.002 {
			t.Errorf("month %d: %.4f, statsmodels has %.4f", i+1, cycles[0][i], want)
		}
	}
	for i, v := range rest[len(rest)-12:] {
		if math.Abs(v+cycles[0][i]-values[len(values)-12+i]) > 1e-12 {
			t.Errorf("month %d: rest and season are not the value", i+1)
		}
	}
}

// TestSTLSeasons: of two seasons and a trend, each is found by itself, and the forecast continues all three.
func TestSTLSeasons(t *testing.T) {
	values := make([]float64, 24*7*6)
	at := func(i int) float64 {
		return 500 + float64(i)/10 + 100*math.Sin(2*math.Pi*float64(i)/24) + 40*math.Cos(2*math.Pi*float64(i)/168)
	}
	for i := range values {
		values[i] = at(i)
	}
	m, err := fitSTL(Series{values, []int{24, 168}})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.mean(168) {
		if math.Abs(v-at(len(values)+i)) > 5 {
			t.Errorf("step %d: %.1f, want %.1f", i+1, v, at(len(values)+i))
		}
	}
	if _, err := fitSTL(Series{Values: values}); err == nil {
		t.Error("a season of a series without seasons")
	}
}
