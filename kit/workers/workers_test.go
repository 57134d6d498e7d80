package workers_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/workers"
)

func pool(t *testing.T, o workers.Options) *workers.Pool {
	t.Helper()
	p, err := workers.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drain(t *testing.T, p *workers.Pool) {
	t.Helper()
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func cpu(share float64) func() float64 { return func() float64 { return share } }

// sleep is a task that blocks as one that waits for a reply does.
func sleep(d time.Duration) workers.Task {
	return func(context.Context) { time.Sleep(d) }
}

func submit(t *testing.T, p *workers.Pool, n int, task workers.Task) {
	t.Helper()
	for range n {
		if err := p.TrySubmit(task); err != nil {
			t.Fatal(err)
		}
	}
}

// Time is synctest's in these tests: it moves on only when every goroutine of the
// pool waits, so that each tick sees what the arithmetic says.

func TestGrowsWithTheQueueWhileThereIsCPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 2, Max: 50, Queue: 128, CPU: cpu(0.2)})
		submit(t, p, 100, sleep(time.Second))
		var seen []int
		for range 6 {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			seen = append(seen, p.Stats().Workers)
		}
		for i, want := range []int{4, 8, 16, 32, 50, 50} {
			if seen[i] != want {
				t.Fatalf("workers by tick: %v, want doubling up to 50", seen)
			}
		}
		drain(t, p)
		if s := p.Stats(); s.Finished != 100 || s.Peak != 50 || s.Grown != 48 || s.Workers != 0 {
			t.Errorf("after Close: %+v", s)
		}
	})
}

func TestGrowsByNoMoreThanWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 8, Max: 50, CPU: cpu(0)})
		submit(t, p, 11, sleep(time.Second))
		time.Sleep(100 * time.Millisecond)
		if s := p.Stats(); s.Workers != 11 || s.Queued != 0 {
			t.Errorf("8 workers and 3 tasks that waited: %+v", s)
		}
		drain(t, p)
	})
}

func TestDoesNotGrowWithoutCPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 2, Max: 50, Queue: 1024, CPU: cpu(0.95)})
		submit(t, p, 800, sleep(time.Millisecond))
		time.Sleep(300 * time.Millisecond)
		if s := p.Stats(); s.Peak != 2 || s.Queued == 0 {
			t.Errorf("tasks end, more workers would only share the CPU: %+v", s)
		}
		drain(t, p)
	})
}

// TestBlockedPoolGrowsWithoutCPU: the neighbour that uses the CPU must not stop a
// pool whose workers all wait for something else.
func TestBlockedPoolGrowsWithoutCPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 2, Max: 50, Queue: 64, CPU: cpu(1)})
		release := make(chan struct{})
		submit(t, p, 30, func(context.Context) { <-release })
		time.Sleep(105 * time.Millisecond)
		synctest.Wait()
		if s := p.Stats(); s.Workers != 12 {
			t.Errorf("%d workers after ten ticks in which nothing ended, want 2 + 10", s.Workers)
		}
		close(release)
		drain(t, p)
	})
}

func TestShrinksToMinWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 3, Max: 64, Idle: time.Second, CPU: cpu(0)})
		submit(t, p, 60, sleep(500*time.Millisecond))
		time.Sleep(400 * time.Millisecond)
		if s := p.Stats(); s.Workers != 60 {
			t.Fatalf("%+v", s)
		}
		time.Sleep(5 * time.Second)
		if s := p.Stats(); s.Workers != 3 || s.Idle != 3 || s.Retired != 57 {
			t.Errorf("idle for seconds: %+v", s)
		}
		// It grows again after it rested.
		submit(t, p, 20, sleep(time.Second))
		time.Sleep(100 * time.Millisecond)
		if s := p.Stats(); s.Workers != 20 {
			t.Errorf("a second burst: %+v", s)
		}
		drain(t, p)
	})
}

// TestKeepsWhatIsNeeded: workers that every second need now and then stay.
func TestKeepsWhatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 1, Max: 64, Idle: time.Second, CPU: cpu(0)})
		for range 20 {
			submit(t, p, 10, sleep(450*time.Millisecond))
			time.Sleep(500 * time.Millisecond)
		}
		if s := p.Stats(); s.Workers != 10 || s.Retired != 0 {
			t.Errorf("ten are needed every half second: %+v", s)
		}
		drain(t, p)
	})
}

func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 1, Max: 1, Queue: 2, CPU: cpu(0)})
		release := make(chan struct{})
		block := func(context.Context) { <-release }
		submit(t, p, 1, block)
		synctest.Wait() // the worker has it
		submit(t, p, 2, block)
		if err := p.TrySubmit(block); err != workers.ErrFull {
			t.Errorf("TrySubmit on a full queue: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Submit(ctx, block); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Submit on a full queue: %v", err)
		}
		if err := p.Submit(ctx, block); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Submit with a context that is done: %v", err)
		}
		accepted := make(chan error, 1)
		go func() { accepted <- p.Submit(context.Background(), block) }()
		synctest.Wait()
		if len(accepted) != 0 {
			t.Error("Submit returned though the queue is full")
		}
		close(release)
		if err := <-accepted; err != nil {
			t.Error(err)
		}
		drain(t, p)
		if s := p.Stats(); s.Finished != 4 || s.Rejected != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestPanicsAreContainedAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []any
		p := pool(t, workers.Options{Min: 1, Max: 1, Queue: 8, OnPanic: func(value any, _ []byte) {
			reports = append(reports, value)
			if value == "twice" {
				panic("OnPanic panics")
			}
		}})
		broken := errors.New("broken")
		submit(t, p, 1, func(context.Context) { thrower(broken) })
		submit(t, p, 1, func(context.Context) { runtime.Goexit() })
		submit(t, p, 1, func(context.Context) { panic("twice") })
		ran := false
		submit(t, p, 1, func(context.Context) { ran = true })
		drain(t, p)
		if !ran || len(reports) != 3 || reports[0] != broken || reports[1] != workers.ErrExited {
			t.Errorf("ran the next: %v; reports: %v", ran, reports)
		}
		if s := p.Stats(); s.Panicked != 3 || s.Finished != 4 {
			t.Errorf("%+v", s)
		}
	})
}

