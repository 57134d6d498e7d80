package decide

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
	"github.com/redline-go/redline/verify/session"
)

// against measures one side alone: to compare it with the stored baseline, to
// store it as one, or both.
func (f *compareFlags) against(cmd *cobra.Command, plan *scenario.Plan, name string, measured side) error {
	var base *baseline.Baseline
	if f.baseline != "" {
		b, err := baseline.Read(f.baseline)
		if err != nil {
			return err
		}
		base = &b
	}
	c, err := f.begin(cmd, plan, name, history.Gate)
	if err != nil {
		return err
	}
	defer c.close()
	s := &session.Against{Baseline: base, Rules: c.rules, MaxTime: f.maxTime, Blocks: f.most, Measurer: c.measurer(),
		OnBlock: func(p session.Progress) { c.progress.Step(p.Line()) }}
	if s.B, c.header.B, err = measured.prepare(cmd.Context(), plan, "b", c.builder); err != nil {
		return c.unmeasured(fmt.Errorf("side b: %w", err))
	}
	c.header.Sums[1] = s.B.Sum
	if err := c.describe(measured, s.B); err != nil {
		return err
	}
	if base != nil {
		if err := base.Usable(c.now); err != nil {
			return c.unmeasured(cli.Exit(cli.ExitUndecided, fmt.Errorf("%s: %w", f.baseline, err)))
		}
		c.header.A = "baseline " + f.baseline + " saved " + base.Saved.UTC().Format("2006-01-02 15:04:05")
	}
	if s.Log, _, err = f.log(c.header); err != nil {
		return err
	}
	defer s.Log.Close()
	r, err := s.Run(cmd.Context())
	if err != nil {
		return c.cutShort(err)
	}
	if base != nil {
		r.Stored.File, r.Stored.Saved, r.Stored.Commit = f.baseline, base.Saved, base.Commit.Hash
		if base.Redline != c.header.Redline {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the baseline was saved by redline %s; this is %s",
				base.Redline, c.header.Redline))
		}
	}
	result, err := c.finish(r, s.Log)
	if err != nil {
		return err
	}
	if err := f.storeBaseline(cmd.ErrOrStderr(), result); err != nil {
		return err
	}
	if base == nil && result.Verdict != verify.Invalid {
		return f.printAlone(cmd.OutOrStdout(), result.Result)
	}
	return f.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), result, name)
}

// printAlone writes the measurements of a side that has nothing to be compared with.
func (f *compareFlags) printAlone(w io.Writer, r verify.Result) error {
	if f.JSON {
		return printJSON(w, r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range r.Metrics {
		inert.Fprintf(t, "%s\t%s\n", m.Name, notation.Quantity(m.B, m.Unit))
	}
	return t.Flush()
}
