//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// simulation is the outcome of the simulated sessions of one size of change.
type simulation struct {
	Noise    string                 `json:"noise"`  // drawnNoise or recordedNoise
	Slower   float64                `json:"slower"` // of side b
	Sessions int                    `json:"sessions"`
	Pairs    int                    `json:"pairs"`    // at most, in each
	Recorded int                    `json:"recorded"` // pairs from which the noise comes
	Verdicts map[verify.Verdict]int `json:"verdicts"`
	Early    int                    `json:"early"` // of these, decided by the first pairs
	Typical  float64                `json:"typical_pairs"`
}

// Where the noise of simulated sessions comes from.
const (
	drawnNoise    = "components"     // normal, with the components of the recorded pairs
	recordedNoise = "recorded pairs" // these pairs again
)

// changes are those of side b's CPU per request that are simulated.
var changes = map[string][]float64{drawnNoise: {0, 0.05, 0.03, -0.05, 0.10}, recordedNoise: {0, 0.05, -0.05}}

// stretch is how many consecutive pairs are drawn together.
const stretch = 4

// source supplies pairs of identical sides.
type source interface {
	draw(rng *rand.Rand) verify.Pair
}

// replayed draws runs of consecutive recorded pairs, with their sides exchanged or not.
type replayed struct {
	recorded [][]verify.Pair // of each recording, in order
	next     []verify.Pair
}

func (r *replayed) draw(rng *rand.Rand) verify.Pair {
	if len(r.next) == 0 {
		from := r.recorded[rng.IntN(len(r.recorded))]
		at := rng.IntN(max(1, len(from)-stretch+1))
		r.next = from[at:min(at+stretch, len(from))]
	}
	p := r.next[0]
	if r.next = r.next[1:]; rng.IntN(2) == 1 {
		p.A, p.B = p.B, p.A
	}
	return p
}

// modelled draws blocks by components of variance: launches deviate normally, and so do
// turns. Throughput goes with CPU per request as it does in the recorded pairs.
type modelled struct {
	components verify.Components
	turns      int
	follows    float64 // by how much throughput falls when CPU per request rises
	own        float64 // further deviation of throughput
}

func (m *modelled) draw(rng *rand.Rand) (p verify.Pair) {
	common := m.components.Drift * rng.NormFloat64()
	for _, b := range []*verify.Block{&p.A, &p.B} {
		sum, level := 0.0, common+m.components.Launch*rng.NormFloat64()
		for range m.turns {
			sum += math.Exp(level + m.components.Turn*rng.NormFloat64())
		}
		cpu := math.Log(sum / float64(m.turns))
		b.Values = map[string]float64{
			"cpu_per_request": 250e3 * math.Exp(cpu),
			"throughput":      4000 * math.Exp(-m.follows*cpu+m.own*rng.NormFloat64()),
		}
	}
	return p
}

// model splits the noise of recorded pairs into its components.
func model(all []verify.Pair) (*modelled, error) {
	c, ok := verify.EstimateComponents(all)
	if !ok {
		return nil, errors.New("simulate: no pairs of identical sides are recorded (hint: -only noise first, then -add)")
	}
	product, square := 0.0, 0.0
	difference := func(p verify.Pair, name string) float64 { return math.Log(p.B.Values[name] / p.A.Values[name]) }
	for _, p := range all {
		cpu := difference(p, "cpu_per_request")
		product, square = product-cpu*difference(p, "throughput"), square+cpu*cpu
	}
	m := &modelled{components: c, turns: len(all[0].A.Turns), follows: product / square}
	var left []float64
	for _, p := range all {
		left = append(left, difference(p, "throughput")+m.follows*difference(p, "cpu_per_request"))
	}
	m.own = stat.Deviation(left) / math.Sqrt2
	return m, nil
}

// measurer gives a session the blocks of pairs that are drawn instead of measured. Blocks are
// requested in pairs, and are given in the order in which they are requested.
type measurer struct {
	source
	rng     *rand.Rand
	slower  float64
	pending *verify.Block
}

