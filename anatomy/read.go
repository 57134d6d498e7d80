package anatomy

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/anatomy/bounded"
	"github.com/redline-go/redline/anatomy/goroutines"
)

// readTrace feeds one trace to the bands and returns the number of events
// read. On an error, what was read before it counts: requests in flight there
// are cut, as at a trace's end.
func readTrace(in Input, o Options, all *bands.Requests) (events int, err error) {
	clock := &goroutines.Clock{Run: o.Clock, Span: in.Span}
	t := newTracker(all, clock)
	// The reader checks what it reads, but a trace is untrusted and its parser large: a
	// panic in it also means that the trace is broken.
	defer func() {
		in.close()
		if p := recover(); p != nil {
			err = fmt.Errorf("broken: %s", firstLine(fmt.Sprint(p)))
		}
		t.close()
		all.ClockErrors = append(all.ClockErrors, clock.Errors...)
		if events > 0 && len(clock.Snapshots) == 0 {
			all.Warn("an execution trace without clock snapshots (before Go 1.25) is placed by the time it was asked for")
		}
	}()
	limited := &bounded.Reader{R: in.Trace, Left: o.MaxBytes}
	r, err := trace.NewReader(limited)
	if err != nil && limited.Hit {
		return 0, bounded.Beyond{What: limited.String()}
	}
	if err != nil {
		return 0, fmt.Errorf("not readable: %s", firstLine(err.Error()))
	}
	for events < o.MaxEvents {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil && limited.Hit {
			return events, bounded.Beyond{What: limited.String()}
		}
		if err != nil {
			return events, fmt.Errorf("breaks off: %s", firstLine(err.Error()))
		}
		if ev.Kind() != trace.EventSync { // which the reader inserts at an end
			if events++; events == 1 {
				clock.First = ev.Time()
			}
		}
		t.event(ev)
		if err := t.crowd(); err != nil {
			return events, err
		}
	}
	return events, bounded.Beyond{What: fmt.Sprintf("its first %d events", o.MaxEvents)}
}
