package machine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lowerMean is the mean of the smaller half.
func lowerMean(values []float64) float64 {
	slices.Sort(values)
	half := values[:(len(values)+1)/2]
	sum := 0.0
	for _, v := range half {
		sum += v
	}
	return sum / float64(len(half))
}

//go:noinline
func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

// kept keeps results alive, so that no work is left out.
var kept atomic.Int64

func fibonacciOne(_ context.Context, _ *input, d time.Duration) (float64, error) {
	return repeated(d, 1, func() { kept.Add(int64(fibonacci(32))) }), nil
}

// fibonacciAll computes on as many threads as the machine has CPUs, whatever GOMAXPROCS is
// by a quota: what a quota takes away shows here.
func fibonacciAll(_ context.Context, _ *input, d time.Duration) (float64, error) {
	before := runtime.GOMAXPROCS(runtime.NumCPU())
	defer runtime.GOMAXPROCS(before)
	var done atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for range runtime.NumCPU() {
		all.Go(func() {
			n := 0
			for time.Since(begun) < d {
				kept.Add(int64(fibonacci(20)))
				n++
			}
			done.Add(int64(n))
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds(), nil
}

func hashing(_ context.Context, _ *input, d time.Duration) (float64, error) {
	data := make([]byte, 256<<10)
	each := repeated(d, len(data), func() {
		sum := sha256.Sum256(data)
		data[0] = sum[0]
	})
	return 1e9 / each, nil
}

// order is a document as services send them.
type order struct {
	ID       int64             `json:"id"`
	Customer string            `json:"customer"`
	Total    float64           `json:"total"`
	Paid     bool              `json:"paid"`
	Lines    []map[string]any  `json:"lines"`
	Labels   map[string]string `json:"labels"`
}

func encoding(_ context.Context, _ *input, d time.Duration) (float64, error) {
	o := order{ID: 12345678, Customer: "a customer with a name", Total: 199.95, Paid: true,
		Labels: map[string]string{"region": "north", "tier": "2"}}
	for i := range 20 {
		o.Lines = append(o.Lines, map[string]any{"sku": "ABC-123", "count": i, "price": 9.99})
	}
	text, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	each := repeated(d, 20*len(text), func() {
		for range 20 {
			var read order
			if err = json.Unmarshal(text, &read); err == nil {
				_, err = json.Marshal(read)
			}
		}
	})
	return 1e9 / each, err
}
