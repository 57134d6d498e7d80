//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

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
