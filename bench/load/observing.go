//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/stat"
)

const (
	// pairsPerRound runs with observation, and as many without, follow each other in each of -rounds: the difference of one
	// pair has a standard deviation of 6 % on a shared host, and 2 % are to be told from none.
	pairsPerRound = 4
	// mostCost is the mark: CPU per request while observing over that without.
	mostCost = 1.02
)

// observingCost measures what observation costs the generator's process: runs with and without it, in pairs.
func (b *bench) observingCost(ctx context.Context) (*section, error) {
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	paired := *b // with rounds and a length of its own
	paired.rounds *= pairsPerRound
	if !b.short {
		paired.length *= 2 // as long as a default run, whose start and end are then the share that its user pays
	}
	load := generator.Shape{Protocol: generator.HTTP1, Address: n.Plain, Connections: 64, Streams: 1, Duration: paired.length}
	entrants, err := paired.compare(ctx, []*generator.Tool{b.redline, b.observing}, load)
	if err != nil {
		return nil, err
	}
	s := &section{
		Title: "What observing costs the generator",
		About: fmt.Sprintf("%d pairs of runs of %v, HTTP/1.1 with 64 connections, in random order within a pair. CPU of the generator's "+
			"whole process for each request, its start and the bundle included; the estimate is Hodges and Lehmann's, of the logarithms, "+
			"with the 95 %% interval of the signed ranks.", paired.rounds, paired.length),
		Columns: []string{"pairs", "CPU per request, alone", "observing", "observing is x times", "95 % interval"},
		Raw:     json.RawMessage("{}"),
	}
	s.addRaw(s.Title, entrants)
	alone, observing := find(entrants, b.redline.Name), find(entrants, b.observing.Name)
	m := mark{What: "HTTP/1.1, observing: CPU per request against without", Want: fmt.Sprintf("at most %.2f", mostCost)}
	ratios := pairedCosts(alone, observing)
	estimate, low, high, ok := stat.SignedRankInterval(ratios, 0.95)
	if !ok {
		m = m.unmeasured(entrants, b.observing.Name)
		s.Marks = []mark{m}
		return s, nil
	}
	estimate, low, high = math.Exp(estimate), math.Exp(low), math.Exp(high)
	m.Got, m.Verdict = fmt.Sprintf("%.3f (%.3f to %.3f)", estimate, low, high), verdict(estimate <= mostCost)
	s.Marks = []mark{m}
	cost := func(e entrant) string { return fmt.Sprintf("%.2f µs", 1e6/stat.Median(e.perCPU())) }
	s.Rows = [][]string{{strconv.Itoa(len(ratios)), cost(alone), cost(observing), fmt.Sprintf("%.3f", estimate),
		fmt.Sprintf("%.3f to %.3f", low, high)}}
	return s, nil
}

// pairedCosts are the logarithms of the CPU per request of one tool's runs over those of another's, of the rounds that both
// have.
func pairedCosts(under, over entrant) (logs []float64) {
	for _, o := range over.Outings {
		if i := slices.IndexFunc(under.Outings, func(u outing) bool { return u.Round == o.Round }); i >= 0 {
			logs = append(logs, math.Log(under.Outings[i].PerCPU/o.PerCPU))
		}
	}
	return logs
}
