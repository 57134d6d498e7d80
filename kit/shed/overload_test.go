package shed_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/internal/overload"
	"github.com/redline-go/redline/kit/shed"
)

// These tests run in synctest's time, with random numbers from fixed seeds: what
// they see does not depend on the host. Capacity is what the servers can serve per
// second; latency is compared with what a request takes when nobody else is there.

func limiter(t *testing.T, o shed.Options) *shed.Limiter {
	t.Helper()
	if o.CPU == nil {
		o.CPU = func() float64 { return 0 }
	}
	l, err := shed.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// admission is a Limiter as the simulation wants it.
type admission struct{ *shed.Limiter }

func (a admission) Limit() int { return a.Stats().Limit }

func (a admission) Admit() func() {
	p, err := a.Acquire()
	if err != nil {
		return nil
	}
	return p.Done
}

const ms = time.Millisecond

func TestOverloadLeavesGoodputAndLatency(t *testing.T) {
	for _, c := range []struct {
		name    string
		servers int
		work    time.Duration // on a server
		wait    time.Duration // without one
		load    float64       // of the capacity
	}{
		{"one server", 1, 10 * ms, 0, 2},
		{"two cores", 2, 10 * ms, 0, 2},
		{"ten servers", 10, 20 * ms, 0, 2},
		{"far over", 4, 20 * ms, 0, 10},
		{"mostly waiting", 10, 20 * ms, 100 * ms, 2},
		{"many servers", 100, 200 * ms, 0, 2},
		{"slow", 20, 300 * ms, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter(t, shed.Options{})
				s := overload.NewService(c.servers, c.work)
				s.Set(c.work, c.wait)
				capacity := float64(c.servers) / c.work.Seconds()
				// The first ten seconds are to find the limit, from 20. A span has a probe, which
				// costs most where requests are few.
				const settled, span, end = 10, 30, 100
				all := overload.Drive(admission{l}, s, end, c.load*capacity, nil)
				for from := settled; from < end; from += span {
					if got := overload.Goodput(all, from, from+span, capacity); got < 0.85 {
						t.Errorf("from second %d: goodput is %.2f of capacity, want 0.85", from, got)
					}
				}
				if got := overload.Goodput(all, settled, end, capacity); got < 0.9 {
					t.Errorf("goodput is %.2f of capacity, want 0.9", got)
				}
				// Min is 4, so that one server has a queue.
				most := max(3, 6/float64(c.servers)) * float64(c.work+c.wait)
				if got := overload.Sum(all, settled, end).Latency; float64(got) > most {
					t.Errorf("latency is %v with %v alone", got, c.work+c.wait)
				}
			})
		})
	}
}

// TestWithoutALimitLatencyGrows is the control: the same service and load, and a
// limit that does not bind.
func TestWithoutALimitLatencyGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 1 << 20, Min: 1 << 20, Max: 1 << 20})
		all := overload.Drive(admission{l}, overload.NewService(10, 20*ms), 20, 1000, nil)
		if got := overload.Sum(all, 10, 20).Latency; got < 100*20*ms {
			t.Errorf("latency %v: this simulation shows no overload", got)
		}
	})
}

func TestLightLoadIsLeftAlone(t *testing.T) {
	for _, load := range []float64{0.02, 0.3, 0.5} {
		synctest.Test(t, func(t *testing.T) {
			l := limiter(t, shed.Options{})
			const capacity = 500
			all := overload.Drive(admission{l}, overload.NewService(10, 20*ms), 60, load*capacity, nil)
			total := overload.Sum(all, 0, 60)
			if total.Shed != 0 {
				t.Errorf("load %v: %d of %d requests were turned away", load, total.Shed, total.Offered)
			}
			for i, s := range all {
				if s.Limit < 15 {
					t.Errorf("load %v: limit %d in second %d, from 20", load, s.Limit, i)
				}
			}
			if s := l.Stats(); s.Probes != 0 || s.Baseline < 15*ms || s.Baseline > 27*ms {
				t.Errorf("load %v: %d probes, baseline %v of 20ms", load, s.Probes, s.Baseline)
			}
		})
	}
}

