package anatomy

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/timebase"
)

// MostBytes is the default for Options.MaxBytes: the size at which the probe ends a trace.
const MostBytes = 64 << 20

const (
	mostParts  = 200 // in each list of parts
	mostMarked = 20  // timelines of the requests that carry an id
)

// Options bound and steer an analysis. The zero Options is usable; run times then count
// from boot.
type Options struct {
	// Clock converts the trace's times to run time.
	Clock timebase.Clock
	// Module is the path of the target's main module, which identifies its own frames;
	// empty means unknown, and then every package outside the standard library and the
	// module cache counts as its own.
	Module string
	// Names are the requests of the mix, in order, by which marked requests are grouped;
	// nil if there is one.
	Names []string
	// Mean is the mean request as the load saw it, by which the analysis knows whether the whole requests of the traces are
	// typical; zero means unknown.
	Mean time.Duration
	// MaxSlowest is the number of timelines kept; zero means 5, negative none.
	MaxSlowest int
	// MaxBytes and MaxEvents bound each trace; zero means MostBytes and 8 Mi events, some
	// 50 s of 10,000 requests/s. The rest of a longer trace is ignored, with a warning.
	MaxBytes  int64
	MaxEvents int
	// MaxEventsInAll bounds the events of all traces together; zero means 24 Mi, some 15 s
	// of work.
	MaxEventsInAll int
	// CPU, when not nil, returns the CPU profile of the run. It is called at most once, if
	// the traces hold too few CPU samples.
	CPU func() []bands.Ran
	// Each, when not nil, is called with every complete request, in order of their ends. It
	// may keep the Timeline.
	Each func(breakdown.Timeline)
}

// Input is one execution trace.
type Input struct {
	// Trace is read in turn, and then closed if it is an io.Closer.
	Trace io.Reader
	// Span is the run time that the trace covers, as recorded by whoever took it. It dates
	// traces without clock snapshots (before Go 1.25).
	Span timebase.Span
}

// close closes a trace that nothing was written to.
func (in Input) close() {
	if c, ok := in.Trace.(io.Closer); ok {
		c.Close()
	}
}

// Analyze returns the anatomy of the requests in one or more traces of the same target. A
// truncated trace counts up to where it ends, an unreadable one is left out; both add a
// warning. If no trace has an event, Analyze returns the error of the first.
func Analyze(inputs []Input, o Options) (*breakdown.Anatomy, error) {
	o = o.withDefaults()
	all := bands.New(site.NewOwnership(o.Module), bands.Options{Names: o.Names, Mean: o.Mean, MaxParts: mostParts,
		MaxSlowest: o.MaxSlowest, MaxMarked: mostMarked, CPU: o.CPU, Each: o.Each})
	var first error
	read := 0
	left := o.MaxEventsInAll
	for i, in := range inputs {
		if left <= 0 {
			all.Warn(fmt.Sprintf("execution traces %d to %d are left out: those before them hold %d events", i+1,
				len(inputs), o.MaxEventsInAll))
			for _, in := range inputs[i:] {
				in.close()
			}
			break
		}
		one := o
		one.MaxEvents = min(o.MaxEvents, left)
		all.NextTrace(in.Span)
		events, err := readTrace(in, one, all)
		left -= events
		if err != nil {
			reason := fmt.Errorf("execution trace %d of %d: %w", i+1, len(inputs), err)
			if first == nil {
				first = reason
			}
			all.Warn(fmt.Sprintf("%v (%d events read)", reason, events))
		}
		if events > 0 {
			read++
		}
	}
	if read == 0 {
		if first == nil {
			first = fmt.Errorf("no execution trace holds an event")
		}
		return nil, first
	}
	return all.Anatomy(), nil
}

func (o Options) withDefaults() Options {
	if o.MaxSlowest == 0 {
		o.MaxSlowest = 5
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = MostBytes
	}
	if o.MaxEventsInAll == 0 {
		o.MaxEventsInAll = 24 << 20
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = 8 << 20
	}
	return o
}

// firstLine cuts a reader's error, which may dump its whole state, to what a
// person can read.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return strings.TrimRight(s, ": ")
}
