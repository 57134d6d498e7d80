package ceiling

import (
	"context"
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

// Options says where to measure.
type Options struct {
	Dir string // of the disk; empty is the working directory
	DSN string // of a PostgreSQL; empty measures no statements
}

// Measure measures every layer, one after another: some 3 seconds of full load. What
// cannot be measured is missing, with the reason. It ends early with ctx, whose error
// it returns.
func Measure(ctx context.Context, o Options) (Measured, error) {
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
		{"fsync", func(ctx context.Context) error { return m.fsyncs(ctx, o.Dir) }},
		{"statements", func(ctx context.Context) error { return m.statements(ctx, o.DSN) }},
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

// rate calls work in a number of goroutines until the time is up, and returns how often
// per second it returned without an error. A goroutine ends at its first error.
func rate(ctx context.Context, goroutines int, begin func() (work func() error, end func(), err error)) (float64, error) {
	ctx, stop := context.WithTimeout(ctx, each)
	defer stop()
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	start := time.Now()
	for range goroutines {
		work, end, err := begin()
		if err != nil {
			stop()
			all.Wait()
			return 0, err
		}
		all.Go(func() {
			defer end()
			for ctx.Err() == nil {
				if err := work(); err != nil {
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
	return 0, nil
}

// calls is the number of system calls between two checks of the time, each of which costs
// as much as one call.
const calls = 1000

func (m *Measured) syscalls(ctx context.Context) error {
	n, err := rate(ctx, m.CPUs, func() (func() error, func(), error) {
		return func() error {
			for range calls {
				syscall.Getppid()
			}
			return nil
		}, func() {}, nil
	})
	m.Syscalls = calls * n
	return err
}
