//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// simulation is what simulated sessions of one size of change came to.
type simulation struct {
	Slower   float64                `json:"slower"` // of side b
	Sessions int                    `json:"sessions"`
	Pairs    int                    `json:"pairs"`    // at most, in each
	Recorded int                    `json:"recorded"` // pairs that noise was drawn from
	Verdicts map[verify.Verdict]int `json:"verdicts"`
}

// stretch is how many consecutive pairs are drawn together.
const stretch = 4

// replayed draws blocks from recorded pairs of identical sides instead of
// measuring them. Blocks are asked for in pairs, and are given in the order in
// which they are asked for: which side gets which is as random as a session's
// order is.
type replayed struct {
	rng      *rand.Rand
	recorded [][]verify.Pair // of each session, in order
	slower   float64

	next    []verify.Pair
	pending *verify.Block
}

// Measure implements session.Measurer.
func (r *replayed) Measure(_ context.Context, s session.Side) (verify.Block, error) {
	if r.pending == nil {
		p := r.draw()
		if r.rng.IntN(2) == 1 {
			p.A, p.B = p.B, p.A
		}
		r.pending = &p.B
		return r.change(p.A, s), nil
	}
	b := *r.pending
	r.pending = nil
	return r.change(b, s), nil
}

func (r *replayed) draw() verify.Pair {
	if len(r.next) == 0 {
		from := r.recorded[r.rng.IntN(len(r.recorded))]
		at := r.rng.IntN(max(1, len(from)-stretch+1))
		r.next = from[at:min(at+stretch, len(from))]
	}
	p := r.next[0]
	r.next = r.next[1:]
	return p
}

// change makes a block of side b so much slower: what takes more CPU serves less
// by half as much, because half of the machine's work is the database's and the
// load's.
func (r *replayed) change(b verify.Block, s session.Side) verify.Block {
	out := verify.Block{Values: maps.Clone(b.Values)}
	if s.Name == "b" && r.slower != 0 {
		out.Values["cpu_per_request"] *= 1 + r.slower
		out.Values["throughput"] /= 1 + r.slower/2
	}
	return out
}

// simulate runs sessions on resampled noise: without a change, and with those of
// the real ones.
func simulate(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	var recorded [][]verify.Pair
	var most []float64
	n := 0
	for _, t := range kept.of("aa") {
		for _, rows := range [][][]float64{t.Same, t.Compared} {
			if list := pairs(rows); len(list) >= stretch {
				recorded, n = append(recorded, list), n+len(list)
			}
		}
		most = append(most, float64(t.Most))
	}
	if n == 0 {
		return errors.New("simulate: no pairs of identical sides are recorded (hint: -only aa first, then -add)")
	}
	kept.Simulated = nil
	for _, slower := range []float64{0, 0.05, 0.10, -0.05} {
		s := simulation{Slower: slower, Sessions: o.simulated, Pairs: int(stat.Median(most)), Recorded: n}
		say("simulating %d sessions, side b %+.0f %%", s.Sessions, 100*slower)
		if err := s.run(ctx, recorded, o.seed); err != nil {
			return err
		}
		kept.Simulated = append(kept.Simulated, s)
	}
	return nil
}

// run simulates the sessions, as many at once as there are CPUs.
func (s *simulation) run(ctx context.Context, recorded [][]verify.Pair, seed uint64) error {
	s.Verdicts = map[verify.Verdict]int{}
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	turn := make(chan uint64)
	for range runtime.NumCPU() {
		all.Go(func() {
			for i := range turn {
				verdict, err := s.one(ctx, recorded, seed+i)
				mu.Lock()
				s.Verdicts[verdict]++
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for i := range uint64(s.Sessions) {
		turn <- i
	}
	close(turn)
	all.Wait()
	return errors.Join(failed, ctx.Err())
}

func (s *simulation) one(ctx context.Context, recorded [][]verify.Pair, seed uint64) (verify.Verdict, error) {
	if ctx.Err() != nil {
		return verify.Invalid, nil
	}
	session := session.Session{
		A: session.Side{Name: "a"}, B: session.Side{Name: "b"}, MaxTime: time.Hour, Pairs: s.Pairs,
		Measurer: &replayed{rng: rand.New(rand.NewPCG(seed, 11)), recorded: recorded, slower: s.Slower},
		Rules:    verify.Rules{Metrics: metrics(), Seed: seed},
	}
	r, err := session.Run(ctx)
	if err != nil {
		return verify.Invalid, fmt.Errorf("simulated session: %w", err)
	}
	return r.Verdict, nil
}
