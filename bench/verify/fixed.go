//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// factor is something that differs from launch to launch, or from turn to turn, and that can be held fixed.
type factor struct {
	name, title string
	env         map[string]string
	enter       func() error // in the process that becomes the service; nil for none
}

// factors are what might cause the noise, each fixed alone; the first fixes nothing. The seeds of maps cannot be fixed: Go draws them.
var factors = []factor{
	{name: "nothing", title: "nothing"},
	{name: "layout", title: "the address space (no ASLR)", enter: func() error {
		const addrNoRandomize = 0x0040000 // linux/personality.h
		_, _, errno := unix.Syscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	}},
	{name: "pages", title: "small pages (no transparent huge ones)", enter: func() error {
		return unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0)
	}},
	{name: "cpu", title: "the service on one CPU", enter: func() error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		for cpu := 0; set.Count() > 1; cpu++ {
			set.Clear(cpu)
		}
		return unix.SchedSetaffinity(0, &set)
	}},
	{name: "heap", title: "the heap at which a collection begins (256 MiB)", env: map[string]string{"GOGC": "off", "GOMEMLIMIT": "256MiB"}},
	{name: "plans", title: "PostgreSQL's plans (generic ones from the start)",
		env: map[string]string{"PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}},
}

// fixedRun is a recording of pairs of identical sides with a factor fixed on both.
type fixedRun struct {
	Factor   string      `json:"factor"`
	Service  string      `json:"service"`
	Date     time.Time   `json:"date"`
	Host     record.Host `json:"host"`
	Redline  string      `json:"redline"`
	Launches []launched  `json:"launches"`
}

// become is the argument that makes the bench fix a factor for itself and then become the service.
const become = "become-with"

// becomes runs the service in this process's place: become-with FACTOR BINARY ARGUMENTS.
func becomes(args []string) error {
	if len(args) < 2 {
		return errors.New(become + " FACTOR BINARY ARGUMENTS")
	}
	i := slices.IndexFunc(factors, func(f factor) bool { return f.name == args[0] })
	if i < 0 {
		return fmt.Errorf("no factor %q", args[0])
	}
	if enter := factors[i].enter; enter != nil {
		if err := enter(); err != nil {
			return fmt.Errorf("fixing %s: %w", factors[i].title, err)
		}
	}
	return unix.Exec(args[1], args[1:], os.Environ())
}

// with is a side with a factor fixed. All sides take the same way, also the one without.
func (f factor) with(s session.Side, self string) session.Side {
	plan := *s.Plan
	plan.Target.Env = map[string]string{}
	maps.Copy(plan.Target.Env, s.Plan.Target.Env)
	maps.Copy(plan.Target.Env, f.env)
	plan.Target.Args = append([]string{become, f.name, s.Binary}, s.Plan.Target.Args...)
	return session.Side{Name: s.Name, Plan: &plan, Binary: self}
}

// fix records pairs of the healthy service with itself, factors in turn, so that the machine's restless minutes meet all alike.
func fix(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := startStage(ctx, o, say)
	if err != nil {
		return err
	}
	defer s.end()
	launcher, rng := &session.Launcher{Scratch: s.scratch}, rand.New(rand.NewPCG(o.seed, 17))
	runs := make([]fixedRun, len(factors))
	for i, f := range factors {
		runs[i] = fixedRun{Factor: f.name, Service: o.service, Date: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo(),
			Redline: benchmark.Revision(".")}
	}
	for round := range o.rounds {
		for _, i := range rng.Perm(len(factors)) {
			one, two := factors[i].with(s.side("one", 0), self), factors[i].with(s.side("two", 0), self)
			p, err := pairOf(ctx, launcher, rng, one, two)
			if err != nil {
				return fmt.Errorf("fixing %s: %w", factors[i].title, err)
			}
			runs[i].Launches = append(runs[i].Launches, launches(p)...)
		}
		say("%s, factors: round %d of %d", o.service, round+1, o.rounds)
	}
	kept.Fixed = append(slices.DeleteFunc(kept.Fixed, func(f fixedRun) bool { return f.Service == o.service }), runs...)
	return nil
}

// pairOf measures a pair of launches by turns; none if a block does not count.
func pairOf(ctx context.Context, l *session.Launcher, rng *rand.Rand, one, two session.Side) ([]verify.Pair, error) {
	p := verify.Pair{BFirst: rng.IntN(2) == 0}
	lead, other, begun := &p.A, &p.B, time.Now()
	if p.BFirst {
		lead, other = other, lead
	}
	var err error
	*lead, *other, err = l.Alternate(ctx, one, two, session.Course{Turn: calibrationTurn, Each: noiseTurns})
	if err != nil {
		return nil, err
	}
	if p.Took = time.Since(begun); p.A.Void+p.B.Void != "" || len(p.A.Turns)*len(p.B.Turns) == 0 {
		return nil, nil
	}
	return []verify.Pair{p}, nil
}

// turnPairs are pairs of which only the turns are known.
func turnPairs(list []launched) (out []verify.Pair) {
	for _, l := range list {
		p := verify.Pair{BFirst: l.BFirst, Took: time.Duration(l.Took * float64(time.Second))}
		p.A.Turns, p.B.Turns = l.A, l.B
		out = append(out, p)
	}
	return out
}

// centred are the pairs of all sessions of a service, each session's side b scaled so that its pairs show no change on average: what
// is left is noise, whichever side was slower. A mean of n pairs takes 1/n of the variance with it, which is given back.
func (r *results) centred(service string) (out []verify.Pair) {
	for _, t := range r.Sessions {
		if t.Service != service {
			continue
		}
		pairs := turnPairs(t.Launches)
		for _, part := range [][]verify.Pair{pairs[:min(len(pairs), len(t.Same))], pairs[min(len(pairs), len(t.Same)):]} {
			out = append(out, centre(part)...)
		}
	}
	return out
}

// centre scales side b of a session's pairs; none for fewer than two of them.
func centre(pairs []verify.Pair) []verify.Pair {
	n, mean := float64(len(pairs)), 0.0
	if n < 2 {
		return nil
	}
	changes := make([]float64, len(pairs))
	for i, p := range pairs {
		changes[i] = level(p.B.Turns) - level(p.A.Turns)
		mean += changes[i] / n
	}
	for i := range pairs {
		scale := math.Exp((changes[i]-mean)*math.Sqrt(n/(n-1)) - changes[i])
		turns := slices.Clone(pairs[i].B.Turns)
		for j := range turns {
			turns[j] *= scale
		}
		pairs[i].B.Turns = turns
	}
	return pairs
}

// level is the mean logarithm of turns.
func level(turns []float64) (sum float64) {
	for _, v := range turns {
		sum += math.Log(v) / float64(len(turns))
	}
	return sum
}

// writeLaunches shows the components by all sessions, whose pairs are many, and what they are with a factor fixed.
func (r *results) writeLaunches(b *strings.Builder) {
	b.WriteString("\n### By all sessions' pairs\n\nThe components once more, of all sessions' pairs, without each session's mean " +
		"change. Intervals are at 95 %, by resampling pairs. The last column is how many fewer pairs a session would need if " +
		"launches did not differ at all.\n\n")
	line(b, "service", "pairs", "turn", "launch", "its interval", "fewer pairs without it")
	line(b, "---", "---", "---", "---", "---", "---")
	for _, service := range services {
		pairs := r.centred(service)
		c, ok := verify.EstimateComponents(pairs)
		if !ok {
			continue
		}
		low, high := launchInterval(pairs)
		turns := len(pairs[0].A.Turns)
		without := c
		without.Launch = 0
		ratio := without.Deviation(turns) / c.Deviation(turns)
		line(b, service, fmt.Sprint(c.Pairs), percents(c.Turn), percents(c.Launch), percents(low)+" to "+percents(high),
			percents(1-ratio*ratio))
	}
	if len(r.Fixed) == 0 {
		return
	}
	b.WriteString("\n### With one thing fixed\n\nPairs of identical sides, both with one thing held fixed, in random order within each " +
		"round. CPU per request is compared with that of the pairs in which nothing is fixed.\n\n")
	line(b, "service", "fixed", "pairs", "CPU per request", "turn", "launch", "its interval")
	line(b, "---", "---", "---", "---", "---", "---", "---")
	for _, f := range r.Fixed {
		pairs := turnPairs(f.Launches)
		c, ok := verify.EstimateComponents(pairs)
		if !ok {
			continue
		}
		low, high := launchInterval(pairs)
		line(b, f.Service, title(f.Factor), fmt.Sprint(c.Pairs), r.against(f), percents(c.Turn), percents(c.Launch),
			percents(low)+" to "+percents(high))
	}
}

func title(name string) string {
	for _, f := range factors {
		if f.name == name {
			return f.title
		}
	}
	return name
}

// against is by how much more CPU a request takes with the factor than with nothing fixed.
func (r *results) against(f fixedRun) string {
	i := slices.IndexFunc(r.Fixed, func(g fixedRun) bool { return g.Service == f.Service && g.Factor == factors[0].name })
	if i < 0 || f.Factor == factors[0].name {
		return "-"
	}
	estimate, low, high, ok := stat.ShiftInterval(levels(r.Fixed[i].Launches), levels(f.Launches), intervalLevel)
	if !ok {
		return "too few pairs"
	}
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*math.Expm1(estimate), 100*math.Expm1(low), 100*math.Expm1(high))
}

// levels are the logarithms of the pairs' CPU per request.
func levels(list []launched) (out []float64) {
	for _, l := range list {
		out = append(out, level(slices.Concat(l.A, l.B)))
	}
	return out
}

const (
	intervalLevel = 0.95
	intervalDraws = 400
)

// launchInterval is the interval of the launches' standard deviation.
func launchInterval(pairs []verify.Pair) (low, high float64) {
	drawn, rng := make([]verify.Pair, len(pairs)), rand.New(rand.NewPCG(1, uint64(len(pairs))))
	low, high, _ = stat.Bootstrap(rng, len(pairs), intervalDraws, intervalLevel, func(indices []int) float64 {
		for i, j := range indices {
			drawn[i] = pairs[j]
		}
		if c, ok := verify.EstimateComponents(drawn); ok {
			return c.Launch
		}
		return math.NaN()
	})
	return low, high
}
