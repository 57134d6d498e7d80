package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
	"github.com/redline-go/redline/verify/session"
)

// comparison holds the surroundings of a session of ab or gate.
type comparison struct {
	f           *compareFlags
	ctx         context.Context
	about       string // the scenario's file or the URL
	stderr      io.Writer
	plan        *scenario.Plan
	rules       verify.Rules
	folder      *scratch.Folder
	progress    *cli.Progress
	launcher    *session.Launcher
	builder     builder
	header      session.Header
	now         baseline.Circumstances // of side b
	store       *history.Store         // nil keeps nothing
	kind        history.Kind
	part        part
	reservation *disk.Reservation // nil for a session that is resumed
}

// begin checks the flags and prepares the session; the caller must close it.
func (f *compareFlags) begin(cmd *cobra.Command, plan *scenario.Plan, about string, kind history.Kind) (*comparison, error) {
	for _, flag := range []string{"duration", "requests", "warmup"} {
		if cmd.Flags().Changed(flag) {
			return nil, fmt.Errorf("--%s does not apply to a comparison: --block is the measured time of each launch, after a "+
				"warm-up of half as long, and --pairs or --max-time ends the session", flag)
		}
	}
	metrics, err := verify.Choose(plan)
	if err != nil {
		return nil, err
	}
	rules := verify.Rules{Metrics: metrics, Seed: f.seed}
	if least := rules.Least(); f.most > 0 && f.most < least {
		return nil, fmt.Errorf("--pairs %d cannot decide: these metrics need at least %d", f.most, least)
	}
	if f.resume && f.Out == "" {
		return nil, errors.New("no session to resume (hint: -o runs/...)")
	}
	c := &comparison{
		f: f, ctx: cmd.Context(), about: about, stderr: cmd.ErrOrStderr(), plan: plan,
		rules: rules, progress: cli.NewProgress(cmd.ErrOrStderr()), kind: kind,
		launcher: &session.Launcher{Version: cli.Version(), Duration: f.block, Warmup: f.block / 2},
		header:   session.Header{Plan: plan.Redacted(), Host: record.HostInfo(), Begun: time.Now(), Redline: cli.Version()},
	}
	if err := c.makeReady(); err != nil {
		c.close()
		return nil, err
	}
	c.builder = builder{scratch: c.folder.Path, note: c.progress.Note, done: map[revision.Sources]revision.Built{}}
	return c, nil
}

// makeReady opens, before anything is built, what the session needs on disk: its
// directory, the history, and a scratch directory.
func (c *comparison) makeReady() (err error) {
	if !c.f.resume {
		if c.reservation, err = cli.Reserve(c.f.Out, "ab"); err != nil {
			return err
		}
		c.f.Out = c.reservation.Dir()
	}
	if c.store, err = cli.OpenHistory(c.ctx, c.f.History); err != nil {
		return err
	}
	if c.folder, err = scratch.New("ab"); err != nil {
		return err
	}
	c.launcher.Scratch = c.folder.Path
	return nil
}

func (c *comparison) close() {
	c.progress.Close()
	if c.folder != nil {
		_ = c.folder.Remove() // leftovers are swept later
	}
	c.reservation.Release()
	c.store.Close()
}

// measurer measures blocks, with the machine's speed alongside if they are to be
// stored or compared with stored ones.
func (c *comparison) measurer() session.Measurer {
	if c.f.saveBaseline != "" || c.f.baseline != "" {
		return session.Yardstick{Measurer: c.launcher}
	}
	return c.launcher
}

// describe notes side b's commit and the circumstances of its measurement.
func (c *comparison) describe(b side, prepared session.Side) (err error) {
	c.header.Commit = cli.TargetCommit(c.ctx, prepared.Plan.Target, revision.ParseSources(b.build).Revision)
	c.now, err = session.Surroundings(c.plan, prepared, c.launcher)
	c.header.Go, c.header.Block = c.now.Go, c.now.Duration
	return err
}

// report shows a session's progress.
func (c *comparison) report(p session.Progress) {
	if p.Plan != "" {
		c.progress.Note("%s", p.Plan)
		return
	}
	c.progress.Step(p.Line())
}