func thrower(err error) { panic(err) }

func TestStackNamesTheTask(t *testing.T) {
	stacks := make(chan string, 1)
	p := pool(t, workers.Options{OnPanic: func(_ any, s []byte) { stacks <- string(s) }})
	submit(t, p, 1, func(context.Context) { thrower(errors.New("x")) })
	if s := <-stacks; !strings.Contains(s, "thrower") {
		t.Errorf("the stack does not show where it happened:\n%s", s)
	}
	drain(t, p)
}

// TestExitWhileDraining: the only worker's task exits it, and the queue is drained
// all the same.
func TestExitWhileDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 1, Max: 1, Queue: 8, OnPanic: func(any, []byte) {}})
		submit(t, p, 1, sleep(time.Second))
		submit(t, p, 3, func(context.Context) { runtime.Goexit() })
		ran := false
		submit(t, p, 1, func(context.Context) { ran = true })
		drain(t, p)
		if !ran {
			t.Error("the last task did not run")
		}
	})
}

// TestGrowsWhileItDrains: what waits when Close comes is worth as many workers as before.
func TestGrowsWhileItDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 1, Max: 100, Queue: 128, CPU: cpu(0)})
		submit(t, p, 100, sleep(time.Second))
		start := time.Now()
		drain(t, p)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("100 tasks of 1 s took %v with up to 100 workers: %+v", took, p.Stats())
		}
	})
}

func TestCloseAbandons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, workers.Options{Min: 2, Max: 2, Queue: 16})
		var cancelled atomic.Int32
		stubborn := make(chan struct{})
		submit(t, p, 1, func(context.Context) { <-stubborn })
		submit(t, p, 1, func(ctx context.Context) { <-ctx.Done(); cancelled.Add(1) })
		synctest.Wait()
		submit(t, p, 5, func(context.Context) { t.Error("a dropped task ran") })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := p.Close(ctx)
		if !errors.Is(err, workers.ErrAbandoned) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		synctest.Wait()
		if s := p.Stats(); s.Dropped != 5 || s.Workers != 1 || cancelled.Load() != 1 {
			t.Errorf("%d saw their context end; %+v", cancelled.Load(), s)
		}
		if err := p.Submit(context.Background(), sleep(0)); err != workers.ErrClosed {
			t.Errorf("Submit after Close: %v", err)
		}
		if err := p.TrySubmit(sleep(0)); err != workers.ErrClosed {
			t.Errorf("TrySubmit after Close: %v", err)
		}
		close(stubborn)
		if err := p.Close(context.Background()); !errors.Is(err, workers.ErrAbandoned) || p.Stats().Workers != 0 {
			t.Errorf("the second Close: %v, %+v", err, p.Stats())
		}
	})
}

// TestCloseBesideSubmit: every task that was accepted runs once, none that was
// refused runs, and nothing is left behind.
func TestCloseBesideSubmit(t *testing.T) {
	for range 100 {
		p := pool(t, workers.Options{Min: 1, Max: 4, Queue: 4, Tick: time.Millisecond, CPU: cpu(0)})
		var ran, accepted atomic.Int32
		var submitters sync.WaitGroup
		for range 4 {
			submitters.Go(func() {
				for {
					var once atomic.Bool
					err := p.Submit(context.Background(), func(context.Context) {
						if once.Swap(true) {
							t.Error("a task ran twice")
						}
						ran.Add(1)
					})
					if err != nil {
						if err != workers.ErrClosed {
							t.Error(err)
						}
						return
					}
					accepted.Add(1)
				}
			})
		}
		for p.Stats().Finished < 50 {
			runtime.Gosched()
		}
		drain(t, p)
		submitters.Wait()
		if ran.Load() != accepted.Load() || p.Stats().Finished != uint64(accepted.Load()) {
			t.Fatalf("accepted %d, ran %d, %+v", accepted.Load(), ran.Load(), p.Stats())
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []workers.Options{{Min: -1}, {Min: 3, Max: 2}, {Queue: -1}, {Tick: -1}, {Idle: -1}, {Ceiling: -1}} {
		if _, err := workers.New(o); err == nil {
			t.Errorf("New(%+v) has no objection", o)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	p := pool(t, workers.Options{Max: 1})
	if err := p.Submit(ended, sleep(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("room, but the context is done: %v", err)
	}
	if s := p.Stats(); s.Workers != 1 {
		t.Errorf("Max 1: %+v", s)
	}
	if p.Submit(context.Background(), nil) == nil || p.TrySubmit(nil) == nil {
		t.Error("a nil task was accepted")
	}
	drain(t, p)
}
