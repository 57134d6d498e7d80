package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/fence"
	"github.com/redline-go/redline/load/pace"
	"github.com/redline-go/redline/load/usage"
	"github.com/redline-go/redline/load/validity"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/protocol"
)

// mostShaking bounds the TLS handshakes in progress with one host: each takes a millisecond of
// CPU and blocks a thread. A host that does not answer them must not take the turns of others.
const mostShaking = 16

// run is one run of load.
type run struct {
	Config
	ctx         context.Context
	plan        scenario.Load // with its defaults
	pace        pace.Pace
	mix         pace.Mix
	names       []string // of the requests
	clock       timebase.Clock
	start       time.Duration
	steady      timebase.Span
	connections int // at most
	streams     int // requests at once per connection
	seed        uint64

	hosts    []Host
	hostOf   []int // by request
	follower Follower
	repeater Repeater // nil if nothing is sent again on a guess
	// statusName is nil for HTTP's statuses.
	statusName func(int) string
	data       bool // templates take rows
	resolver   resolver
	shaking    []chan struct{} // by host: a slot for each handshake
	loops      []*loop
	left       atomic.Int64 // requests that a closed loop may still begin

	collector *account.Collector

	mu       sync.Mutex // of all below
	failures [len(failure.Kinds)]error
	messages failure.Messages
	sinkErr  error // the first that Record returned

	// The reporter's own state; see report.go.
	series *account.Series
	points []series.Point
	met    [len(failure.Kinds)]bool
	meter  *usage.Meter
	spare  spare
	queue  *queue
	before account.Gauges
	used   usage.Usage   // at the last edge
	polled time.Duration // as polling returned it at the last edge
	usedAt time.Duration
	spent  validity.Spent
	// CPU time of the loops' threads at the beginning of the measured span, and the share
	// of the time since then that they were on CPU at their last reading.
	loopsUsed []time.Duration
	loopsAt   time.Duration
	loopsBusy []float64
}

func newRun(ctx context.Context, c Config, plan scenario.Load) (*run, error) {
	r := &run{
		Config: c, ctx: ctx, plan: plan, pace: pace.New(plan), clock: c.Clock, series: account.NewSeries(), seed: c.Seed,
		streams: max(1, plan.Streams), data: len(c.Plan.Data) > 0,
	}
	// All loops pace by this instant: the first ticket of each is offset from it, whenever
	// its thread happens to start.
	r.start = max(c.Start, c.Clock.Now())
	r.steady = Steady(plan, r.start)
	r.connections = plan.Connections
	// In a closed loop the plan counts requests in progress; streams share a connection.
	if !plan.Open() {
		r.connections = (r.pace.Most() + r.streams - 1) / r.streams
	}
	if r.connections <= 0 {
		return nil, errors.New("the plan never has a connection")
	}
	// Counted down by the loops as they begin requests; see spend.
	r.left.Store(plan.Requests)
	weights := make([]int, len(c.Plan.Requests))
	r.names = make([]string, len(c.Plan.Requests))
	for i, q := range c.Plan.Requests {
		weights[i] = q.Weight
		if r.names[i] = q.Name; q.Name == "" {
			r.names[i] = fmt.Sprintf("request-%d", i+1)
		}
		r.hostOf = append(r.hostOf, c.Protocol.Host(i))
	}
	r.mix = pace.NewMix(weights)
	// Checked before the first connection: load goes to hosts that the user named, and to
	// no other. What a name resolves to is checked again when it is looked up.
	r.hosts = c.Protocol.Hosts()
	r.resolver.bounds = fence.BoundsOf(c.Plan.Hosts)
	for _, h := range r.hosts {
		if err := r.resolver.reaches(h.Address); err != nil {
			return nil, fmt.Errorf("load does not go to %w", err)
		}
		r.shaking = append(r.shaking, make(chan struct{}, mostShaking))
	}
	r.follower, _ = c.Protocol.(Follower)
	r.repeater, _ = c.Protocol.(Repeater)
	if named, ok := c.Protocol.(StatusNamer); ok {
		r.statusName = named.StatusName
	}
	r.collector = account.New(r.start, r.Window, r.steady, r.names, r.Plan)
	return r, r.lay()
}

