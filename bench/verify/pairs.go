//go:build linux

package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

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
