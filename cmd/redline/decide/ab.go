// Package decide holds the verbs that decide whether a change helped: ab, gate, bench and tune.
package decide

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/cmd/redline/measure"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
	"github.com/redline-go/redline/verify/render"
	"github.com/redline-go/redline/verify/session"
	"github.com/redline-go/redline/web"
)

// compareFlags are the flags common to ab and gate.
type compareFlags struct {
	measure.Flags
	maxTime  time.Duration
	most     int
	seed     uint64
	block    time.Duration
	resume   bool
	apart    bool
	markdown string
	junit    string
	sarif    string
	html     string

	baseline, saveBaseline string
	undecided              string // what gate makes of an inconclusive session
}

// part is that of a session in a verdict.
type part int

const (
	whole  part = iota
	first       // another session decides as well: --resume takes over the result of this one
	second      // not added to the history: the first session adds side b
)

// compared is a session's result, with what it measured.
type compared struct {
	verify.Result
	pairs    []verify.Pair      // of both sides, for the page
	observed *[2]web.Observed   // for the page; nil without
	launches *baseline.Baseline // of side b, for --save-baseline; nil if nothing was measured
}

// register adds the flags of a verb, whose own come first, under the heading Comparison.
func (f *compareFlags) register(cmd *cobra.Command, own func(*pflag.FlagSet)) {
	flags := cmd.Flags()
	cli.Under(flags, "Comparison", own)
	cli.Under(flags, "Comparison", f.sessionFlags)
	f.LoadFlags(flags)
	f.RequestFlags(flags)
	cli.Under(flags, "Output", f.resultFlags)
	for _, name := range []string{"duration", "requests", "warmup"} { // begin refuses all three
		_ = flags.MarkHidden(name) // it fails only for a flag that is not there
	}
}

func (f *compareFlags) sessionFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&f.maxTime, "max-time", session.DefaultMaxTime, "end after `TIME`, even if inconclusive")
	flags.IntVar(&f.most, "pairs", 0, "measure at most `N` pairs (default 120)")
	flags.DurationVar(&f.block, "block", 0, "measure each launch for `TIME`, after a warm-up of half as long (default 2s)")
	flags.BoolVar(&f.apart, "one-at-a-time", false, "never run both sides at once")
	flags.BoolVar(&f.resume, "resume", false, "continue the interrupted session in the directory of -o")
	flags.Uint64Var(&f.seed, "seed", 0, "random seed `N` for the order of pairs (default random)")
}

func (f *compareFlags) resultFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Out, "out", "o", "", "keep the session in directory `DIR` (default runs/<time>-ab)")
	flags.BoolVar(&f.JSON, "json", false, "print only ab.json on stdout")
	flags.StringVar(&f.markdown, "markdown", "", "write the result as Markdown to `FILE`")
	flags.StringVar(&f.html, "html", "", "write the result as one self-contained HTML page to `FILE`, with differential "+
		"flame graphs; each side is launched once more for them after the decision")
	flags.StringVar(&f.junit, "junit", "", "write the result as JUnit XML to `FILE`")
	flags.StringVar(&f.sarif, "sarif", "", "write the result as SARIF to `FILE`")
	flags.StringVar(&f.saveBaseline, "save-baseline", "", "store the launches of side b in JSON `FILE`, for gate --baseline")
	cli.HistoryFlag(flags, &f.History)
}