// Measure implements session.Measurer.
func (m *measurer) Measure(_ context.Context, s session.Side) (verify.Block, error) {
	if m.pending == nil {
		p := m.draw(m.rng)
		m.pending = &p.B
		return m.change(p.A, s), nil
	}
	b := *m.pending
	m.pending = nil
	return m.change(b, s), nil
}

// change makes a block of side b slower by m.slower: with more CPU per request throughput
// falls by half as much, because half of the machine's work is the database's and the
// load's.
func (m *measurer) change(b verify.Block, s session.Side) verify.Block {
	out := verify.Block{Values: maps.Clone(b.Values)}
	if s.Name == "b" && m.slower != 0 {
		out.Values["cpu_per_request"] *= 1 + m.slower
		out.Values["throughput"] /= 1 + m.slower/2
	}
	return out
}

// simulate runs sessions on both kinds of noise: without a change, and with several.
func simulate(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	all := kept.together()
	drawn, err := model(all)
	if err != nil {
		return err
	}
	var recorded [][]verify.Pair
	for _, n := range kept.Noise {
		recorded = append(recorded, n.pairs())
	}
	most := int(o.maxTime.Seconds() / took(all))
	// Those with other noise, or of fewer sessions, are repeated; the others are kept.
	kept.Simulated = slices.DeleteFunc(kept.Simulated, func(s simulation) bool {
		return s.Sessions != o.simulated || s.Recorded != len(all) || s.Pairs != most
	})
	for _, noise := range []string{drawnNoise, recordedNoise} {
		for _, slower := range changes[noise] {
			if slices.ContainsFunc(kept.Simulated, func(s simulation) bool { return s.Noise == noise && s.Slower == slower }) {
				continue
			}
			s := simulation{Noise: noise, Slower: slower, Sessions: o.simulated, Pairs: most, Recorded: len(all)}
			say("simulating %d sessions of %s, side b %+.0f %%", s.Sessions, noise, 100*slower)
			begin := func() source {
				if noise == drawnNoise {
					return drawn
				}
				return &replayed{recorded: recorded}
			}
			if err := s.run(ctx, begin, o.seed); err != nil {
				return err
			}
			kept.Simulated = append(kept.Simulated, s)
			if err := kept.write(o.out); err != nil { // so that a bench that is stopped has some
				return err
			}
		}
	}
	return nil
}

// run simulates the sessions, as many at once as there are CPUs; begin gives each its noise.
func (s *simulation) run(ctx context.Context, begin func() source, seed uint64) error {
	s.Verdicts = map[verify.Verdict]int{}
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	var lengths []float64
	turn := make(chan uint64)
	for range runtime.NumCPU() {
		all.Go(func() {
			for i := range turn {
				r, err := s.one(ctx, begin(), seed+i)
				mu.Lock()
				s.Verdicts[r.Verdict]++
				if lengths = append(lengths, float64(r.Pairs)); r.Early {
					s.Early++
				}
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
	s.Typical = stat.Median(lengths)
	return errors.Join(failed, ctx.Err())
}

func (s *simulation) one(ctx context.Context, from source, seed uint64) (verify.Result, error) {
	if ctx.Err() != nil {
		return verify.Result{Verdict: verify.Invalid}, nil
	}
	session := session.Session{
		A: session.Side{Name: "a"}, B: session.Side{Name: "b"}, MaxTime: time.Hour, Pairs: s.Pairs, Plain: true,
		Measurer: &measurer{source: from, rng: rand.New(rand.NewPCG(seed, 11)), slower: s.Slower},
		Rules:    verify.Rules{Metrics: metrics(), Seed: seed},
	}
	r, err := session.Run(ctx)
	if err != nil {
		return verify.Result{Verdict: verify.Invalid}, fmt.Errorf("simulated session: %w", err)
	}
	return r, nil
}
