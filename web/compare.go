package web

import (
	"bytes"
	_ "embed"
	"io"
	"path/filepath"
	"slices"

	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web/flame"
	"github.com/redline-go/redline/web/rundata"
)

//go:embed page/dist/compare.js
var compareScript string

// compared is what the page of two runs shows; web/page/src/compare.tsx reads it.
type compared struct {
	compare.Comparison
	Words    []words           `json:"words"` // of each metric
	Caveat   string            `json:"caveat"`
	Sides    [2]side           `json:"sides"`
	Findings []comparedFinding `json:"findings"`
	Flames   *flame.Set        `json:"flames"`
	Missing  []string          `json:"missing"`
	Module   string            `json:"module"`
}

// words are a metric's change as the command line writes it.
type words struct {
	Change   string `json:"change"`
	Interval string `json:"interval"`
}

// side is one of the runs.
type side struct {
	ID       string             `json:"id"`
	Begun    string             `json:"begun"`
	State    record.State       `json:"state"`
	Target   string             `json:"target"`
	Revision string             `json:"revision"`
	Headline report.Headline    `json:"headline"`
	Load     record.LoadSummary `json:"load"`
	Spectrum []rundata.Spectrum `json:"spectrum"`
}

// comparedFinding is a finding of either run, or of both.
type comparedFinding struct {
	Cause string `json:"cause"`
	Title string `json:"title"`
	Place string `json:"place"`
	A     string `json:"a"` // how much it weighs in the first run; empty where it is not found
	B     string `json:"b"`
}

// Observed is a bundle with its summary.
type Observed struct {
	Record  *record.Record
	Summary *record.Summary
}

// Compare writes the page that sets two runs beside each other: figures with their intervals,
// spectra, flame graphs of the difference, findings that came and went. Parts that a bundle
// lacks are named on the page; the only errors are those of w and of figures that JSON
// cannot hold.
func Compare(w io.Writer, a, b Observed) error {
	c := comparedOf(a, b)
	var text bytes.Buffer
	if err := compare.Text(&text, c.Comparison); err != nil {
		return err
	}
	return page{title: c.Sides[0].ID + " and " + c.Sides[1].ID, script: compareScript, data: c, fallback: text.Bytes()}.write(w)
}

// comparedOf sets two runs beside each other.
func comparedOf(a, b Observed) *compared {
	c := &compared{
		Comparison: compare.Runs(a.Record, b.Record),
		Caveat:     compare.Caveat,
		Flames:     &flame.Set{},
		Missing:    []string{},
		Module:     b.Record.Run.Target.Module,
		Findings:   pairFindings(a.Summary.Findings, b.Summary.Findings),
	}
	for _, m := range c.Metrics {
		c.Words = append(c.Words, words{m.Change(), m.Interval()})
	}
	miss := func(what string, err error) { c.Missing = append(c.Missing, notation.Clean(what+": "+err.Error())) }
	for i, o := range []Observed{a, b} {
		r := &o.Record.Run
		spectrum, err := rundata.Spectra(o.Record)
		if err != nil {
			miss("latency spectrum of "+r.ID, err)
		}
		c.Sides[i] = side{
			ID: filepath.Base(o.Record.Dir), State: r.State, Target: r.Target.URL, Revision: r.Target.Revision,
			Begun: r.Clock.EpochWall.Format("2006-01-02 15:04:05"), Headline: report.HeadlineOf(o.Summary),
			Load: o.Summary.Load, Spectrum: spectrum,
		}
	}
	c.Flames.AddDifference(a.Record, b.Record, miss)
	return c
}

// pairFindings joins the findings of two runs by cause and place; a cause that each run
// names once is the same finding wherever it is. Those of the second run come first.
func pairFindings(a, b []findings.Finding) []comparedFinding {
	out := []comparedFinding{}
	same := func(f, g *findings.Finding) bool {
		count := func(list []findings.Finding) (n int) {
			for i := range list {
				if list[i].Cause == f.Cause {
					n++
				}
			}
			return n
		}
		return f.Cause == g.Cause && (report.Place(f.Where) == report.Place(g.Where) || count(a) == 1 && count(b) == 1)
	}
	var taken []int
	for i := range b {
		f := &b[i]
		line := comparedFinding{Cause: f.Cause, Title: f.Title, Place: report.Place(f.Where), B: report.Weight(f)}
		for k := range a {
			if !slices.Contains(taken, k) && same(f, &a[k]) {
				line.A, taken = report.Weight(&a[k]), append(taken, k)
				break
			}
		}
		out = append(out, line)
	}
	for k := range a {
		if f := &a[k]; !slices.Contains(taken, k) {
			out = append(out, comparedFinding{Cause: f.Cause, Title: f.Title, Place: report.Place(f.Where), A: report.Weight(f)})
		}
	}
	return out
}
