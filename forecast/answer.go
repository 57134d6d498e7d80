package forecast

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat/forecast"
)

// Schema names the JSON of an Answer.
const Schema = "redline.forecast/1"

// errShort is why a history is too short.
var errShort = forecast.ErrShort

// Short reports whether an error means that the history is too short, so that more
// of it would help.
func Short(err error) bool { return errors.Is(err, errShort) }

// Question is a question about a history.
type Question struct {
	Grid Grid
	// Unit is that of the values: "ns", "bytes" or "1", whose amounts have a form of their own, or a text that follows
	// the number, as "/s"; may be empty.
	Unit string
	// Source names where the history comes from, without secrets.
	Source string
	// Limit is the limit in question if above 0; LimitOf names it, such as "the
	// knee".
	Limit   float64
	LimitOf string
	// Horizon is how far to look ahead; zero means the length of the history, at most a
	// year.
	Horizon  time.Duration
	Holidays []time.Time // days, in UTC
	Seed     uint64
}

// Answer is the forecast of a history. Slices have a value per step.
type Answer struct {
	Schema  string     `json:"schema"`
	Source  string     `json:"source"`
	Unit    string     `json:"unit"`
	Start   time.Time  `json:"start"` // of the history
	Step    float64    `json:"step_s"`
	History []*float64 `json:"history"` // null if unknown
	// From is the beginning of the first forecast step.
	From     time.Time `json:"from"`
	Middle   []float64 `json:"middle"`
	Low      []float64 `json:"low"`
	High     []float64 `json:"high"`
	Interval float64   `json:"interval"`
	Model    string    `json:"model"`
	Seasons  []float64 `json:"seasons_s"` // lengths
	// HolidayFactor is by how much past holidays differed; 1 without any.
	HolidayFactor float64  `json:"holiday_factor"`
	Backtest      Backtest `json:"backtest"`
	Reach         *Reach   `json:"reach,omitempty"` // nil unless a limit was asked for
	Warnings      []string `json:"warnings"`
}

// Backtest is how the candidates performed on the history's own past.
type Backtest struct {
	Origins int     `json:"origins"`
	Ahead   float64 `json:"ahead_s"` // how far each forecast looked ahead
	Trials  []Trial `json:"trials"`  // best first
	// Held is the share of values within the intervals before they were stretched; null
	// if unknown.
	Held    *float64 `json:"held"`
	Stretch float64  `json:"stretch"`
}

// Trial is one candidate. MASE below that of the seasonal naive is better than repeating
// the last season.
type Trial struct {
	Name   string  `json:"name"`
	MASE   float64 `json:"mase"`
	Chosen bool    `json:"chosen,omitempty"`
}

// Reach is when the limit is first reached. A nil time lies beyond the horizon.
type Reach struct {
	Limit  float64    `json:"limit"`
	Of     string     `json:"limit_of"`
	Early  *time.Time `json:"early"`
	Middle *time.Time `json:"middle"`
	Late   *time.Time `json:"late"`
	// Share of the simulated futures that reach it within the horizon.
	Share float64 `json:"share"`
	// Already is the number of steps of the history that reached it, and Last the
	// latest of them.
	Already int        `json:"already"`
	Last    *time.Time `json:"last,omitempty"`
}

const (
	longestHorizon = 366 * 24 * time.Hour
	mostAhead      = 10_000 // steps
)

// Ask forecasts a history. The error says why there is no answer; see Short.
func Ask(q Question) (*Answer, error) {
	g := q.Grid
	seasons, remarks := g.seasons()
	horizon := q.Horizon
	if horizon == 0 {
		horizon = min(time.Duration(len(g.Values))*g.Step, longestHorizon)
	}
	steps := int((horizon + g.Step - 1) / g.Step)
	if steps > mostAhead {
		return nil, fmt.Errorf("%d steps ahead are too many: at most %d (hint: a shorter --horizon or a longer --step)",
			steps, mostAhead)
	}
	f, err := forecast.Choose(forecast.Series{Values: g.Values, Seasons: seasons},
		forecast.Options{Horizon: steps, Seed: q.Seed, Holidays: g.numbered(q.Holidays, steps)})
	if err != nil {
		return nil, err
	}
	a := &Answer{Schema: Schema, Source: q.Source, Unit: q.Unit, Start: g.Start, Step: g.Step.Seconds(),
		From:   g.at(len(g.Values)),
		Middle: f.Middle, Low: f.Low, High: f.High, Interval: f.Interval, Model: f.Model, HolidayFactor: f.HolidayFactor,
		Backtest: Backtest{Origins: f.Origins, Ahead: float64(f.Ahead) * g.Step.Seconds(), Stretch: f.Stretch,
			Held: known(f.Held)},
		Seasons: []float64{}, Warnings: append(append([]string{}, g.Remarks...), remarks...)}
	for _, v := range g.Values {
		a.History = append(a.History, known(v))
	}
	for _, m := range seasons {
		a.Seasons = append(a.Seasons, float64(m)*a.Step)
	}
	for _, t := range f.Trials {
		a.Backtest.Trials = append(a.Backtest.Trials, Trial{t.Name, t.MASE, t.Chosen})
	}
	if ahead := f.Ahead; steps > 2*ahead {
		a.Warnings = append(a.Warnings,
			fmt.Sprintf("the backtest looked %s ahead, and the horizon is %s: further out is extrapolation",
				span(time.Duration(ahead)*g.Step), span(horizon)))
	}
	if q.Limit > 0 {
		a.Reach = g.reach(f.Reaches(q.Limit), q)
	}
	return a, nil
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// numbered numbers the holidays of history and horizon and returns each step's; nil
// without holidays.
func (g Grid) numbered(holidays []time.Time, ahead int) []int {
	if len(holidays) == 0 {
		return nil
	}
	days := map[string]int{}
	for i, day := range holidays {
		days[day.UTC().Format(time.DateOnly)] = i + 1
	}
	out := make([]int, len(g.Values)+ahead)
	for i := range out {
		out[i] = days[g.at(i).UTC().Format(time.DateOnly)]
	}
	return out
}

func (g Grid) reach(p forecast.Passage, q Question) *Reach {
	r := &Reach{Limit: q.Limit, Of: q.LimitOf, Share: p.Share}
	date := func(step int) *time.Time {
		if step < 0 {
			return nil
		}
		t := g.at(len(g.Values) + step)
		return &t
	}
	r.Early, r.Middle, r.Late = date(p.Early), date(p.Middle), date(p.Late)
	for i, v := range g.Values {
		if v >= q.Limit {
			t := g.at(i)
			r.Already, r.Last = r.Already+1, &t
		}
	}
	return r
}

// span formats a length of time, in days if it is a whole number of them, or many.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day || d == day {
		return notation.Counted(int64(d.Hours()/24+0.5), "day", "days")
	}
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
