//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/stat"
)

// Marks of the schedule lag of an open loop.
const (
	mostLagP99  = 200 * time.Microsecond
	mostLagP999 = time.Millisecond
)

// scheduleLag measures how late requests are sent in an open loop at half of
// the maximum rate.
func (b *bench) scheduleLag(ctx context.Context) (*section, error) {
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	rate, err := b.halfOfMax(ctx, n)
	if err != nil {
		return nil, err
	}
	load := generator.Shape{Protocol: generator.HTTP1, Address: n.Plain, Connections: 64, Streams: 1, Rate: rate, Duration: 2 * b.length}
	s := &section{
		Title: "Schedule lag of an open loop",
		About: fmt.Sprintf("%d runs of %v at %s requests/s, half of what redline reaches in a closed loop; the marks apply "+
			"to the median run.",
			b.rounds, load.Duration, thousands(rate)),
		Columns: []string{"run", "requests", "unfinished", "errors", "lag p50", "lag p99", "lag p99.9",
			"latency p50", "latency p99", "CPU in use"},
	}
	var outings []outing
	var p99, p999 []float64
	for round := range b.rounds {
		reported, used, err := b.run(ctx, b.redline, load, nil)
		if err != nil {
			return nil, err
		}
		outings = append(outings, outing{Round: round, Tally: reported, Spent: used})
		p99, p999 = append(p99, float64(reported.LagP99)), append(p999, float64(reported.LagP999))
		s.Rows = append(s.Rows, []string{
			fmt.Sprint(round + 1), thousands(float64(reported.Requests)), fmt.Sprint(reported.Unoffered), fmt.Sprint(reported.Errors),
			brief(reported.LagP50), brief(reported.LagP99), brief(reported.LagP999), brief(reported.P50), brief(reported.P99),
			fmt.Sprintf("%.2f", used.CPU.Seconds()/used.Wall.Seconds()),
		})
		b.say("lag p50 %v  p99 %v  p99.9 %v", reported.LagP50, reported.LagP99, reported.LagP999)
	}
	for _, m := range []struct {
		name   string
		values []float64
		most   time.Duration
	}{{"p99", p99, mostLagP99}, {"p99.9", p999, mostLagP999}} {
		got := time.Duration(stat.Median(m.values))
		s.Marks = append(s.Marks, mark{
			What: "open loop at half of the maximum rate: schedule lag " + m.name, Want: "below " + brief(m.most),
			Got: brief(got), Verdict: verdict(got < m.most),
		})
	}
	s.Raw, err = json.Marshal(outings)
	return s, err
}
