// Package spans receives what the services of a run export by
// OpenTelemetry: it is the far end of their OTLP exporters, over HTTP (protobuf
// and JSON) and gRPC at one address, and keeps the spans of the requests that
// the load gave a trace, whole, and the slowest others.
//
//	receive.go, rpc.go         input from the network: bounds, users, tokens, refusals
//	protobuf.go, json.go       its content, span by span
//	attributes.go              the few attributes that are kept
//	store.go                   the fate of a span: counted, kept, or dropped
//	services.go                series per service
//	keep.go                    the spans of spans.jsonl
//
// A span lands in the window in which it ended, by its service's wall clock,
// which on this host is the run's to within the error measured at every window.
// Exporters send in batches, five seconds late by default, so the figures
// of a window are delivered six seconds after it, and after the load the
// source waits that long for the last ones.
//
// Everything has a bound: connections, bodies, their unpacked size, spans
// examined per second, spans kept, the length of each text. Whatever exceeds it
// is counted and dropped, spans of the load's own requests last.
//
// Only attributes that are known not to hold secrets are kept, statements in
// their normal form without constants, and all text is redacted.
//
// Rejected: decoding with the generated types of OTLP (an empty span is two bytes
// on the wire and 300 in memory, so that a body of 8 MiB takes a gigabyte; and
// 0.7 MB of code); google.golang.org/grpc for the one method (4.9 MB, whereas
// connect is already linked); the collector's receiver (15 MB).
package spans

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/access"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// Sink is implemented by sinks that keep spans; *record.Writer is one.
type Sink interface {
	// Spans stores the spans of the run, all of them.
	Spans(spans ...record.TraceSpan) error
}

var _ Sink = (*record.Writer)(nil)

// Source is the observe.Source of spans.
type Source struct {
	subject   observe.Subject
	listeners []*access.Listener // set by Open, closed by Run
	store     *store
	bracket   observe.Bracket
	patience  time.Duration // after the load, for the last exports
	rate      float64       // exports taken per second
	notStored error
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
)

// New returns a source that has not been opened.
func New() *Source { return &Source{patience: late, rate: exportsPerSecond} }

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name:  "spans",
		Doc:   "Spans that the target and the services behind it export by OTLP.",
		Needs: "services instrumented with OpenTelemetry whose exporters send to the address of --otlp.",
		Cost:  "the cost of exporting in the target; 50 requests per second carry a trace context.",
	}
}

// Open implements observe.Source. It listens, so that no export from now on is refused.
func (s *Source) Open(ctx context.Context, subject observe.Subject) error {
	if len(subject.OTLP) == 0 {
		return &observe.Unsupported{
			What:     "spans are not received",
			Enable:   "add --otlp on, and let the exporters of instrumented services send to it",
			NotAsked: true,
		}
	}
	s.subject = subject
	s.store = newStore(subject.Clock, subject.Window, subject.Trace)
	o := access.Options{
		Token: subject.OTLPToken, Variable: "REDLINE_OTLP_TOKEN or observe.otlp_token", Known: access.OwnerOf(subject.PID),
		Connections: maxConnections, Rate: s.rate,
	}
	for _, address := range subject.OTLP {
		l, err := listen(ctx, address, o)
		if err != nil {
			for _, open := range s.listeners {
				open.Close()
			}
			return err
		}
		s.listeners = append(s.listeners, l)
	}
	return nil
}

// listen opens an address. One that others can reach needs a token.
func listen(ctx context.Context, address string, o access.Options) (*access.Listener, error) {
	l, err := access.Listen(ctx, address, o)
	switch {
	case errors.Is(err, access.ErrToken):
		return nil, &observe.Unsupported{
			What:   "spans are not received at " + address + ", which others can reach, without a token",
			Enable: "set REDLINE_OTLP_TOKEN or observe.otlp_token, and the same in the exporters' headers",
		}
	case err != nil:
		return nil, &observe.Unsupported{What: "spans cannot be received at " +
			address, Enable: "give --otlp an address that is free", Err: err}
	}
	return l, nil
}

// closed returns how many connections were closed because they exceeded the listeners' limit.
func (s *Source) closed() (n int64) {
	for _, l := range s.listeners {
		n += l.Closed()
	}
	return n
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	server := serve(s.listeners, s.store)
	defer server.close()
	meter := &observe.Meter{Width: s.subject.Window}
	edges := &observe.Edges{Clock: s.subject.Clock, Width: s.subject.Window}
	edge := func(at time.Duration) error {
		s.store.align(&s.bracket)
		s.store.edge(at, meter)
		_ = meter.Flush(sink) // a full disk is the conductor's to report
		return nil
	}
	if err := edges.Each(ctx, edge); err != nil {
		return err
	}
	s.linger(ctx, edges, edge)
	server.close()
	s.store.last(s.subject.Clock.Now(), meter)
	_ = meter.Flush(sink)
	if keeps, ok := sink.(Sink); ok && s.store.tally().received > 0 {
		s.notStored = keeps.Spans(s.store.recorded()...)
	}
	return nil
}

// linger waits for the last exports after the load: until each service that sent
// spans has sent once more, or for as long as they may be late.
func (s *Source) linger(ctx context.Context, edges *observe.Edges, edge func(time.Duration) error) {
	over := s.subject.Clock.Now()
	if !s.store.awaits(over) {
		return
	}
	more, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer cancel()
	_ = edges.Each(more, func(at time.Duration) error {
		if !s.store.awaits(over) {
			cancel()
		}
		return edge(at)
	})
}

// Health implements observe.Reporter. It reports drops and refusals with the bound that
// caused them, because a service with missing spans looks idle.
func (s *Source) Health() record.SourceHealth {
	h := record.SourceHealth{Name: "spans", Samples: s.bracket.Samples(), Align: s.bracket.Align()}
	t := s.store.tally()
	h.OK = t.received > t.dropped && s.notStored == nil
	var why []string
	say := func(n int64, format string, args ...any) {
		if n > 0 {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	if t.received == 0 {
		why = append(why, fmt.Sprintf("no span arrived: set OTEL_EXPORTER_OTLP_ENDPOINT=http://%s in the target's "+
			"environment", strings.Join(s.subject.OTLP, " or http://")))
	}
	say(t.dropped, "%d of %d spans arrived faster than redline reads them and were dropped; figures per service cover "+
		"the others", t.dropped, t.received)
	say(t.invalid, "%d spans have no valid id, or more than %d bytes", t.invalid, maxSpan)
	say(t.refused, "redline refused %d exports: %s", t.refused, t.refusal)
	say(t.limited, "redline refused %d exports: rate above %g per second", t.limited, s.rate)
	say(s.closed(), "redline closed %d connections at once because too many were open", s.closed())
	say(t.outside, "%d spans ended outside of the run: their service's clock differs", t.outside)
	say(t.tooLate, "%d spans came over %v after they ended and are not in the figures per service", t.tooLate, late)
	say(t.evicted, "%d spans of faster requests were left out of spans.jsonl, which holds %d", t.evicted, maxKept)
	say(t.crowded, "more than %d services sent spans; those beyond are counted as one", maxServices)
	if s.notStored != nil {
		why = append(why, s.notStored.Error())
	}
	h.Why = strings.Join(why, "; ")
	return h
}
