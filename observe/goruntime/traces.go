package goruntime

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/exp/trace" // reads the clock snapshot that a trace begins with

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// Traces delivers short execution traces from within the steady span, while a
// CPU profile runs, so that its samples are in the trace with their goroutine.
//
// Tracing costs a busy target a few percent while it lasts and megabytes per
// second, so there are few, short and bounded ones: before a long one a slice
// of 200 ms shows how fast events come, and the trace is made as long as its
// size allows. The slice is not stored unless the trace fails: short traces
// contain only short requests whole.
//
// With the probe each trace holds CPU samples, with their goroutine: if no CPU
// profile runs at the moment, the probe runs one that no one reads. Over HTTP a trace
// holds them if Profiles takes its CPU profile at the same time, as planned.
//
// When a window was slow, the flight recorder's trace of it is
// delivered in addition (flights).
type Traces struct {
	options Options
	subject observe.Subject
	client  client
	bracket observe.Bracket
	taking  sync.Mutex

	mu      sync.Mutex
	trouble problems
}

var (
	_ observe.Source   = (*Traces)(nil)
	_ observe.Reporter = (*Traces)(nil)
)

// NewTraces returns the source.
func NewTraces(o Options) *Traces { return &Traces{options: o.defaults()} }

// Describe implements observe.Source.
func (t *Traces) Describe() observe.Description {
	return observe.Description{
		Name:  "traces",
		Doc:   "Short execution traces within the steady span, from which requests are taken apart, and of slow windows.",
		Needs: "redline's probe in the target, or net/http/pprof and its URL.",
		Cost: "a few percent of the target's CPU while one is taken, a tenth of the time at most; half a percent where " +
			"the flight recorder is on.",
	}
}

// Open implements observe.Source. It connects as Profiles does. A target with neither
// way in is an *observe.Unsupported.
func (t *Traces) Open(ctx context.Context, subject observe.Subject) (err error) {
	t.subject = subject
	t.client, err = connect(ctx, subject)
	return err
}

// Run implements observe.Source.
func (t *Traces) Run(ctx context.Context, sink observe.Sink) error {
	var flying sync.WaitGroup
	if f, ok := t.client.(flier); ok && t.subject.Slow != nil && t.options.Flights > 0 {
		flights := &flights{
			options: t.options, subject: t.subject, client: f, take: t.fetch,
			store: func(c capture) { t.store(sink, c, true) }, say: t.add,
		}
		flying.Go(func() { flights.run(ctx) })
	}
	t.planned(ctx, sink)
	<-ctx.Done()
	flying.Wait()
	if t.bracket.Samples() == 0 {
		t.add("the run ended before a trace was taken")
	}
	return nil
}

// planned takes the traces of the plan.
func (t *Traces) planned(ctx context.Context, sink observe.Sink) {
	spans := traceSpans(t.subject.Measured(), t.options)
	for _, span := range spans {
		length, bytes := span.Len(), t.options.TraceBytes/int64(len(spans))
		var slice capture
		begin := span.From
		if length >= 2*traceSlice {
			begin -= traceSlice
		}
		if !sleepUntil(ctx, t.subject.Clock, begin) {
			break
		}
		if length >= 2*traceSlice {
			var ok bool
			if slice, ok = t.fetch(ctx, traceSlice); ok {
				length = fit(length, slice.span.Len(), int64(len(slice.data)), bytes)
				room := t.subject.Measured().To - endMargin - t.subject.Clock.Now()
				each := t.subject.Measured().Len() / time.Duration(len(spans))
				length = extend(length, slice.span.Len(), int64(len(slice.data)), each, room)
			}
		}
		if c, ok := t.fetch(ctx, length); ok {
			t.store(sink, c, false)
		} else if len(slice.data) > 0 {
			t.store(sink, slice, false)
		}
	}
}

// fetch takes one trace; false means that there is nothing worth keeping.
func (t *Traces) fetch(ctx context.Context, length time.Duration) (capture, bool) {
	if ctx.Err() != nil {
		return capture{}, false
	}
	t.taking.Lock() // the runtime takes one at a time
	defer t.taking.Unlock()
	sent := t.subject.Clock.Now()
	c, err := t.client.trace(ctx, length, t.options.TraceMaxBytes)
	if err != nil && ctx.Err() == nil {
		t.add("trace: %v", err)
	}
	if !bytes.HasPrefix(c.data, traceMagic) {
		if err == nil {
			t.add("trace: the answer is not an execution trace")
		}
		return capture{}, false
	}
	// The part of a trace before a cut is kept: its whole generations, of
	// about a second each, can be read.
	return dateTrace(c, timebase.Span{From: sent, To: t.subject.Clock.Now()}, t.subject.Clock), c.span.Len() > 0
}

// dateTrace dates a trace by the reading of CLOCK_MONOTONIC that it begins with
// since Go 1.25, if that lies in the bracket around it; otherwise the reading is
// another host's.
func dateTrace(c capture, bracket timebase.Span, clock timebase.Clock) capture {
	from, ok := traceBegin(c.data, clock)
	// A trace begins anywhere within the call that starts it, on a busy host some
	// milliseconds late; it ends at its planned end, whenever it began.
	own := timebase.Span{From: from, To: min(from+c.span.Len(), bracket.To)}
	if c.ends {
		own.To = c.span.To
	}
	if ok && own.Len() > 0 && own.From >= bracket.From && own.To <= bracket.To {
		c.span, c.err = own, clock.EpochError
	}
	return c
}

// traceBegin returns the first reading of the clock in a trace.
func traceBegin(data []byte, clock timebase.Clock) (at time.Duration, ok bool) {
	// The reader is experimental and the trace is not trusted: a panic in it
	// costs the exact date, not the run.
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, false // the reader of the trace meets the error and reports it
	}
	event, err := r.ReadEvent()
	if err != nil || event.Kind() != trace.EventSync || event.Sync().ClockSnapshot == nil {
		return 0, false
	}
	return clock.FromMonotonic(int64(event.Sync().ClockSnapshot.Mono)), true
}

// traceMagic begins every execution trace: "go 1.25 trace\x00\x00\x00".
var traceMagic = []byte("go 1.")

// store passes a trace to the record. slow marks one of a window that was slow, which is
// no sample of all requests.
func (t *Traces) store(sink observe.Sink, c capture, slow bool) {
	t.bracket.Add(c.span.From-c.err, c.span.From+c.err)
	if err := sink.Trace(record.Trace{Span: c.span, Data: c.data, Slow: slow}); err != nil {
		t.add("store trace: %v", err)
	}
}

// add notes a problem for the health.
func (t *Traces) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble.add(format, args...)
}

// Health implements observe.Reporter.
func (t *Traces) Health() record.SourceHealth {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.bracket.Samples()
	return record.SourceHealth{
		Name: t.Describe().Name, OK: n > 0, Why: strings.Join(t.trouble.texts, "; "),
		Samples: n, Align: t.bracket.Align(),
	}
}
