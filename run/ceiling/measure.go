package ceiling

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// each is how long one layer is measured. Shorter is within the noise of a laptop's
// frequency governor; longer would make people wait for figures of one digit.
const each = 300 * time.Millisecond

// patience bounds the time of one layer, with its connections: what hangs is missing.
const patience = 10 * time.Second

// Measure measures every layer, one after another: some 3 seconds of full load. dsn is that of a
// PostgreSQL; empty measures no statements. What cannot be measured is missing, with the reason. It
// ends early with ctx, whose error it returns.
func Measure(ctx context.Context, dsn string) (Measured, error) {
	m := Measured{CPUs: runtime.GOMAXPROCS(0)}
	for _, layer := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"round trips", m.roundTrips},
		{"system calls", m.syscalls},
		{"new connections", m.accepts},
		{"TLS handshakes", m.handshakes},
		{"JSON", m.json},
		{"fsync", m.fsyncs},
		{"statements", func(ctx context.Context) error { return m.statements(ctx, dsn) }},
	} {
		if err := layer.measure(ctx); err != nil && ctx.Err() == nil {
			m.Missing = append(m.Missing, fmt.Sprintf("%s: %v", layer.name, err))
		}
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
	}
	return m, nil
}

// worker is what one goroutine repeats, and what it leaves at its end.
type worker struct {
	work func() error
	end  func()
}

// rate lets a number of goroutines work until the time is up, and returns how often per second work
// returned without an error. A goroutine ends at its first error. The time begins once all workers
// are ready; their context ends when patience does.
func rate(ctx context.Context, goroutines int, begin func(context.Context) (worker, error)) (float64, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var workers []worker
	for range goroutines {
		w, err := begin(ctx)
		if err != nil {
			return 0, err
		}
		defer w.end()
		workers = append(workers, w)
	}
	within, over := context.WithTimeout(ctx, each)
	defer over()
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	start := time.Now()
	for _, w := range workers {
		all.Go(func() {
			for within.Err() == nil {
				if err := w.work(); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if n := done.Load(); n > 0 {
		return float64(n) / time.Since(start).Seconds(), nil
	}
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return 0, errors.New("nothing was done")
}

// repeat returns what begins a worker that needs nothing.
func repeat(work func() error) func(context.Context) (worker, error) {
	return func(context.Context) (worker, error) { return worker{work, func() {}}, nil }
}

// calls is the number of system calls between two checks of the time, each of which costs
// as much as one call.
const calls = 1000

func (m *Measured) syscalls(ctx context.Context) error {
	n, err := rate(ctx, m.CPUs, repeat(func() error {
		for range calls {
			syscall.Getppid()
		}
		return nil
	}))
	m.Syscalls = calls * n
	return err
}
