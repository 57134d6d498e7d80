// Package observetest is the conformance suite of observe.Source. Each package
// of sources calls Run from a test with a subject that its source can watch;
// the suite asserts the properties that the conductor of a run and the record rely on.
//
// It refuses to check figures: whether a source's figures are true is for its own
// tests. It counts the process's goroutines and descriptors, so the calling
// test must not run in parallel with others.
package observetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

const (
	width = 20 * time.Millisecond
	// length is the minimum time that each source runs: enough for sources that wait
	// some windows before they deliver.
	length = 25 * width
	// hang is how long Run may take to return once its context is done before
	// it counts as hung. It is far above the time of sources, which end their
	// trace or profile first, so that a busy host does not fail a good source.
	hang = 20 * time.Second
)

// Run checks the sources that newSource makes. Each subject is one that the
// source must be able to watch; its Clock, Window and Steady are filled in
// here. Without a subject only the checks that need none are made.
func Run(t *testing.T, newSource func() observe.Source, subjects ...observe.Subject) {
	t.Helper()
	t.Run("describe", func(t *testing.T) { describe(t, newSource) })
	t.Run("nothing to watch", func(t *testing.T) { unsupported(t, newSource) })
	for i, subject := range subjects {
		t.Run(fmt.Sprintf("run %d", i), func(t *testing.T) { watch(t, newSource, subject) })
		t.Run(fmt.Sprintf("cancelled %d", i), func(t *testing.T) { cancelled(t, newSource, subject) })
	}
}

// describe checks that a source says what it sees, needs and costs: docs/observing.md is
// made from this.
func describe(t *testing.T, newSource func() observe.Source) {
	source := newSource()
	d := source.Describe()
	for field, text := range map[string]string{"Name": d.Name, "Doc": d.Doc, "Needs": d.Needs, "Cost": d.Cost} {
		if strings.TrimSpace(text) == "" {
			t.Errorf("Describe().%s is empty", field)
		}
	}
	if d != source.Describe() || d != newSource().Describe() {
		t.Error("Describe is not constant")
	}
}

// unsupported opens the source on a subject without anything to see. The error must be a
// sentence with a remedy, never a failed run.
func unsupported(t *testing.T, newSource func() observe.Source) {
	before := took(t)
	source := newSource()
	err := source.Open(t.Context(), fill(t, observe.Subject{}))
	var refusal *observe.Unsupported
	switch {
	case err == nil:
		t.Error("Open of an empty subject succeeds")
	case !errors.As(err, &refusal):
		t.Errorf("Open of an empty subject: %v (%T), want *observe.Unsupported", err, err)
	case refusal.What == "" || refusal.Enable == "":
		t.Errorf("%+v does not say what is missing and what would enable it", refusal)
	}
	before.released(t)
}

// watch runs the source until it delivers something, and checks it: known series, in
// windows of the run. The process must hold the same resources before and after.
func watch(t *testing.T, newSource func() observe.Source, subject observe.Subject) {
	before := took(t)
	subject = fill(t, subject)
	source := newSource()
	if err := source.Open(t.Context(), subject); err != nil {
		t.Fatalf("Open: %v", err)
	}
	sink := &Sink{}
	opened := subject.Clock.Now()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	time.AfterFunc(length, func() {
		for sink.Len() == 0 && ctx.Err() == nil { // a busy host delivers later
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	if err := run(ctx, source, sink); err != nil {
		t.Errorf("Run: %v", err)
	}
	span := timebase.Span{From: opened, To: subject.Clock.Now()}
	before.released(t)

	if sink.Len() == 0 {
		t.Errorf("nothing was delivered in %v", hang)
	}
	sink.check(t, subject.Window, span)
	health(t, source)
}

// cancelled checks that a source whose context ends before it begins still
// releases Open's resources.
func cancelled(t *testing.T, newSource func() observe.Source, subject observe.Subject) {
	before := took(t)
	subject = fill(t, subject)
	source := newSource()
	if err := source.Open(t.Context(), subject); err != nil {
		t.Fatalf("Open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sink := &Sink{}
	if err := run(ctx, source, sink); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	before.released(t)
	sink.check(t, subject.Window, timebase.Span{To: subject.Clock.Now()})
}

// fill sets the fields of a subject that the test left out.
func fill(t *testing.T, subject observe.Subject) observe.Subject {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject.Clock, subject.Window = clock, width
	subject.Steady = &timebase.Span{From: 3 * width, To: length - 3*width}
	return subject
}

// run calls Run and ends it through its context. A source that does not return is an
// error with all stacks, because waiting for it would only end the test binary.
func run(ctx context.Context, source observe.Source, sink observe.Sink) error {
	done := make(chan error, 1)
	go func() { done <- source.Run(ctx, sink) }()
	<-ctx.Done()
	select {
	case err := <-done:
		return err
	case <-time.After(hang):
		buf := make([]byte, 1<<16)
		return fmt.Errorf("still running %v after its context was done:\n%s", hang, buf[:runtime.Stack(buf, true)])
	}
}

// health checks the source's account of itself after a run.
func health(t *testing.T, source observe.Source) {
	reporter, ok := source.(observe.Reporter)
	if !ok {
		return
	}
	h := reporter.Health()
	switch {
	case h.Name != "" && h.Name != source.Describe().Name:
		t.Errorf("Health().Name %q is not the source's", h.Name)
	case h.OK && h.Samples <= 0:
		t.Error("Health is OK without a sample")
	case !h.OK && h.Why == "":
		t.Error("Health is not OK and does not say why")
	case h.Align.P50 < 0 || h.Align.P99 < h.Align.P50:
		t.Errorf("alignment error p50 %v, p99 %v", h.Align.P50, h.Align.P99)
	case h.Samples > 0 && h.Align.P99 == 0:
		t.Error("samples without an alignment error: it was not measured")
	}
	if again := reporter.Health(); again.Samples < h.Samples {
		t.Errorf("samples fall from %d to %d", h.Samples, again.Samples)
	}
}

// holdings are the resources that a source may leak.
type holdings struct{ goroutines, descriptors int }

// took counts what the process holds: a source that leaks a goroutine or a descriptor
// does so in every run.
func took(t *testing.T) holdings {
	t.Helper()
	return holdings{runtime.NumGoroutine(), descriptors(t)}
}

// released waits until no more is held than before: goroutines and descriptors
// of closed connections go away a moment after the call that closed them.
func (before holdings) released(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(hang)
	for {
		now := took(t)
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			return
		}
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Errorf("held before %+v, after %+v; goroutines:\n%s", before, now, buf[:runtime.Stack(buf, true)])
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// descriptors counts the process's open files; 0 where there is no /proc.
func descriptors(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) - 1 // one is the directory itself
}
