package web

import (
	"bytes"
	_ "embed"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/render"
	"github.com/redline-go/redline/web/rundata"
)

//go:embed page/dist/decision.js
var decisionScript string

// decision is what the page of a session of ab or gate shows; web/page/src/decision.tsx reads it.
type decision struct {
	inWords
	// Second is the comparison with a second base, in the same words; null without one.
	Second *inWords `json:"second"`
	// Spectrum holds the latencies of all pairs' launches, a curve per side; none where no pair was measured.
	Spectrum []rundata.Spectrum `json:"spectrum"`
	// Observed is a launch of each side with all sources, after the decision; null without.
	Observed *compared `json:"observed"`
}

// inWords is a result with what the page says of it.
type inWords struct {
	verify.Result
	Basis   []string        `json:"basis"`   // what the verdict rests on, a line each
	Decided []decidedMetric `json:"decided"` // a line for each of Metrics
	// Detectable is the change in the first deciding metric that such sessions find; "-" if unknown.
	Detectable string `json:"detectable"`
}

// decidedMetric is one metric in the words of the command line, with what each pair said.
type decidedMetric struct {
	A       string    `json:"a"`
	B       string    `json:"b"`
	Change  string    `json:"change"`
	Verdict string    `json:"verdict"`
	Seen    string    `json:"seen"`    // the smallest change that would have been detected
	Effects []float64 `json:"effects"` // of the pairs, in their order, + is worse
}

// Decision writes the page of a comparison that decided: each metric's effect with its interval
// against its margin, the pairs that it comes from, the latencies of both sides, and what the
// verdict rests on. pairs may be empty, as for a session that measured none. observed is a launch of each side
// with profiles and traces, which shows where they differ; nil without. The only errors are those of w and of
// figures that JSON cannot hold.
func Decision(w io.Writer, r verify.Result, pairs []verify.Pair, observed *[2]Observed) error {
	d := decision{inWords: wordsOf(r, pairs), Spectrum: []rundata.Spectrum{}}
	if second := r.AlsoAgainst; second != nil {
		words := wordsOf(second.Result, nil) // its pairs are in its own directory
		d.Second = &words
	}
	if observed != nil {
		d.Observed = comparedOf(observed[0], observed[1])
	}
	for side := range 2 {
		if c, ok := spectrumOf(pairs, side); ok {
			d.Spectrum = append(d.Spectrum, c)
		}
	}
	var text bytes.Buffer
	if err := render.Text(&text, r); err != nil {
		return err
	}
	return page{title: "redline " + string(r.Verdict), script: decisionScript, data: d, fallback: text.Bytes()}.write(w)
}

// wordsOf words a result.
func wordsOf(r verify.Result, pairs []verify.Pair) inWords {
	d := inWords{Result: r, Basis: []string{}, Decided: []decidedMetric{}, Detectable: render.Detectable(r)}
	d.Why = notation.Clean(r.Why)
	for i := range d.Sides {
		d.Sides[i] = notation.Clean(d.Sides[i])
	}
	for _, line := range render.Basis(r) {
		d.Basis = append(d.Basis, notation.Clean(line))
	}
	for _, m := range r.Metrics {
		d.Decided = append(d.Decided, decidedMetric{
			A: render.Amount(m.A, m.Unit), B: render.Amount(m.B, m.Unit), Change: render.Effect(m), Seen: render.Seen(m),
			Verdict: notation.Clean(render.Verdict(m)), Effects: effects(m.Name, pairs),
		})
	}
	return d
}

// effects returns each pair's relative change of a metric, with + as worse; pairs that lack it are left out.
func effects(name string, pairs []verify.Pair) []float64 {
	out := []float64{}
	all := slices.Concat(verify.Metrics(false), verify.Metrics(true))
	at := slices.IndexFunc(all, func(m verify.Metric) bool { return m.Name == name })
	if at < 0 {
		return out
	}
	for _, p := range pairs {
		ratio := all[at].Of(p.B) / all[at].Of(p.A)
		if all[at].Higher {
			ratio = 1 / ratio
		}
		if ratio > 0 && !math.IsInf(ratio, 0) && p.A.Void == "" && p.B.Void == "" {
			out = append(out, ratio-1)
		}
	}
	return out
}

// spectrumOf adds one side's latencies up: 0 is a.
func spectrumOf(pairs []verify.Pair, side int) (rundata.Spectrum, bool) {
	all := verify.Latencies{}
	for _, p := range pairs {
		for bucket, n := range maps.All([2]verify.Block{p.A, p.B}[side].Latency) {
			all[bucket] += n
		}
	}
	total := all.Total()
	if total == 0 {
		return rundata.Spectrum{}, false
	}
	return rundata.SpectrumOf(histogram.Latency, float64(total), all.Quantile), true
}
