package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// Ladder is the result of `redline demo`: a service taken up step by step, each
// step called for by a finding of the run before it.
type Ladder struct {
	Schema string `json:"schema"` // record.LadderSchema
	Steps  []Step `json:"steps"`
	Report string `json:"report"` // path of the last run's page
}

// Step is one measured state of the service.
type Step struct {
	Step string `json:"step"` // name of the remedy taken; the first is the service as found
	// Finding is the cause that called for the step; empty for the first.
	Finding string  `json:"finding"`
	QPS     float64 `json:"qps"` // successes per second
	P50     int64   `json:"p50_ns"`
	P95     int64   `json:"p95_ns"`
	P99     int64   `json:"p99_ns"`
	// Gain and Cumulative are factors of QPS, against the step before and
	// against the first; 1 for the first step.
	Gain       float64 `json:"gain"`
	Cumulative float64 `json:"cumulative"`
	// GainLow and GainHigh are Gain's interval at 95 %, where both steps were measured in
	// turns; Gain is then theirs. Noise says that it cannot be distinguished from none.
	GainLow  float64 `json:"gain_low,omitempty"`
	GainHigh float64 `json:"gain_high,omitempty"`
	Noise    bool    `json:"within_noise,omitempty"`
}

// NewLadder returns a ladder with Cumulative, and Gain where no interval is known,
// computed from the steps' QPS. A step after or at zero QPS gets a gain of 0, because there
// is no factor.
func NewLadder(report string, steps ...Step) *Ladder {
	l := &Ladder{Schema: record.LadderSchema, Steps: list(steps), Report: report}
	for i := range l.Steps {
		s := &l.Steps[i]
		s.Cumulative = 1
		if i > 0 {
			s.Cumulative = over(s.QPS, l.Steps[0].QPS)
		}
		switch {
		case s.GainLow > 0:
		case i == 0:
			s.Gain = 1
		default:
			s.Gain = over(s.QPS, l.Steps[i-1].QPS)
		}
	}
	return l
}

func over(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// JSON writes the ladder as indented JSON.
func (l *Ladder) JSON(w io.Writer) error {
	out := *l
	out.Steps = list(out.Steps)
	return writeJSON(w, &out, "ladder")
}

// ladderNote says why the gains and the rates of a ladder need not agree.
const ladderNote = "Each gain (with its 95 % interval) compares a step with the one before, both running side by side in turns.\n" +
	"The rate comes from each step's own run, so \"vs. first\" also includes changes in the machine between the runs. Bars are logarithmic."

// Text writes the ladder as a table, one row per step, with a bar of QPS on a
// logarithmic scale (a linear one would show only the last step of a ladder
// that gains an order of magnitude), and then the report's path.
func (l *Ladder) Text(w io.Writer, o TextOptions) error {
	p := paint(o.Color)
	head := []string{"step", "finding", "req/s", "P50", "P95", "P99", "gain", "vs. first", ""}
	for i := range head {
		head[i] = p.dim(head[i])
	}
	rows := [][]string{head}
	for i, s := range l.Steps {
		row := []string{notation.Clean(s.Step), notation.Clean(s.Finding), notation.Rate(s.QPS), latency(s.P50),
			latency(s.P95), latency(s.P99), "", "", p.green(l.bar(i, 16))}
		if i > 0 {
			row[6], row[7] = s.GainText(), p.bold(notation.Factor(s.Cumulative))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for _, line := range table(rows, 2, 3, 4, 5, 6, 7) {
		b.WriteString(line + "\n")
	}
	if slices.ContainsFunc(l.Steps, func(s Step) bool { return s.GainLow > 0 }) {
		b.WriteString("\n" + p.dim(ladderNote) + "\n")
	}
	if l.Report != "" {
		fmt.Fprintf(&b, "\n%s %s\n", p.dim("report"), notation.Clean(l.Report))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write ladder: %w", err)
	}
	return nil
}

// GainText words a step's gain, with its interval where one is known.
func (s Step) GainText() string {
	switch interval := fmt.Sprintf(" (%s to %s)", notation.Factor(s.GainLow), notation.Factor(s.GainHigh)); {
	case s.GainLow <= 0:
		return notation.Factor(s.Gain)
	case s.Noise:
		return "within the noise" + interval
	default:
		return notation.Factor(s.Gain) + interval
	}
}

// latency formats a percentile; one that was not measured is no data.
func latency(ns int64) string {
	if ns <= 0 {
		return "no data"
	}
	return notation.Duration(ns)
}

// bar draws the QPS of step i: the slowest step gets one cell, the fastest all
// of them.
func (l *Ladder) bar(i, cells int) string {
	low, high := math.Inf(1), 0.0
	for _, s := range l.Steps {
		if s.QPS > 0 {
			low, high = min(low, s.QPS), max(high, s.QPS)
		}
	}
	qps := l.Steps[i].QPS
	if qps <= 0 {
		return ""
	}
	part := 1.0
	if high > low {
		part = math.Log(qps/low) / math.Log(high/low)
	}
	return strings.Repeat("█", 1+int(math.Round(part*float64(cells-1))))
}

// StepOf returns the step that a run's summary stands for.
func StepOf(name, finding string, s *record.Summary) Step {
	return Step{Step: name, Finding: finding, QPS: s.Load.Rate,
		P50: s.Load.Latency.P50, P95: s.Load.Latency.P95, P99: s.Load.Latency.P99}
}
