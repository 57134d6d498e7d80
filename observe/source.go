// Package observe defines the one interface through which redline watches a
// run, and the schedule on which sources sample. Each source lives in a folder
// of its own and owns its heavy dependency.
//
// A source that lacks a privilege or a feature says how to enable it, and the run
// continues; it never delivers a made-up figure.
package observe

import (
	"context"
	"fmt"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Source watches one part of the world during a run.
type Source interface {
	// Describe describes the source. It is constant.
	Describe() Description
	// Open attaches to the subject. An *Unsupported error means that the
	// source cannot observe here and says how to enable it.
	Open(ctx context.Context, subject Subject) error
	// Run delivers to sink until ctx is done, delivers pending data, and
	// releases all that Open took. It is called once, after a successful Open.
	Run(ctx context.Context, sink Sink) error
}

// Description is a source's metadata; help and the report render it.
type Description struct {
	Name  string // as in summary.json, unique in a run
	Doc   string // one sentence
	Needs string // what it needs from the target or the host
	Cost  string // its cost in the target
}

// Subject is the target of a run's sources.
type Subject struct {
	Clock  timebase.Clock
	Window time.Duration
	// Steady is the steady span, in which sources that take snapshots place them; nil for none. The load waits for the sources
	// to open, and only then is its span known: read it in Run (Measured), not in Open.
	Steady *timebase.Span
	PID    int    // 0 if the target's process is unknown or not local
	Ring   string // path of the probe's shared memory; empty without probe
	Socket string // path of the probe's control socket; empty without probe
	Pprof  string // base URL of net/http/pprof; empty without it
	DSN    string // PostgreSQL; empty without it
	// OTLP are the addresses to receive spans at; none by default. Exports must carry
	// OTLPToken; if it is empty, any export is accepted, on loopback only.
	OTLP      []string
	OTLPToken string
	// Trace is the first half of the trace ids that the load gives its requests; zero
	// for none.
	Trace uint64
	// Statement, if set, receives the text of each statement as soon as it is known, without
	// constants. It must not block.
	Statement func(queryid, text string)
	// Slow announces windows whose requests were slow, as they close; nil if
	// nothing announces them. One source reads it.
	Slow <-chan timebase.Span
	// GCTrace returns the next line of the target's GODEBUG=gctrace=1 that was
	// not returned yet, and when it came; false when there is none now. It is
	// nil when the target was not asked to print them. One source calls it.
	GCTrace func() (came time.Time, line string, ok bool)
}

// Measured is the steady span, zero without one. It is known once Run is called.
func (s Subject) Measured() timebase.Span {
	if s.Steady == nil {
		return timebase.Span{}
	}
	return *s.Steady
}

// Sink takes the data of sources. Its methods may be called concurrently. An error (a full
// disk) is sticky; the source may ignore it.
type Sink interface {
	Add(points ...series.Point) error
	Profile(p record.Profile) error
	Trace(t record.Trace) error
}

// Reporter may be implemented by a source to report its health after Run:
// samples taken, alignment error, partial blindness. The zero SourceHealth's
// Name and CPU are filled by the run.
type Reporter interface {
	Health() record.SourceHealth
}

// Storer may be implemented by a source to leave a JSON file of its own in
// the bundle after Run.
type Storer interface {
	Store() (file string, value any, err error)
}

// Unsupported names the data that a source cannot collect here, and how to enable it.
type Unsupported struct {
	What   string // "pg_stat_statements is not installed"
	Enable string // "add it to shared_preload_libraries and run CREATE EXTENSION"
	Err    error  // may be nil
	// NotAsked is set if the run was not asked for the source's data, so nothing failed:
	// reports do not mention the source.
	NotAsked bool
}

// Error returns what is missing and how to enable it, as one line of the run's health.
func (e *Unsupported) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v (to enable: %s)", e.What, e.Err, e.Enable)
	}
	return fmt.Sprintf("%s (to enable: %s)", e.What, e.Enable)
}

// Unwrap returns the cause, nil without one.
func (e *Unsupported) Unwrap() error { return e.Err }
