// Package par does things side by side.
package par

import "sync"

// Map applies f to all of in, side by side, and returns the results in order.
func Map[In, Out any](in []In, f func(In) Out) []Out {
	out := make([]Out, len(in))
	var all sync.WaitGroup
	for i, v := range in {
		all.Add(1)
		go func() {
			defer all.Done()
			out[i] = f(v)
		}()
	}
	all.Wait()
	return out
}

// Each is Map one by one.
func Each[In, Out any](in []In, f func(In) Out) []Out {
	out := make([]Out, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
