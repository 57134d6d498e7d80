package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/verify/gobench"
)

// Session runs experiments one after the other.
type Session struct {
	Checkout string // folder that holds lab/
	Dir      string // where results are kept; it is made
	Quick    bool   // few and short rounds: what needs more stays inconclusive
	Resume   bool   // those that Dir has a verdict of are not run again, unless it is a quick one and Quick is not set
	Seed     uint64 // of the order of rounds
	// OnLine receives progress within an experiment, OnResult each result as it is kept;
	// either may be nil.
	OnLine   func(e Experiment, line string)
	OnResult func(n, of int, r Result)
}

// plan is how long one experiment is measured.
type plan struct {
	rounds int
	each   string        // benchtime of a launch
	most   time.Duration // with its build
}

func (s *Session) plan() plan {
	if s.Quick {
		return plan{12, "40ms", 3 * time.Minute}
	}
	return plan{gobench.DefaultRounds, "200ms", 4 * time.Minute}
}

// side is the variable by which a benchmark of lab/ learns what to run.
const side = "REDLINE_LAB_SIDE"

// Run runs the experiments and returns all results of Dir. When ctx ends, what was decided
// until then is kept and returned, with the context's cause as error. Experiments that fail,
// because a side does not run or its answers differ, are a FailedError, after the others have
// run; when ctx ends, it is joined to the cause.
func (s *Session) Run(ctx context.Context, chosen []Experiment) (Results, error) {
	results, err := Read(s.Dir)
	if err != nil {
		return results, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return results, err
	}
	var failed FailedError
	for n, e := range chosen {
		if old, done := results.Of(e.ID); done && s.Resume && (s.Quick || !old.Quick) {
			continue
		}
		one, err := s.measure(ctx, e, "tuned")
		switch {
		case err == nil:
			if err := results.keep(s.Dir, one); err != nil {
				return results, err
			}
			if s.OnResult != nil {
				s.OnResult(n+1, len(chosen), one)
			}
		case !Interrupted(ctx, err):
			failed = append(failed, fmt.Errorf("%s: %w", e.ID, err))
		}
		if ctx.Err() != nil {
			return results, errors.Join(context.Cause(ctx), failed.orNil())
		}
	}
	return results, failed.orNil()
}

// Interrupted reports whether an error of a session says no more than that ctx has ended.
func Interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// FailedError holds an error per experiment that failed, each with the experiment's ID.
type FailedError []error

func (e FailedError) Error() string { return errors.Join(e...).Error() }

func (e FailedError) Unwrap() []error { return e }

func (e FailedError) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Itself measures an experiment's baseline against itself, by the rules of its verdicts, and keeps
// nothing. Confirmed, Smaller and Reversed are false verdicts then. When ctx ends, an
// error that Interrupted does not say to be the context's is the benchmark's own.
func (s *Session) Itself(ctx context.Context, e Experiment) (Result, error) {
	e.Factor = 0 // no gain is claimed
	return s.measure(ctx, e, "baseline")
}

// measure measures an experiment's baseline against the side that other names.
func (s *Session) measure(ctx context.Context, e Experiment, other string) (Result, error) {
	folder, err := scratch.New("lab")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = folder.Remove() }()
	given, stop, err := environment(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer stop()
	p := s.plan()
	report, err := gobench.Run(ctx, gobench.Options{
		Dir: filepath.Join(s.Checkout, "lab"), Patterns: []string{"./" + e.Folder}, Bench: "^Benchmark" + e.Benchmark + "$",
		Sides:     []gobench.Side{{Env: append(given, side+"=baseline")}, {Env: append(given, side+"="+other)}},
		BenchTime: p.each, Rounds: p.rounds, MaxTime: p.most, Margin: margin, Profiles: -1, Seed: s.Seed,
		Out: filepath.Join(folder.Path, "rounds"),
		Progress: func(line string) {
			if s.OnLine != nil {
				s.OnLine(e, line)
			}
		},
	})
	if err != nil {
		return Result{}, err
	}
	one, err := resultOf(e, report, s.Quick)
	if report.Interrupted && len(report.Missing) == 0 { // what is missing failed, or skips, whether or not ctx ended
		return Result{}, context.Cause(ctx)
	}
	return one, err
}

// resultOf takes the deciding metric from a report.
func resultOf(e Experiment, report *gobench.Report, quick bool) (Result, error) {
	here := Result{
		ID: e.ID, Claim: e.Claim, Title: e.Title, Claimed: claimedBy(e), Factor: e.Factor, Metric: e.Metric,
		Rounds: report.Rounds, Quick: quick, At: report.Begun, Host: report.Host, Go: report.Go,
	}
	if at := slices.IndexFunc(report.Missing, func(m gobench.Missing) bool { return !m.Skipped }); at >= 0 {
		m := report.Missing[at]
		return Result{}, fmt.Errorf("%s of side %s: %s", m.Name, m.Side, m.Why)
	}
	if len(report.Missing) > 0 {
		here.Verdict, here.Why = NotHere, report.Missing[0].Why
		if here.Why == "" {
			return Result{}, fmt.Errorf("%s is skipped without a reason", e.Benchmark)
		}
		return here, nil
	}
	if len(report.Benchmarks) != 1 {
		return Result{}, fmt.Errorf("%d benchmarks are named %s", len(report.Benchmarks), e.Benchmark)
	}
	metrics := report.Benchmarks[0].Metrics
	at := slices.IndexFunc(metrics, func(m gobench.Metric) bool { return m.Name == e.Metric })
	if at < 0 {
		return Result{}, fmt.Errorf("%s does not report %s", e.Benchmark, e.Metric)
	}
	m := metrics[at]
	r := here
	r.A, r.B = m.A, m.B
	known := false
	if r.Gain, known = gainOf(m.MetricResult); !known {
		r.Verdict, r.Why = Inconclusive, m.Why
		return r, nil
	}
	differs := slices.ContainsFunc(report.AA.Different, func(name string) bool { return strings.HasSuffix(name, " "+e.Metric) })
	if differs {
		r.Gain = r.widened(m.MDE)
	}
	if r.Verdict, r.Why = decide(r.Gain, e.Factor); differs {
		r.Why += "; the baseline differed from itself, so the interval is wider"
	}
	return r, nil
}

// claimedBy returns the figure that a claim gives, in words.
func claimedBy(e Experiment) string {
	if i := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == e.Claim }); i >= 0 {
		return claims[i].Claimed
	}
	return ""
}
