package shed_test

import (
	"testing"
	"testing/synctest"
	"time"

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

// goodput is the share of the capacity that was served per second.
func goodput(all []second, from, to int, capacity float64) float64 {
	return float64(sum(all, from, to).served) / float64(to-from) / capacity
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
				s := newService(c.servers, c.work)
				s.set(c.work, c.wait)
				capacity := float64(c.servers) / c.work.Seconds()
				// The first ten seconds are to find the limit, from 20. A span has a probe, which
				// costs most where requests are few.
				const settled, span, end = 10, 30, 100
				all := drive(l, s, end, c.load*capacity, nil)
				for from := settled; from < end; from += span {
					if got := goodput(all, from, from+span, capacity); got < 0.85 {
						t.Errorf("from second %d: goodput is %.2f of capacity, want 0.85", from, got)
					}
				}
				if got := goodput(all, settled, end, capacity); got < 0.9 {
					t.Errorf("goodput is %.2f of capacity, want 0.9", got)
				}
				// Min is 4, so that one server has a queue.
				most := max(3, 6/float64(c.servers)) * float64(c.work+c.wait)
				if got := sum(all, settled, end).latency; float64(got) > most {
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
		all := drive(l, newService(10, 20*ms), 20, 1000, nil)
		if got := sum(all, 10, 20).latency; got < 100*20*ms {
			t.Errorf("latency %v: this simulation shows no overload", got)
		}
	})
}

func TestLightLoadIsLeftAlone(t *testing.T) {
	for _, load := range []float64{0.02, 0.3, 0.5} {
		synctest.Test(t, func(t *testing.T) {
			l := limiter(t, shed.Options{})
			const capacity = 500
			all := drive(l, newService(10, 20*ms), 60, load*capacity, nil)
			total := sum(all, 0, 60)
			if total.shed != 0 {
				t.Errorf("load %v: %d of %d requests were turned away", load, total.shed, total.offered)
			}
			for i, s := range all {
				if s.limit < 15 {
					t.Errorf("load %v: limit %d in second %d, from 20", load, s.limit, i)
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
		cpu        float64       // refused meanwhile
		load       float64       // requests per second
		during     float64       // capacity after the step, of 300 per second
	}{
		{"what lies below becomes slower", 20 * ms, 100 * ms, 0, 600, 1},
		{"the same at half load", 20 * ms, 100 * ms, 0, 150, 0.5},
		{"a third of the capacity", 60 * ms, 0, 0, 600, 1. / 3},
		{"a third, for want of CPU", 60 * ms, 0, 1, 600, 1. / 3},
		{"three times the capacity", 20 * ms / 3, 0, 0, 1200, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cpu := 0.0
				l := limiter(t, shed.Options{CPU: func() float64 { return cpu }})
				const capacity = 300
				s := newService(6, 20*ms)
				all := drive(l, s, 130, c.load, func(n int) {
					switch n {
					case 20:
						s.set(c.work, c.wait)
						cpu = c.cpu
					case 80:
						s.set(20*ms, 0)
						cpu = 0
					}
				})
				before := min(1, c.load/capacity)
				for _, span := range []struct {
					from, to int
					capacity float64
				}{{5, 20, before}, {25, 80, c.during}, {85, 130, before}} {
					if got := goodput(all, span.from, span.to, capacity*span.capacity); got < 0.9 {
						t.Errorf("seconds %d to %d: goodput is %.2f of what the service can, want 0.9", span.from, span.to, got)
					}
				}
				// A baseline that has become too high shows at the next probe, 30 s on.
				if got := sum(all, 120, 130).latency; got > 60*ms {
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
		all := drive(l, newService(10, 20*ms), 10, 250, nil)
		high := all[9].limit
		all = drive(l, newService(10, 20*ms), 20, 1000, nil)
		if got := sum(all, 6, 20).latency; high < 200 || got > 60*ms {
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
			all := drive(l, newService(40, 20*ms), 30, 4000, nil)
			latency[i] = sum(all, 5, 30).latency
			if got := goodput(all, 5, 30, 2000); got < 0.9 {
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
		s := newService(10, 20*ms)
		release := make(chan struct{})
		most := 0
		all := drive(l, s, 60, 1000, func(n int) {
			if n == 10 {
				for range 10 {
					go func() { s.servers <- struct{}{}; <-release; <-s.servers }()
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
		if got := goodput(all, 45, 60, 500); got < 0.9 {
			t.Errorf("after it came back, goodput is %.2f", got)
		}
	})
}

// TestSlowOverloadUnderAHighLimit: the queue grows so slowly, and so far below the
// limit, that each window looks like light load and a little slower than the last.
func TestSlowOverloadUnderAHighLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 300})
		s := newService(10, 20*ms)
		drive(l, s, 10, 250, nil)
		all := drive(l, s, 25, 550, nil)
		if got := sum(all, 20, 25).latency; got > 80*ms {
			t.Errorf("latency %v, 20ms alone, baseline %v", got, l.Stats().Baseline)
		}
	})
}