// ABCommand returns the verb ab.
func ABCommand() *cobra.Command {
	var f compareFlags
	var a, b side
	cmd := &cobra.Command{
		Use:   "ab (--a CMD --b CMD | --build-a PKG[@REF] --build-b PKG[@REF] | --env-a K=V --env-b K=V) URL | scenario.yaml",
		Short: "Decide which of two versions of a service is faster",
		Long: `ab decides whether version b of a service is slower than version a, faster, or the
same. It measures both in pairs of short launches, in random order, until the evidence
suffices or --max-time is over. It also measures side a against itself, which shows how
small a change this machine can detect today, and warns if side a differs from itself.

The sides are one of:
  --a CMD --b CMD               two commands
  --build-a PKG --build-b PKG   two packages, or one at two git revisions (PKG@REF),
                                built in temporary worktrees
  --env-a K=V --env-b K=V       one service (the scenario's) in two environments
Both must listen at the address that the scenario loads.

Both sides run at once if their arguments or environment name the port, so that
redline can move one to a free port. The load then alternates between them several
times a second: noise on the machine affects both alike, and much smaller changes can
be detected. Otherwise (load at a rate, port not named, slow requests), or with
--one-at-a-time, one side runs at a time. Use --one-at-a-time for a service that must
never run twice.

CPU per request decides (at a rate, p50 as well), with a margin of 5 %. Throughput
fails a session only if it is certainly worse than its margin, and other metrics are
advisory. The scenario's verify: section changes metrics and margins. If the first four
pairs clearly differ, the session ends within half a minute. It is kept in
runs/<time>-ab; after an interrupt, -o DIR --resume continues it.

Exit code 0: b is no worse, or better. 1: b is worse. 2: usage or input error.
3: inconclusive, or the session is invalid. 130: interrupted.`,
		Example: `  redline ab --build-a ./cmd/svc@main --build-b ./cmd/svc scenario.yaml
  redline ab --a './svc-old -l :8080' --b './svc-new -l :8080' http://127.0.0.1:8080/ -c 32
  redline ab scenario.yaml    # the service with itself: how small a change this machine can detect
  redline ab --env-a GOGC=100 --env-b GOGC=400 scenario.yaml --max-time 5m`,
		Args: cli.Takes(1, 1, "no target: give one URL or one scenario file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := f.Plan(cmd, args)
			if err != nil {
				return err
			}
			if a.none() && b.none() {
				fmt.Fprintln(cmd.ErrOrStderr(), withItself)
			}
			return f.compare(cmd, plan, args[0], [2]side{a, b})
		},
	}
	f.register(cmd, func(flags *pflag.FlagSet) { sideFlags(flags, &a, &b) })
	for _, name := range []string{"a", "b"} {
		cmd.MarkFlagsMutuallyExclusive(name, "build-"+name)
	}
	cmd.MarkFlagsRequiredTogether("a", "b")
	cmd.MarkFlagsRequiredTogether("build-a", "build-b")
	return cmd
}

const withItself = "no side is given: ab compares the service with itself, which shows what this machine can detect " +
	"(hint: --a CMD --b CMD, --build-a PKG@REF --build-b PKG, or --env-b K=V)"

// compare runs the session of ab and prints its result.
func (f *compareFlags) compare(cmd *cobra.Command, plan *scenario.Plan, name string, sides [2]side) error {
	result, err := f.decide(cmd, plan, name, sides, history.AB, whole)
	if err != nil {
		return err
	}
	return f.conclude(cmd, result, name)
}

// conclude stores the baseline and prints the result.
func (f *compareFlags) conclude(cmd *cobra.Command, r compared, name string) error {
	if err := f.storeBaseline(cmd.ErrOrStderr(), r); err != nil {
		return err
	}
	return f.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), r, name)
}

// decide runs a session and keeps its result.
func (f *compareFlags) decide(cmd *cobra.Command, plan *scenario.Plan, name string, sides [2]side,
	kind history.Kind, of part) (result compared, err error) {
	c, err := f.begin(cmd, plan, name, kind)
	if err != nil {
		return result, err
	}
	defer c.close()
	c.part = of
	s := &session.Session{
		Rules: c.rules, MaxTime: f.maxTime, Pairs: f.most, OneAtATime: f.apart,
		Measurer:   c.measurer(),
		OnProgress: c.report,
	}
	for i, into := range []*session.Side{&s.A, &s.B} {
		words := []*string{&c.header.A, &c.header.B}[i]
		if *into, *words, err = sides[i].prepare(cmd.Context(), plan, "ab"[i:i+1], c.builder); err != nil {
			return result, c.unmeasured(fmt.Errorf("side %s: %w", "ab"[i:i+1], err))
		}
		c.header.Sums[i] = into.Sum
	}
	if len(sides[1].env) > 0 {
		if f.saveBaseline != "" {
			return result, errors.New("--save-baseline stores a version as it is, and --env-b changes it (hint: put the environment " +
				"into the scenario)")
		}
		c.header.OwnEnv = true
	}
	if err := c.describe(sides[1], s.B); err != nil {
		return result, err
	}
	if result, err = c.run(s); err != nil {
		return result, err
	}
	if f.html != "" && result.Verdict != verify.Invalid {
		result.observed = c.observe(s.A, s.B)
	}
	return result, nil
}

