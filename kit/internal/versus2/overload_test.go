package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"golang.org/x/sync/semaphore"

	"github.com/redline-go/redline/kit/internal/overload"
	"github.com/redline-go/redline/kit/shed"
)

type kit struct{ *shed.Limiter }

func (k kit) Limit() int { return k.Stats().Limit }
func (k kit) Admit() func() {
	if p, err := k.Acquire(); err == nil {
		return p.Done
	}
	return nil
}

type failsafe struct {
	adaptivelimiter.AdaptiveLimiter[any]
}

func (f failsafe) Admit() func() {
	if p, ok := f.TryAcquirePermit(); ok {
		return p.Record
	}
	return nil
}

type fixed struct {
	*semaphore.Weighted
	n int
}

func (f fixed) Limit() int { return f.n }
func (f fixed) Admit() func() {
	if f.TryAcquire(1) {
		return func() { f.Release(1) }
	}
	return nil
}

// TestOverload shows limiters in the same simulation:
//
//	cd kit/internal/versus2 && GOWORK=off go test -run Overload -v
func TestOverload(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		servers    int
		work, wait time.Duration
		load       float64
	}{
		{"2 servers of 10 ms, load 2", 2, 10 * ms, 0, 2},
		{"10 servers of 20 ms, load 2", 10, 20 * ms, 0, 2},
		{"10 servers of 20 ms, load 0.5", 10, 20 * ms, 0, 0.5},
		{"10 servers of 20 ms, 100 ms of waiting, load 2", 10, 20 * ms, 100 * ms, 2},
		{"100 servers of 200 ms, load 2", 100, 200 * ms, 0, 2},
	} {
		for _, name := range []string{"kit/shed", "failsafe-go", "semaphore of 100"} {
			synctest.Test(t, func(t *testing.T) {
				var l overload.Limiter
				switch name {
				case "kit/shed":
					s, err := shed.New(shed.Options{CPU: func() float64 { return 0 }})
					if err != nil {
						t.Fatal(err)
					}
					l = kit{s}
				case "failsafe-go":
					l = failsafe{adaptivelimiter.NewBuilder[any]().WithLimits(1, 1000, 20).Build()}
				default:
					l = fixed{semaphore.NewWeighted(100), 100}
				}
				s := overload.NewService(c.servers, c.work)
				s.Set(c.work, c.wait)
				capacity := float64(c.servers) / c.work.Seconds()
				all := overload.Drive(l, s, 100, c.load*capacity, nil)
				total := overload.Sum(all, 10, 100)
				t.Logf("| %s | %s | %.2f | %v | %.1f %% |", c.name, name, overload.Goodput(all, 10, 100, capacity),
					total.Latency.Round(ms), 100*float64(total.Shed)/float64(total.Offered))
			})
		}
	}
}
