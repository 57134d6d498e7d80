package rundata

import (
	"cmp"
	"math"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// activity is what the statements did over time: of each, what it did in equal spans, from
// the run's begin on. Null is what nobody saw.
type activity struct {
	From  float64  `json:"from"` // s
	Step  float64  `json:"step"` // s
	Calls []Values `json:"calls"`
	Time  []Values `json:"time_ns"`
	Rows  []Values `json:"rows"`
}

// maxActivity is the number of spans that the statements' work is divided into.
const maxActivity = 200

// activityOf reads the statements' series; nil without any.
func (b *chartBuilder) activityOf(statements *database.Statements) *activity {
	if statements == nil || len(b.rec.Labels(series.StatementCalls)) == 0 {
		return nil
	}
	windows := int(b.span.Len() / b.width)
	group := (windows + maxActivity - 1) / maxActivity
	a := &activity{From: b.span.From.Seconds(), Step: float64(group) * b.width.Seconds()}
	sums := func(name, id string) Values {
		// Reading does not take a series from those that the page offers by themselves.
		line := b.rec.Series(name, "queryid="+id, b.span).Values
		out := make(Values, 0, maxActivity)
		for part := range slices.Chunk(line, group) {
			sum, n := series.Sum(part)
			if n == 0 {
				sum = math.NaN()
			}
			out = append(out, sum)
		}
		return out
	}
	for _, s := range statements.Statements {
		a.Calls = append(a.Calls, sums(series.StatementCalls, s.QueryID))
		a.Time = append(a.Time, sums(series.StatementTime, s.QueryID))
		a.Rows = append(a.Rows, sums(series.StatementRows, s.QueryID))
	}
	return a
}

// basis is where a finding's evidence comes from, in the run's time.
type basis struct {
	Source string  `json:"source"`
	From   float64 `json:"from"` // s
	To     float64 `json:"to"`
}

// basisOf lists the spans that a finding rests on: the traces, the profiles, and for what is
// observed all the time the span that is judged.
func basisOf(rec *record.Record, f *findings.Finding) []basis {
	out := []basis{}
	judged := rec.Judged()
	add := func(source string, s timebase.Span) {
		s.From, s.To = max(s.From, judged.From), min(s.To, judged.To)
		if b := (basis{source, s.From.Seconds(), s.To.Seconds()}); s.To > s.From && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	for _, e := range f.Evidence {
		switch e.Source {
		case "trace":
			for _, t := range rec.Traces() {
				add(e.Source, t.Span)
			}
		case "profile":
			for _, p := range rec.Profiles("cpu") {
				add(e.Source, p.Span)
			}
		default:
			add("measured span", judged)
		}
	}
	slices.SortStableFunc(out, func(a, b basis) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.From, b.From))
	})
	return joined(out)
}

// joined brings neighbours of one source together: the profiles of a long run follow each other.
func joined(all []basis) []basis {
	out := all[:0]
	for _, b := range all {
		if n := len(out); n > 0 && out[n-1].Source == b.Source && b.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, b.To)
			continue
		}
		out = append(out, b)
	}
	return out
}
