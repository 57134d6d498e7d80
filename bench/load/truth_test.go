//go:build linux

package main

import (
	"math"
	"testing"
	"time"
)

func TestTruthOfAStall(t *testing.T) {
	// 20 s at 1,000/s, 200 ms of stall every 5 s: 4 % of requests are due in a
	// stall and wait for an even share of its length.
	const base = 50 * time.Microsecond
	start := 7 * time.Second
	var stalls []stall
	for i := range 4 {
		begin := start + time.Duration(i)*5*time.Second + 4800*time.Millisecond
		stalls = append(stalls, stall{begin, begin + 200*time.Millisecond})
	}
	got := tallyOf(truth(start, 20*time.Second, 1000, stalls, []time.Duration{base}))
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"p50", got.P50, base}, {"p99", got.P99, 150 * time.Millisecond},
		{"p99.9", got.P999, 195 * time.Millisecond}, {"max", got.Max, 200 * time.Millisecond},
	} {
		if math.Abs(off(c.got, c.want)) > 0.01 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if got.Requests != 20000 {
		t.Errorf("%d requests, want 20,000", got.Requests)
	}
}

func TestQuantile(t *testing.T) {
	ascending := make([]time.Duration, 1000)
	for i := range ascending {
		ascending[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := quantile(ascending, q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
}
