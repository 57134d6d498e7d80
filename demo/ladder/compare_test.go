package ladder

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

// drawn are pairs in which b serves so many times as much, each block with noise.
func drawn(n int, factor, noise float64) (pairs []verify.Pair) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	block := func(rate float64) verify.Block {
		rate *= math.Exp(noise * rng.NormFloat64())
		b := verify.Block{Values: map[string]float64{Throughput: rate, CPU: 1e9 / rate}, Latency: verify.Latencies{}}
		for i := range int64(100) {
			b.Latency.Add(int64(64e9/rate)*(50+i)/100, 1)
		}
		return b
	}
	for range n {
		pairs = append(pairs, verify.Pair{A: block(400), B: block(400 * factor)})
	}
	return pairs
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name   string
		factor float64
		n      int
		clear  bool
		text   string
	}{
		{"a gain", 3, Pairs, true, "x ("},
		{"a loss", 0.5, Pairs, true, "x ("},
		{"none", 1, Pairs, false, "within the noise ("},
		{"less than launches differ by", 1.02, 40, false, "within the noise ("},
		{"too few pairs", 3, 2, false, ", too few pairs for an interval"},
	} {
		got := Compare("below", "above", drawn(c.n, c.factor, 0.01), 1)
		change, ok := got.Of(Throughput)
		if !ok || change.Clear != c.clear || !strings.Contains(change.Text(), c.text) {
			t.Errorf("%s: %+v, %q", c.name, change, change.Text())
		}
		if math.Abs(change.Gain/c.factor-1) > 0.03 {
			t.Errorf("%s: a gain of %v, want %v", c.name, change.Gain, c.factor)
		}
		if c.n >= Pairs && !(change.Low < change.Gain && change.Gain < change.High) {
			t.Errorf("%s: the gain %v is not within its interval %v to %v", c.name, change.Gain, change.Low, change.High)
		}
		// A shorter latency is a gain as more throughput is.
		for _, metric := range []string{P95, P99, CPU} {
			if cost, ok := got.Of(metric); !ok || math.Abs(cost.Gain/c.factor-1) > 0.05 {
				t.Errorf("%s: %s has a gain of %v, want %v", c.name, metric, cost.Gain, c.factor)
			}
		}
	}
}

// TestNothingMeasured: a metric that a block lacks has no gain, and no 1x either.
func TestNothingMeasured(t *testing.T) {
	pairs := drawn(Pairs, 2, 0.01)
	delete(pairs[3].B.Values, Throughput)
	change, ok := Compare("a", "b", pairs, 1).pointer().Of(Throughput)
	if !ok || change.Gain != 0 || change.Text() != "not measured" {
		t.Errorf("%+v, %q", change, change.Text())
	}
	if _, ok := (*Comparison)(nil).Of(Throughput); ok {
		t.Error("of no comparison there is a change")
	}
}

func (c Comparison) pointer() *Comparison { return &c }
