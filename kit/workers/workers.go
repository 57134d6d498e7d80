// Package workers runs tasks on a pool of goroutines that grows while tasks wait and
// there is CPU left, shrinks when it is idle, and makes submitters wait when the
// queue is full. A task that panics is contained and reported.
//
// Use a plain go statement under golang.org/x/sync/errgroup's SetLimit instead where a call
// waits for all of its tasks, or where starting goroutines is not the main cost: a go
// statement takes a few hundred nanoseconds, and any task longer than some microseconds
// hides it. A pool is for its bounds: on goroutines, on waiting tasks, and on the resource
// behind them.
//
// Do not submit from a task to its own pool and wait: if every worker does so and the
// queue is full, none continues. TrySubmit cannot block and is safe there.
//
// # Growth
//
// Every Tick that finds tasks waiting and no worker idle, the pool doubles, by at most
// the number that waits and up to Max, provided that CPU reports less than Ceiling:
// if CPU is short, more goroutines only wait for it. If no task at all has ended in that
// Tick, the workers are blocked rather than busy, and the pool grows by one whatever the
// CPU; so a pool whose tasks block never stands still because of a neighbour. Workers that
// none needed throughout Idle leave, down to Min.
package workers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/kit/internal/pressure"
	"github.com/redline-go/redline/kit/ring"
)

// Errors of calls that could not do their work.
var (
	// ErrClosed comes from Submit and TrySubmit after Close.
	ErrClosed = errors.New("workers: closed")
	// ErrFull comes from TrySubmit alone.
	ErrFull = errors.New("workers: queue full")
	// ErrAbandoned comes from Close: its context ended before the tasks did.
	ErrAbandoned = errors.New("workers: abandoned")
	// ErrExited is what OnPanic gets for a task that called runtime.Goexit, as
	// testing.T.FailNow does.
	ErrExited = errors.New("workers: the task called runtime.Goexit")
)

// Task is one piece of work. Its context ends when the pool is abandoned, and not
// with the context of Submit, which returns long before.
type Task func(context.Context)

// Options says how far a pool may go. The zero value is usable.
type Options struct {
	// Min is the number of workers that always stand ready. 0 means GOMAXPROCS.
	Min int
	// Max bounds the workers. 0 means 64 times GOMAXPROCS, or Min if that is more.
	Max int
	// Queue bounds the tasks that wait, rounded up to a power of two. 0 means Max.
	Queue int
	// Tick is how often growth is decided while tasks wait. 0 means 10 ms.
	Tick time.Duration
	// Idle is how long a worker must not have been needed before it leaves. 0 means
	// 10 s.
	Idle time.Duration
	// CPU reports how much of its CPU the process uses or is refused, between 0 and 1,
	// since it was last called. It is called from one goroutine, at each Tick that
	// finds tasks waiting and no worker idle. Nil reads the process's own use,
	// and the throttling and the pressure information of its control group.
	CPU func() float64
	// Ceiling is the CPU from which the pool no longer doubles. 0 means 0.9.
	Ceiling float64
	// OnPanic gets the value of a task's panic, or ErrExited, and the stack. It runs
	// on the worker. Nil logs it with slog.Error.
	OnPanic func(value any, stack []byte)
}

// Stats is what a pool has done and does. The counts only rise.
type Stats struct {
	Workers, Idle, Queued int // now
	Peak                  int // most workers at once

	Finished uint64 // tasks that ended, with or without a panic
	Panicked uint64 // of these, those that panicked or exited
	Rejected uint64 // TrySubmit with ErrFull, and Submit ended by its context
	Dropped  uint64 // accepted, and never run because Close gave up
	Grown    uint64 // workers added to Min
	Retired  uint64 // workers that left because they were not needed
}

// Pool runs tasks. Its methods may be called from any goroutine. The zero value has no
// workers: use New.
type Pool struct {
	options Options
	queue   *ring.Ring[Task] // nil makes a worker leave
	ctx     context.Context  // of the tasks
	abandon context.CancelFunc

	resting atomic.Bool   // steer sleeps until it is called
	called  chan struct{} // calls it
	last    chan struct{} // closed when a closed pool has no workers any more
	gone    chan struct{} // closed with the last goroutine

	mu      sync.Mutex // guards these, and that nothing starts once all are gone
	alive   int        // goroutines: workers, and steer
	staying int        // workers that have not been let go
	peak    int
	closed  bool

	workers, idle                                         atomic.Int64
	finished, panicked, rejected, dropped, grown, retired atomic.Uint64
}