// TestRecoversAfterAStep changes the service at second 20, and back at second 80.
func TestRecoversAfterAStep(t *testing.T) {
	for _, c := range []struct {
		name       string
		work, wait time.Duration // after the step; 20 ms and none before
		refused    bool          // CPU meanwhile
		load       float64       // requests per second
		during     float64       // capacity after the step, of 300 per second
	}{
		{"what lies below becomes slower", 20 * ms, 100 * ms, false, 600, 1},
		{"the same at half load", 20 * ms, 100 * ms, false, 150, 0.5},
		{"a third of the capacity", 60 * ms, 0, false, 600, 1. / 3},
		{"a third, for want of CPU", 60 * ms, 0, true, 600, 1. / 3},
		{"three times the capacity", 20 * ms / 3, 0, false, 1200, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused atomic.Bool
				l := limiter(t, shed.Options{CPU: func() float64 {
					if refused.Load() {
						return 1
					}
					return 0
				}})
				const capacity = 300
				s := overload.NewService(6, 20*ms)
				all := overload.Drive(admission{l}, s, 130, c.load, func(n int) {
					switch n {
					case 20:
						s.Set(c.work, c.wait)
						refused.Store(c.refused)
					case 80:
						s.Set(20*ms, 0)
						refused.Store(false)
					}
				})
				before := min(1, c.load/capacity)
				for _, span := range []struct {
					from, to int
					capacity float64
				}{{5, 20, before}, {25, 80, c.during}, {85, 130, before}} {
					if got := overload.Goodput(all, span.from, span.to, capacity*span.capacity); got < 0.9 {
						t.Errorf("seconds %d to %d: goodput is %.2f of what the service can, want 0.9", span.from, span.to, got)
					}
				}
				// A baseline that has become too high shows at the next probe, 30 s on.
				if got := overload.Sum(all, 120, 130).Latency; got > 60*ms {
					t.Errorf("after the step latency stays at %v, 20ms alone", got)
				}
			})
		})
	}
}

// TestBurstAfterAGenerousTime: a limit that fast times have raised comes down before
// the queue that it allows has done harm for long.
func TestBurstAfterAGenerousTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 400})
		all := overload.Drive(admission{l}, overload.NewService(10, 20*ms), 10, 250, nil)
		high := all[9].Limit
		all = overload.Drive(admission{l}, overload.NewService(10, 20*ms), 20, 1000, nil)
		if got := overload.Sum(all, 6, 20).Latency; high < 200 || got > 60*ms {
			t.Errorf("from limit %d: latency %v after six seconds", high, got)
		}
	})
}

// TestRefusedCPUTightens: the same overload is served with less queue, and as much
// of it.
func TestRefusedCPUTightens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var latency [2]time.Duration
		for i, cpu := range []float64{0, 1} {
			l := limiter(t, shed.Options{CPU: func() float64 { return cpu }})
			all := overload.Drive(admission{l}, overload.NewService(40, 20*ms), 30, 4000, nil)
			latency[i] = overload.Sum(all, 5, 30).Latency
			if got := overload.Goodput(all, 5, 30, 2000); got < 0.9 {
				t.Errorf("CPU refused %v of the time: goodput %.2f", cpu, got)
			}
		}
		if float64(latency[1]) > 0.95*float64(latency[0]) {
			t.Errorf("latency %v with CPU, %v without", latency[0], latency[1])
		}
	})
}

// TestHangIsBounded: nothing ends for half a minute; what hangs is bounded, and the
// service comes back.
func TestHangIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{})
		s := overload.NewService(10, 20*ms)
		release := make(chan struct{})
		most := 0
		all := overload.Drive(admission{l}, s, 60, 1000, func(n int) {
			if n == 10 {
				for range 10 {
					go func() { s.Servers <- struct{}{}; <-release; <-s.Servers }()
				}
			}
			if n > 10 && n < 40 {
				most = max(most, l.Stats().Inflight)
			}
			if n == 40 {
				close(release)
			}
		})
		if most > 100 {
			t.Errorf("%d requests in a service that hangs", most)
		}
		if got := overload.Goodput(all, 45, 60, 500); got < 0.9 {
			t.Errorf("after it came back, goodput is %.2f", got)
		}
	})
}

// TestSlowOverloadUnderAHighLimit: the queue grows so slowly, and so far below the
// limit, that each window looks like light load and a little slower than the last.
func TestSlowOverloadUnderAHighLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 300})
		s := overload.NewService(10, 20*ms)
		overload.Drive(admission{l}, s, 10, 250, nil)
		all := overload.Drive(admission{l}, s, 25, 550, nil)
		if got := overload.Sum(all, 20, 25).Latency; got > 80*ms {
			t.Errorf("latency %v, 20ms alone, baseline %v", got, l.Stats().Baseline)
		}
	})
}
