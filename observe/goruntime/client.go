package goruntime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record/timebase"
)

// Bounds on input from a target.
const (
	maxProfile = 32 << 20  // compressed
	maxText    = 300       // of an error's text
	maxInflate = 128 << 20 // a profile, decompressed
	// overhang is the time that a request may take beyond the requested length, and that
	// a profile may take to end once it was ended early.
	overhang = 8 * time.Second
)

// client fetches from the target's runtime. A context that ends makes a CPU
// profile or trace end early if the way in allows it.
type client interface {
	// snapshot fetches a profile of the current state.
	snapshot(ctx context.Context, kind string) (capture, error)
	// cpu takes a CPU profile of about a length.
	cpu(ctx context.Context, length time.Duration) (capture, error)
	// trace takes an execution trace of about a length. A capture with data
	// next to an error is a trace whose end is missing.
	trace(ctx context.Context, length time.Duration, limit int64) (capture, error)
	// identity returns a mark that distinguishes the target's process from one that takes its
	// place, "" if there is none.
	identity(ctx context.Context) (string, error)
}

// tuner is a client that can set sampling rates. It returns the rate before, -1
// if the target does not report it.
type tuner interface {
	rate(ctx context.Context, kind string, rate int) (int, error)
}

// flier is a client that has a flight recorder.
type flier interface {
	// fly starts it: it keeps about the last length, within so many bytes of memory.
	fly(ctx context.Context, length time.Duration, bytes int64) error
	// dump fetches its contents.
	dump(ctx context.Context) (capture, error)
	land(ctx context.Context) error
}

// capture is a client's answer.
type capture struct {
	data []byte
	// span is when the subject began and ended; for a snapshot it brackets its
	// taking.
	span timebase.Span
	// err bounds the error of the span's instants.
	err time.Duration
	cut bool // ended early
	// ends means that the span's end is the target's own reading, not calculated
	// from its begin.
	ends bool
}

// connect chooses the best way in and tries it.
func connect(ctx context.Context, subject observe.Subject) (client, error) {
	var refused error
	if subject.Socket != "" {
		c := &socket{path: subject.Socket, clock: subject.Clock}
		if refused = c.check(ctx); refused == nil {
			return c, nil
		}
	}
	if subject.Pprof != "" {
		return newPprof(ctx, subject.Pprof, subject.PID, subject.Clock)
	}
	const enable = "let redline build the target (--build), import github.com/redline-go/redline/probe/auto in it, " +
		"or import net/http/pprof and name its URL with --pprof"
	if refused != nil {
		return nil, &observe.Unsupported{What: "the probe in the target does not answer", Enable: enable, Err: refused}
	}
	return nil, &observe.Unsupported{What: "no way into the target's Go runtime", Enable: enable}
}

// sleepUntil returns when the clock shows t, or false when ctx ends first.
func sleepUntil(ctx context.Context, clock timebase.Clock, t time.Duration) bool {
	timer := time.NewTimer(t - clock.Now())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// problems gathers errors, each once, for the report.
type problems struct{ texts []string }

// add notes a problem, each text once and at most eight: a source that fails in each
// window would otherwise fill the health with the same sentence.
func (p *problems) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, t := range p.texts {
		if t == text {
			return
		}
	}
	if len(p.texts) < 8 {
		p.texts = append(p.texts, text)
	}
}

// absent reports whether an error says that the target has no such profile.
func absent(err error) bool {
	var page *statusError
	if errors.As(err, &page) {
		return page.code == http.StatusNotFound
	}
	var remote *control.RemoteError
	// An older probe does not know the kind; a newer one finds none.
	return errors.As(err, &remote) && (strings.Contains(remote.Text, "no profile") || strings.Contains(remote.Text, "is none of"))
}

// quiet reports whether an error only says that the run has ended.
func quiet(err error) bool { return errors.Is(err, context.Canceled) }

// unreachable reports whether an error means that there is no listener.
func unreachable(err error) bool {
	var e *net.OpError
	return errors.As(err, &e) && e.Op == "dial"
}
