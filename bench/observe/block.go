//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/run"
)

const (
	window = timebase.DefaultWindow
	// ramp lets the gateway fill its pools and grow its heap before the first block.
	ramp = 2 * time.Second
	// gap is the time between two blocks, in which sources are closed and opened.
	// longGap is that before the sources that take longer: events reads the
	// kernel's types.
	gap     = 200 * time.Millisecond
	longGap = 800 * time.Millisecond
	// longer is how many times a block's length a long one is: about as long as a
	// run, because sources that sample once per run would otherwise sample too often.
	longer = 15
)

// block is one stretch of load.
type block struct {
	Rate   float64 `json:"rate"`   // answers per second
	Target float64 `json:"target"` // ns of the gateway's CPU per answer
	Host   float64 `json:"host"`   // ns of all CPUs per answer
	// Agent is redline's own process, load included: ns per s.
	Agent float64 `json:"agent"`
	// Sources are the ns per s that each source took of it, while it ran.
	Sources map[string]float64 `json:"sources,omitempty"`

	span timebase.Span
	used usage
	late bool   // the sources opened after the span began
	shut string // why a source that is measured alone cannot be opened here
}

// round drives load without a break, and attaches sources to the gateway for one
// block each, in the given order; "" is blind. It returns the blocks in order, none if
// any of them failed.
func (s *stage) round(ctx context.Context, order []string, length time.Duration) ([]block, error) {
	s.rounds++
	dir := fmt.Sprintf("%s/%d", s.scratch, s.rounds)
	bundle, err := record.Create(dir, record.Run{Clock: s.clock, Window: window, Target: s.target.Info()})
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	driven := s.drive(ctx, bundle)
	var blocks []block
	from := s.clock.Now() + ramp
	for _, condition := range order {
		var b block
		if b, err = s.block(ctx, condition, timebase.Span{From: from, To: from + length}, bundle); err != nil {
			break
		}
		blocks = append(blocks, b)
		from = b.span.To
	}
	rates, failed := driven.end()
	if err := errors.Join(err, failed, bundle.Close(record.Complete, "")); err != nil {
		return nil, err
	}
	return counted(blocks, rates)
}

// counted gives blocks the answers of their windows.
func counted(blocks []block, rates map[int64]float64) ([]block, error) {
	for i := range blocks {
		if blocks[i].count(rates); blocks[i].Rate == 0 {
			return nil, errors.New("no request was answered for a whole block")
		}
	}
	return blocks, nil
}

// block attaches the sources of a condition for a span that is as long as due and begins
// a gap after due's beginning, or after now if that has passed.
func (s *stage) block(ctx context.Context, condition string, due timebase.Span, sink observe.Sink) (b block, err error) {
	pause := gap
	if condition == "events" || condition == all {
		pause = longGap
	}
	b.span.From = ceil(max(due.From, s.clock.Now())+pause, window)
	b.span.To = b.span.From + due.Len()
	subject := observe.Subject{
		Clock: s.clock, Window: window, Steady: &b.span, PID: s.target.Info().PID,
		Ring: s.target.Ring(), Socket: s.target.Socket(), DSN: s.plan.Observe.Postgres,
	}
	list, samples, counts := sourcesOf(condition, subject)
	if samples {
		if err := s.sample("ring", true); err != nil {
			return b, err
		}
	}
	if counts {
		if err := s.sample("operations", true); err != nil {
			return b, err
		}
	}
	watch := run.OpenSources(ctx, subject, list)
	watch.Begin(sink)
	opened := s.clock.Now()
	b.late = opened > b.span.From
	b.used = s.usage(b.span)
	left := watch.Close()
	if samples {
		err = s.sample("ring", false)
	}
	if counts {
		err = errors.Join(err, s.sample("operations", false))
	}
	b.Sources = map[string]float64{}
	for _, h := range left.Health {
		b.Sources[h.Name] = float64(h.CPU) / (s.clock.Now() - opened).Seconds()
		if condition != all && h.CPU == 0 {
			b.shut = h.Why
		}
	}
	return b, errors.Join(err, b.used.err, ctx.Err())
}

func ceil(t, step time.Duration) time.Duration { return (t + step - 1) / step * step }

// driving is load that continues until it is ended.
type driving struct {
	cancel context.CancelFunc
	done   chan struct{}
	rates  map[int64]float64 // by window
	errors int64
	err    error
}

func (s *stage) drive(ctx context.Context, bundle *record.Writer) *driving {
	ctx, cancel := context.WithCancel(ctx)
	d := &driving{cancel: cancel, done: make(chan struct{}), rates: map[int64]float64{}}
	go func() {
		defer close(d.done)
		_, d.err = load.Run(ctx, load.Config{
			Plan: s.plan, Clock: s.clock, Protocol: s.protocol, Record: bundle, Start: s.clock.Now(),
			OnWindow: func(p load.Progress) { d.rates[p.Window], d.errors = p.Rate, p.Errors },
		})
	}()
	return d
}

// end ends the load and returns the rate of each window.
func (d *driving) end() (map[int64]float64, error) {
	d.cancel()
	<-d.done
	if d.err != nil && !errors.Is(d.err, context.Canceled) {
		return nil, d.err
	}
	if d.errors > 0 {
		return nil, fmt.Errorf("%d requests failed", d.errors)
	}
	return d.rates, nil
}

// count takes a block's windows.
func (b *block) count(rates map[int64]float64) {
	answers := 0.0
	for at := b.span.From; at < b.span.To; at += window {
		answers += rates[timebase.Window(at, window)] * window.Seconds()
	}
	b.Rate = answers / b.span.Len().Seconds()
	b.Target, b.Host = b.used.target/answers, b.used.host/answers
	b.Agent = b.used.agent / b.used.seconds
}
