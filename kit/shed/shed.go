// Package shed keeps a service at its best under overload: it admits as many
// requests at once as the service can work on, learns that number from their
// latency, and turns the rest away at once.
//
// # The limit
//
// The formula is that of Envoy's adaptive concurrency filter
// (envoyproxy.io, "Adaptive Concurrency", gradient controller), which descends from
// Netflix's concurrency-limits:
//
//	gradient = (1 + tolerance) * baseline / latency, within 0.5 and 1 + tolerance
//	limit    = gradient * limit + sqrt(gradient * limit)
//
// Latency is the mean over a window, by Little's law: requests in flight over requests per
// second. The baseline is the latency while nothing queues. A service that is full with P requests serves L of
// them at latency baseline * L/P, so that the limit settles near (1 + tolerance) * P
// plus its square root: enough to keep it full, and latency stays near the baseline.
// Four things differ from Envoy:
//
//   - The mean, not a percentile, because Little's law is about the mean. A request
//     that hangs counts as one in flight from the start, not with its minutes at the end.
//   - A window lasts until as many requests have ended as were in flight, so that
//     each step rests on the effect of the previous one.
//   - A window that never used half of the limit does not change it, and shows the
//     baseline at no cost: light load neither raises nor lowers the limit.
//   - Under lasting load a probe checks the baseline, as in Envoy, but at half of what
//     is in flight rather than at 3. If the service still serves as many per second, it still had a
//     queue, and the probe halves again. A probe costs some capacity for some requests'
//     time, and follows early if the limit was halved and latency did not fall: then
//     the service has become slower, and the queue is not the cause.
//
// # CPU
//
// Tolerance exists because latency varies for many reasons. While the kernel refuses
// CPU, as its pressure information (a thread waits) or the quota of the control group (it
// throttles) shows, the reason is known, and the tolerance shrinks by the share of the
// time in which it does: down to none. The limit then settles near P plus its square
// root. CPU pressure alone never lowers it further, because a service that other programs
// disturb but that answers in time has no reason to reject anyone.
//
// # When not to use it
//
//   - Where the bound is known, as with a pool of ten database connections: a semaphore
//     of that size is simpler and never wrong.
//   - Where requests of one Limiter differ in cost by orders of magnitude, and the mix
//     changes: the mean then changes through no fault of the service. Use a Limiter per class.
//   - For connections that stay, such as streams and WebSockets: they hold their
//     permit for hours. Exempt them.
//   - At a client that retries what is turned away, without a budget of retries:
//     shedding then makes more load.
package shed

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redline-go/redline/kit/internal/pressure"
)

// ErrShed is what Acquire returns for a request that is turned away.
var ErrShed = errors.New("shed: over the limit")

// Options bounds a Limiter. The zero value is usable.
type Options struct {
	// Initial is the limit to begin with. 0 means 20, or Min or Max if that is nearer.
	Initial int
	// Min and Max bound the limit. 0 means 4 and 1000.
	Min, Max int
	// Window is how long latency is gathered at least before the limit moves. 0 means 100 ms.
	Window time.Duration
	// Tolerance is the rise of latency over the baseline that is no overload, as a
	// share. It must exceed how much latency varies between windows. 0 means 0.25.
	Tolerance float64
	// Probe is how long the baseline is trusted under lasting load, at least; slow
	// services are probed less often, so that probes take little of their time. 0
	// means 30 s.
	Probe time.Duration
	// CPU reports the share of the time, since its last call, in which CPU was
	// refused, between 0 and 1. It is called once a window. Nil reads the kernel's
	// pressure information and the throttling of the control group; elsewhere than on
	// Linux that is 0.
	CPU func() float64
}

// Stats is what a Limiter has done, and its estimates.
type Stats struct {
	Limit    int // requests at once, now; during a probe its level
	Inflight int
	Probing  bool

	Latency  time.Duration // mean of the last window
	Baseline time.Duration // latency without a queue; 0 until known
	Gradient float64       // of the last window that moved the limit
	CPU      float64       // refused in the last window

	Admitted, Rejected uint64
	Ignored, Dropped   uint64 // of those admitted, how they ended
	Probes             uint64
}

// Limiter admits requests. Its methods may be called from any goroutine; it starts
// no goroutine. The zero value admits nothing: use New.
type Limiter struct {
	options Options

	mu       sync.Mutex
	limit    float64
	inflight int
	window   window
	busy     bool // someone closes the window

	baseline  float64   // seconds; 0 until known
	anchor    float64   // lowest baseline, for what is learnt without a probe
	seen      int       // requests at light load
	rate      float64   // requests per second under load
	nextProbe time.Time // zero: as soon as a window shows load
	probe     *probe    // nil unless one is in progress
	turn      turn
	stats     Stats
}

// window is a span of time in which latency is measured.
type window struct {
	start, last time.Time // last: until when area is summed
	n           int       // requests that ended
	area        float64   // requests in flight times seconds
	peak        int       // most in flight
	rejected    bool
}

// mean is the mean latency in seconds, by Little's law.
func (w window) mean() float64 { return w.area / float64(w.n) }

// rate is the requests that ended per second.
func (w window) rate() float64 { return float64(w.n) / w.last.Sub(w.start).Seconds() }

