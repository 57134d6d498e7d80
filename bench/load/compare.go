//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/stat"
)

// outing is one run of one tool in a comparison.
type outing struct {
	Round int             `json:"round"`
	Tally generator.Tally `json:"tally"`
	Spent process.Spent   `json:"spent"`
	// PerCPU is answered requests per CPU second of the whole process.
	PerCPU float64 `json:"requests_per_cpu_s"`
	Rate   float64 `json:"requests_per_s"` // over the load's length
}

// entrant is one tool in a comparison.
type entrant struct {
	Tool    string   `json:"tool"`
	Outings []outing `json:"outings"`
	Failed  string   `json:"failed,omitempty"` // why it has no more outings
}

func (e entrant) perCPU() []float64 {
	var values []float64
	for _, o := range e.Outings {
		values = append(values, o.PerCPU)
	}
	return values
}

func (e entrant) rate() float64 {
	var values []float64
	for _, o := range e.Outings {
		values = append(values, o.Rate)
	}
	return stat.Median(values)
}

func (e entrant) errors() (n int64) {
	for _, o := range e.Outings {
		n += o.Tally.Errors
	}
	return n
}

// ownPerCPU is by the tool's own reading of its CPU time; NaN for none.
func (e entrant) ownPerCPU() float64 {
	var values []float64
	for _, o := range e.Outings {
		if o.Tally.OwnCPU > 0 {
			values = append(values, float64(o.Tally.Requests)/o.Tally.OwnCPU.Seconds())
		}
	}
	return stat.Median(values)
}

// compare runs each tool once a round, in random order within the round. A
// tool that fails is left out of the later rounds.
func (b *bench) compare(ctx context.Context, tools []*generator.Tool, s generator.Shape) ([]entrant, error) {
	entrants := []entrant{}
	var able []*generator.Tool
	for _, t := range tools {
		if t.Can(s) {
			able = append(able, t)
			entrants = append(entrants, entrant{Tool: t.Name})
		}
	}
	for round := range b.rounds {
		for _, i := range b.rng.Perm(len(able)) {
			e := &entrants[i]
			if e.Failed != "" {
				continue
			}
			reported, used, err := b.run(ctx, able[i], s, nil)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				e.Failed = err.Error()
				b.say("%s: %v", e.Tool, err)
				continue
			}
			o := outing{Round: round, Tally: reported, Spent: used, Rate: float64(reported.Requests) / s.Duration.Seconds()}
			o.PerCPU = float64(reported.Requests) / used.CPU.Seconds()
			e.Outings = append(e.Outings, o)
			b.say("round %d  %-18s %10s requests/s  %10s per CPU second", round+1, e.Tool, thousands(o.Rate), thousands(o.PerCPU))
			time.Sleep(200 * time.Millisecond) // for the connections of the last one to close
		}
	}
	return entrants, nil
}

// ratio is redline over a peer: of medians, with the interval of resampled
// rounds (95 %). Low and High are NaN with fewer than two rounds.
type ratio struct{ Value, Low, High float64 }

// ratioOf pairs the rounds of two entrants; ok is false if one has none.
func (b *bench) ratioOf(over, under entrant) (ratio, bool) {
	x, y := over.perCPU(), under.perCPU()
	n := min(len(x), len(y))
	if n == 0 {
		return ratio{}, false
	}
	r := ratio{Value: stat.Median(x) / stat.Median(y)}
	pick := func(values []float64, indices []int) float64 {
		chosen := make([]float64, len(indices))
		for i, at := range indices {
			chosen[i] = values[at]
		}
		return stat.Median(chosen)
	}
	r.Low, r.High, _ = stat.Bootstrap(rand.New(rand.NewPCG(b.seed, 1)), n, 2000, 0.95, func(indices []int) float64 {
		return pick(x, indices) / pick(y, indices)
	})
	return r, true
}

func (r ratio) String() string {
	if math.IsNaN(r.Low) {
		return fmt.Sprintf("%.2f", r.Value)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Value, r.Low, r.High)
}

// find returns the entrant of that name; one without outings if there is none.
func find(entrants []entrant, name string) entrant {
	for _, e := range entrants {
		if e.Tool == name {
			return e
		}
	}
	return entrant{Tool: name}
}

// atLeast is the mark of a ratio.
func (b *bench) atLeast(entrants []entrant, peer string, want float64, what string) mark {
	return b.ofAtLeast(b.redline.Name, entrants, peer, want, what)
}

// ofAtLeast is atLeast for one of redline's own tools.
func (b *bench) ofAtLeast(tool string, entrants []entrant, peer string, want float64, what string) mark {
	m := mark{What: fmt.Sprintf("%s: requests per CPU second against %s", what, peer), Want: fmt.Sprintf("at least %.2f", want)}
	r, ok := b.ratioOf(find(entrants, tool), find(entrants, peer))
	if !ok {
		return m.unmeasured(entrants, peer)
	}
	m.Got, m.Verdict = r.String(), verdict(r.Value >= want)
	return m
}

// unmeasured says which side is missing.
func (m mark) unmeasured(entrants []entrant, peer string) mark {
	m.Verdict, m.Got = notMeasured, "no figure of "+peer
	for _, name := range []string{peer, "redline"} {
		if e := find(entrants, name); e.Failed != "" {
			m.Got = e.Failed
		}
	}
	return m
}
