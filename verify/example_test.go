package verify_test

import (
	"fmt"

	"github.com/redline-go/redline/verify"
)

// spent is a block of a side that took so many µs of CPU per request.
func spent(us float64) verify.Block {
	return verify.Block{Values: map[string]float64{"cpu_per_request": us * 1e3}}
}

// Side b takes about a tenth more CPU than side a in each of ten pairs of launches.
func ExampleDecide() {
	var pairs, same []verify.Pair
	for i, more := range []float64{9, 11, 10, 12, 8, 10, 9, 11, 10, 10} {
		a := 100 + float64(i%3) // µs: the machine's speed moves both sides
		pairs = append(pairs, verify.Pair{A: spent(a), B: spent(a * (1 + more/100))})
	}
	for _, off := range []float64{-1, 1, 0.5, -0.5, 1, -1} { // side a against itself
		same = append(same, verify.Pair{A: spent(100), B: spent(100 + off)})
	}
	rules := verify.Rules{Metrics: []verify.Metric{{Name: "cpu_per_request", Unit: "ns", Margin: 0.05}}, Looks: 1}
	r := verify.Decide(pairs, same, 1, rules)
	fmt.Println(r.Verdict, "-", r.Why)
	m := r.Metrics[0]
	fmt.Printf("%+.0f %%, at least %+.0f %%, at most %+.0f %%\n", 100*m.Estimate, 100*m.Low, 100*m.High)
	// Output:
	// regression - worse: cpu_per_request
	// +10 %, at least +9 %, at most +11 %
}

// A metric that one block lacks keeps the session from passing.
func ExampleDecide_missing() {
	pairs := make([]verify.Pair, 10)
	for i := range pairs {
		pairs[i] = verify.Pair{A: spent(100), B: spent(100)}
	}
	delete(pairs[9].B.Values, "cpu_per_request")
	rules := verify.Rules{Metrics: []verify.Metric{{Name: "cpu_per_request", Unit: "ns", Margin: 0.05}}, Looks: 1}
	r := verify.Decide(pairs, nil, 1, rules)
	fmt.Println(r.Verdict, "-", r.Metrics[0].Verdict)
	// Output: inconclusive - inconclusive
}

// The fewest pairs that can decide grow with the metrics that decide together.
func ExampleRules_Least() {
	metrics := verify.Metrics(false)[:2] // of a closed loop
	metrics[1].Advisory, metrics[1].Guard = false, false
	fmt.Println(verify.Rules{Metrics: metrics[:1]}.Least(), verify.Rules{Metrics: metrics}.Least())
	// Output: 7 8
}

// Nine looks at most, each after four more pairs at least.
func ExampleRules_Plan() {
	r := verify.Rules{}.Plan(24)
	for look := 1; ; look++ {
		pairs, last := r.Due(look)
		fmt.Print(pairs, " ")
		if last {
			break
		}
	}
	// Output: 4 8 12 16 20 24
}

// Latencies of several blocks keep their quantiles within a quarter of a percent.
func ExampleLatencies() {
	l := verify.Latencies{}
	l.Add(1_000_000, 98) // ns
	l.Add(20_000_000, 2)
	fmt.Printf("%d requests, p50 %.0f ms, p99 %.0f ms\n", l.Total(), l.Quantile(0.50)/1e6, l.Quantile(0.99)/1e6)
	// Output: 100 requests, p50 1 ms, p99 20 ms
}