// pass sums up to now, with what was in flight until now.
func (w *window) pass(now time.Time, inflight int) {
	w.area += float64(inflight) * max(0, now.Sub(w.last).Seconds())
	w.last = now
}

// New returns a Limiter. It returns an error if the options contradict each other.
func New(o Options) (*Limiter, error) {
	if o.Initial < 0 || o.Min < 0 || o.Max < 0 || o.Window < 0 || o.Tolerance < 0 || o.Probe < 0 {
		return nil, errors.New("shed: an option is negative")
	}
	if o.Min == 0 {
		o.Min = 4
		if o.Max > 0 {
			o.Min = min(4, o.Max)
		}
	}
	if o.Max == 0 {
		o.Max = max(1000, o.Min)
	}
	if o.Max < o.Min {
		return nil, fmt.Errorf("shed: Max %d is below Min %d", o.Max, o.Min)
	}
	if o.Initial == 0 {
		o.Initial = min(max(20, o.Min), o.Max)
	}
	if o.Initial < o.Min || o.Initial > o.Max {
		return nil, fmt.Errorf("shed: Initial %d is not within Min %d and Max %d", o.Initial, o.Min, o.Max)
	}
	if o.Window == 0 {
		o.Window = 100 * time.Millisecond
	}
	if o.Tolerance == 0 {
		o.Tolerance = 0.25
	}
	if o.Probe == 0 {
		o.Probe = 30 * time.Second
	}
	if o.CPU == nil {
		cpu := pressure.New()
		o.CPU = func() float64 { return cpu.Read().Denied() }
	}
	l := &Limiter{options: o, limit: float64(o.Initial)}
	l.open(time.Now())
	return l, nil
}

// Permit is one admitted request. The first call of Done, Ignore or Drop ends it; later ones do nothing, so
// that a deferred Done may follow another. It belongs to one goroutine at a time.
type Permit struct {
	limiter *Limiter
	start   time.Time
	ended   bool
}

// Acquire admits a request or returns ErrShed, at once in both cases. Every Permit
// must be ended.
func (l *Limiter) Acquire() (*Permit, error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveUp(now)
	if l.inflight >= l.level() {
		l.window.rejected = true
		l.stats.Rejected++
		return nil, ErrShed
	}
	l.window.pass(now, l.inflight)
	l.inflight++
	l.window.peak = max(l.window.peak, l.inflight)
	l.stats.Admitted++
	return &Permit{limiter: l, start: now}, nil
}

// level is the limit that holds now.
func (l *Limiter) level() int {
	if l.probe != nil {
		return l.probe.level
	}
	return int(l.limit)
}

// Done ends a request whose latency counts.
func (p *Permit) Done() { p.end(false, false) }

// Ignore ends a request whose latency says nothing about the service: one that failed
// at once, or whose client went away.
func (p *Permit) Ignore() { p.end(true, false) }

// Drop ends a request that failed because of overload: it timed out, or a service below
// rejected it. It counts as one that took eight times the baseline, or longer if it did.
func (p *Permit) Drop() { p.end(false, true) }

func (p *Permit) end(ignore, drop bool) {
	l, now := p.limiter, time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	w := &l.window
	w.pass(now, l.inflight)
	l.inflight--
	w.n++
	switch {
	case ignore:
		l.stats.Ignored++
		// As if it had not been in this window.
		w.n--
		w.area = max(0, w.area-min(now.Sub(p.start), now.Sub(w.start)).Seconds())
	case drop:
		l.stats.Dropped++
		w.area += max(0, dropped*l.baseline-now.Sub(p.start).Seconds())
	}
	l.giveUp(now)
	l.drained(now)
	draining := l.probe != nil && !l.probe.measuring // what ends now belongs to no window
	if w := l.window; !l.busy && !draining && w.n >= l.enough() && now.Sub(w.start) >= l.least() {
		l.closeWindow()
	}
}

// dropped is the least latency of a dropped request, in baselines: enough that a tenth of
// them shows.
const dropped = 8

// enough is how many requests a window needs: as many as were in flight, so that
// the queue has changed once. The estimate needs some in any case.
func (l *Limiter) enough() int {
	if l.probe != nil {
		return l.probe.need
	}
	return max(10, l.window.peak)
}

// least is how long a window lasts. A probe ends as soon as it can.
func (l *Limiter) least() time.Duration {
	if l.probe != nil {
		return 0
	}
	return l.options.Window
}

// closeWindow decides by the window and opens the next. It is called with mu held,
// and releases it while it reads the CPU's files.
func (l *Limiter) closeWindow() {
	l.busy = true
	l.mu.Unlock()
	cpu := l.options.CPU()
	l.mu.Lock()
	l.busy = false
	now := time.Now()
	w := l.window
	if w.n < l.enough() {
		return // a probe began to measure or was given up meanwhile
	}
	l.stats.CPU = cpu
	l.stats.Latency = seconds(w.mean())
	switch {
	case l.probe == nil:
		l.decide(w, cpu, now)
		l.open(now)
	case l.probe.measuring && l.endProbe(w, now):
		l.open(now)
	}
}

func (l *Limiter) open(now time.Time) {
	l.window = window{start: now, last: now, peak: l.inflight}
}

// Stats returns what is known at this moment.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Limit, s.Inflight, s.Probing = l.level(), l.inflight, l.probe != nil
	s.Baseline = seconds(l.baseline)
	return s
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
