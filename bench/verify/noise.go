//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// noise is one recording of pairs of identical sides, in which nothing is decided.
type noise struct {
	Date    time.Time   `json:"date"`
	Host    record.Host `json:"host"`
	Redline string      `json:"redline"` // revision
	Rows    [][]float64 `json:"rows"`    // as trial.Compared
	// Launches are the same pairs by turns.
	Launches []launched `json:"launches"`
}

const (
	noiseTime  = 150 * time.Second // of a recording, so that it fits into a machine's quiet minutes
	noiseTurns = 11                // the plan's on this machine
)

// listen records pairs of the healthy gateway with itself.
func listen(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	s, err := startStage(ctx, o, say)
	if err != nil {
		return err
	}
	defer s.end()
	launcher, rng := &session.Launcher{Scratch: s.scratch}, rand.New(rand.NewPCG(o.seed, 13))
	n := noise{Date: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo(), Redline: benchmark.Revision(".")}
	for begun := time.Now(); time.Since(begun) < noiseTime; {
		p, err := pairOf(ctx, launcher, rng, s.side("one", 0), s.side("two", 0))
		if err != nil {
			return err
		}
		n.Rows, n.Launches = append(n.Rows, flat(p)...), append(n.Launches, launches(p)...)
	}
	kept.Noise = append(kept.Noise, n)
	say("recorded %d pairs of identical sides", len(n.Rows))
	return nil
}

// pairs are the pairs of a recording.
func (n noise) pairs() (out []verify.Pair) {
	for i, row := range n.Rows {
		p, ok := pair(row)
		if !ok {
			continue
		}
		l := n.Launches[i]
		p.A.Turns, p.B.Turns, p.BFirst, p.Took = l.A, l.B, l.BFirst, time.Duration(l.Took*float64(time.Second))
		out = append(out, p)
	}
	return out
}

// together are the pairs of all recordings.
func (r *results) together() (out []verify.Pair) {
	for _, n := range r.Noise {
		out = append(out, n.pairs()...)
	}
	return out
}

// writeNoise shows where the noise comes from.
func (r *results) writeNoise(b *strings.Builder) {
	all := r.together()
	c, ok := verify.EstimateComponents(all)
	if !ok {
		return
	}
	turns := len(all[0].A.Turns)
	b.WriteString("\n## Where the noise comes from\n\nPairs of the gateway with itself, in turns of 150 ms. Standard " +
		"deviations of CPU per request: between one side's turns, between its launches, and between pairs for both sides " +
		"alike (drift, which cancels in a pair's difference). A turn averages some hundred requests, and whatever the " +
		"garbage collector and the host do meanwhile.\n\n")
	line(b, "recorded", "pairs", "turn", "launch", "drift", "second launched takes", "a pair's difference", "a pair takes")
	line(b, "---", "---", "---", "---", "---", "---", "---", "---")
	row := func(name string, pairs []verify.Pair) {
		c, ok := verify.EstimateComponents(pairs)
		if !ok {
			return
		}
		line(b, name, fmt.Sprint(c.Pairs), percents(c.Turn), percents(c.Launch), percents(c.Drift),
			fmt.Sprintf("%+.1f ± %.1f %%", 100*c.Order, 100*c.OrderError), percents(deviation(pairs)),
			fmt.Sprintf("%.1f s", took(pairs)))
	}
	for _, n := range r.Noise {
		row(fmt.Sprintf("%s, %s", n.Date.Format("2006-01-02 15:04"), n.Redline), n.pairs())
	}
	row("all", all)
	launch := time.Duration((took(all) - float64(turns)*turnSeconds) * float64(time.Second))
	best := c.Turns(launch, time.Duration(turnSeconds*float64(time.Second)))
	fmt.Fprintf(b, "\nA pair costs %.1f s before its first turn and %.1f s for each turn of both sides. According to a "+
		"session's plan, which also counts eight pairs of the usual noise, %d turns per launch are most precise in a given "+
		"time.\n", launch.Seconds(),
		turnSeconds, best)
}

// turnSeconds is how long a turn of both sides takes, with the rests.
const turnSeconds = 0.4

func percents(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func took(pairs []verify.Pair) float64 {
	var all []float64
	for _, p := range pairs {
		all = append(all, p.Took.Seconds())
	}
	return stat.Median(all)
}

// deviation is that of the pairs' differences in CPU per request.
func deviation(pairs []verify.Pair) float64 {
	var d []float64
	for _, p := range pairs {
		d = append(d, math.Log(p.B.Values[decides]/p.A.Values[decides]))
	}
	return stat.Deviation(d)
}
