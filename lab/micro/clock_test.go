package micro_test

import (
	"math/rand"
	randv2 "math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/clock"
	"github.com/redline-go/redline/lab/micro"
)

// BenchmarkClock asks for the time: the kernel's, or one that is at most a millisecond old.
func BenchmarkClock(b *testing.B) {
	coarse := clock.Start(time.Millisecond)
	defer coarse.Stop()
	now := micro.Of(time.Now, coarse.Now)
	var last time.Time
	for b.Loop() {
		last = now()
	}
	if last.IsZero() {
		b.Fatal("no time")
	}
}

// TestClock: the coarse clock never runs ahead of the kernel's, nor backwards.
func TestClock(t *testing.T) {
	coarse := clock.Start(time.Millisecond)
	defer coarse.Stop()
	last := coarse.Now()
	for range 1000 {
		now, exact := coarse.Now(), time.Now()
		if now.Before(last) || now.After(exact) {
			t.Fatalf("%v after %v, while it is %v", now, last, exact)
		}
		last = now
	}
}

// BenchmarkRandom draws from one generator that all goroutines share under a lock, or
// from the runtime's own per thread.
func BenchmarkRandom(b *testing.B) {
	shared := rand.New(&lockedSource{source: rand.NewSource(1)}) //nolint:gosec // not for secrets
	draw := micro.Of(func() int { return shared.Intn(1000) }, func() int { return randv2.IntN(1000) })
	b.RunParallel(func(pb *testing.PB) {
		sum := 0
		for pb.Next() {
			sum += draw()
		}
		if sum < 0 {
			b.Error("a negative number was drawn")
		}
	})
}

// TestRandom: both draw all of the numbers that are asked for, and no others.
func TestRandom(t *testing.T) {
	shared := rand.New(&lockedSource{source: rand.NewSource(1)}) //nolint:gosec // not for secrets
	for name, draw := range map[string]func() int{"shared": func() int { return shared.Intn(10) },
		"per thread": func() int { return randv2.IntN(10) }} {
		seen := map[int]bool{}
		for range 2000 {
			seen[draw()] = true
		}
		if len(seen) != 10 || !seen[0] || !seen[9] {
			t.Errorf("%s drew %v", name, seen)
		}
	}
}
