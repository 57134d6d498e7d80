package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"slices"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/report"
)

//go:embed page/dist/lab.js
var labScript string

// lab is what the page of the lab's results shows; web/page/src/lab.tsx reads it.
type lab struct {
	Title   string         `json:"title"`
	Machine string         `json:"machine"`
	Decided int            `json:"decided"` // of Rows
	Rows    []labRow       `json:"rows"`
	Ladders []labLadder    `json:"ladders"`
	Counts  map[string]int `json:"counts"` // of verdicts
}

// labRow is one claim: what was claimed against what was measured. Factors are how many times
// better the tuned side is; 0 is not known.
type labRow struct {
	ID       string  `json:"id"`
	What     string  `json:"what"`
	Expect   string  `json:"expect"`
	Safety   string  `json:"safety"`
	Claimed  string  `json:"claimed"` // in the report's words
	Factor   float64 `json:"factor"`
	Metric   string  `json:"metric"`
	Measured string  `json:"measured"`
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Verdict  string  `json:"verdict"`
	Why      string  `json:"why"`
}

// labLadder is a service taken up step by step.
type labLadder struct {
	Title string    `json:"title"`
	Note  string    `json:"note"`
	Rungs []labRung `json:"rungs"`
	Marks []labMark `json:"marks"` // of its claims
}

type labRung struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Finding string  `json:"finding"` // the cause that called for it; "" where none did
	Rate    float64 `json:"rate"`    // successes per second
	Figures string  `json:"figures"`
	Gain    float64 `json:"gain"` // of the rate, over the rung below; 0 is not known
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Text    string  `json:"text"` // the gain in words
	Clear   bool    `json:"clear"`
}

type labMark struct {
	What     string `json:"what"`
	Claimed  string `json:"claimed"`
	Measured string `json:"measured"`
	Verdict  string `json:"verdict"`
}

// Lab writes the page of the lab: claims as bars with their intervals against what was
// claimed, and the ladders that were climbed. Either may be empty.
func Lab(w io.Writer, suite []experiment.Experiment, results experiment.Results, ladders []ladder.Result) error {
	d := lab{Title: "Tuning claims on this machine", Rows: []labRow{}, Ladders: []labLadder{}, Counts: map[string]int{}}
	host := results.Host
	d.Machine = notation.Clean(host.CPUModel + ", " + notation.Counted(int64(host.CPUs), "CPU",
		"CPUs") + ", " + host.OS + " " + host.Kernel + ", " + results.Go)
	if len(results.Results) > 0 {
		for _, r := range experiment.Rows(suite, results) {
			d.Rows = append(d.Rows, labRowOf(r))
			d.Counts[r.Says()]++
		}
		// What was measured comes first: most readers run a few.
		slices.SortStableFunc(d.Rows, func(a, b labRow) int { return cmp.Compare(b.decided(), a.decided()) })
	}
	d.Decided = len(results.Results)
	for i := range ladders {
		if d.Decided == 0 {
			host := ladders[i].Host
			d.Machine = notation.Clean(host.CPUModel + ", " + host.OS + " " + host.Kernel + ", " + ladders[i].Go)
			d.Title = "A service improved step by step"
		}
		d.Ladders = append(d.Ladders, ladderOf(&ladders[i]))
	}
	var text bytes.Buffer
	if err := experiment.Markdown(&text, suite, results); err != nil {
		return err
	}
	return page{title: d.Title, script: labScript, data: d, fallback: text.Bytes()}.write(w)
}

// decided is 1 for a claim that has a result, 0 for one without.
func (r labRow) decided() int {
	if r.Measured == "" {
		return 0
	}
	return 1
}

func labRowOf(r experiment.Row) labRow {
	row := labRow{
		ID: r.ID(), What: notation.Clean(r.What()), Claimed: notation.Clean(r.Claim.Claimed),
		Measured: r.Measured(), Verdict: r.Says(), Why: notation.Clean(r.Why()),
	}
	if r.Experiment != nil {
		row.Expect, row.Safety = r.Experiment.Expect, r.Experiment.Safety
	}
	if r.Result != nil {
		row.Factor, row.Metric = r.Result.Factor, notation.Clean(r.Result.Metric)
		row.Estimate, row.Low, row.High = r.Result.Estimate, r.Result.Low, r.Result.High
	}
	return row
}

func ladderOf(r *ladder.Result) labLadder {
	l := labLadder{Title: "The order gateway", Note: notation.Clean(r.Checked()), Rungs: []labRung{},
		Marks: []labMark{}}
	if r.Ladder == ladder.Stack {
		l.Title = "Gin, GORM and PostgreSQL"
	}
	for _, rung := range r.Rungs {
		one := labRung{
			Name: notation.Clean(rung.Name), Title: notation.Clean(rung.Title),
			Finding: notation.Clean(rung.Finding), Rate: rung.Rate,
			Figures: percentiles(rung.P50, rung.P95, rung.P99),
		}
		if change, ok := rung.Against.Of(ladder.Throughput); ok {
			one.Gain, one.Low, one.High, one.Clear, one.Text = change.Gain, change.Low, change.High, change.Clear,
				change.Text()
			// What observes a service costs it speed: the compared figure is the one of turns.
			one.Rate = change.B
		} else if rung.Against != nil {
			one.Text = "not measured: " + notation.Clean(rung.Against.Invalid)
		}
		l.Rungs = append(l.Rungs, one)
	}
	if len(r.Rungs) > 1 {
		if change, ok := r.Rungs[1].Against.Of(ladder.Throughput); ok && change.A > 0 {
			l.Rungs[0].Rate = change.A
		}
	}
	for _, m := range r.Marks() {
		l.Marks = append(l.Marks, labMark{notation.Clean(m.What), notation.Clean(m.Claimed),
			notation.Clean(m.Measured), notation.Clean(string(m.Verdict))})
	}
	return l
}

// percentiles words the latency of a rung, in ns; "" where it was not measured.
func percentiles(p50, p95, p99 int64) string {
	if p99 <= 0 {
		return ""
	}
	return "p50 " + notation.Duration(p50) + ", p95 " + notation.Duration(p95) + ", p99 " + notation.Duration(p99)
}

// Ladder writes the page of `redline demo`: each step's rate, and its gain with the interval where
// both states were compared in turns.
func Ladder(w io.Writer, l *report.Ladder) error {
	one := labLadder{Title: "The order gateway", Rungs: []labRung{}, Marks: []labMark{}}
	for i, s := range l.Steps {
		rung := labRung{
			Name: notation.Clean(s.Step), Finding: notation.Clean(s.Finding), Rate: s.QPS,
			Figures: percentiles(s.P50, s.P95, s.P99),
		}
		if i > 0 {
			rung.Gain, rung.Low, rung.High, rung.Clear, rung.Text = s.Gain, s.GainLow, s.GainHigh, !s.Noise,
				s.GainText()
		}
		one.Rungs = append(one.Rungs, rung)
	}
	var text bytes.Buffer
	if err := l.Text(&text, report.TextOptions{Width: 100}); err != nil {
		return err
	}
	d := lab{Title: "A service improved step by step", Rows: []labRow{}, Ladders: []labLadder{one},
		Counts: map[string]int{}}
	return page{title: d.Title, script: labScript, data: d, fallback: text.Bytes()}.write(w)
}
