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
		{"p50", got.P50, base}, {"p99", got.P99, 150 * time.Millisecond}, {"p99.9", got.P999, 195 * time.Millisecond}, {"max", got.Max, 200 * time.Millisecond},
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

func TestCountHeads(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, c := range []struct {
		pieces []string
		want   int
	}{
		{[]string{request}, 1}, {[]string{request + request}, 2}, {[]string{request[:3], request[3:]}, 1},
		{[]string{request[:len(request)-1], "\n" + request}, 2}, {[]string{request[:len(request)-3], "\n", "\r", "\n"}, 1},
		{[]string{"a\r\r\n\r\n"}, 1}, {[]string{"a\r\n\r", "b\r\n\r\n"}, 1}, {[]string{"\r\n\r"}, 0},
	} {
		total, seen := 0, 0
		for _, piece := range c.pieces {
			var heads int
			heads, seen = countHeads([]byte(piece), seen)
			total += heads
		}
		if total != c.want {
			t.Errorf("%q holds %d heads, want %d", c.pieces, total, c.want)
		}
	}
}
