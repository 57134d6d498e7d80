package load

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

func TestRingLosesNothing(t *testing.T) {
	var r ring
	r.samples = make([]sample, 16)
	var lock sync.Mutex
	var got []int64
	drain := func() {
		lock.Lock()
		defer lock.Unlock()
		r.drain(func(s *sample) { got = append(got, s.id) })
	}
	stop := make(chan bool)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				drain()
			}
		}
	})
	const n = 20000
	for i := range int64(n) {
		for s := (sample{id: i}); !r.push(&s); {
			drain()
		}
	}
	close(stop)
	all.Wait()
	drain()
	if len(got) != n {
		t.Fatalf("%d of %d samples", len(got), n)
	}
	for i, id := range got {
		if id != int64(i) {
			t.Fatalf("sample %d at place %d", id, i)
		}
	}
}

func TestSlowestKeepsTheSlowest(t *testing.T) {
	var k slowest
	r := rand.New(rand.NewPCG(5, 6))
	for i, d := range r.Perm(5000) {
		k.add(&sample{id: int64(i), done: time.Duration(d)})
	}
	first := k.kept[len(k.kept)-1]
	if !k.window(&first) {
		t.Error("the first window's slowest is not written")
	}
	rest := k.rest()
	if len(rest) != slowestKept-1 {
		t.Fatalf("%d left of %d", len(rest), slowestKept)
	}
	for i, s := range rest {
		if s.latency() < 5000-slowestKept || s.id == first.id || i > 0 && s.latency() > rest[i-1].latency() {
			t.Errorf("place %d: %v", i, s.latency())
		}
	}
}

func TestMixFollowsWeights(t *testing.T) {
	m := newMix([]int{0, 3, 6}) // zero means 1
	r := rand.NewPCG(7, 8)
	var got [3]int
	const n = 100_000
	for range n {
		got[m.pick(r)]++
	}
	for i, want := range []float64{0.1, 0.3, 0.6} {
		if share := float64(got[i]) / n; share < want-0.01 || share > want+0.01 {
			t.Errorf("request %d: %.3f, want %.1f", i, share, want)
		}
	}
}
