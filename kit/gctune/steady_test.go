package gctune

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"
)

// steadyLimit bounds the memory of BenchmarkSteady: the live objects take some 60 MB of it.
const steadyLimit = 300 << 20

// times are those of the requests since they were last taken.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *times) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, d)
}

// take returns the 99th percentile, and begins anew.
func (t *times) take() (p99 time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) < 100 {
		return 0, false
	}
	slices.Sort(t.all)
	p99 = t.all[len(t.all)*99/100]
	t.all = t.all[:0]
	return p99, true
}

// BenchmarkSteady holds a p99 under the load of the assist sweep: 1.2 million live objects, each P replacing
// them. The target lies between what the sweep's ends give, GOGC=50 and GOGC=150; where these differ by less than a fifth
// GOGC does not move this p99, and it skips. It reports the median p99 of the last third of the intervals and how many
// of these were within the target, the reversals per minute of the whole and the most in any minute, and the highest
// RSS. -benchtime 60s or more: a step of latency takes seconds.
func BenchmarkSteady(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	const share = 0.9
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(share * steadyLimit)) // for the target's measurement as well
	live := make([][]*order, runtime.GOMAXPROCS(0))
	var took times
	done := make(chan struct{})
	var load sync.WaitGroup
	defer load.Wait()
	defer close(done)
	for n := range live {
		live[n] = make([]*order, 1_200_000/len(live))
		// In random order, as they lie after a while: marking objects in the order of their addresses is cheaper, and the
		// p99 would double while they are replaced.
		for _, i := range rand.Perm(len(live[n])) {
			live[n][i] = &order{i, new([4]int), nil}
		}
		load.Go(func() {
			for random := rand.New(rand.NewPCG(uint64(n), 1)); ; {
				select {
				case <-done:
					return
				default:
				}
				begun := time.Now()
				exchange(live[n], random)
				if n == 0 {
					took.add(time.Since(begun))
				}
			}
		})
	}
	at := func(percent int) time.Duration {
		debug.SetGCPercent(percent)
		time.Sleep(time.Second)
		took.take()
		time.Sleep(3 * time.Second)
		p99, _ := took.take()
		return p99
	}
	eager, lazy := at(50), at(150)
	if float64(lazy) > 0.8*float64(eager) {
		b.Skipf("p99 is %v at GOGC=50 and %v at 150: it does not follow GOGC here", eager, lazy)
	}
	target := time.Duration(math.Sqrt(float64(eager) * float64(lazy)))
	debug.SetGCPercent(50)
	debug.FreeOSMemory()
	var heard []time.Duration
	var highest int64
	begun := time.Now()
	tuner, err := Start(Options{Target: target, Limit: steadyLimit, MemoryShare: share, P99: func() (time.Duration, bool) {
		p99, ok := took.take()
		highest = max(highest, resident())
		if ok {
			heard = append(heard, p99)
		}
		return p99, ok
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	var reversals []int // so far, at each second
	for b.Loop() {
		time.Sleep(time.Second)
		reversals = append(reversals, tuner.Stats().Reversals)
	}
	s := tuner.Stats()
	minutes := time.Since(begun).Minutes()
	tuner.Stop()
	<-tuner.ended
	last := slices.Sorted(slices.Values(heard[len(heard)*2/3:]))
	within, _ := slices.BinarySearch(last, target+1)
	b.ReportMetric(float64(last[len(last)/2].Microseconds()), "p99-us")
	b.ReportMetric(float64(eager.Microseconds()), "p99-at-50-us")
	b.ReportMetric(float64(lazy.Microseconds()), "p99-at-150-us")
	b.ReportMetric(float64(target.Microseconds()), "target-us")
	b.ReportMetric(100*float64(within)/float64(len(last)), "within-%")
	b.ReportMetric(float64(s.GOGC), "GOGC")
	b.ReportMetric(float64(s.Moves), "moves")
	b.ReportMetric(float64(s.Reversals)/minutes, "reversals/min")
	most := 0
	for i, so := range reversals {
		if before := i - 60; before >= 0 {
			so -= reversals[before]
		}
		most = max(most, so)
	}
	b.ReportMetric(float64(most), "reversals-in-a-minute")
	b.ReportMetric(float64(highest)/(1<<20), "peak-MiB")
	b.Logf("%s after %.1f min; limit %d MiB", s.State, minutes, steadyLimit>>20)
}
