package serving_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/gctune"
	"github.com/redline-go/redline/lab/micro"
)

// setting is what a program sets of Go's collector and scheduler.
type setting struct {
	gogc  int
	limit int64 // bytes; 0 is none
	procs int   // 0 is one per CPU
}

// set puts a setting in place until the test ends.
func (s setting) set(tb testing.TB) {
	percent := debug.SetGCPercent(s.gogc)
	tb.Cleanup(func() { debug.SetGCPercent(percent) })
	if s.limit > 0 {
		limit := debug.SetMemoryLimit(s.limit)
		tb.Cleanup(func() { debug.SetMemoryLimit(limit) })
	}
	if s.procs > 0 {
		procs := runtime.GOMAXPROCS(s.procs)
		tb.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	}
}

// shelf is a heap of live objects, as a cache has it: each has a text and a successor.
type shelf []*book

type book struct {
	title string
	next  *book
	_     [4]int
}

func newShelf(n int) shelf {
	s := make(shelf, n)
	for i := range s {
		s[i] = &book{title: strconv.Itoa(i)}
		if i > 0 {
			s[i].next = s[i-1]
		}
	}
	return s
}

// page is where the last page of a request is; without it, the compiler would keep pages
// off the heap.
var page []byte

// churn is a request's work on a shelf: garbage, and an object in the place of another.
func (s shelf) churn(n int) (sum int) {
	for i := range 100 {
		page = make([]byte, 1024)
		page[i] = byte(n)
		sum += int(page[i])
	}
	s[n%len(s)] = &book{title: strconv.Itoa(n), next: s[(n+1)%len(s)].next}
	return sum
}

// requests runs so much work for each b.Loop that the collector runs several times, and
// reports what it cost: cycles, assists and its CPU, per iteration, and the 99th
// percentile of a request.
func (s shelf) requests(b *testing.B, each int) {
	b.Helper()
	var times []time.Duration
	runtime.GC()
	before := collected()
	n := 0
	for b.Loop() {
		for range each {
			begun := time.Now()
			want := 100 * (n % 256)
			if got := s.churn(n); got != want {
				b.Fatalf("%d, want %d", got, want)
			}
			times = append(times, time.Since(begun))
			n++
		}
	}
	// The runtime's figures move as a cycle ends; this one is part of both sides'.
	runtime.GC()
	after := collected()
	per := func(i int) float64 { return (after[i] - before[i]) / float64(b.N) }
	b.ReportMetric(per(0), "cycles/op")
	b.ReportMetric(1e9*per(1), "assist-ns/op")
	b.ReportMetric(1e9*per(2), "cpu-ns/op")
	reportP99(b, times)
	runtime.KeepAlive(s)
}

// collected reads cycles, seconds of assists, and of all collection.
func collected() (v [3]float64) {
	samples := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}
	metrics.Read(samples)
	return [3]float64{float64(samples[0].Value.Uint64()), samples[1].Value.Float64(), samples[2].Value.Float64()}
}

// BenchmarkGOGC works on 100,000 live objects at GOGC 100, or at the claim's 50.
func BenchmarkGOGC(b *testing.B) {
	micro.Of(setting{gogc: 100}, setting{gogc: 50}).set(b)
	newShelf(100_000).requests(b, 500)
}

// millions are the claim's live objects.
const millions = 1_200_000

// BenchmarkAssist works on 1.2 million live objects at GOGC 50, or at 150; BenchmarkAssist75
// at 75, or at 150.
func BenchmarkAssist(b *testing.B) {
	micro.Of(setting{gogc: 50}, setting{gogc: 150}).set(b)
	newShelf(millions).requests(b, 3000)
}

func BenchmarkAssist75(b *testing.B) {
	micro.Of(setting{gogc: 75}, setting{gogc: 150}).set(b)
	newShelf(millions).requests(b, 3000)
}

// container is the memory that a control group would give.
const container = 256 << 20

// BenchmarkContainer works at the defaults, or with a heap that may fill three quarters of
// its container; BenchmarkContainerLiteral at GOGC=25 besides, as the claim has it.
func BenchmarkContainer(b *testing.B) {
	micro.Of(setting{gogc: 100}, setting{gogc: 400, limit: container * 3 / 4}).set(b)
	newShelf(200_000).requests(b, 3000)
}

func BenchmarkContainerLiteral(b *testing.B) {
	micro.Of(setting{gogc: 100}, setting{gogc: 25, limit: container * 3 / 4}).set(b)
	newShelf(200_000).requests(b, 3000)
}

// BenchmarkGOGCLoop works at GOGC=100, or under kit/gctune, which holds collection at 5 %
// of the CPU and has had a second to find out how.
func BenchmarkGOGCLoop(b *testing.B) {
	s := newShelf(100_000)
	if micro.Of(false, true) {
		tuner, err := gctune.Start(gctune.Options{GCShare: 0.05, Interval: 10 * time.Millisecond, Limit: container})
		if err != nil {
			b.Fatal(err)
		}
		defer tuner.Stop()
	}
	for begun, n := time.Now(), 0; time.Since(begun) < time.Second; n++ {
		s.churn(n)
	}
	s.requests(b, 3000)
}

// BenchmarkRetained times a whole collection: with a million intermediates of requests that
// ended retained, or let go.
func BenchmarkRetained(b *testing.B) {
	kept := newShelf(micro.Of(1_000_000, 1))
	runtime.GC()
	for b.Loop() {
		runtime.GC()
	}
	runtime.KeepAlive(kept)
}

// TestSettings: none changes an answer, and what was set before is back afterwards.
func TestSettings(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	procs := runtime.GOMAXPROCS(0)
	for _, s := range []setting{{gogc: 50}, {gogc: 25, limit: container}, {gogc: 400, limit: container, procs: 3}} {
		t.Run("", func(t *testing.T) {
			s.set(t)
			shelf := newShelf(1000)
			for n := range 300 {
				if got := shelf.churn(n); got != 100*(n%256) {
					t.Fatalf("%+v: %d", s, got)
				}
			}
		})
	}
	if now := debug.SetGCPercent(100); now != 100 {
		t.Errorf("GOGC stayed at %d", now)
	}
	if now := runtime.GOMAXPROCS(0); now != procs {
		t.Errorf("GOMAXPROCS stayed at %d", now)
	}
}

// TestLowGOGCCollectsMore: GOGC=25, which the claim sets for fewer cycles, makes more. That
// is arithmetic: a cycle begins once the heap has grown by so many percent.
func TestLowGOGCCollectsMore(t *testing.T) {
	cycles := map[int]float64{}
	for _, gogc := range []int{25, 100} {
		t.Run(strconv.Itoa(gogc), func(t *testing.T) {
			setting{gogc: gogc}.set(t)
			s := newShelf(100_000)
			runtime.GC()
			before := collected()[0]
			for n := range 2000 {
				s.churn(n)
			}
			cycles[gogc] = collected()[0] - before
			runtime.KeepAlive(s)
		})
	}
	if cycles[25] <= cycles[100] {
		t.Errorf("cycles by GOGC: %v", cycles)
	}
}
