//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/stat"
)

// confidence is the level of all intervals.
const confidence = 0.95

// trial is one observed block against the blind ones around it.
type trial struct {
	Condition string   `json:"condition"`
	Blind     [2]block `json:"blind"` // before and after
	Observed  block    `json:"observed"`
}

// measure makes the rounds: blind, observed, blind, observed, blind.
func (s *stage) measure(ctx context.Context, o options, kept *results) error {
	short := slices.DeleteFunc(slices.Clone(o.only), long)
	rest := slices.DeleteFunc(slices.Clone(o.only), func(name string) bool { return !long(name) })
	for round := range o.rounds {
		if err := s.compare(ctx, round, short, o.length, kept); err != nil {
			return err
		}
		if err := s.compare(ctx, round, rest, longer*o.length, kept); err != nil {
			return err
		}
	}
	return nil
}

// compare makes one round of blocks of one length.
func (s *stage) compare(ctx context.Context, round int, conditions []string, length time.Duration, kept *results) error {
	order := []string{""}
	for _, i := range s.rng.Perm(len(conditions)) {
		order = append(order, conditions[i], "")
	}
	if len(order) == 1 {
		return nil
	}
	blocks, err := s.round(ctx, order, length)
	if err != nil {
		return err
	}
	var made []trial
	for i := 2; i < len(blocks); i += 2 {
		if blocks[i-1].late {
			s.say("%s took too long to open; its block is left out", order[i-1])
			continue
		}
		if why := blocks[i-1].shut; why != "" {
			s.say("%s is not measured: %s", order[i-1], why)
			continue
		}
		t := trial{Condition: order[i-1], Blind: [2]block{blocks[i-2], blocks[i]}, Observed: blocks[i-1]}
		made = append(made, t)
		s.say("round %d  %-9s %6.0f requests/s %+6.2f %%   gateway %6.1f µs %+6.2f %%   host %6.1f µs %+6.2f %%", round+1, t.Condition,
			t.Observed.Rate, -100*loss(t.rate()), t.Observed.Target/1e3, 100*growth(t.target()), t.Observed.Host/1e3, 100*growth(t.host()))
	}
	return kept.keep(made)
}

// drift is the largest permitted difference of the two blind blocks of a trial. If they
// differ by more, something else used the machine, and the block between them shows
// that. Only the blind blocks decide this, so that it neither hides a cost nor makes
// one up.
const drift = 0.10

func (t trial) steady() bool {
	return math.Abs(math.Log(t.Blind[0].Rate/t.Blind[1].Rate)) <= drift
}

// against is the cost by one figure: the logarithm of observed over blind.
func (t trial) against(figure func(block) float64) float64 {
	return math.Log(figure(t.Observed) / math.Sqrt(figure(t.Blind[0])*figure(t.Blind[1])))
}

// rate, target and host are positive for a cost.
func (t trial) rate() float64   { return -t.against(func(b block) float64 { return b.Rate }) }
func (t trial) target() float64 { return t.against(func(b block) float64 { return b.Target }) }
func (t trial) host() float64   { return t.against(func(b block) float64 { return b.Host }) }

// own is the cost of watching in redline's process, in shares of a core. The load's part
// is proportional to the answers and subtracted.
func (t trial) own() float64 {
	perAnswer := (t.Blind[0].Agent/t.Blind[0].Rate + t.Blind[1].Agent/t.Blind[1].Rate) / 2
	return (t.Observed.Agent - perAnswer*t.Observed.Rate) / 1e9
}

// accounted is the CPU of the sources' own threads, in shares of a core.
func (t trial) accounted() (total float64) {
	for _, ns := range t.Observed.Sources {
		total += ns / 1e9
	}
	return total
}

// estimate is a figure with its interval; Known is false with too few trials for
// one.
type estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"`
	Known bool    `json:"known"`
}

// estimated is the Hodges-Lehmann estimate of a figure of trials, with the
// signed-rank interval.
func estimated(trials []trial, figure func(trial) float64, scale func(float64) float64) estimate {
	var values []float64
	for _, t := range trials {
		values = append(values, figure(t))
	}
	if len(values) == 0 {
		return estimate{}
	}
	value, low, high, ok := stat.SignedRankInterval(values, confidence)
	if !ok {
		value = stat.HodgesLehmann(values)
		low, high = math.Inf(-1), math.Inf(1)
	}
	e := estimate{Value: scale(value), N: len(values), Known: ok}
	if ok {
		e.Low, e.High = scale(low), scale(high)
	}
	return e
}

// loss turns the logarithm of blind over observed into the share lost, growth
// that of observed over blind into the share added.
func loss(x float64) float64   { return -math.Expm1(-x) }
func growth(x float64) float64 { return math.Expm1(x) }
func same(x float64) float64   { return x }

func (e estimate) percent() string {
	switch {
	case e.N == 0:
		return "not measured"
	case !e.Known:
		return fmt.Sprintf("%+.2f %% (too few rounds for an interval)", 100*e.Value)
	}
	return fmt.Sprintf("%+.2f %% (%+.2f to %+.2f)", 100*e.Value, 100*e.Low, 100*e.High)
}

// verdict compares a figure with its maximum. An interval on both sides of the mark
// decides nothing.
func (e estimate) verdict(most float64) string {
	switch {
	case !e.Known:
		return "not measured"
	case e.High <= most:
		return "met"
	case e.Low > most:
		return "MISSED"
	case e.Value <= most:
		return "open: the interval is wider than what is left of the mark"
	}
	return "MISSED, though the interval reaches below the mark"
}
