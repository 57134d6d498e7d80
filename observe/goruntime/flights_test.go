package goruntime

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/timebase"
)

// TestSlowWindowsOfARealTarget announces slow windows and awaits the traces of them
// from the target's flight recorder.
func TestSlowWindowsOfARealTarget(t *testing.T) {
	target := startService(t, "-quiet")
	subject := steadyFor(target.ways()["probe"], time.Minute)
	slow := make(chan timebase.Span)
	subject.Slow = slow
	// On a busy machine even a quiet target has a slice with many events.
	s := NewTraces(Options{Traces: -1, Flights: 2, FlightRate: 1 << 40, FlightLength: 200 * time.Millisecond})
	if err := s.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sink := &observetest.Sink{}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, sink) }()
	for len(sink.Traces()) == 0 && ctx.Err() == nil { // one announced before it flies is lost
		now := subject.Clock.Now()
		select {
		case slow <- timebase.Span{From: now - 100*time.Millisecond, To: now}:
		case <-ctx.Done():
		}
		time.Sleep(20 * time.Millisecond) // nothing signals that a trace was stored
	}
	last := subject.Clock.Now()
	for _, span := range []timebase.Span{
		{From: last - time.Minute, To: last - time.Minute + time.Second}, // long ago
		{From: last, To: last}, // of the same cause as the first
	} {
		select {
		case slow <- span:
		case <-ctx.Done():
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	traces := sink.Traces()
	if len(traces) != 1 || !traces[0].Slow {
		t.Fatalf("%d traces: %+v", len(traces), s.Health())
	}
	got := traces[0]
	begin, _ := readTrace(t, got.Data, subject.Clock)
	if begin != got.Span.From || got.Span.Len() <= 0 || got.Span.To > last {
		t.Errorf("the trace begins at %v and is dated %v", begin, got.Span)
	}
	if h := s.Health(); !h.OK || h.Why != "" || h.Align.P99 <= 0 || h.Align.P99 > subject.Clock.Now() {
		t.Errorf("%+v", h)
	}
	// The recorder was stopped: otherwise the runtime would refuse a second.
	if c, ok := s.client.(flier); !ok {
		t.Error("the socket has no flight recorder")
	} else if _, err := c.dump(t.Context()); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("the recorder still runs: %v", err)
	}
}

// flying is a client with a scripted flight recorder.
type flying struct {
	scripted
	flyErr, dumpErr error
	answer          string
	flew, landed    int
	dumped          chan struct{}
}

func (f *flying) fly(context.Context, time.Duration, int64) error { f.flew++; return f.flyErr }
func (f *flying) land(context.Context) error                      { f.landed++; return nil }
func (f *flying) dump(context.Context) (capture, error) {
	defer func() { f.dumped <- struct{}{} }()
	now := f.clock.Now()
	return capture{data: []byte(f.answer), span: span(now-time.Second, now)}, f.dumpErr
}

func TestFlightsAreFewAndCheap(t *testing.T) {
	failed := errors.New("the target's Go has no flight recorder")
	for name, test := range map[string]struct {
		perSecond    int64
		flyErr       error
		dumpErr      error
		answer       string
		flew, landed int
		dumps        int
		stored       int
		says         string
	}{
		"quiet":          {10 << 10, nil, nil, "go 1.25 trace", 1, 1, 2, 2, ""},
		"busy":           {4 << 20, nil, nil, "", 0, 0, 0, 0, "4.00 MiB/s of events"},
		"no recorder":    {10 << 10, failed, nil, "", 1, 0, 0, 0, "has no flight recorder"},
		"cannot be read": {10 << 10, nil, errors.New("gone"), "", 1, 1, 2, 0, "gone"},
		"no trace":       {10 << 10, nil, nil, "404 page not found", 1, 1, 2, 0, "flight recorder: the answer is not an execution trace"},
	} {
		t.Run(name, func(t *testing.T) {
			clock, err := timebase.Start()
			if err != nil {
				t.Fatal(err)
			}
			c := &flying{flyErr: test.flyErr, dumpErr: test.dumpErr, answer: test.answer, dumped: make(chan struct{}, 9)}
			c.scripted = scripted{clock: clock, perSecond: test.perSecond, data: []byte("go 1.25 trace")}
			slow := make(chan timebase.Span, 9)
			s := NewTraces(Options{Traces: -1, Flights: 2})
			s.client = c
			s.subject = observe.Subject{Clock: clock, Slow: slow, Steady: planned(clock.Now(), clock.Now()+time.Minute)}
			// Windows in the future are beyond the pause between two.
			for i := range 4 {
				from := time.Duration(i) * 10 * time.Second
				slow <- span(from, from)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			sink := &observetest.Sink{}
			ended := make(chan error)
			go func() { ended <- s.Run(ctx, sink) }()
			for range test.dumps {
				<-c.dumped
			}
			if test.dumps == 0 {
				for len(s.Health().Why) == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond) // nothing signals health
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if c.flew != test.flew || c.landed != test.landed || len(c.dumped) != 0 || len(sink.Traces()) != test.stored {
				t.Errorf("flew %d, landed %d, %d dumps too many, %d traces", c.flew, c.landed, len(c.dumped), len(sink.Traces()))
			}
			if h := s.Health(); !strings.Contains(h.Why, test.says) {
				t.Errorf("%+v", h)
			}
		})
	}
}

// TestTracesHoldSamplesByThemselves takes a trace while nobody takes a CPU
// profile: the probe runs one for it.
func TestTracesHoldSamplesByThemselves(t *testing.T) {
	subject := startService(t).ways()["probe"]
	s := NewTraces(Options{Traces: 1})
	if err := s.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	sink := run(t, s, &s.subject, subject.Clock, 5*time.Second, func(s *observetest.Sink) bool { return len(s.Traces()) > 0 })
	if len(sink.Traces()) != 1 {
		t.Fatalf("%+v", s.Health())
	}
	if _, samples := readTrace(t, sink.Traces()[0].Data, subject.Clock); samples == 0 {
		t.Error("no CPU sample in the trace")
	}
}