// lay makes the event loops.
func (r *run) lay() error {
	n := r.plan.Threads
	if n <= 0 {
		// A target on this host needs CPUs of its own, or half of the measurement would be
		// the two waiting for each other.
		if n = runtime.NumCPU(); validity.Loopback(r.Plan) {
			n = max(1, n/2)
		}
	}
	// A loop without a connection would only be woken.
	n = min(n, r.connections)
	r.loops = make([]*loop, n)
	for i := range r.loops {
		l, err := newLoop(r, i, n)
		if err != nil {
			for _, made := range r.loops[:i] {
				made.poll.Close()
			}
			return err
		}
		r.loops[i] = l
		r.collector.Connect(l.Feed)
	}
	// After the loops: it knows of their backlogs.
	r.queue = newQueue(r)
	return nil
}

// spend takes one request of a closed loop that is bounded by their number; at
// is since the load's start. Those of the warm-up are free.
func (r *run) spend(at time.Duration) bool {
	return r.plan.Requests == 0 || at+r.start < r.steady.From || r.left.Add(-1) >= 0
}

// failed returns the kind and the message of a failed request, and keeps the first error
// of each kind, which a warning quotes.
func (r *run) failed(err error) (kind, message uint8) {
	// Every loop calls it once per failure: a run with so many failures that they contend for
	// this lock measures nothing anyway.
	i := failure.Of(err).Index()
	r.mu.Lock()
	if r.failures[i] == nil {
		r.failures[i] = err
	}
	message = r.messages.Number(err)
	r.mu.Unlock()
	return i, message
}

// sunk keeps the first error of the record. The load continues without it.
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

// drive is the part of Run after all checks.
func (r *run) drive() (*Result, error) {
	defer func() {
		for _, l := range r.loops {
			l.poll.Close()
		}
	}()
	// Sources may have asked for a start ahead, so that their first windows are whole.
	if !sleep(r.ctx, r.start-r.clock.Now()) {
		return r.result(r.start), r.ctx.Err()
	}
	// A loop's thread that wakes must find a P at once, whatever else the process does:
	// waiting for one would show as the target's latency. The kernel then shares the CPUs,
	// millisecond by millisecond.
	addProcs(len(r.loops))
	defer addProcs(-len(r.loops))

	// hard ends the requests in progress: when the caller ends the run, and when the
	// grace time is over.
	hard, end := context.WithCancel(r.ctx)
	defer end()
	// The plan determines the load's end, whatever the loops do: one that hangs would
	// otherwise hold up the run for ever.
	grace := time.AfterFunc(r.steady.To+cmp.Or(r.plan.Grace, scenario.LeastGrace)-r.clock.Now(), func() {
		if r.plan.Grace == 0 {
			r.waitOn(hard)
		}
		end()
	})
	defer grace.Stop()
	defer context.AfterFunc(hard, r.stop)()

	// The reporter ends after the loops, because their last windows are complete only then.
	driven := make(chan struct{})
	reported := make(chan struct{})
	r.begin()
	go func() {
		defer close(reported)
		r.report(driven)
	}()
	var all sync.WaitGroup
	failed := make([]error, len(r.loops))
	for i, l := range r.loops {
		all.Go(func() {
			if failed[i] = l.drive(); failed[i] != nil {
				end() // without this loop the others' figures would flatter the target
			}
		})
	}
	// What is unfinished is as old as it is now, not as when the report is written.
	all.Wait()
	now := r.clock.Now()
	close(driven)
	<-reported
	result := r.result(now)
	r.logOpen(now)
	return result, r.failure(failed)
}

// waitOn waits as long as patience says, which an answer that comes meanwhile may extend, or until ctx ends.
func (r *run) waitOn(ctx context.Context) {
	for until := time.Duration(0); until < r.patience(); {
		if until = r.patience(); !sleep(ctx, r.steady.To+until-r.clock.Now()) {
			return
		}
	}
}

// patience is how long requests in flight may take to end after the load if the plan does not say: as long as others took, twice, so
// that a service whose answers take seconds is judged by its last ones, too, and one that hangs is not waited for.
func (r *run) patience() time.Duration {
	longest := int64(0)
	for _, l := range r.loops {
		longest = max(longest, l.Longest.Load())
	}
	return max(scenario.LeastGrace, min(2*time.Duration(longest), r.plan.Timeout))
}

// failure joins the errors of the loops, of the balance, of what ended the run and of the sink.
func (r *run) failure(loops []error) error {
	err := errors.Join(append(loops, r.balance())...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		err = errors.Join(r.ctx.Err(), err)
	}
	if r.sinkErr != nil {
		err = errors.Join(err, fmt.Errorf("load: store the measurements: %w", r.sinkErr))
	}
	return err
}