// run runs a session, or continues it, and keeps its result.
func (c *comparison) run(s *session.Session) (result compared, err error) {
	s.Log, s.Rules.Seed, err = c.f.log(c.header)
	if c.part == first && errors.Is(err, session.ErrFinished) {
		return c.takeOver(err)
	}
	if err != nil {
		return result, err
	}
	defer s.Log.Close()
	if err := s.Resumable(); err != nil {
		return result, fmt.Errorf("resume %s: %w", c.f.Out, err)
	}
	c.foresee()
	r, err := s.Run(c.ctx)
	if err != nil {
		return result, c.cutShort(err)
	}
	return c.finish(r, s.Log)
}

// takeOver returns the result of a session that ended before the one that follows it was interrupted.
// finished is returned for one that cannot be followed.
func (c *comparison) takeOver(finished error) (compared, error) {
	kept, err := session.ReadSession(c.f.Out)
	if err != nil {
		return compared{}, err
	}
	out := compared{Result: kept.Result, pairs: kept.Pairs, launches: c.baseline(kept.Blocks)}
	if out.Verdict == verify.Invalid {
		return out, finished
	}
	c.progress.Note("%s has its result", c.f.Out)
	out.Tolerated = c.f.tolerates(out.Result)
	return out, nil
}

// log opens the session's directory, new or begun earlier.
func (f *compareFlags) log(h session.Header) (*session.Log, uint64, error) {
	if f.resume {
		return session.Resume(f.Out, h)
	}
	if h.Seed = f.seed; h.Seed == 0 {
		h.Seed = rand.Uint64()
	}
	log, err := session.Create(f.Out, h)
	return log, h.Seed, err
}

// tolerates reports whether a result without a verdict passes with a warning.
func (f *compareFlags) tolerates(r verify.Result) bool {
	return r.Verdict == verify.Inconclusive && f.undecided == undecidedPasses
}

// print writes the result in the requested formats, and returns the exit code of its verdict.
func (f *compareFlags) print(w, stderr io.Writer, r compared, name string) error {
	write, aside := render.Text, w
	if f.JSON {
		write, aside = printJSON, stderr // CI systems read both, and JSON stands alone
	}
	if err := errors.Join(write(w, r.Result), f.report(aside, r, name)); err != nil {
		return err
	}
	switch r.Verdict {
	case verify.Pass, verify.Improvement:
		return nil
	case verify.Regression:
		return cli.Exit(cli.ExitFailed, nil)
	}
	if r.Tolerated {
		return nil
	}
	return cli.Exit(cli.ExitUndecided, nil)
}

// report writes a result for those who do not read the terminal: the requested
// files, and to w the annotations that a CI system shows next to the change.
func (f *compareFlags) report(w io.Writer, r compared, about string) (err error) {
	for _, format := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.markdown, func(w io.Writer) error { return render.Markdown(w, r.Result) }},
		{f.junit, func(w io.Writer) error { return render.JUnit(w, r.Result) }},
		{f.sarif, func(w io.Writer) error { return render.SARIF(w, r.Result, about) }},
	} {
		if format.path != "" {
			write := func(w io.Writer) error { return format.write(inert.NewWriter(w, false)) }
			err = errors.Join(err, disk.WriteOutput(format.path, write))
		}
	}
	if f.html != "" {
		page := func(w io.Writer) error { return web.Decision(w, r.Result, r.pairs, r.observed) }
		err = errors.Join(err, disk.WriteOutput(f.html, page))
	}
	if os.Getenv("CI") == "true" {
		err = errors.Join(err, render.Annotations(inert.Under(w), r.Result)) // commands, with names escaped
	}
	return err
}

func printJSON(w io.Writer, r verify.Result) error {
	return inert.JSON(w, r)
}
