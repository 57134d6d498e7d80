package session

import (
	"math"
	"math/rand/v2"

	"github.com/redline-go/redline/verify"
)

// bench makes blocks like those of a service on a noisy, small machine: CPU per
// request with a spread of sd, a stall now and then, launches that differ.
type bench struct {
	rng    *rand.Rand
	sd     float64
	slower float64 // of side B: 0.05 is 5 %
	mute   bool    // without latencies, most of the work
}

func (b bench) block(factor float64) verify.Block {
	noise := math.Exp(b.sd * b.rng.NormFloat64())
	if b.rng.IntN(20) == 0 { // a neighbour on the machine
		noise *= 1 + 3*b.sd*b.rng.Float64()
	}
	block := verify.Block{Values: map[string]float64{
		"cpu_per_request": 120e3 * factor * noise, "throughput": 9000 / factor / noise,
		"allocs_per_request": 41, "bytes_per_request": 5200, "rss": 60e6 * math.Exp(0.02*b.rng.NormFloat64()),
	}, Latency: verify.Latencies{}}
	if b.mute {
		return block
	}
	for range 400 {
		block.Latency.Add(int64(2e6*factor*noise*math.Exp(0.5*b.rng.NormFloat64())), 5)
	}
	return block
}

func rules() verify.Rules { return verify.Rules{Metrics: verify.Metrics(false), Seed: 1} }
