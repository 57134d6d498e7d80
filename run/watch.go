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

// Watch is a set of sources that are open.
type Watch struct {
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

// Watched is what sources leave behind.
type Watched struct {
	Health   []record.SourceHealth
	Files    map[string]any // JSON files of the sources' own, by name
	Warnings []string
}

// watch opens the sources that suit the target and lets them run until Close.
func (c *conductor) watch(ctx context.Context, steady record.Span) *Watch {
	// Subtle: sources outlive a cancelled run by what they need to deliver, so
	// they are ended by Close alone.
	ctx = context.WithoutCancel(ctx)
	if c.Blind {
		return OpenSources(ctx, observe.Subject{}, nil, c.tee)
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
	list := Sources(subject)
	if c.Counters {
		list = counters()
	}
	return OpenSources(ctx, subject, list, c.tee)
}

// OpenSources opens sources, which are told of the subject, and lets them run
// and deliver to sink until Close or until ctx ends. One that cannot open says
// why in its health.
func OpenSources(ctx context.Context, subject observe.Subject, list []observe.Source, sink observe.Sink) *Watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watch{cancel: cancel}
	for _, source := range list {
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
		w.done.Go(func() { s.cpu = threadCPU(func() { s.err = s.source.Run(ctx, sink) }) })
	}
	return w
}

// Close ends the sources and gathers what they leave behind.
func (w *Watch) Close() Watched {
	w.cancel()
	ended := make(chan struct{})
	go func() { w.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(closeGrace):
		return Watched{Warnings: []string{fmt.Sprintf("sources did not end within %v; their figures may be incomplete", closeGrace)}}
	}
	out := Watched{Files: map[string]any{}, Health: []record.SourceHealth{}}
	for _, s := range w.seats {
		out.Health = append(out.Health, s.health())
		if storer, ok := s.source.(observe.Storer); ok && s.opened {
			file, value, err := storer.Store()
			if err != nil {
				out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v", s.source.Describe().Name, err))
			} else if file != "" {
				out.Files[file] = value
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
