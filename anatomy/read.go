package anatomy

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"
)

// errBound says that a trace went on behind what was allowed to be read.
type errBound struct{ what string }

func (e errBound) Error() string { return "left out what lies behind " + e.what }

// readTrace feeds one trace to the collector and returns the number of events
// read. On an error, what was read before it counts: requests in flight there
// are cut, as at a trace's end.
func readTrace(in Input, o Options, all *collector) (events int, err error) {
	clock := &traceClock{run: o.Clock, span: in.Span}
	t := newTracker(all, clock)
	// The reader checks what it reads, but a trace is untrusted and its parser
	// large: a panic in it is one more sign that the trace is broken.
	defer func() {
		if c, ok := in.Trace.(io.Closer); ok {
			c.Close() // it was only read
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("broken: %s", firstLine(fmt.Sprint(p)))
		}
		t.close()
		all.clockErrors = append(all.clockErrors, clock.errors...)
		if events > 0 && len(clock.snapshots) == 0 {
			all.warn("an execution trace without clock snapshots (before Go 1.25) is placed by the time it was asked for")
		}
	}()
	limited := &bounded{r: in.Trace, left: o.MaxBytes}
	r, err := trace.NewReader(limited)
	if err != nil && limited.hit {
		return 0, errBound{limited.String()}
	}
	if err != nil {
		return 0, fmt.Errorf("not readable: %s", firstLine(err.Error()))
	}
	for events < o.MaxEvents {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil && limited.hit {
			return events, errBound{limited.String()}
		}
		if err != nil {
			return events, fmt.Errorf("breaks off: %s", firstLine(err.Error()))
		}
		if ev.Kind() != trace.EventSync { // which the reader makes up at an end
			if events++; events == 1 {
				clock.first = ev.Time()
			}
		}
		t.event(ev)
		if err := t.crowd(); err != nil {
			return events, err
		}
	}
	return events, errBound{fmt.Sprintf("its first %d events", o.MaxEvents)}
}

// bounded is an io.Reader that ends after left bytes, or too many batches, and
// remembers whether that cut anything off.
type bounded struct {
	r       io.Reader
	left    int64
	read    int64
	batches batches
	hit     bool
}

func (b *bounded) String() string {
	switch {
	case b.batches.full:
		return "what fits of its stacks and names"
	case b.batches.n == maxBatches && b.left > 0:
		return fmt.Sprintf("its first %d batches", maxBatches)
	}
	return fmt.Sprintf("its first %d bytes", b.read)
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.hit {
		return 0, io.EOF
	}
	if b.left <= 0 {
		var one [1]byte
		n, err := io.ReadFull(b.r, one[:])
		b.hit = b.hit || n > 0
		if n == 0 && err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	if within := b.batches.see(p[:n]); within < n {
		b.hit = true
		n, err = within, nil
	}
	b.left -= int64(n)
	b.read += int64(n)
	if b.batches.foreign && b.read > maxOldBytes {
		b.hit = true
	}
	return n, err
}
