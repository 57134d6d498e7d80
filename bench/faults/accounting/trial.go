package accounting

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// trial is one combination.
type trial struct{ protocol, model, fault string }

func (t trial) String() string { return t.protocol + " / " + t.model + " / " + t.fault }

// trials returns every possible combination, in an order in which each protocol
// meets each fault before any does so again under another model.
func trials() (all []trial) {
	for round := range models {
		for p, protocol := range protocols {
			for f, fault := range faults {
				if fault.to(protocol) {
					all = append(all, trial{protocol, models[(round+p+f)%len(models)], fault.name})
				}
			}
		}
	}
	return all
}

// outcome is what both sides report about a trial.
type outcome struct {
	result            *load.Result
	due               int64 // by the plan; 0 if that is not fixed
	requests, answers int64 // by the server's ledger
	// ended and failed are by windows: with those that a closed loop began
	// after the measured span.
	ended, failed int64
	kinds         map[string]int64
	logged        map[histogram.Kind]int64
}

// hang bounds a trial whose load does not end by itself.
const hang = 60 * time.Second

// run makes one trial. An error means that it could not be made, or that package load
// itself found that its figures do not add up.
func (t trial) run(ctx context.Context, folder string) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	if separate(t.fault) {
		return t.runChild(ctx, folder)
	}
	s, err := newServer(t.protocol, t.fault, len(messageOf(t)), nil)
	if err != nil {
		return nil, err
	}
	defer s.end()
	strike := func() {}
	if t.fault == listenerStopped {
		strike = s.halt
	}
	o, err := t.drive(ctx, s.listener.Addr().String(), strike)
	if err != nil {
		return nil, err
	}
	o.requests, o.answers = s.end()
	return o, nil
}

func (t trial) runChild(ctx context.Context, folder string) (*outcome, error) {
	folder, err := os.MkdirTemp(folder, "server-")
	if err != nil {
		return nil, err
	}
	c, err := startChild(ctx, t.protocol, t.fault, len(messageOf(t)), folder)
	if err != nil {
		return nil, err
	}
	o, err := t.drive(ctx, c.address, func() { c.strike(t.fault) })
	requests, answers, failed := c.end()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	o.requests, o.answers = requests, answers
	return o, nil
}

// drive puts the load on, and strikes after the first third of it.
func (t trial) drive(ctx context.Context, address string, strike func()) (*outcome, error) {
	p, due := planOf(t, address)
	protocol, err := protocolOf(ctx, p)
	if err != nil {
		return nil, err
	}
	clock, err := timebase.Start()
	if err != nil {
		return nil, err
	}
	o := &outcome{due: due, kinds: map[string]int64{}, logged: map[histogram.Kind]int64{}}
	timer := time.AfterFunc(span/3, strike)
	defer timer.Stop()
	o.result, err = load.Run(ctx, load.Config{Plan: p, Clock: clock, Protocol: protocol, Record: &sink{o: o}, Seed: 1})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the load hangs: %w", ctx.Err())
	}
	return o, err
}

// sink adds up the windows and the latency log.
type sink struct {
	mu sync.Mutex
	o  *outcome
}

// Add adds up the windows.
func (s *sink) Add(points ...series.Point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range points {
		switch p.Series.Name {
		case series.LoadRequests:
			s.o.ended += int64(p.Value)
		case series.LoadErrors:
			s.o.failed += int64(p.Value)
			s.o.kinds[series.Label(p.Series.Labels, "kind")] += int64(p.Value)
		}
	}
	return nil
}

// Counts adds up the latency log.
func (s *sink) Counts(_ string, kind histogram.Kind, _ timebase.Span, c *histogram.Counts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.logged[kind] += c.Total()
	return nil
}

// Slow has nothing to add.
func (s *sink) Slow(...record.SlowRequest) error { return nil }
