package account

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func TestRingLosesNothing(t *testing.T) {
	var r ring
	r.samples = make([]Sample, 16)
	var lock sync.Mutex
	var got []int64
	drain := func() {
		lock.Lock()
		defer lock.Unlock()
		r.drain(func(s *Sample) { got = append(got, s.ID) })
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
		for s := (Sample{ID: i}); !r.push(&s); {
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
		k.add(&Sample{ID: int64(i), Done: time.Duration(d)})
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
		if s.latency() < 5000-slowestKept || s.ID == first.ID || i > 0 && s.latency() > rest[i-1].latency() {
			t.Errorf("place %d: %v", i, s.latency())
		}
	}
}

func TestSamplesStayOfTheirSize(t *testing.T) {
	var r ring
	r.samples = make([]Sample, 1)
	if size := int(unsafe.Sizeof(r.samples[0])); size > 80 {
		t.Errorf("a sample takes %d bytes: the ring no longer stays in a core's cache", size)
	}
}