// New starts a pool with Min workers. It returns an error if the options contradict
// each other.
func New(options Options) (*Pool, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		options: options,
		queue:   ring.New[Task](options.Queue),
		called:  make(chan struct{}, 1),
		last:    make(chan struct{}),
		gone:    make(chan struct{}),
	}
	p.ctx, p.abandon = context.WithCancel(context.Background())
	p.resting.Store(true)
	p.alive = 1
	go p.steer()
	p.grow(options.Min)
	return p, nil
}

func (o Options) complete() (Options, error) {
	if o.Min < 0 || o.Max < 0 || o.Queue < 0 || o.Tick < 0 || o.Idle < 0 || o.Ceiling < 0 {
		return o, errors.New("workers: an option is negative")
	}
	procs := runtime.GOMAXPROCS(0)
	if o.Min == 0 {
		o.Min = procs
		if o.Max > 0 {
			o.Min = min(procs, o.Max)
		}
	}
	if o.Max == 0 {
		o.Max = max(64*procs, o.Min)
	}
	if o.Max < o.Min {
		return o, fmt.Errorf("workers: Max %d is below Min %d", o.Max, o.Min)
	}
	if o.Queue == 0 {
		o.Queue = o.Max
	}
	if o.Tick == 0 {
		o.Tick = 10 * time.Millisecond
	}
	if o.Idle == 0 {
		o.Idle = 10 * time.Second
	}
	if o.Ceiling == 0 {
		o.Ceiling = 0.9
	}
	if o.CPU == nil {
		cpu := pressure.New()
		o.CPU = func() float64 { return cpu.Read().Short() }
	}
	if o.OnPanic == nil {
		o.OnPanic = logPanic
	}
	return o, nil
}

// Submit submits a task, and waits for room in the queue until ctx is done. It
// returns ErrClosed or ctx's error, and then the task will not run.
func (p *Pool) Submit(ctx context.Context, task Task) error {
	if task == nil {
		return errors.New("workers: no task")
	}
	if err := ctx.Err(); err != nil {
		p.rejected.Add(1)
		return err
	}
	err := p.queue.TryPut(task)
	p.call() // before it waits, because a full queue must make the pool grow
	if err == ring.ErrFull {
		err = p.queue.Put(ctx, task)
	}
	switch err {
	case nil:
		return nil
	case ring.ErrClosed:
		return ErrClosed
	}
	p.rejected.Add(1)
	return err
}

// TrySubmit submits a task without waiting. It returns ErrFull or ErrClosed, and
// then the task will not run.
func (p *Pool) TrySubmit(task Task) error {
	if task == nil {
		return errors.New("workers: no task")
	}
	err := p.queue.TryPut(task)
	p.call()
	switch err {
	case nil:
		return nil
	case ring.ErrClosed:
		return ErrClosed
	}
	p.rejected.Add(1)
	return ErrFull
}

// Close accepts no more tasks, runs those that wait, and returns when every goroutine of
// the pool has ended. If ctx ends first, tasks that wait are dropped, the context of
// those that run is cancelled, and Close returns ErrAbandoned; their goroutines end only with them, because
// Go cannot end a goroutine from outside, and another Close waits for that. A task must never call Close.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.queue.Close()
	}
	p.mu.Unlock()
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.abandon()
		p.drop()
	}
	select {
	case <-p.gone:
		p.abandon()
		if n := p.dropped.Load(); n > 0 {
			return fmt.Errorf("%w: %d tasks dropped", ErrAbandoned, n)
		}
		return nil
	default:
	}
	running := p.workers.Load()
	return fmt.Errorf("%w: %d tasks dropped, %d workers not back: %w", ErrAbandoned, p.dropped.Load(), running, context.Cause(ctx))
}

// drop empties the queue, concurrently with the workers.
func (p *Pool) drop() {
	for {
		task, err := p.queue.TryTake()
		if err != nil {
			return
		}
		if task != nil {
			p.dropped.Add(1)
		}
	}
}

// Stats returns counts of this moment. They are read one after the other, so that
// they need not add up while tasks run.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	peak := p.peak
	p.mu.Unlock()
	return Stats{
		Workers: int(p.workers.Load()), Idle: int(p.idle.Load()), Queued: p.queue.Len(), Peak: peak,
		Finished: p.finished.Load(), Panicked: p.panicked.Load(), Rejected: p.rejected.Load(),
		Dropped: p.dropped.Load(), Grown: p.grown.Load(), Retired: p.retired.Load(),
	}
}
