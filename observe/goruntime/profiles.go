package goruntime

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// Profiles delivers, over the steady span: CPU profiles; allocations, and waits at mutexes
// and elsewhere, as differences between two snapshots; heap and goroutines at its start and
// shortly before its end; and, after it, leaked goroutines, if the runtime detects them (Go
// 1.26 with GOEXPERIMENT=goroutineleakprofile).
//
// If another process replaced the target between two snapshots, nothing is subtracted.
//
// The runtime publishes allocations at the end of a collection, so a heap
// profile is as old as the last one or two cycles; none is forced.
type Profiles struct {
	options Options
	subject observe.Subject
	client  client
	bracket observe.Bracket
	sampled map[string]bool // profiles whose sampling we turned on

	gaps []record.Gap // set before Run returns

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
		Name: "profiles",
		Doc:  "Profiles of CPU, allocations, mutexes, blocking, heap and goroutines over the steady span.",
		Needs: "redline's probe in the target, or net/http/pprof and its URL; mutex and block profiles over HTTP only if " +
			"the target samples them.",
		Cost: "100 stacks per second and CPU, one mutex contention in 20, one blocking event per 100 ms blocked; a stop " +
			"of the world below a millisecond at each end.",
	}
}

// Open implements observe.Source. It connects to the probe, or else to net/http/pprof,
// and takes nothing yet: a profile before the load would show the target at rest.
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

// setRates turns mutex and block profiles on if the way in allows it, and
// returns a function that restores the former rates.
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
	p.sampled = map[string]bool{}
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
		p.sampled[s.kind] = s.rate > 0
		// The runtime does not report the former block rate; off is the default.
		back = append(back, setting{s.kind, max(0, before)})
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		for _, s := range back {
			// A target that has ended needs no restoring, and the probe restores the
			// rates by itself when redline is gone.
			_, _ = t.rate(ctx, s.kind, s.rate)
		}
	}
}

// takeCPU takes the CPU profiles of the steady span, one after the other: the runtime
// allows one at a time, so another profiler in the target makes one fail, and the next
// is still tried.
func (p *Profiles) takeCPU(ctx context.Context, sink observe.Sink) {
	clock := p.subject.Clock
	for _, span := range cpuSpans(p.subject.Measured(), p.options) {
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
		c = date(c, parsed, timebase.Span{From: sent, To: clock.Now()}, clock)
		p.store(sink, "cpu", c.span, c.data, c.err)
	}
}

// kinds are the profiles fetched at both ends, with the type under which their
// difference is stored.
var kinds = [...]struct{ kind, difference string }{
	{"heap", "allocs"}, // one fetch gives both
	{"mutex", "mutex"},
	{"block", "block"},
	{"goroutine", ""},
}

// takeSnapshots takes the profiles of state at both ends of the steady span, and stores
// their differences: allocs, mutex and block profiles count since the process began.
func (p *Profiles) takeSnapshots(ctx context.Context, sink observe.Sink) {
	from, to := snapshots(p.subject.Measured())
	if !sleepUntil(ctx, p.subject.Clock, from) {
		return
	}
	id := p.identity(ctx)
	first := p.shots(ctx, sink)
	sleepUntil(ctx, p.subject.Clock, to)
	ended := ctx
	// Even, and at once, when the run is over: the profiles so far are delivered.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overhang)
	defer cancel()
	last := p.shots(ctx, sink)
	if now := p.identity(ctx); now != id && now != "" && id != "" {
		if a, b := first["heap"], last["heap"]; a.profile != nil && b.profile != nil {
			p.gaps = append(p.gaps, record.Gap{Span: timebase.Span{From: a.at(), To: b.at()},
				Of: "allocs, mutex and block profiles", Why: "another process took the target's place"})
		}
		p.add("another process took the target's place (%s, before %s): profiles of allocations, mutexes and blocking are "+
			"left out because they are differences", now, id)
		return
	}
	for _, k := range kinds {
		if a, b := first[k.kind], last[k.kind]; k.difference != "" && a.profile != nil && b.profile != nil {
			p.subtract(sink, a, b, k.difference)
		}
	}
	// Searching for leaks is a collection, which the load should not feel.
	sleepUntil(ended, p.subject.Clock, p.subject.Measured().To)
	if len(last) > 0 {
		p.leaks(ctx, sink)
	}
}

// identity identifies the target's process; "" if nothing does.
func (p *Profiles) identity(ctx context.Context) string {
	id, err := p.client.identity(ctx)
	if err != nil {
		return "" // the snapshots meet the same error, and report it
	}
	return id
}

