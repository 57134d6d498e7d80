//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/bench/load/serve"
)

// stallPlan is the schedule of the stalling server and the load on it.
type stallPlan struct {
	every, length, load time.Duration
	rate                float64
	samples             int // of the undisturbed round trip
}

// mostOff is how far a stated percentile may be from the truth.
const mostOff = 0.05

func (b *bench) stallPlan() stallPlan {
	if b.short {
		return stallPlan{every: 300 * time.Millisecond, length: 30 * time.Millisecond, load: time.Second, rate: 1000, samples: 100}
	}
	return stallPlan{every: 5 * time.Second, length: 200 * time.Millisecond, load: 20 * time.Second, rate: 1000, samples: 2000}
}

// stallLog collects the stalls that the server prints as they end.
type stallLog struct {
	mu     sync.Mutex
	stalls []stall
	ended  chan stall // the latest, if a receiver waits
}

func (l *stallLog) follow(lines *bufio.Scanner) {
	for lines.Scan() {
		var begin, end int64
		if _, err := fmt.Sscan(lines.Text(), &begin, &end); err != nil {
			continue
		}
		s := stall{time.Duration(begin), time.Duration(end)}
		l.mu.Lock()
		l.stalls = append(l.stalls, s)
		l.mu.Unlock()
		select {
		case l.ended <- s:
		default:
		}
	}
}

// all returns the stalls until now.
func (l *stallLog) all() []stall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.stalls)
}

// next waits for the end of the next stall.
func (l *stallLog) next(ctx context.Context, s *process.Server) error {
	select {
	case <-l.ended:
		return nil
	case <-s.Exited:
		return fmt.Errorf("the stalling server ended%s", process.LastLine(s.Log.Bytes()))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// testimony is one tool's report on the stalling server, next to the truth.
type testimony struct {
	Tool     string          `json:"tool"`
	Model    string          `json:"model"`
	Reported generator.Tally `json:"said"`
	Truth    generator.Tally `json:"truth"`
	Stall    []stall         `json:"stalls"`
}

// stalls shows each tool's report on a server that stalls for a
// moment every few seconds. Each starts right after a stall, so all see as many.
func (b *bench) stalls(ctx context.Context) (*section, error) {
	p := b.stallPlan()
	server, address, lines, err := b.serveSelf("serve-stall", p.every.String(), p.length.String())
	if err != nil {
		return nil, err
	}
	defer server.End()
	log := &stallLog{ended: make(chan stall)}
	go log.follow(lines)
	s := &section{
		Title: "A server that stalls",
		About: fmt.Sprintf("One thread that stops for %v every %v, under %s requests/s for %v (wrk has no rate: its loop is closed). "+
			"The truth is computed from the stalls that the server records and from round trips of a blocking socket without a stall; "+
			"\"off\" is the stated value over the true one, minus one.", p.length, p.every, thousands(p.rate), p.load),
		Notes: []string{"wrk sends nothing while the server stalls; afterwards it adds the samples that it estimates it " +
			"omitted, from its own mean interval (stats_correct in its stats.c)"},
		Columns: []string{"tool", "loop", "requests", "p50", "off", "p99", "off", "p99.9", "off", "max", "not sent in time"},
	}
	open := generator.Shape{Protocol: generator.HTTP1, Address: address, Connections: 64, Streams: 1, Rate: p.rate, Duration: p.load}
	closed := open
	closed.Rate = 0
	var all []testimony
	for _, c := range []struct {
		t     *generator.Tool
		s     generator.Shape
		model string
	}{
		{b.redline, open, "open"}, {b.peers["wrk"], closed, "closed"}, {b.peers["hey"], open, "rate per worker"},
		{b.peers["fortio"], open, "rate per worker"}, {b.peers["k6"], open, "open"},
	} {
		if !c.t.Can(c.s) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s is skipped: %s", c.t.Name, c.t.Why))
			continue
		}
		one, err := b.witness(ctx, c.t, c.s, p, server, log)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s failed: %v", c.t.Name, err))
			continue
		}
		one.Model = c.model
		if len(all) == 0 {
			s.addTestimony("truth", "", one.Truth, one.Truth)
		}
		s.addTestimony(one.Tool, one.Model, one.Reported, one.Truth)
		all = append(all, *one)
		b.say("%-8s p50 %v  p99 %v  p99.9 %v  (truth %v %v %v)", one.Tool, one.Reported.P50, one.Reported.P99, one.Reported.P999,
			one.Truth.P50, one.Truth.P99, one.Truth.P999)
	}
	s.Marks = stallMarks(all)
	s.Raw, err = json.Marshal(all)
	return s, err
}

// witness lets one tool load the server from the end of a stall on. The time of a
// request without a stall is measured before and after.
func (b *bench) witness(ctx context.Context, t *generator.Tool, s generator.Shape, p stallPlan, server *process.Server,
	log *stallLog) (*testimony, error) {
	if err := log.next(ctx, server); err != nil {
		return nil, err
	}
	base, err := undisturbed(b.cores.Generator, s.Address, p.rate, p.samples)
	if err != nil {
		return nil, err
	}
	if err := log.next(ctx, server); err != nil {
		return nil, err
	}
	start := serve.Monotonic()
	reported, _, err := b.run(ctx, t, s, nil)
	if err != nil {
		return nil, err
	}
	if err := log.next(ctx, server); err != nil {
		return nil, err
	}
	after, err := undisturbed(b.cores.Generator, s.Address, p.rate, p.samples)
	if err != nil {
		return nil, err
	}
	base = append(base, after...)
	var seen []stall
	for _, s := range log.all() {
		if s.Begin >= start && s.Begin < start+p.load {
			seen = append(seen, s)
		}
	}
	return &testimony{Tool: t.Name, Reported: reported, Truth: tallyOf(truth(start, p.load, p.rate, seen, base)), Stall: seen}, nil
}

func (s *section) addTestimony(tool, model string, reported, true generator.Tally) {
	away := func(reported, true time.Duration) string {
		if reported <= 0 || tool == "truth" {
			return ""
		}
		return fmt.Sprintf("%+.1f %%", 100*off(reported, true))
	}
	s.Rows = append(s.Rows, []string{
		tool, model, thousands(float64(reported.Requests)), brief(reported.P50), away(reported.P50, true.P50), brief(reported.P99),
		away(reported.P99, true.P99),
		brief(reported.P999), away(reported.P999, true.P999), brief(reported.Max), fmt.Sprint(reported.Unoffered),
	})
}

// off is the relative error of a stated percentile.
func off(reported, true time.Duration) float64 { return float64(reported)/float64(true) - 1 }

func stallMarks(all []testimony) []mark {
	var marks []mark
	for _, q := range []struct {
		name string
		of   func(generator.Tally) time.Duration
	}{
		{"p50", func(t generator.Tally) time.Duration { return t.P50 }},
		{"p99", func(t generator.Tally) time.Duration { return t.P99 }},
		{"p99.9", func(t generator.Tally) time.Duration { return t.P999 }},
	} {
		m := mark{What: "stall test: stated " + q.name + " against the truth",
			Want: fmt.Sprintf("within %.0f %%", 100*mostOff), Got: "no figure of redline", Verdict: notMeasured}
		for _, one := range all {
			if one.Tool != "redline" {
				continue
			}
			away := off(q.of(one.Reported), q.of(one.Truth))
			m.Got = fmt.Sprintf("%s, true %s (%+.1f %%)", brief(q.of(one.Reported)), brief(q.of(one.Truth)), 100*away)
			m.Verdict = verdict(math.Abs(away) <= mostOff)
		}
		marks = append(marks, m)
	}
	return marks
}
