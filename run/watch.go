package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// patience is how long a source may keep others waiting. One that takes longer
// costs its own data alone.
type patience struct {
	hold time.Duration // how long the load waits for Open; a source that opens later joins
	open time.Duration // after which a source that has not opened is given up
	end  time.Duration // to deliver pending data, and again to report its health
	ask  time.Duration // for what a target is asked before any load
}

// usual is longer than any working source takes: the kernel checks eBPF programs
// for a second, dialling a database may take 5, and a profile over HTTP may end
// 8 s late.
var usual = patience{hold: 3 * time.Second, open: 12 * time.Second, end: 15 * time.Second, ask: 3 * time.Second}

// Watch is a set of sources that are open.
type Watch struct {
	cancel   context.CancelFunc
	seats    []*seat
	patience patience
	giveUp   sync.Mutex  // held while some are given up
	overdue  *time.Timer // gives up those that do not open
	begin    sync.Once
	begun    chan struct{} // closed once sink is set, and the span known
	sink     observe.Sink
}

// Watched holds the sources' results.
type Watched struct {
	Health   []record.SourceHealth
	Files    map[string]any // JSON files of the sources' own, by name
	Warnings []string
}

// watch opens the run's sources. They read the steady span once they begin.
func (c *conductor) watch(ctx context.Context, steady *timebase.Span) *Watch {
	if c.Blind {
		return OpenSources(ctx, observe.Subject{}, nil)
	}
	subject := observe.Subject{
		Clock: c.clock, Window: timebase.DefaultWindow, Steady: steady,
		PID: c.target.Info().PID, Ring: c.target.Ring(), Socket: c.target.Socket(),
		Pprof: c.Plan.Observe.Pprof, DSN: c.Plan.Observe.Postgres,
		OTLP: c.Plan.Observe.OTLP, OTLPToken: c.Plan.Observe.OTLPToken, Trace: c.trace(),
		Statement: c.statement(),
	}
	if subject.Slow = c.slow.C; subject.Ring == "" {
		subject.GCTrace = c.target.GCTrace()
	}
	list := Sources(subject)
	if c.Counters {
		list = counters()
	}
	return OpenSources(ctx, subject, list)
}

// OpenSources opens sources for a subject; Begin lets them run, until Close. It waits a few seconds for them, and no longer than
// ctx. One that cannot open, or not in time, reports why in its health.
func OpenSources(ctx context.Context, subject observe.Subject, list []observe.Source) *Watch {
	return openSources(ctx, subject, list, usual)
}

func openSources(ctx context.Context, subject observe.Subject, list []observe.Source, p patience) *Watch {
	// Subtle: sources outlive a cancelled run by the time they need to deliver, so
	// only Close ends them.
	outlive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &Watch{cancel: cancel, patience: p, begun: make(chan struct{})}
	for _, source := range list {
		w.seats = append(w.seats, &seat{source: source})
	}
	// Concurrently: one that waits for a dead address does not delay the others for long.
	for _, s := range w.seats {
		s.take(outlive, subject, w)
	}
	w.overdue = time.AfterFunc(p.open, func() {
		w.abandon(fmt.Errorf("it did not open within %v, and the run went on without it (to enable: check it with redline doctor)", p.open))
	})
	within, enough := context.WithTimeout(ctx, p.hold)
	defer enough()
	for _, s := range w.seats {
		before(s.opened, within)
	}
	return w
}

// Begin lets the sources that are open run and deliver to sink, and each of the others once it has opened. Calls after the first
// do nothing.
func (w *Watch) Begin(sink observe.Sink) {
	w.begin.Do(func() {
		w.sink = sink
		close(w.begun)
	})
}

// abandon gives up all that have not opened.
func (w *Watch) abandon(why error) {
	w.giveUp.Lock() // whoever gets the lock next finds late set
	defer w.giveUp.Unlock()
	for _, s := range w.seats {
		s.abandon(why)
	}
}

// Close ends the sources and gathers their results. A late source reports that in
// its health, and the others keep their results.
func (w *Watch) Close() Watched {
	w.overdue.Stop()
	w.abandon(errors.New("it did not open before the load ended (to enable: check it with redline doctor)"))
	w.cancel()
	w.Begin(nowhere{}) // those that never began tidy up
	within, enough := context.WithTimeout(context.Background(), w.patience.end)
	defer enough()
	for _, s := range w.seats {
		s.end(within, w.patience)
	}
	var all []reported
	for _, s := range w.seats {
		all = append(all, s.ask())
	}
	within, answered := context.WithTimeout(context.Background(), w.patience.end)
	defer answered()
	out := Watched{Files: map[string]any{}, Health: []record.SourceHealth{}}
	for i, s := range w.seats {
		s.gather(&out, all[i], within, w.patience)
	}
	return out
}
