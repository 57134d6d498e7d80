package history

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify/baseline"
)

// Schema names the JSON that `redline history --json` prints.
const Schema = "redline.history/1"

type seriesJSON struct {
	Metric   string        `json:"metric"`
	Unit     string        `json:"unit"`
	Higher   bool          `json:"higher_is_better"`
	Scenario string        `json:"scenario"`
	Hash     string        `json:"scenario_hash"`
	Kind     Kind          `json:"kind"`
	Machine  record.Host   `json:"machine"`
	Points   []pointJSON   `json:"points"`
	Changes  []changedJSON `json:"changes"`
	// Differs is how the machine differs from the reader's.
	Differs []baseline.Difference `json:"machine_differs"`
}

type pointJSON struct {
	revision.Commit
	Measured time.Time `json:"measured"`
	Value    float64   `json:"value"`
	Low      *float64  `json:"low"` // null where the interval is not known
	High     *float64  `json:"high"`
	Results  int       `json:"results"`
}

type changedJSON struct {
	At       int      `json:"at"` // index of the first point of the new level
	Commit   string   `json:"commit"`
	Before   float64  `json:"before"`
	After    float64  `json:"after"`
	Relative *float64 `json:"change"` // null where the level before was 0
	P        float64  `json:"p"`
	Worse    bool     `json:"worse"`
}

// JSON writes series for programs.
func JSON(w io.Writer, all []Series, here record.Host) error {
	out := struct {
		Schema string       `json:"schema"`
		Series []seriesJSON `json:"series"`
	}{Schema, []seriesJSON{}}
	for _, s := range all {
		one := seriesJSON{s.Metric, s.Unit, s.Higher, s.Scenario, s.Hash, s.Kind, s.Machine, []pointJSON{},
			[]changedJSON{}, append([]baseline.Difference{}, baseline.MachineDifferences(here, s.Machine)...)}
		for _, p := range s.Points {
			one.Points = append(one.Points, pointJSON{p.Commit, p.Time, p.Value, known(p.Low), known(p.High), p.Results})
		}
		for _, c := range s.Changes {
			one.Changes = append(one.Changes, changedJSON{c.At, s.Points[c.At].Commit.Hash, c.Before, c.After,
				known(c.Relative()), c.P, c.Worse})
		}
		out.Series = append(out.Series, one)
	}
	return inert.JSON(w, out)
}

// known returns nil for a number that is none.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// CSV writes a line per point for spreadsheets; level_p holds the p-value where
// a new level begins.
func CSV(w io.Writer, all []Series) error {
	out := csv.NewWriter(w)
	number := func(v float64) string {
		if known(v) == nil {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	// Write's error is kept, and Error returns it.
	out.Write([]string{"metric", "unit", "scenario", "scenario_hash", "kind", "cpu_model", "cpus", "kernel", "commit",
		"committed", "subject", "branch", "dirty", "measured", "value", "low", "high", "results", "level_p"})
	for _, s := range all {
		p := map[int]string{}
		for _, c := range s.Changes {
			p[c.At] = number(c.P)
		}
		for i, point := range s.Points {
			c := point.Commit
			out.Write([]string{cell(s.Metric), s.Unit, cell(s.Scenario), s.Hash, string(s.Kind), cell(s.Machine.CPUModel),
				strconv.Itoa(s.Machine.CPUs), cell(s.Machine.Kernel),
				cell(c.Hash), stamp(c.Time), cell(c.Subject), cell(c.Branch), strconv.FormatBool(c.Dirty), stamp(point.Time),
				number(point.Value), number(point.Low), number(point.High), strconv.Itoa(point.Results), p[i]})
		}
	}
	out.Flush()
	return out.Error()
}

// cell keeps a spreadsheet from taking text, such as a commit's subject, for a
// formula.
func cell(text string) string {
	text = inert.Text(text)
	if text != "" && (text[0] == '=' || text[0] == '+' || text[0] == '-' || text[0] == '@') {
		return "'" + text
	}
	return text
}
