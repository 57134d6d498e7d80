package anatomy

import (
	"fmt"
	"io"
	"strings"

	"github.com/redline-go/redline/record"
)

// Options bound and steer an analysis. The zero Options is usable; its run times
// then count from boot.
type Options struct {
	// Clock places the trace on the run's clock.
	Clock record.Clock
	// Module is the path of the target's main module, by which its own frames
	// are known; empty means unknown, and then every package outside the
	// standard library and the module cache counts as its own.
	Module string
	// Mains are path prefixes that count as the target's own beside Module:
	// other modules of its workspace.
	Mains []string
	// MaxParts is the length of each list of parts; zero means 200.
	MaxParts int
	// MaxSlowest is the number of timelines kept; zero means 5, negative none.
	MaxSlowest int
	// MaxMarked is the number of timelines kept of the requests that carry an id;
	// zero means 20, negative none.
	MaxMarked int
	// MaxBytes and MaxEvents bound what is read of each trace; zero means 64 MiB
	// and 8 Mi events, some 50 s of 10,000 requests/s. What lies behind a bound
	// is left out with a warning. A hostile trace can take about 20 times
	// MaxBytes of memory.
	MaxBytes  int64
	MaxEvents int
	// MaxAllEvents bounds the events of all traces together; zero means three times
	// MaxEvents.
	MaxAllEvents int
	// Each, when not nil, is called with every whole request in the order of
	// their ends. The Timeline is the callee's to keep.
	Each func(record.Timeline)
}

// Input is one execution trace.
type Input struct {
	Trace io.Reader
	// Open opens the trace when its turn comes, where Trace is nil: one is open at
	// a time.
	Open func() (io.ReadCloser, error)
	// Span is the run time that the trace covers, as far as its taker knows.
	// It places traces that carry no clock snapshot (before Go 1.25).
	Span record.Span
}

// Analyze takes the requests of one trace apart.
func Analyze(r io.Reader, o Options) (*record.Anatomy, error) {
	return AnalyzeAll([]Input{{Trace: r}}, o)
}

// AnalyzeAll makes one anatomy of several traces of the same target. A trace
// that breaks off counts up to where it breaks, and one that cannot be read at
// all is left out; both leave a warning. The error is not nil when no trace gave
// an event: it is then the reason of the first.
func AnalyzeAll(inputs []Input, o Options) (*record.Anatomy, error) {
	o = o.withDefaults()
	all := newCollector(o)
	var first error
	read := 0
	left := o.MaxAllEvents
	for i, in := range inputs {
		events, err := openAndRead(in, o, all)
		if left -= events; left < o.MaxEvents {
			o.MaxEvents = max(0, left)
		}
		if err != nil {
			reason := fmt.Errorf("execution trace %d of %d: %w", i+1, len(inputs), err)
			if first == nil {
				first = reason
			}
			all.warn(fmt.Sprintf("%v (%d events read)", reason, events))
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
	return all.anatomy(), nil
}

// openAndRead reads a trace that may have to be opened.
func openAndRead(in Input, o Options, all *collector) (events int, err error) {
	if in.Trace == nil {
		f, err := in.Open()
		if err != nil {
			return 0, err
		}
		defer f.Close()
		in.Trace = f
	}
	return readTrace(in, o, all)
}

func (o Options) withDefaults() Options {
	if o.MaxParts == 0 {
		o.MaxParts = 200
	}
	if o.MaxSlowest == 0 {
		o.MaxSlowest = 5
	}
	if o.MaxMarked == 0 {
		o.MaxMarked = 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = 8 << 20
	}
	if o.MaxAllEvents == 0 {
		o.MaxAllEvents = 3 * o.MaxEvents
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
