package goruntime

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// Profiles delivers, over the steady span: CPU profiles; what was allocated,
// and what was waited for at mutexes and elsewhere, as differences between two
// snapshots; and the heap and the goroutines as they stand at its begin and a
// little before its end.
//
// The runtime publishes allocations at the end of a collection, so a heap
// profile is as old as the last one or two cycles; none is forced.
type Profiles struct {
	options Options
	subject observe.Subject
	client  client
	bracket observe.Bracket

	mu      sync.Mutex
	trouble problems
	stored  int64
}

var (
	_ observe.Source   = (*Profiles)(nil)
	_ observe.Reporter = (*Profiles)(nil)
)

// NewProfiles returns the source.
func NewProfiles(o Options) *Profiles { return &Profiles{options: o.defaults()} }

// Describe implements observe.Source.
func (p *Profiles) Describe() observe.Description {
	return observe.Description{
		Name:  "profiles",
		Doc:   "Profiles of CPU, allocations, mutexes, blocking, heap and goroutines over the steady span.",
		Needs: "redline's probe in the target, or net/http/pprof and its URL; mutex and block profiles over HTTP only if the target samples them.",
		Cost:  "100 stacks per second and CPU, one mutex contention in 20, one blocking event per 10 ms blocked; a stop of the world below a millisecond at each end.",
	}
}

// Open implements observe.Source.
func (p *Profiles) Open(ctx context.Context, subject observe.Subject) (err error) {
	p.subject = subject
	p.client, err = connect(ctx, subject)
	return err
}

// Run implements observe.Source.
func (p *Profiles) Run(ctx context.Context, sink observe.Sink) error {
	restore := p.setRates(ctx)
	defer restore()
	var cpu sync.WaitGroup
	cpu.Go(func() { p.takeCPU(ctx, sink) })
	p.takeSnapshots(ctx, sink)
	cpu.Wait()
	if p.Health().Samples == 0 {
		p.add("the run ended before a profile was taken")
	}
	return nil
}

// setRates turns mutex and block profiles on where the way in allows it, and
// returns what gives them back.
func (p *Profiles) setRates(ctx context.Context) (restore func()) {
	t, ok := p.client.(tuner)
	if !ok {
		return func() {}
	}
	type setting struct {
		kind string
		rate int
	}
	var back []setting
	for _, s := range []setting{{"mutex", p.options.MutexFraction}, {"block", int(p.options.BlockRate)}} {
		if s.rate < 0 {
			continue
		}
		before, err := t.rate(ctx, s.kind, s.rate)
		if err != nil {
			if !quiet(err) {
				p.add("%s profile: %v", s.kind, err)
			}
			continue
		}
		// The runtime does not tell what the block rate was; off is the default.
		back = append(back, setting{s.kind, max(0, before)})
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		for _, s := range back {
			// A target that has ended needs nothing back, and the probe gives the
			// rates back by itself when redline is gone.
			_, _ = t.rate(ctx, s.kind, s.rate)
		}
	}
}

func (p *Profiles) takeCPU(ctx context.Context, sink observe.Sink) {
	clock := p.subject.Clock
	for _, span := range cpuSpans(p.subject.Steady, p.options) {
		if !sleepUntil(ctx, clock, span.From) {
			return
		}
		sent := clock.Now()
		c, err := p.client.cpu(ctx, span.To-sent)
		if err != nil {
			if ctx.Err() != nil {
				p.add("the CPU profile that was being taken as the run ended is lost: net/http/pprof delivers it at its end only")
			} else {
				p.add("CPU profile: %v", err)
			}
			continue
		}
		parsed, err := parse(c.data)
		if err != nil {
			p.add("CPU %v", err)
			continue
		}
		own := date(c, parsed, record.Span{From: sent, To: clock.Now()}, clock)
		if own != c.span {
			c.err = min(c.err, max(clock.EpochError, 1))
		}
		p.store(sink, "cpu", own, c.data, c.err)
	}
}

// kinds are the profiles fetched at both ends, with the type under which their
// difference is stored.
var kinds = [...]struct{ kind, difference string }{
	{"heap", "allocs"}, // one fetch tells both
	{"mutex", "mutex"},
	{"block", "block"},
	{"goroutine", ""},
}

func (p *Profiles) takeSnapshots(ctx context.Context, sink observe.Sink) {
	from, to := snapshots(p.subject.Steady)
	if !sleepUntil(ctx, p.subject.Clock, from) {
		return
	}
	first := p.shots(ctx, sink)
	sleepUntil(ctx, p.subject.Clock, to)
	// Also, and at once, when the run is over: what there is by then is told.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overhang)
	defer cancel()
	last := p.shots(ctx, sink)
	for _, k := range kinds {
		a, b := first[k.kind], last[k.kind]
		if k.difference == "" || a.profile == nil || b.profile == nil {
			continue
		}
		data, err := difference(a, b, k.difference)
		if err != nil {
			p.add("%v", err)
			continue
		}
		if len(b.profile.Sample) == 0 && k.kind != "heap" {
			p.add("%s", empty(k.kind, p.client))
			continue
		}
		p.store(sink, k.difference, record.Span{From: a.at(), To: b.at()}, data, max(a.err, b.err))
	}
}

// empty explains a profile without samples. With the probe it is good news.
func empty(kind string, c client) string {
	if _, ok := c.(tuner); ok {
		return "nothing was sampled by the " + kind + " profile"
	}
	call := map[string]string{"mutex": "runtime.SetMutexProfileFraction(20)", "block": "runtime.SetBlockProfileRate(1e7)"}[kind]
	return "the " + kind + " profile is empty: the target does not sample it (to enable: call " + call + " in it, or run it with the probe)"
}

// shots fetches all snapshots and stores those that are told as they stand.
func (p *Profiles) shots(ctx context.Context, sink observe.Sink) map[string]shot {
	got := map[string]shot{}
	for _, k := range kinds {
		c, err := p.client.snapshot(ctx, k.kind)
		var s shot
		if err == nil {
			s, err = take(c, p.subject.Clock)
		}
		if unreachable(err) {
			p.add("the target does not answer any more: %v", err)
			break
		}
		if err != nil {
			if !quiet(err) {
				p.add("%s profile: %v", k.kind, err)
			}
			continue
		}
		got[k.kind] = s
		if k.kind == "heap" || k.kind == "goroutine" {
			p.store(sink, k.kind, record.Span{From: s.at(), To: s.at()}, s.data, s.err)
		}
	}
	return got
}

func (p *Profiles) store(sink observe.Sink, typ string, span record.Span, data []byte, half time.Duration) {
	p.mu.Lock()
	p.stored++
	p.mu.Unlock()
	p.bracket.Add(span.From-half, span.From+half)
	if err := sink.Profile(record.Profile{Type: typ, Span: span, Data: data}); err != nil {
		p.add("store %s profile: %v", typ, err)
	}
}

func (p *Profiles) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble.add(format, args...)
}

// Health implements observe.Reporter.
func (p *Profiles) Health() record.SourceHealth {
	p.mu.Lock()
	defer p.mu.Unlock()
	return record.SourceHealth{
		Name: p.Describe().Name, OK: p.stored > 0, Why: strings.Join(p.trouble.texts, "; "),
		Samples: p.stored, Align: p.bracket.Align(),
	}
}
