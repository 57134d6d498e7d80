package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// run is one run of load.
type run struct {
	Config
	ctx    context.Context
	plan   scenario.Load // with its defaults
	pace   pace
	mix    mix
	names  []string // of the requests
	clock  record.Clock
	start  time.Duration
	steady record.Span
	width  int // connections at most

	collector *collector
	taken     atomic.Int64 // tickets taken, in an open loop

	mu       sync.Mutex // of all below
	failures [len(kinds)]error
	sinkErr  error // the first that Record returned

	// The reporter's own state; see report.go.
	series *series
	points []record.Point
	met    [len(kinds)]bool
	meter  *usageMeter
	sched  *schedMeter
	before gauges
	used   usage // at the last edge
	usedAt time.Duration
	spent  spent
}

func newRun(ctx context.Context, c Config, plan scenario.Load) (*run, error) {
	r := &run{Config: c, ctx: ctx, plan: plan, pace: newPace(plan), clock: c.Clock, series: newSeries()}
	r.start = max(c.Start, c.Clock.Now())
	r.steady = Steady(plan, r.start)
	r.width = plan.Connections
	if !plan.Open() {
		r.width = r.pace.most()
	}
	if r.width <= 0 {
		return nil, errors.New("the plan never has a connection")
	}
	weights := make([]int, len(c.Plan.Requests))
	r.names = make([]string, len(c.Plan.Requests))
	for i, q := range c.Plan.Requests {
		weights[i] = q.Weight
		if r.names[i] = q.Name; q.Name == "" {
			r.names[i] = fmt.Sprintf("request-%d", i+1)
		}
	}
	r.mix = newMix(weights)
	r.collector = newCollector(r, r.names)
	return r, nil
}

// connect makes connection i, not yet open.
func (r *run) connect(i int) *connection {
	c := &connection{id: i, run: r, client: r.Dial.Client(i), rng: rand.NewPCG(uint64(i), 0x6c6f6164)}
	c.ring.samples = make([]sample, ringLength(r.width))
	r.collector.connect(c)
	return c
}

// failed returns the kind of a failed request and keeps the first error of each
// kind, which a warning quotes.
func (r *run) failed(err error) uint8 {
	i := KindOf(err).index()
	r.mu.Lock()
	if r.failures[i] == nil {
		r.failures[i] = err
	}
	r.mu.Unlock()
	return i
}

// sunk keeps the first error of the record. Load goes on without it.
func (r *run) sunk(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	if r.sinkErr == nil {
		r.sinkErr = err
	}
	r.mu.Unlock()
}

// drive is Run after everything was checked.
func (r *run) drive() (*Result, error) {
	if !sleep(r.ctx, r.start-r.clock.Now()) {
		return r.result(r.start), r.ctx.Err()
	}
	// hard ends what is under way: when the caller ends the run, and when the
	// grace time is over.
	hard, end := context.WithCancel(r.ctx)
	defer end()
	grace := time.AfterFunc(r.steady.To+r.plan.Grace-r.clock.Now(), end)
	defer grace.Stop()
	timer := newWaiter()
	defer timer.close()
	cut := make(chan struct{})
	stop := context.AfterFunc(hard, func() {
		defer close(cut)
		timer.interrupt()
		r.cutOff()
	})

	driven := make(chan struct{})
	reported := make(chan struct{})
	r.begin()
	go func() {
		defer close(reported)
		r.report(driven)
	}()
	if r.plan.Open() {
		r.driveOpen(hard, timer)
	} else {
		r.driveClosed(hard)
	}
	if !stop() {
		<-cut // it uses the timer
	}
	close(driven)
	<-reported
	r.cutOff() // closes what is still open
	now := r.clock.Now()
	result := r.result(now)
	err := r.balance(result)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		err = errors.Join(r.ctx.Err(), err)
	}
	if r.sinkErr != nil {
		err = errors.Join(err, fmt.Errorf("load: store what was measured: %w", r.sinkErr))
	}
	return result, err
}

// cutOff closes every client, which ends what they are doing.
func (r *run) cutOff() {
	r.collector.mu.Lock()
	all := r.collector.connections[:len(r.collector.connections):len(r.collector.connections)]
	r.collector.mu.Unlock()
	for _, c := range all {
		_ = c.client.Close() // it is given up; nothing can be done about an error
	}
}

// unfinished returns how many requests of the measured span were begun and not
// recorded, how many tickets were due before its end and never taken, and how
// long the oldest of the begun ones had waited by now.
func (r *run) unfinished(end, now time.Duration) (begun, waiting int64, oldest time.Duration) {
	span := record.Span{From: r.steady.From, To: end}
	for _, c := range r.collector.connections {
		if c.pending.is && within(span, c.pending.intended) {
			begun++
			oldest = max(oldest, now-c.pending.intended)
		}
	}
	if r.plan.Open() {
		from := max(r.taken.Load(), r.pace.due(span.From-r.start))
		waiting = max(0, r.pace.due(end-r.start)-from)
	}
	return begun, waiting, oldest
}

// balance checks the invariant that no request is lost: everything that a
// connection began is a success, a failure, or unfinished, and in an open loop
// everything that was due as well.
func (r *run) balance(result *Result) error {
	var recorded, pending int64
	for _, c := range r.collector.connections {
		recorded += c.ended.steady
		if c.pending.is && within(r.steady, c.pending.intended) {
			pending++
		}
	}
	t := r.collector.totals
	if t.requests != recorded {
		return fmt.Errorf("load: internal error: connections ended %d requests of the measured span, %d were counted", recorded, t.requests)
	}
	if !r.plan.Open() {
		return nil
	}
	taken := max(0, r.taken.Load()-r.pace.due(r.steady.From-r.start))
	if taken != t.requests+pending {
		return fmt.Errorf("load: internal error: %d requests of the measured span were taken, %d succeeded, %d failed, %d are unfinished",
			taken, t.failures[0], t.failed(), pending)
	}
	return nil
}

// result puts together what was measured up to now.
func (r *run) result(now time.Duration) *Result {
	steady := r.steady
	if r.ctx.Err() != nil {
		steady.To = max(steady.From, min(steady.To, now))
	}
	begun, waiting, oldest := r.unfinished(steady.To, now)
	t := r.collector.totals
	s := t.summary(steady.Len(), nil)
	s.Model, s.Connections, s.InFlight = "closed", r.plan.Connections, begun+waiting
	if r.plan.Open() {
		s.Model = "open"
		s.IntendedRate = record.PerSecond(float64(r.pace.due(steady.To-r.start)-r.pace.due(steady.From-r.start)), steady.Len())
	} else {
		s.Connections = r.width
	}
	e := evidence{
		open: r.plan.Open(), span: steady.Len(), asked: r.width, ramped: len(r.plan.Stages) > 0,
		cpus: runtime.GOMAXPROCS(0), loopback: loopback(r.Plan),
		summary: s, spent: r.spent, own: t.own.quantiles(), serviceSum: t.service.sum, lagSum: t.lag.sum,
		begun: begun, waiting: waiting, oldest: oldest,
	}
	r.mu.Lock()
	e.failures = r.failures
	r.mu.Unlock()
	g, warnings := judge(&e)
	g.CPU = int64(r.spent.cpu)
	if r.spent.cpu > 0 {
		g.RequestsPerCPU = math.Round(float64(t.requests) / r.spent.cpu.Seconds())
	}
	return &Result{Steady: steady, Load: s, Generator: g, Warnings: warnings}
}
