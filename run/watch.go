package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// closeGrace is how long sources may take to deliver what is pending.
const closeGrace = 15 * time.Second

// watch is the set of sources of one run.
type watch struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	seats  []*seat
}

// seat is one source and how it fared.
type seat struct {
	source observe.Source
	err    error // of Open or Run
	opened bool
	cpu    time.Duration
}

// watched is what the sources leave behind.
type watched struct {
	health   []record.SourceHealth
	files    map[string]any // JSON files of the sources' own
	warnings []string
}

// watch opens the sources that suit the target and lets them run until close.
// A source that cannot open says why in its health; the run goes on.
func (c *conductor) watch(ctx context.Context, steady record.Span) *watch {
	// Subtle: sources outlive a cancelled run by what they need to deliver, so
	// they are ended by close alone.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &watch{cancel: cancel}
	if c.Blind {
		return w
	}
	subject := observe.Subject{
		Clock: c.clock, Window: record.DefaultWindow, Steady: steady,
		PID: c.target.Info().PID, Ring: c.target.Ring(), Socket: c.target.Socket(),
		Pprof: c.Plan.Observe.Pprof, DSN: c.Plan.Observe.Postgres,
		OTLP: c.Plan.Observe.OTLP, OTLPToken: c.Plan.Observe.OTLPToken, Trace: c.trace(),
	}
	if subject.Slow = c.slow.C; subject.Ring == "" {
		subject.GCTrace = c.target.GCTrace()
	}
	for _, source := range sources(subject) {
		w.seats = append(w.seats, &seat{source: source})
	}
	// Opened side by side: one that waits for a dead address must not hold up
	// the others.
	var opening sync.WaitGroup
	for _, s := range w.seats {
		opening.Go(func() { s.err = s.source.Open(ctx, subject) })
	}
	opening.Wait()
	for _, s := range w.seats {
		if s.err != nil {
			continue
		}
		s.opened = true
		w.done.Go(func() { s.cpu = threadCPU(func() { s.err = s.source.Run(ctx, c.tee) }) })
	}
	return w
}

// close ends the sources and gathers their health.
func (w *watch) close() watched {
	w.cancel()
	ended := make(chan struct{})
	go func() { w.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(closeGrace):
		return watched{warnings: []string{fmt.Sprintf("sources did not end within %v; their figures may be incomplete", closeGrace)}}
	}
	out := watched{files: map[string]any{}, health: []record.SourceHealth{}}
	for _, s := range w.seats {
		out.health = append(out.health, s.health())
		if storer, ok := s.source.(observe.Storer); ok && s.opened {
			file, value, err := storer.Store()
			if err != nil {
				out.warnings = append(out.warnings, fmt.Sprintf("%s: %v", s.source.Describe().Name, err))
			} else if file != "" {
				out.files[file] = value
			}
		}
	}
	return out
}

func (s *seat) health() record.SourceHealth {
	health := record.SourceHealth{OK: s.err == nil}
	if reporter, ok := s.source.(observe.Reporter); ok && s.opened {
		health = reporter.Health()
	}
	health.Name, health.CPU = s.source.Describe().Name, s.cpu
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		health.OK, health.Why = false, s.err.Error()
		var refusal *observe.Unsupported
		health.NotAsked = errors.As(s.err, &refusal) && refusal.NotAsked
	}
	return health
}