// leaks stores the goroutines that are blocked forever. A runtime that cannot
// report them is not reported as a problem: hardly any can yet.
func (p *Profiles) leaks(ctx context.Context, sink observe.Sink) {
	c, err := p.client.snapshot(ctx, "goroutineleak")
	if absent(err) {
		return
	}
	var s shot
	if err == nil {
		s, err = take(c, p.subject.Clock)
	}
	if err != nil {
		if !quiet(err) {
			p.add("goroutineleak profile: %v", err)
		}
		return
	}
	// It does not count for the alignment: the search takes a collection's time,
	// and a leak has no instant.
	p.put(sink, "goroutineleak", timebase.Span{From: s.at(), To: s.at()}, s.data)
}

// subtract stores the difference of two snapshots. An empty one means that
// nothing waited only if we know that waits were sampled; otherwise it is not
// stored, which reads as "not seen".
func (p *Profiles) subtract(sink observe.Sink, first, last shot, typ string) {
	d, err := difference(first, last, typ)
	if err != nil {
		p.add("%v", err)
		return
	}
	if len(d.Sample) == 0 && !p.sampled[typ] {
		p.add("%s", empty(typ))
		return
	}
	data, err := encode(d)
	if err != nil {
		p.add("%v", err)
		return
	}
	p.store(sink, typ, timebase.Span{From: first.at(), To: last.at()}, data, max(first.err, last.err))
}

// empty explains a difference without samples.
func empty(typ string) string {
	enable := map[string]string{
		"allocs": "no collection published any, or runtime.MemProfileRate is 0",
		"mutex":  "to enable: call runtime.SetMutexProfileFraction(20) in it, or run it with the probe",
		"block":  "to enable: call runtime.SetBlockProfileRate(1e7) in it, or run it with the probe",
	}[typ]
	return "the " + typ + " profile is empty, and the target may not sample it (" + enable + ")"
}

// shots fetches all snapshots and stores those that are kept unchanged.
func (p *Profiles) shots(ctx context.Context, sink observe.Sink) map[string]shot {
	got := map[string]shot{}
	for _, k := range kinds {
		s, err := p.shot(ctx, k.kind)
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
			p.store(sink, k.kind, timebase.Span{From: s.at(), To: s.at()}, s.data, s.err)
		}
	}
	return got
}

// shot fetches one snapshot, again if it took so long on a busy host that its
// instant is uncertain, and keeps the one with the smallest error.
func (p *Profiles) shot(ctx context.Context, kind string) (best shot, err error) {
	spent := time.Duration(0)
	for try := range shotTries {
		// Not at once: the cause that interrupted one try interrupts the next.
		if try > 0 && (spent > p.subject.Measured().Len()/shotShare ||
			!sleepUntil(ctx, p.subject.Clock, p.subject.Clock.Now()+time.Duration(try)*shotPause)) {
			break
		}
		asked := p.subject.Clock.Now()
		c, e := p.client.snapshot(ctx, kind)
		spent += p.subject.Clock.Now() - asked
		var s shot
		if e == nil {
			s, e = take(c, p.subject.Clock)
		}
		switch {
		case e != nil && best.profile == nil:
			return shot{}, e
		case e == nil && (best.profile == nil || s.err < best.err):
			best = s
		}
		if best.err <= maxError {
			break
		}
	}
	return best, nil
}

// maxError is the alignment error above which a snapshot is taken again, at most
// shotTries times in all: on a saturated host every other one is interrupted. The
// pauses between them grow by shotPause, and are at most 180 ms in total. No more
// are taken once they took 1/shotShare of the steady span: each costs the
// target some milliseconds, which a short run would feel.
const (
	maxError  = 500 * time.Microsecond
	shotTries = 10
	shotPause = 4 * time.Millisecond
	shotShare = 1000
)

// store stores a profile whose begin is known to within half on either side, and counts
// that bound in the source's alignment.
func (p *Profiles) store(sink observe.Sink, typ string, span timebase.Span, data []byte, half time.Duration) {
	p.bracket.Add(span.From-half, span.From+half)
	p.put(sink, typ, span, data)
}

// put passes a profile to the record. A full disk costs the profile and not the run.
func (p *Profiles) put(sink observe.Sink, typ string, span timebase.Span, data []byte) {
	p.mu.Lock()
	p.stored++
	p.mu.Unlock()
	if err := sink.Profile(record.Profile{Type: typ, Span: span, Data: data}); err != nil {
		p.add("store %s profile: %v", typ, err)
	}
}

// add notes a problem. Profiles are taken from two goroutines, hence the lock.
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
		Samples: p.stored, Align: p.bracket.Align(), Gaps: p.gaps,
	}
}
