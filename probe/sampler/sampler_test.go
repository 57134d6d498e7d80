package sampler

import (
	"math"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/redline-go/redline/probe/ring"
)

func values(s *Sampler) map[string]float64 {
	got := map[string]float64{}
	for i, v := range s.Read() {
		c := s.Columns()[i]
		got[c.Name+" "+c.Labels] = v
	}
	return got
}

func TestSamplerSeesTheRuntime(t *testing.T) {
	s := New()
	before := values(s)
	stop := make(chan struct{})
	for range 50 {
		go func() { <-stop }()
	}
	var keep [][]byte
	for range 64 {
		keep = append(keep, make([]byte, 1<<16))
	}
	runtime.GC()
	after := values(s)
	close(stop)
	runtime.KeepAlive(keep)

	rose := func(name string, least float64) {
		t.Helper()
		if rise := after[name+" "] - before[name+" "]; !(rise >= least) {
			t.Errorf("%s rose by %v, want at least %v", name, rise, least)
		}
	}
	rose("/sched/goroutines:goroutines", 50)
	rose("/gc/heap/allocs:bytes", 64<<16)
	rose("/gc/cycles/forced:gc-cycles", 1)
	if got := after["/sched/gomaxprocs:threads "]; got != float64(runtime.GOMAXPROCS(0)) {
		t.Errorf("GOMAXPROCS is %v", got)
	}
	pauses := "/sched/pauses/total/gc:seconds"
	if n := after[pauses+" q=count"] - before[pauses+" q=count"]; n < 1 {
		t.Errorf("%v pauses of a collection", n)
	}
	p50, p99, most := after[pauses+" q=p50"], after[pauses+" q=p99"], after[pauses+" q=max"]
	if !(p50 > 0 && p50 <= p99 && p99 <= most && most < 1e10) {
		t.Errorf("pauses of p50 %v, p99 %v, max %v ns", p50, p99, most)
	}
	if runtime.GOOS == "linux" && !(after["/process/cpu/user:cpu-seconds "]+after["/process/cpu/system:cpu-seconds "] > 0) {
		t.Error("the process used no CPU")
	}
}

func TestSamplerTakesAllThatTheRuntimeHas(t *testing.T) {
	have := map[string]bool{}
	for _, c := range New().Columns() {
		have[c.Name] = true
	}
	for _, d := range metrics.All() {
		if d.Kind != metrics.KindBad && !skip(d.Name) && !have[d.Name] {
			t.Errorf("%s is left out", d.Name)
		}
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	s := New()
	w, err := ring.Create(filepath.Join(t.TempDir(), "ring"), ring.Header{}, s.Columns(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if n := testing.AllocsPerRun(200, func() {
		if err := w.Write(1, 2, 3, s.Read()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}

func TestHistogram(t *testing.T) {
	inf := math.Inf(1)
	edges := []float64{-inf, 0, 10, 20, 30, inf}
	tests := []struct {
		name               string
		counts             []uint64
		count, p50, p99, m float64
	}{
		{"base", []uint64{5, 5, 5, 5, 5}, 25, none, none, none},
		{"nothing new", []uint64{5, 5, 5, 5, 5}, 25, none, none, none},
		{"ten in one bucket", []uint64{5, 5, 15, 5, 5}, 35, 15, 19.9, 20},
		{"open-ended buckets", []uint64{6, 5, 15, 5, 6}, 37, 0, 30, 30},
		{"halves", []uint64{6, 9, 15, 9, 6}, 45, 10, 29.8, 30},
	}
	h := &histogram{}
	into := make([]float64, 4)
	for _, test := range tests {
		h.read(&metrics.Float64Histogram{Counts: test.counts, Buckets: edges}, 1, into)
		for i, want := range []float64{test.count, test.p50, test.p99, test.m} {
			if same := into[i] == want || math.IsNaN(want) && math.IsNaN(into[i]) || math.Abs(into[i]-want) < 1e-9; !same {
				t.Errorf("%s: %v, want %v", test.name, into, []float64{test.count, test.p50, test.p99, test.m})
				break
			}
		}
	}
}

func TestEdgeAfter(t *testing.T) {
	const width = 100 * time.Millisecond
	for elapsed, want := range map[time.Duration]time.Duration{
		0:                                  width,
		time.Millisecond:                   99 * time.Millisecond,
		50 * time.Millisecond:              50 * time.Millisecond,
		90 * time.Millisecond:              110 * time.Millisecond, // so late that it stands for the next edge
		730 * time.Millisecond:             70 * time.Millisecond,
		-30 * time.Millisecond:             30 * time.Millisecond, // before the epoch
		3*time.Second + 1*time.Millisecond: 99 * time.Millisecond,
	} {
		if got := edgeAfter(int64(elapsed), width); got != want {
			t.Errorf("%v after the epoch: next edge in %v, want %v", elapsed, got, want)
		}
	}
}

func TestLoopSamplesOnTheEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	s := New()
	w, err := ring.Create(path, ring.Header{}, s.Columns(), 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := StartClock(0, 0)
	const width = 5 * time.Millisecond
	loop := &Loop{Clock: clock, Epoch: clock.Now(), Window: width, Sampler: s, Ring: w}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); loop.Run(stop) }()
	r, err := ring.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var sample ring.Sample
	last := loop.Epoch
	for n := 0; n < 10; {
		ok, err := r.Next(&sample)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			time.Sleep(time.Millisecond) // no event tells that memory was written
			continue
		}
		if window := (sample.Before - loop.Epoch) / int64(width); window <= (last-loop.Epoch)/int64(width) && n > 0 {
			t.Errorf("two samples in window %d", window)
		}
		if sample.Since > sample.Before || sample.Before < loop.Epoch {
			t.Errorf("sample of %d to %d since %d", sample.Before, sample.After, sample.Since)
		}
		last = sample.Before
		n++
	}
	close(stop)
	<-ended
	if !r.Ended() {
		t.Error("the ring is not ended")
	}
}

// TestLoopPauses: between pause and resumption no sample is written.
func TestLoopPauses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	s := New()
	w, err := ring.Create(path, ring.Header{}, s.Columns(), 0)
	if err != nil {
		t.Fatal(err)
	}
	clock, pause := StartClock(0, 0), make(chan bool)
	loop := &Loop{Clock: clock, Epoch: clock.Now(), Window: time.Millisecond, Sampler: s, Ring: w, Pause: pause}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); loop.Run(stop) }()
	r, err := ring.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var sample ring.Sample
	for range 3 {
		pause <- true
		for ok := true; ok; {
			if ok, err = r.Next(&sample); err != nil {
				t.Fatal(err)
			}
		}
		pause <- true // once more changes nothing
		resumed := clock.Now()
		pause <- false
		for ok := false; !ok; {
			if ok, err = r.Next(&sample); err != nil {
				t.Fatal(err)
			}
		}
		if sample.Since < resumed {
			t.Errorf("a sample since %d was written in a pause that ended at %d", sample.Since, resumed)
		}
	}
	pause <- true
	close(stop)
	<-ended
}

// BenchmarkSample is what the target pays per window.
func BenchmarkSample(b *testing.B) {
	s := New()
	w, err := ring.Create(filepath.Join(b.TempDir(), "ring"), ring.Header{}, s.Columns(), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(1, 2, 3, s.Read()); err != nil {
			b.Fatal(err)
		}
	}
}
