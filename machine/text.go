package machine

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/verify/baseline"
)

// Report is a baseline, and what it was compared with.
type Report struct {
	*Baseline
	// Base is the file compared with; empty without a comparison.
	Base string `json:"compared_with,omitempty"`
	// Differs are the fields in which the machines differ: then a drift is a difference
	// between machines.
	Differs []baseline.Difference `json:"machine_differs,omitempty"`
	// Quota is how the CPU quota differs, in words; empty if it does not.
	Quota  string  `json:"quota_differs,omitempty"`
	Drift  []Drift `json:"drift,omitempty"`
	Margin float64 `json:"margin,omitempty"`
	// BaseDisturbed are the base's warnings.
	BaseDisturbed []string `json:"base_disturbed,omitempty"`
}

// Against adds the comparison with a base from a file.
func (r *Report) Against(base *Baseline, path string, margin float64) {
	if margin <= 0 {
		margin = DefaultMargin
	}
	r.Base, r.Margin, r.Drift = path, margin, Compare(base, r.Baseline, margin)
	r.Differs, r.BaseDisturbed = base.Differences(r.Baseline), base.Warnings()
	if a, b := base.allowed(), r.allowed(); a != b {
		r.Quota = fmt.Sprintf("CPU quota from %s to %s", a, b)
	}
}

// Drifted reports whether the machine is the same and does not do what it did: a figure
// drifted, or the quota is another.
func (r *Report) Drifted() bool {
	return r.Base != "" && len(r.Differs) == 0 && (r.Quota != "" || len(drifted(r.Drift)) > 0)
}

// JSON writes a report for programs. The error is the writer's.
func (r *Report) JSON(w io.Writer) error { return inert.JSON(w, r) }

// Text writes a report for people: a table by dimension, what disturbed, and what drifted.
// The error is the writer's.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	inert.Fprintf(&b, "%s, %s, kernel %s, %s\n", r.Host.CPUModel, notation.Counted(int64(r.Host.CPUs), "CPU", "CPUs"),
		r.Host.Kernel, r.Go)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	changes := map[string]Drift{}
	for _, d := range r.Drift {
		changes[d.Name] = d
	}
	dimension := ""
	for _, f := range r.Figures {
		if f.Dimension != dimension {
			dimension = f.Dimension
			inert.Fprintf(t, "\n%s\n", dimension)
		}
		if len(f.Rounds) == 0 {
			inert.Fprintf(t, "  %s\tnot measured: %s\n", f.Name, f.Error)
			continue
		}
		inert.Fprintf(t, "  %s\t%s\t(%s to %s)", f.Name, amount(f.Median, f.Unit), amount(f.Low, f.Unit), amount(f.High,
			f.Unit))
		if d, compared := changes[f.Name]; compared {
			inert.Fprintf(t, "\t%s", d.text())
		}
		inert.Fprintf(t, "\n")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	inert.Fprintf(&b, "\n")
	for _, line := range r.remarks() {
		inert.Fprintf(&b, "%s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func amount(v float64, unit string) string {
	if unit == bytesPerSecond {
		return notation.Size(v) + "/s"
	}
	return notation.Quantity(v, unit)
}

func (d Drift) text() string {
	if d.Verdict == NotJudged {
		return string(NotJudged)
	}
	out := fmt.Sprintf("%s (%s to %s)\t%s", notation.Change(d.Change), notation.Change(d.Low), notation.Change(d.High),
		d.Verdict)
	if d.Verdict == Drifted {
		out += map[bool]string{true: ", worse", false: ", better"}[d.Worse]
	}
	return out
}

// Conclusion is the comparison in one sentence.
func (r *Report) Conclusion() string {
	var names []string
	if r.Quota != "" {
		names = append(names, r.Quota)
	}
	for _, d := range drifted(r.Drift) {
		names = append(names, d.Name+" "+notation.Change(d.Change))
	}
	switch {
	case len(names) == 0:
		return fmt.Sprintf("no drift of more than %s against %s", notation.Percent(r.Margin), r.Base)
	case len(r.Differs) > 0:
		return fmt.Sprintf("another machine than that of %s (%s): it differs in %s", r.Base, baseline.Differing(r.Differs),
			strings.Join(names, ", "))
	}
	return fmt.Sprintf("drifted against %s: %s", r.Base, strings.Join(names, ", "))
}

func (r *Report) remarks() []string {
	var out []string
	if r.Base != "" {
		out = append(out, r.Conclusion())
	}
	rounds := 0
	for _, f := range r.Figures {
		rounds = max(rounds, len(f.Rounds))
	}
	out = append(out, fmt.Sprintf("%s of all figures, each in a process of its own, over %s; intervals of the median at 95 %%",
		notation.Counted(int64(rounds), "round", "rounds"), notation.Time(r.Took)))
	for _, f := range r.Figures {
		if f.Error != "" && len(f.Rounds) > 0 {
			out = append(out, fmt.Sprintf("warning: %s failed in some rounds: %s", f.Name, f.Error))
		}
	}
	for _, warning := range r.Warnings() {
		out = append(out, "warning: "+warning)
	}
	for _, warning := range r.BaseDisturbed {
		out = append(out, "warning: the baseline compared with was "+warning)
	}
	return out
}