// foresee reports, before anything is measured, which changes the session can detect in its time. It
// predicts that from the noise of earlier sessions of this scenario on this machine, kept next to this one.
func (c *comparison) foresee() {
	most := cmp.Or(c.f.maxTime, session.DefaultMaxTime)
	earlier, each := session.Earlier(c.f.Out, c.header)
	planned := cmp.Or(c.f.most, session.MostPairs)
	if each > 0 {
		planned = min(planned, int(most/each))
	}
	m, mde, ok := c.rules.Foresee(earlier, planned)
	if !ok {
		c.progress.Note("how small a change %s can detect is not known yet: next to %s there are too few pairs of this scenario "+
			"from this machine", notation.Time(most), c.f.Out)
		return
	}
	c.progress.Note("in %s this machine can detect changes of %s or more in %s, judging by the noise of %s; the margin is %s",
		notation.Time(most), notation.Tenths(verify.Own(m.Higher, mde)), m.Name,
		notation.Counted(int64(len(earlier)), "earlier session", "earlier sessions"), notation.Tenths(verify.Own(m.Higher, m.Margin)))
}

// cutShort is the exit of a session that ended with an error.
func (c *comparison) cutShort(err error) error {
	if c.ctx.Err() == nil {
		return c.unmeasured(cli.Exit(cli.ExitUndecided, err))
	}
	c.progress.Close()
	c.progress.Note("interrupted: continue with the same command and -o %s --resume", c.f.Out)
	return cli.Exit(cli.ExitInterrupted, nil)
}

// unmeasured is the exit of a session without a result. A CI job's reports say
// why, too: without them the page of the change shows nothing.
func (c *comparison) unmeasured(err error) error {
	c.progress.Close()
	if c.ctx.Err() != nil {
		return cli.InterruptedOr(c.ctx, err)
	}
	none := compared{Result: verify.Result{Schema: verify.Schema, Verdict: verify.Invalid, Why: err.Error()}}
	return errors.Join(err, c.f.report(c.stderr, none, c.about))
}

// finish keeps the measurement in the session's directory and in the history, and returns it.
func (c *comparison) finish(r verify.Result, log *session.Log) (out compared, err error) {
	c.progress.Close()
	r.Sides = [2]string{c.header.A, c.header.B}
	r.Tolerated = c.f.tolerates(r)
	if n := c.launcher.Repeated; n > 0 {
		r.Warnings = append(r.Warnings, notation.Counted(int64(n), "launch", "launches")+" repeated: the generator could not keep up")
	}
	out = compared{Result: r, launches: c.baseline(log.Blocks())}
	_, out.pairs = log.Pairs()
	if err := log.Finish(r); err != nil {
		return out, err
	}
	c.progress.Note("kept in %s", c.f.Out)
	switch {
	case c.store == nil || c.part == second:
	case r.Verdict == verify.Invalid:
		c.progress.Note("not added to the history: the session is invalid")
	case c.header.OwnEnv:
		c.progress.Note("not added to the history: side b has its own environment, unlike other results of its commit")
	default:
		kept, err := history.FromSession(c.f.Out, c.header, log.Blocks(), c.rules.Metrics, r.Turn, c.kind)
		cli.Keep(c.ctx, c.store, kept, err, c.progress.Note)
		c.lasting()
	}
	return out, nil
}

// recent is how many commits back a lasting change is still news.
const recent = 10

// lasting reports deciding metrics that became worse for good within the last commits of the history:
// each change alone may have passed.
func (c *comparison) lasting() {
	results, err := c.store.Results(c.ctx, history.Filter{Scenario: c.now.Hash})
	if err != nil {
		c.progress.Note("could not search the history for lasting changes: %v", err)
		return
	}
	series, _ := history.Here(history.Arrange(results, history.Options{}), c.header.Host)
	for _, s := range series {
		decides := slices.ContainsFunc(c.rules.Metrics, func(m verify.Metric) bool { return m.Name == s.Metric && !m.Advisory })
		if change, worse := s.Regressed(recent); worse && decides {
			c.progress.Note("history: %s has been worse since %.12s (%s), over %d "+
				"commits", s.Metric, s.Points[change.At].Commit.Hash,
				notation.Change(change.Relative()), len(s.Points))
		}
	}
}
