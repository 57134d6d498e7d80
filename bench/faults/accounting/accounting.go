// Package accounting puts load on servers that misbehave, and compares what
// redline reports about its requests with what the servers saw: each request is a
// success, a failure or unfinished, none is lost or counted twice, and nothing
// hangs, whatever the protocol, the model of load and the fault.
package accounting

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/redline-go/redline/bench/faults/part"
)

// Part is the accounting part of the fault bench.
var Part = part.Part{
	Name: "accounting",
	Doc: "Successes, failures and unfinished requests add up to the number in the server's own log, under every protocol, " +
		"load model and fault.",
	Asked: 300,
	Run:   run,
}

func run(ctx context.Context, o part.Options) (part.Result, error) {
	all := trials()
	// In the first ones every protocol meets every fault; the seed decides which models
	// the others take.
	pairs := len(all) / len(models)
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	rest := all[min(o.Trials, pairs):]
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	var chosen []trial
	for len(chosen) < o.Trials {
		chosen = append(chosen, all[:min(len(all), o.Trials-len(chosen))]...)
	}
	return runAll(ctx, chosen, o)
}

// runAll makes trials, a few at a time: most of each is waiting.
func runAll(ctx context.Context, chosen []trial, o part.Options) (r part.Result, err error) {
	var mu sync.Mutex // of r and sums
	var sums struct{ requests, errors, unfinished, resent int64 }
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for _, t := range chosen {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			outcome, err := t.run(ctx, o.Scratch)
			mu.Lock()
			defer mu.Unlock()
			r.Tried++
			if err != nil {
				r.Failures = append(r.Failures, fmt.Sprintf("%v: %v", t, err))
				return
			}
			if wrong := outcome.check(t); wrong != "" {
				r.Failures = append(r.Failures, fmt.Sprintf("%v: %s", t, wrong))
			}
			s := &outcome.result.Load
			sums.requests, sums.errors = sums.requests+s.Requests, sums.errors+s.Errors
			sums.unfinished, sums.resent = sums.unfinished+s.InFlight, sums.resent+s.Resent
			fmt.Fprintf(o.Log, "%v: %d requests, %v, %d unfinished, %d sent again; server: %d and %d answers\n",
				t, s.Requests, s.ErrorKinds, s.InFlight, s.Resent, outcome.requests, outcome.answers)
		})
	}
	all.Wait()
	combinations := map[trial]bool{}
	for _, t := range chosen {
		combinations[t] = true
	}
	r.Figures = []part.Figure{
		{Name: "combinations of protocol, model and fault", Value: fmt.Sprint(len(combinations))},
		{Name: "requests that ended", Value: fmt.Sprint(sums.requests)},
		{Name: "of them failures", Value: fmt.Sprint(sums.errors)},
		{Name: "requests that never ended", Value: fmt.Sprint(sums.unfinished)},
		{Name: "requests that were sent again", Value: fmt.Sprint(sums.resent)},
	}
	return r, ctx.Err()
}
