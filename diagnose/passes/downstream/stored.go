package downstream

import (
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

const (
	// leastSampled is the number of samples below which a count of objects says nothing: its error is one part in the root of it.
	leastSampled = 16
	// surelyMiss is the part of requests that must miss for a cache not to be worth its place.
	surelyMiss = 0.5
	// sampleBytes is how many bytes a heap profile samples once by default (runtime.MemProfileRate).
	sampleBytes = 512 << 10
)

// stored returns how many entries a cache stores per request, by the objects that it allocates for them. An entry may take
// several, so only those of the place that allocates most count. many is true if the count, give or take twice its sampling
// error, can be one per request and cannot be less than one per two requests; false if there are too few samples.
func stored(p *diagnose.Pass, cache code.Frame) (entries float64, many bool) {
	objects, err := p.Profile("allocs", "alloc_objects")
	sizes, failed := p.Profile("allocs", "alloc_space")
	requests := p.Load().Requests
	if err != nil || failed != nil || !(requests > 0) {
		return 0, false
	}
	function, caches := callstack.Enclosing(cache.Function), namesOf(p)
	count, bytes := map[code.Frame]float64{}, map[code.Frame]float64{}
	for _, s := range objects.Samples {
		if fills(p, s.Stack, function, caches) {
			count[s.Stack[0]] += float64(s.Value)
		}
	}
	for _, s := range sizes.Samples {
		if fills(p, s.Stack, function, caches) {
			bytes[s.Stack[0]] += float64(s.Value)
		}
	}
	for place, n := range count {
		samples := bytes[place] / sampleBytes
		if samples >= leastSampled && n/requests > entries {
			entries = n / requests
			off := 2 / math.Sqrt(samples) // of a count of independent samples, relative to it
			many = entries*(1+off) >= everyMiss && entries*(1-off) >= surelyMiss
		}
	}
	return entries, many
}

// fills reports whether a stack is that of a store into a cache by a function: of a cache's function that changes it, or, where
// the function is the cache's own, of a map or a list.
func fills(p *diagnose.Pass, stack []code.Frame, function string, caches cacheNames) bool {
	for i := 1; i < len(stack); i++ {
		if callstack.Enclosing(stack[i].Function) != function {
			continue
		}
		inner := stack[i-1].Function
		return caches.has(inner) && changes(inner) || caches.has(function) && storing(p, inner)
	}
	return false
}
