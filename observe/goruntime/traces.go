package goruntime

import (
	"bytes"
	"context"
	"strings"
	"time"

	"golang.org/x/exp/trace" // reads the clock snapshot that a trace begins with

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// Traces delivers short execution traces from within the steady span, while a
// CPU profile runs, so that its samples are in the trace with their goroutine.
//
// Tracing costs a busy target a few percent while it lasts and megabytes per
// second, so there are few, short and bounded ones: before a long one a slice
// of 200 ms tells how fast events come, and the trace is made as long as its
// size allows. The slice is not stored unless the trace fails: short traces
// hold whole requests of the short kind only.
type Traces struct {
	options Options
	subject observe.Subject
	client  client
	bracket observe.Bracket
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
		Doc:   "Short execution traces within the steady span, from which requests are taken apart.",
		Needs: "redline's probe in the target, or net/http/pprof and its URL.",
		Cost:  "a few percent of the target's CPU while one is taken, a tenth of the time at most.",
	}
}

// Open implements observe.Source.
func (t *Traces) Open(ctx context.Context, subject observe.Subject) (err error) {
	t.subject = subject
	t.client, err = connect(ctx, subject)
	return err
}

// Run implements observe.Source.
func (t *Traces) Run(ctx context.Context, sink observe.Sink) error {
	for _, span := range traceSpans(t.subject.Steady, t.options) {
		length := span.Len()
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
				length = fit(length, slice.span.Len(), int64(len(slice.data)), t.options.TraceBytes)
				room := t.subject.Steady.To - endMargin - t.subject.Clock.Now()
				length = extend(length, slice.span.Len(), int64(len(slice.data)), t.subject.Steady.Len(), room)
			}
		}
		if c, ok := t.fetch(ctx, length); ok {
			t.store(sink, c)
		} else if len(slice.data) > 0 {
			t.store(sink, slice)
		}
	}
	if t.bracket.Samples() == 0 {
		t.trouble.add("the run ended before a trace was taken")
	}
	<-ctx.Done()
	return nil
}

// fetch takes one trace; false means that there is nothing worth keeping.
func (t *Traces) fetch(ctx context.Context, length time.Duration) (capture, bool) {
	if ctx.Err() != nil {
		return capture{}, false
	}
	sent := t.subject.Clock.Now()
	c, err := t.client.trace(ctx, length, t.options.TraceMaxBytes)
	if err != nil && ctx.Err() == nil {
		t.trouble.add("trace: %v", err)
	}
	if !bytes.HasPrefix(c.data, traceMagic) {
		if err == nil {
			t.trouble.add("trace: the answer is no execution trace")
		}
		return capture{}, false
	}
	// What came of a trace that was cut off is kept: its whole generations, of
	// about a second each, can be read.
	return dateTrace(c, record.Span{From: sent, To: t.subject.Clock.Now()}, t.subject.Clock), c.span.Len() > 0
}

// dateTrace dates a trace by the reading of CLOCK_MONOTONIC that it begins with
// since Go 1.25, where that lies in the bracket around it; elsewhere it is
// another host's.
func dateTrace(c capture, bracket record.Span, clock record.Clock) (dated capture) {
	// The reader is experimental and the trace is not trusted: a panic in it
	// costs the exact date, not the run.
	defer func() {
		if recover() != nil {
			dated = c
		}
	}()
	r, err := trace.NewReader(bytes.NewReader(c.data))
	if err != nil {
		return c // whoever reads the trace meets the error and tells it
	}
	event, err := r.ReadEvent()
	if err != nil || event.Kind() != trace.EventSync || event.Sync().ClockSnapshot == nil {
		return c
	}
	from := clock.FromMonotonic(int64(event.Sync().ClockSnapshot.Mono))
	own := record.Span{From: from, To: from + c.span.Len()}
	if own.From >= bracket.From && own.To <= bracket.To {
		c.span, c.err = own, clock.EpochError
	}
	return c
}

// traceMagic begins every execution trace: "go 1.25 trace\x00\x00\x00".
var traceMagic = []byte("go 1.")

func (t *Traces) store(sink observe.Sink, c capture) {
	t.bracket.Add(c.span.From-c.err, c.span.From+c.err)
	if err := sink.Trace(record.Trace{Span: c.span, Data: c.data}); err != nil {
		t.trouble.add("store trace: %v", err)
	}
}

// Health implements observe.Reporter.
func (t *Traces) Health() record.SourceHealth {
	n := t.bracket.Samples()
	return record.SourceHealth{
		Name: t.Describe().Name, OK: n > 0, Why: strings.Join(t.trouble.texts, "; "),
		Samples: n, Align: t.bracket.Align(),
	}
}
