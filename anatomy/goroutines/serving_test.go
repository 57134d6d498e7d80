package goroutines

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/exp/trace"
)

// TestBusyIsTheUnion adds stretches in the order of their ends, and compares with
// what an instant-by-instant count gives.
func TestBusyIsTheUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		const length = 400
		var covered [length]bool
		s := &Serving{}
		for to := trace.Time(1); to <= length; to += trace.Time(1 + r.IntN(12)) {
			from := to - trace.Time(min(int(to), 1+r.IntN(30)))
			s.work(from, to)
			for i := from; i < to; i++ {
				covered[i] = true
			}
		}
		want, got := 0, s.Closed
		for _, c := range covered {
			if c {
				want++
			}
		}
		for _, b := range s.Busy {
			got += b.To.Sub(b.From)
		}
		if int(got) != want {
			t.Fatalf("busy %d, want %d", got, want)
		}
	}
}
