package timebase

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	c, err := Start()
	must(t, err)
	if c.EpochError < 0 || c.EpochError > 10*time.Millisecond {
		t.Errorf("epoch error %v", c.EpochError)
	}
	// Readings of the system's and the process's monotonic clock, converted, lie between
	// those of Now before and after them.
	before := c.Now()
	mono, err := monotonic()
	must(t, err)
	now := time.Now()
	after := c.Now()
	slack := c.EpochError + time.Millisecond
	for name, at := range map[string]time.Duration{"monotonic": c.FromMonotonic(mono), "process": c.At(now)} {
		if at < before-slack || at > after+slack {
			t.Errorf("%s: %v is not within %v and %v", name, at, before, after)
		}
	}
	if d := c.FromWall(now) - c.At(now); d.Abs() > time.Second {
		t.Errorf("wall and monotonic differ by %v", d)
	}
	if got := c.At(c.Time(5 * time.Second)); got != 5*time.Second {
		t.Errorf("At(Time(5s)) is %v", got)
	}
}

// TestSplit checks on random spans that nothing is lost, that every part lies
// in its window, and that windows come in order.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		width := time.Duration(1 + rng.IntN(1000))
		from := time.Duration(rng.IntN(20000) - 10000)
		s := Span{from, from + time.Duration(rng.IntN(5000))}
		amount := rng.Float64() * 1e9
		sum, next := 0.0, Window(s.From, width)
		Split(s, width, amount, func(w int64, part float64) {
			if w != next {
				t.Fatalf("%v in %v: window %d comes instead of %d", s, width, w, next)
			}
			next++
			sum += part
			ws := WindowSpan(w, width)
			if s.Len() > 0 && (ws.To <= s.From || ws.From >= s.To || part < 0 || part > amount*(float64(width)/float64(s.Len())+1e-9)) {
				t.Fatalf("%v in %v: window %d takes %v of %v", s, width, w, part, amount)
			}
		})
		if math.Abs(sum-amount) > amount*1e-9 {
			t.Fatalf("%v in %v: %v of %v", s, width, sum, amount)
		}
	}
}

func TestWindow(t *testing.T) {
	for at, want := range map[time.Duration]int64{0: 0, 99: 0, 100: 1, -1: -1, -100: -1, -101: -2} {
		w := Window(at, 100)
		if w != want {
			t.Errorf("Window(%d) is %d, want %d", at, w, want)
		}
		if s := WindowSpan(w, 100); at < s.From || at >= s.To {
			t.Errorf("%d is not in its window %v", at, s)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
