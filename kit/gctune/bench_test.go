package gctune

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/gctune/cgroup"
)

// order is what the sweep keeps alive: 1.2 million of them, with pointers, as in the report of the assist knee.
type order struct {
	id   int
	note *[4]int
	next *order
}

// exchange replaces a few hundred live objects by new ones: a request that allocates some 20 KiB.
func exchange(live []*order, random *rand.Rand) {
	for range 256 {
		i := random.IntN(len(live))
		live[i] = &order{i, new([4]int), nil}
	}
}

// BenchmarkAssistSweep runs the same work on both CPUs under fixed settings and under a Tuner that holds 10 % of the
// CPU, and reports the share of collection, the p99 of a request, the highest RSS so far and what the Tuner did. The
// Tuner has up to 20 s to settle first. With KIT_LIMIT=bytes the Tuner keeps that limit too.
func BenchmarkAssistSweep(b *testing.B) {
	for _, setting := range []string{"50", "75", "150", "tuned"} {
		b.Run("GOGC="+setting, func(b *testing.B) { sweep(b, setting) })
	}
}

func sweep(b *testing.B, setting string) {
	percent, err := strconv.Atoi(setting)
	if err != nil {
		percent = 50 // from where the Tuner has furthest to go
	}
	defer debug.SetGCPercent(debug.SetGCPercent(percent))
	live := [2][]*order{make([]*order, 600_000), make([]*order, 600_000)}
	for _, half := range live {
		for i := range half {
			half[i] = &order{i, new([4]int), nil}
		}
	}
	runtime.GC()
	var tuner *Tuner
	if setting == "tuned" {
		limit, _ := strconv.ParseInt(os.Getenv("KIT_LIMIT"), 10, 64)
		if tuner, err = Start(Options{GCShare: 0.10, Max: 1000, Interval: 100 * time.Millisecond, Limit: limit}); err != nil {
			b.Fatal(err)
		}
		defer tuner.Stop()
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for random := rand.New(rand.NewPCG(1, 1)); ; {
			select {
			case <-done:
				return
			default:
				exchange(live[1], random)
			}
		}
	}()
	random := rand.New(rand.NewPCG(2, 2))
	settled := func() bool { return tuner == nil || tuner.Stats().State == Holding }
	for begun := time.Now(); time.Since(begun) < time.Second || !settled() && time.Since(begun) < 20*time.Second; {
		exchange(live[0], random)
	}
	r := newRuntime(group(b), nil, Options{MemoryShare: 1})
	before, _ := r.read()
	var moves, reversals int
	if tuner != nil {
		s := tuner.Stats()
		moves, reversals = s.Moves, s.Reversals
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		exchange(live[0], random)
		took = append(took, time.Since(start))
	}
	runtime.GC() // the runtime's CPU figures move at the end of a cycle
	after, _ := r.read()
	close(done)
	<-ended
	slices.Sort(took)
	gc, user := after.gc-before.gc, after.user-before.user
	b.ReportMetric(100*gc/(gc+user), "gc-%")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-us")
	b.ReportMetric(float64(after.percent), "GOGC")
	b.ReportMetric(float64(highestRSS())/(1<<20), "peak-MiB")
	if tuner != nil {
		s := tuner.Stats()
		b.ReportMetric(float64(s.Moves-moves), "moves")
		b.ReportMetric(float64(s.Reversals-reversals), "reversals")
	}
}

// highestRSS is the process's VmHWM, in bytes; 0 if there is none.
func highestRSS() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(kilobytes), 10, 64)
	return n << 10
}

// group is this process's own.
func group(b *testing.B) cgroup.Group {
	b.Helper()
	g, err := cgroup.Find("")
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkRead is what a Tuner costs per interval, with the control group's files.
func BenchmarkRead(b *testing.B) {
	r := newRuntime(group(b), nil, Options{MemoryShare: 0.9})
	for b.Loop() {
		_, _ = r.read()
	}
}