// procs makes a change of GOMAXPROCS atomic: runs of one process may overlap, and what
// each adds and takes back must balance.
var procs sync.Mutex

func addProcs(n int) {
	procs.Lock()
	defer procs.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

func (r *run) stop() {
	for _, l := range r.loops {
		l.stop()
	}
}

// sleep returns false when ctx ends before d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// due returns how many tickets of the open loop are due within a span.
func (r *run) due(span timebase.Span) (n int64) {
	for _, l := range r.loops {
		n += l.arrivals.Due(span.To-r.start) - l.arrivals.Due(span.From-r.start)
	}
	return n
}

// balance checks the invariant that no request is lost: everything that was
// begun is a success, a failure, or unfinished, and in an open loop everything
// that was due as well.
func (r *run) balance() error {
	// An error here is a defect of redline, and ends the run: figures whose sum is wrong must
	// not be printed.
	var recorded int64
	for _, l := range r.loops {
		// Counted by the loops themselves, on a different path than the totals.
		recorded += l.Ended.Steady
	}
	t := r.collector.Totals
	if t.Requests != recorded {
		return fmt.Errorf("load: internal error: connections ended %d requests of the measured span, %d were counted", recorded, t.Requests)
	}
	if !r.plan.Open() {
		return nil
	}
	left := r.unfinished(r.steady, 0)
	if due := r.due(r.steady); due != t.Requests+left.begun+left.waiting {
		return fmt.Errorf("load: internal error: %d requests of the measured span were due, %d succeeded, %d failed, "+
			"%d were begun and not ended, %d never begun",
			due, t.Failures[0], t.Failed(), left.begun, left.waiting)
	}
	return nil
}

// result assembles the measurements up to now.
func (r *run) result(now time.Duration) *Result {
	// A run that was cut, or that ends by its number of requests, is as long as it was; a rate
	// over the planned span would be too low.
	steady := r.steady
	if r.ctx.Err() != nil || r.plan.Requests > 0 {
		steady.To = max(steady.From, min(steady.To, now))
	}
	left := r.unfinished(steady, now)
	t := r.collector.Totals
	t.Open = r.ages(steady, now)
	s := t.Summary(steady.Len(), r.statusName)
	s.Model, s.Connections, s.InFlight = "closed", r.connections, left.begun+left.waiting
	if r.plan.Open() {
		s.Model = "open"
		s.IntendedRate = series.PerSecond(float64(r.due(steady)), steady.Len())
	}
	if s.Protocol = string(r.Plan.Protocol); s.Protocol == "" {
		s.Protocol = string(protocol.HTTP1)
	}
	if r.streams > 1 {
		s.Streams = r.streams
	}
	// Counted per loop without atomics; the loops have ended.
	s.Established = r.spent.Open
	for _, l := range r.loops {
		s.Dials += l.counted.Dials
		s.Reconnects += l.counted.Reconnects
		s.Resent += l.counted.Resent
	}
	e := validity.Evidence{
		Open: r.plan.Open(), Span: steady.Len(), Asked: r.connections,
		Held: r.plan.PerConnection > 0, LoopBusy: r.spent.Busy, Ramped: len(r.plan.Stages) > 0,
		CPUs: runtime.NumCPU(), Loopback: validity.Loopback(r.Plan),
		Summary: s, Spent: r.spent, Own: t.Own.Quantiles(), ServiceSum: t.InService, LagSum: t.Lag.Sum,
		ThinkSum: time.Duration(t.Requests) * pace.MeanThink(r.plan.Think), Begun: left.begun, Waiting: left.waiting, Oldest: left.oldest,
		Cut: r.ctx.Err() != nil, Grace: cmp.Or(r.plan.Grace, r.patience()),
	}
	// Stages that fall to zero leave time without load, which says nothing about whether the
	// generator keeps up.
	e.On = r.pace.On(timebase.Span{From: steady.From - r.start, To: steady.To - r.start}, e.MeanService())
	r.mu.Lock()
	e.Failures = r.failures
	s.Failures = t.FailureSummaries(&r.messages)
	r.mu.Unlock()
	if pusher, ok := r.Protocol.(Pusher); ok {
		e.Pushed = pusher.Pushed()
	}
	g, warnings := validity.Assess(&e)
	g.CPU = int64(r.spent.CPU)
	if r.spent.CPU > 0 {
		g.RequestsPerCPU = math.Round(float64(t.Requests) / r.spent.CPU.Seconds())
	}
	return &Result{Steady: steady, Load: s, Generator: g, Warnings: warnings}
}
